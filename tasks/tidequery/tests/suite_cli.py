"""The command line, parameters, project files, check, explain and defs."""

from harness import test

SUITE = "command line"

DATA = "id,status,amount\n1,paid,10.00\n2,open,20.00\n3,paid,30.50\n"

PROJECT = """# shop definitions
view paid = from "data/orders.csv" | where status=='paid';
view big  = from paid | where amount >= $limit | derive   net = net(amount, 0.25);
def net(price, rate) = round(price/(1+rate), 2);
def twice(x) = (x) * 2;
param limit: decimal = 1_0;
param since : date=@2024-01-01;
param who;
"""


@test(SUITE, "query files, long options, output files and version")
def basics(t):
    t.write("data.csv", DATA)
    t.write("q.tide", '# all\nfrom "data.csv"\n  | select id # keys\n  | take 1\n')
    t.prints("[\n  {\"id\":1}\n]\n", "run", "--format", "json", "q.tide")
    t.prints("", "run", "q.tide", "--output", "out.md", "-f", "markdown")
    t.equal(t.read("out.md"), "| id |\n| ---: |\n| 1 |\n", "the file of --output")
    t.prints("id\n2\n", "run", "--expr", 'from "data.csv" | where status == $s | select id', "--param", "s=open", "--format", "csv")
    t.prints("tidequery 1.0.0\n", "--version")
    t.fails("name", "<query>:1:24", "run", "-e", 'from "data.csv" | drop nothing', "-o", "out.md")
    t.equal(t.read("out.md"), "| id |\n| ---: |\n| 1 |\n", "the file of -o after an error")


@test(SUITE, "wrong command lines are usage errors")
def usage(t):
    t.write("data.csv", DATA)
    query = 'from "data.csv"'
    for args in (
        ("run", "q.tide", "-e", query),
        ("run", "missing.tide"),
        ("run", "-e", query, "-f", "xml"),
        ("run", "-e", query, "-p", "novalue"),
        ("frobnicate", "-e", query),
    ):
        t.fails("usage", "tidequery", *args)


@test(SUITE, "parameters are typed by declaration or by their text")
def parameters(t):
    t.write("one.csv", "one\n1\n")
    query = (
        "param d: decimal; param t: text; param n: int = -5; param z: date = null; param day = @2024-05-06;"
        ' from "one.csv" | select d = $d, t = $t, n = $n, z = $z, day = $day, u = $u, e = $e, w = $w'
    )
    given = ("-p", "d=5", "-p", "t=007", "-p", "u=2.50", "-p", "e=", "-p", "w=a=b")
    t.query(
        query + " | derive ka = typeof($a), kb = typeof($b), kc = typeof($c), kn = typeof($i)",
        '{"d":5.0,"t":"007","n":-5,"z":null,"day":"2024-05-06","u":2.50,"e":"","w":"a=b",'
        '"ka":"date","kb":"bool","kc":"text","kn":"int"}\n',
        *given, "-p", "a=2024-01-01", "-p", "b=true", "-p", "c=007", "-p", "i=-7", "-p", "unused=1", form="jsonl",
    )  # fmt: skip
    t.query_fails("name", 'param limit; from "one.csv" | where one > ^$limit', contains=['"limit"'])
    t.query_fails("name", 'param limit = 1; from "one.csv" | where one > ^$limits',
                  contains=['"limits"', 'did you mean "limit"?'])  # fmt: skip
    t.query_fails("call", 'param ^n: int = "x"; from "one.csv" | where one > $n')
    t.fails("usage", "tidequery", "run", "-e", 'param n: int; from "one.csv" | take $n', "-p", "n=1.5")


@test(SUITE, "project files give views, functions and parameters")
def project(t):
    t.write("shop/data/orders.csv", DATA)
    t.write("data/orders.csv", "id,status,amount\n9,paid,99.00\n")
    t.write("shop/tide.project", PROJECT)
    t.query("from big", "id,status,amount,net\n1,paid,10.00,8.00\n3,paid,30.50,24.40\n", "--project", "shop/tide.project")
    t.query(
        'def net(p, r) = p + r; from big | join semi (from paid | skip 1) on id | select id, net, two = twice(net(1, 2))',
        "id,net,two\n3,30.75,6\n", "--project", "shop/tide.project", "-p", "limit=11",
    )  # fmt: skip
    t.write("tide.project", PROJECT)
    t.query(
        'view all = from "shop/data/orders.csv" | take 2; from paid | union all',
        "id,status,amount\n9,paid,99.00\n1,paid,10.00\n2,open,20.00\n",
    )
    t.query(
        'def unused(x) = nope; view lost = from "nowhere.csv";'
        ' view paid = from "shop/data/orders.csv" | take 2; from big | select id',
        "id\n1\n2\n",
    )
    t.query_fails("name", "from ^paid", "--no-project", contains=['"paid"'])
    t.fails("usage", "tidequery", "run", "-e", "from big", "-p", "limit=high")


