"""Syntax errors, unknown names and their places."""

from harness import test

SUITE = "errors"


@test(SUITE, "syntax errors point at the token")
def syntax(t):
    t.write("a.csv", "id,name\n1,x\n")
    for marked in (
        "^where id > 1",
        'from "a.csv" | ^filter id > 1',
        'from "a.csv"\n |^  # nothing follows\n\n',
        'from "a.csv"\n\t| derive\tid ^== 1',
        'from "a.csv" | where id ^= 1',
        'from "a.csv" | where name == ^"open',
        'from "a.csv" | where name == "a^\\q"',
        'from "a.csv" | derive x = case ^id when 1 then 2 end',
        'from "a.csv" | join "a.csv" ^id',
        'from "a.csv" | derive x = ^`id',
    ):
        t.query_fails("syntax", marked)


@test(SUITE, "reserved words, backticks and contextual words as names")
def names(t):
    t.write("a.csv", "from,left,where,keep it,first\n1,2,3,4,5\n")
    t.query(
        'from "a.csv" | sort first desc nulls first'
        ' | join (from "a.csv" | group left aggregate first = first(from)) as sum on left'
        " | select take = from + left, `where`, `keep it`, sort1 = `left` * `where`, first, index = first, sum_first",
        "take,where,keep it,sort1,first,index,sum_first\n3,3,4,6,5,5,1\n",
    )
    t.query_fails("syntax", 'from "a.csv" | select ^where')
    t.query_fails("name", 'from "a.csv" | select ^First', contains=['did you mean "first"?'])


@test(SUITE, "unknown names are reported with a suggestion")
def unknown(t):
    t.write("a.csv", "amount,amound,total\n1,2,3\n")
    t.query_fails("name", 'from "a.csv" | where total > 1 and ^amoun > 2', contains=['"amoun"', 'did you mean "amound"?'])
    t.query_fails("name", 'from "a.csv"\n  | drop total,\n  ^toto', contains=['did you mean "total"?'])
    t.query_fails("name", 'view sales = from "a.csv"; from ^sale', contains=['did you mean "sales"?'])
    t.query_fails("name", 'from "a.csv" | derive x = ^ifs(1, 2, 3)', contains=['"ifs"', 'did you mean "if"?'])
    t.query_fails("name", 'from "a.csv" | derive `é` = 1, `ü` = `é` + ^`completely different`',
                  contains=['"completely different"'], lacks=["did you mean"])  # fmt: skip
