"""The stages of a pipeline."""

from harness import test

SUITE = "stages"

ORDERS = (
    "id,customer,city,amount,day,paid\n"
    "1,ada,Oslo,12.50,2024-01-31,true\n"
    "2,bob,Rome,7.25,2024-02-01,false\n"
    "3,ada,Oslo,,2024-02-10,true\n"
    "4,cyd,,30.00,2024-02-11,true\n"
    "5,bob,Rome,7.25,2024-03-05,\n"
    "6,ada,Rome,0.50,2024-03-05,false\n"
)


def orders(t):
    t.write("orders.csv", ORDERS)


@test(SUITE, "where, take and skip, with literals and parameters")
def where(t):
    orders(t)
    t.query(
        'from "orders.csv" | where not paid\n  | union (from "orders.csv"\n  | where amount > 1 # nulls go\n'
        '  | where city in ["Rome", "Bonn"]\n  | where day >= @2024-02-02) | select id, amount',
        "id,amount\n2,7.25\n6,0.50\n5,7.25\n",
    )
    t.query(
        'from "orders.csv" | skip 1 | take 4 | union (from "orders.csv" | skip 5 | take 100 | union "orders.csv")'
        ' | skip $from | take $n | union (from "orders.csv" | take 0) | select id',
        "id\n4\n5\n6\n1\n", "-p", "n=4", "-p", "from=2",
    )  # fmt: skip
    t.query_fails("value", 'from "orders.csv" | take ^$n', "-p", "n=-1")
    t.query_fails("value", 'from "orders.csv" | skip ^$n', "-p", "n=two")
    t.query_fails("syntax", 'from "orders.csv" | take ^-1')


@test(SUITE, "derive sets columns in order and select chooses them")
def derive_select(t):
    orders(t)
    t.query(
        'from "orders.csv" | take 2 | derive amount = amount * 2, tax = amount / 10, id = id + 100'
        " | drop day, paid | rename id = amount, amount = id, `the tax` = tax",
        "amount,customer,city,id,the tax\n101,ada,Oslo,25.00,2.5\n102,bob,Rome,14.50,1.45\n",
    )
    t.query(
        'from "orders.csv" | take 1 | select amount, id = id + 1, was = id, *',
        "amount,id,was,customer,city,day,paid\n12.50,2,1,ada,Oslo,2024-01-31,true\n",
    )
    t.query_fails("name", 'from "orders.csv" | select id, city, ^id = 5')
    t.query_fails("name", 'from "orders.csv" | rename ^city = id')
    t.query_fails("name", 'from "orders.csv" | derive x = 1, ^x = 2')


@test(SUITE, "sort is stable and places nulls")
def sort(t):
    orders(t)
    t.write("mixed.jsonl", '{"v":2,"w":1}\n{"v":1.5,"w":"a"}\n{"v":10,"w":null}\n')
    sorts = (
        ("amount, id desc", "652143"),
        ("amount desc", "412563"),
        ("city desc nulls first, day desc", "456231"),
        ("length(customer), paid asc nulls first", "526134"),
    )
    unions = "".join(f' | union (from "orders.csv" | sort {keys})' for keys, _ in sorts)
    t.query(
        'from (from "mixed.jsonl" | sort v | select id = v)' + unions + " | select id",
        "id\n1.5\n2\n10\n" + "".join(f"{row}\n" for _, order in sorts for row in order),
    )
    t.query_fails("type", 'from "mixed.jsonl" | sort v, ^w ?? 1')


@test(SUITE, "group by keys with aggregates, filters and distinct")
def group(t):
    orders(t)
    t.query(
        'from "orders.csv" | group city aggregate n = count(), known = count(amount), total = sum(amount),'
        " customers = count(distinct customer), paid_total = sum(amount where paid),"
        " share = sum(amount) / count()",
        "city,n,known,total,customers,paid_total,share\n"
        "Oslo,2,1,12.50,1,12.50,6.25\n"
        "Rome,3,3,15.00,2,,5.0\n"
        ",1,1,30.00,1,30.00,30.0\n",
    )
    t.write("n.jsonl", '{"k":1}\n{"k":1.0}\n{"k":"1"}\n{"k":null}\n{}\n')
    t.query(
        'from "orders.csv" | group m = month(day), customer aggregate ids = joined(id, "+"), label = customer ++ "!"'
        ' | where m > 1 | union (from "n.jsonl" | group k aggregate n = count())',
        "m,customer,ids,label,k,n\n"
        "2,bob,2,bob!,,\n2,ada,3,ada!,,\n2,cyd,4,cyd!,,\n3,bob,5,bob!,,\n3,ada,6,ada!,,\n"
        ",,,,1,2\n,,,,1,1\n,,,,,2\n",
    )