@test(SUITE, "definitions that clash, refer to themselves or are wrong")
def bad_definitions(t):
    t.write("one.csv", "one\n1\n")
    t.query_fails("name", 'def f(x) = x; def ^f(y) = y; from "one.csv"')
    t.query_fails("name", 'def ^upper(x) = x; from "one.csv"')
    t.query_fails("name", 'def ^count(x) = x; from "one.csv"')
    t.query_fails("name", 'def f(x) = x + ^one; from "one.csv" | derive y = f(1)', contains=['"one"'])
    t.query_fails("call", 'def f(x) = x; from "one.csv" | derive y = ^f(1, 2)')
    t.query_fails("type", 'def f(x) = x ^++ 1; from "one.csv" | derive y = f("a")')
    for text in (
        "view a = from b; view b = from a | take 1; from a",
        'def f(x) = g(x); def g(x) = f(x) + 1; from "one.csv" | derive y = f(one)',
    ):
        result = t.run("check", "-e", text)
        t.equal((result.code, result.out), (1, ""), "exit status and output of a circular definition")
        t.equal("name error: " in result.err.split("\n")[0], True, "a name error: " + text)
    t.write("tide.project", "view v = from \"one.csv\";\nfrom v\n")
    t.fails("syntax", "tide.project:2:1", "run", "-e", "from v")
    t.write("p/x.project", 'view v = from "one.csv"\n  | where one == "1";')
    t.write("p/one.csv", "one\n1\n")
    t.fails("type", "p/x.project:2:15", "run", "-e", "from v", "--project", "p/x.project")


@test(SUITE, "check finds errors without processing rows")
def check(t):
    t.write("data.csv", DATA)
    t.prints("ok\n", "check", "-e", 'from "data.csv" | where 1 / 0 == id | assert false')
    t.write("q.tide", 'from "data.csv"\n| derive x = lower(status), y = lenght(x)\n')
    t.fails("name", "q.tide:2:33", "check", "q.tide", contains=['"lenght"', 'did you mean "length"?'])
    t.fails("call", "<query>:1:25", "check", "-e", 'from "data.csv" | where upper() == "A"')
    t.fails("data", "<query>:1:6", "check", "-e", 'from "data2.csv"')


@test(SUITE, "explain prints canonical stages and columns")
def explain(t):
    t.write("data.csv", DATA)
    t.write("more.csv", "id,note,unit price\n1,x,2\n")
    query = """
      from 'data.csv' with header=true
      | where (amount>1_0) and not((status=="paid") or (id in [1,2]))
      | join (from "more.csv"|where `note` is not null) as m on id = id
      | join left 'more.csv' with missing="-" as n on id
      | derive a=((1+2)*3-(4-5)), `unit price`=-(-`unit price`), `case`=case when true then 'it"s' end
      | sort amount asc nulls last, a desc nulls first
      | window by status sort id derive r = rank( ) , l = lag( id,1 , null )
      | group status, k=r>1 aggregate n=count(distinct id where a>1),t=sum(a)
      | select *, z = (n ?? 0)==1, y = not (not k), x = [ 1,'\\t' ][1] , w=(n+1).b
      | take 0 | assert (z is null)==false, 'bad'
    """
    t.prints(
        '1. from "data.csv" with header = true\n'
        "   columns: id, status, amount\n"
        '2. where amount > 10 and not (status == "paid" or id in [1, 2])\n'
        "   columns: id, status, amount\n"
        '3. join inner (from "more.csv" | where note is not null) as m on id\n'
        "   columns: id, status, amount, note, `unit price`\n"
        '4. join left "more.csv" with missing = "-" as n on id\n'
        "   columns: id, status, amount, note, `unit price`, n_note, `n_unit price`\n"
        "5. derive a = (1 + 2) * 3 - (4 - 5), `unit price` = --`unit price`,"
        ' `case` = case when true then "it\\"s" end\n'
        "   columns: id, status, amount, note, `unit price`, n_note, `n_unit price`, a, `case`\n"
        "6. sort amount, a desc nulls first\n"
        "   columns: id, status, amount, note, `unit price`, n_note, `n_unit price`, a, `case`\n"
        "7. window by status sort id derive r = rank(), l = lag(id, 1, null)\n"
        "   columns: id, status, amount, note, `unit price`, n_note, `n_unit price`, a, `case`, r, l\n"
        "8. group status, k = r > 1 aggregate n = count(distinct id where a > 1), t = sum(a)\n"
        "   columns: status, k, n, t\n"
        '9. select *, z = n ?? 0 == 1, y = not not k, x = [1, "\\t"][1], w = (n + 1).b\n'
        "   columns: status, k, n, t, z, y, x, w\n"
        "10. take 0\n"
        "   columns: status, k, n, t, z, y, x, w\n"
        '11. assert (z is null) == false, "bad"\n'
        "   columns: status, k, n, t, z, y, x, w\n",
        "explain", "-e", query,
    )  # fmt: skip


@test(SUITE, "defs lists definitions in canonical text")
def defs(t):
    t.write("tide.project", PROJECT)
    t.prints(
        "kind,name,text\n"
        'view,paid,"view paid = from ""data/orders.csv"" | where status == ""paid"""\n'
        'view,big,"view big = from paid | where amount >= $limit | derive net = net(amount, 0.25)"\n'
        'def,net,"def net(price, rate) = round(price / (1 + rate), 2)"\n'
        "def,twice,def twice(x) = x * 2\n"
        "param,limit,param limit: decimal = 10\n"
        "param,since,param since: date = @2024-01-01\n"
        "param,who,param who\n",
        "defs", "-f", "csv",
    )  # fmt: skip