@test(SUITE, "every aggregate function, with and without values")
def aggregates(t):
    orders(t)
    t.query(
        'from "orders.csv" | aggregate a = avg(amount), lo = min(amount), hi = max(day), f = first(city where id > 3),'
        ' l = last(amount where id < 4), m4 = median(id where id <= 4), m3 = median(id * 1.0 where id < 4),'
        " li = list(distinct city), j = joined(distinct amount, \"; \"), c = count(where paid), s = sum(id)"
        ' | union (from "orders.csv" | where id > 99 | aggregate n = count(), c = count(id), s = sum(id), a = avg(id),'
        ' lo = min(id), m = median(id), f = first(id), li = list(id), j = joined(id, ","))',
        '{"a":11.5,"lo":0.50,"hi":"2024-03-05","f":"Rome","l":7.25,"m4":2.5,"m3":2.0,'
        '"li":["Oslo","Rome"],"j":"12.50; 7.25; 30.00; 0.50","c":3,"s":21,"n":null,"m":null}\n'
        '{"a":null,"lo":null,"hi":null,"f":null,"l":null,"m4":null,"m3":null,'
        '"li":[],"j":null,"c":0,"s":null,"n":0,"m":null}\n',
        form="jsonl",
    )
    t.query('from "orders.csv" | where id > 99 | group city aggregate n = count()', "city,n\n")


@test(SUITE, "misused aggregates are refused")
def misused_aggregates(t):
    orders(t)
    t.query_fails("call", 'from "orders.csv" | where ^sum(id) > 1')
    t.query_fails("name", 'from "orders.csv" | group city aggregate n = count() + ^id', contains=['"id"'])
    t.query_fails("call", 'from "orders.csv" | aggregate n = sum(^max(id))')
    t.query_fails("call", 'from "orders.csv" | aggregate n = ^joined(city)')
    t.query_fails("type", 'from "orders.csv" | aggregate n = count(), s = ^sum(city)')
    t.query_fails("name", 'from "orders.csv" | group city aggregate ^city = count()')


CUSTOMERS = "name,city,level\nada,Oslo,1\ncyd,Bonn,2\ndan,Rome,3\nada,Graz,4\n,Lost,5\n"


@test(SUITE, "inner and left joins")
def joins(t):
    orders(t)
    t.write("customers.csv", CUSTOMERS)
    t.query(
        'from "orders.csv" | select id, customer, city | join "customers.csv" on customer = name'
        ' | union (from "customers.csv" | rename customer = name'
        ' | join inner "orders.csv" on customer, city | select id, level)',
        "id,customer,city,right_city,level\n"
        "1,ada,Oslo,Oslo,1\n1,ada,Oslo,Graz,4\n3,ada,Oslo,Oslo,1\n3,ada,Oslo,Graz,4\n"
        "4,cyd,,Bonn,2\n6,ada,Rome,Oslo,1\n6,ada,Rome,Graz,4\n"
        "1,,,,1\n3,,,,1\n",
    )
    t.query(
        'from "orders.csv" | select id, customer, city'
        ' | join left (from "customers.csv" | where level < 4) as c on customer = name | skip 1 | take 3',
        "id,customer,city,c_city,level\n2,bob,Rome,,\n3,ada,Oslo,Oslo,1\n4,cyd,,Bonn,2\n",
    )
    t.query_fails(
        "name",
        'from "orders.csv" | derive c_city = 1 | ^join "customers.csv" as c on customer = name',
    )
    t.query_fails("name", 'from "orders.csv" | join "customers.csv" on customer = ^nam')


@test(SUITE, "semi and anti joins, key equality and nulls")
def semi_anti(t):
    orders(t)
    t.write("customers.csv", CUSTOMERS)
    t.query(
        'from "orders.csv" | select id, customer | join semi "customers.csv" on customer = name'
        ' | union (from "orders.csv" | join anti "customers.csv" on customer = name)',
        "id,customer,city,amount,day,paid\n"
        "1,ada,,,,\n3,ada,,,,\n4,cyd,,,,\n6,ada,,,,\n"
        "2,bob,Rome,7.25,2024-02-01,false\n5,bob,Rome,7.25,2024-03-05,\n",
    )
    t.write("l.jsonl", '{"k":1,"l":"a"}\n{"k":null,"l":"b"}\n{"k":"1","l":"c"}\n{"k":2,"l":"d"}\n')
    t.write("r.jsonl", '{"k":1.0,"r":"x"}\n{"k":null,"r":"y"}\n{"k":true,"r":"z"}\n')
    t.query(
        'from "l.jsonl" | join "r.jsonl" on k | union (from "l.jsonl" | join anti "r.jsonl" on k | select l)',
        "k,l,r\n1,a,x\n,b,\n,c,\n,d,\n",
    )


@test(SUITE, "union and distinct")
def union_distinct(t):
    t.write("a.csv", "k,a\n1,x\n2,y\n1,x\n")
    t.write("b.jsonl", '{"b":true,"k":1.0}\n{"b":null,"k":3}\n')
    t.query(
        'from "a.csv" | distinct | union "a.csv" | union "b.jsonl"',
        "k,a,b\n1,x,\n2,y,\n1,x,\n2,y,\n1,x,\n1.0,,true\n3,,\n",
    )
    t.query(
        'from "a.csv" | union (from "b.jsonl" | where b is null | select k) | distinct a | distinct k, a',
        "k,a\n1,x\n2,y\n3,\n",
    )
    t.query('from "a.csv" | select k | union "b.jsonl" | distinct k', "k,b\n1,\n2,\n3,\n")


@test(SUITE, "unnest makes a row for each element")
def unnest(t):
    t.write(
        "u.jsonl",
        '{"id":1,"tags":["x","y"],"z":9}\n{"id":2,"tags":[]}\n{"id":3,"tags":null}\n{"id":4,"tags":[null]}\n',
    )
    t.query(
        'from "u.jsonl" | unnest tags as tag index pos keep | union (from "u.jsonl" | unnest tags)',
        "id,tag,pos,z,tags\n1,x,1,9,\n1,y,2,9,\n2,,,,\n3,,,,\n4,,1,,\n1,,,9,x\n1,,,9,y\n4,,,,\n",
    )
    t.query(
        'from "u.jsonl" | take 1 | derive p = split("a-b", "-") | unnest p | unnest tags index n | select p, tags, n',
        "p,tags,n\na,x,1\na,y,2\nb,x,1\nb,y,2\n",
    )
    t.query_fails("type", 'from "u.jsonl" | unnest ^id')
    t.query_fails("name", 'from "u.jsonl" | unnest tags as ^z')


@test(SUITE, "window ranks and row numbers")
def ranks(t):
    t.write("s.csv", "name,team,pts\na,x,10\nb,y,7\nc,x,20\nd,x,10\ne,y,\nf,x,5\n")
    t.query(
        'from "s.csv" | window by team sort pts desc derive n = row_number(), r = rank(), d = dense_rank(),'
        " top = rank() == 1",
        "name,team,pts,n,r,d,top\n"
        "a,x,10,2,2,2,false\nb,y,7,1,1,1,true\nc,x,20,1,1,1,true\n"
        "d,x,10,3,2,2,false\ne,y,,2,2,2,false\nf,x,5,4,4,3,false\n",
    )
    t.query(
        'from "s.csv" | window derive n = row_number(), pts = pts ?? row_number() * 100 | where n > 3',
        "name,team,pts,n\nd,x,10,4\ne,y,500,5\nf,x,5,6\n",
    )
    t.query_fails("call", 'from "s.csv" | window by team derive r = 1 + ^rank()')
    t.query_fails("call", 'from "s.csv" | derive r = ^row_number()')


@test(SUITE, "window lag, lead, totals and running values")
def running(t):
    t.write("s.csv", "t,g,v\n3,a,1.50\n1,a,\n2,a,2.00\n4,b,5.00\n")
    t.query(
        'from "s.csv" | window by g sort t derive p = lag(v), q = lead(t, 2, -1), s = running_sum(v),'
        " c = running_count(v), n = running_count(), lo = running_min(v), hi = running_max(v)",
        "t,g,v,p,q,s,c,n,lo,hi\n"
        "3,a,1.50,2.00,-1,3.50,2,3,1.50,2.00\n"
        "1,a,,,3,,0,1,,\n"
        "2,a,2.00,,-1,2.00,1,2,2.00,2.00\n"
        "4,b,5.00,,-1,5.00,1,1,5.00,5.00\n",
    )
    t.query(
        'from "s.csv" | window by g sort t desc derive f = first_value(t), l = last_value(t), share = v / total(v),'
        " v = 0, w = v, up = t - lag(t, 1, t)",
        "t,g,v,f,l,share,w,up\n"
        "3,a,0,3,1,0.428571428571,1.50,0\n1,a,0,3,1,,,-1\n"
        "2,a,0,3,1,0.571428571429,2.00,-1\n4,b,0,4,4,1.0,5.00,0\n",
    )
    t.query_fails("value", 'from "s.csv" | window derive x = ^lag(t, -1)')
    t.query_fails("call", 'from "s.csv" | window derive x = lag(^lag(t))')


@test(SUITE, "assert passes rows on or fails at the first bad row")
def assert_stage(t):
    orders(t)
    t.query_fails(
        "assert",
        'from "orders.csv"\n| assert id > 0 | skip 1\n| ^assert amount > 1, "tiny amount"',
        contains=["row 2: tiny amount"],
    )
    t.query_fails(
        "assert", 'from "orders.csv" | ^assert (id)<(5)', contains=["row 5: id < 5"]
    )


@test(SUITE, "large joins and groups are fast")
def large(t):
    count = 20000
    t.write("l.csv", "id,k\n" + "".join(f"{i},{i * 7 % count}\n" for i in range(count)))
    t.write("r.csv", "k,g\n" + "".join(f"{i},g{i}\n" for i in range(count)))
    t.query(
        'from "l.csv" | join "r.csv" on k | group g aggregate n = count(), s = sum(id)'
        " | sort s desc | aggregate groups = count(), rows = sum(n), top = first(s), sum = sum(s)",
        f"groups,rows,top,sum\n{count},{count},{count - 1},{count * (count - 1) // 2}\n",
        timeout=10,
    )
