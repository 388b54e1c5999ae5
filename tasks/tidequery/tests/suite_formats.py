"""The output formats."""

from harness import test

SUITE = "formats"

DATA = (
    '{"id":1,"name":"Ada","amount":12.50,"ok":true,"x":null}\n'
    '{"id":20,"name":"Bö|b, \\"q\\"","amount":7,"ok":null,"x":[1,{"a":"é"}]}\n'
    '{"id":3,"name":"","amount":null,"ok":false,"x":"two\\nlines\\\\"}\n'
)


@test(SUITE, "table output aligns and escapes")
def table(t):
    t.write("d.jsonl", DATA)
    t.prints(
        "id | name      | amount | ok    | x\n"
        "---+-----------+--------+-------+--------------\n"
        " 1 | Ada       |  12.50 | true  | null\n"
        '20 | Bö|b, "q" |      7 | null  | [1,{"a":"é"}]\n'
        " 3 |           |   null | false | two\\nlines\\\\\n"
        "(3 rows)\n",
        "run", "-e", 'from "d.jsonl"',
    )  # fmt: skip
    t.prints(
        "name |   n\n-----+----\nAda  | 1.0\n(1 row)\n",
        "run", "-e", 'from "d.jsonl" | take 1 | select name, n = id / 1', "--format", "table",
    )  # fmt: skip
    t.prints(
        "id | mixed | gone\n---+-------+-----\n(0 rows)\n",
        "run", "-e", 'from "d.jsonl" | where id > 99 | select id, mixed = x, gone = null',
    )  # fmt: skip
    t.prints(
        "a | nothing\n--+--------\nx | null\n1 | null\n(2 rows)\n",
        "run", "-e",
        'from "d.jsonl" | take 2 | select a = case when id == 1 then "x" else 1 end, nothing = null',
    )  # fmt: skip


@test(SUITE, "csv output quotes only where needed and reads back as the same rows")
def csv(t):
    t.write("d.jsonl", DATA)
    t.query(
        'from "d.jsonl" | derive `a,b` = " pad "',
        'id,name,amount,ok,x,"a,b"\n'
        "1,Ada,12.50,true,, pad \n"
        '20,"Bö|b, ""q""",7,,"[1,{""a"":""é""}]", pad \n'
        '3,"",,false,"two\nlines\\", pad \n',
    )
    t.query('from "d.jsonl" | where false', "id,name,amount,ok,x\n")
    t.write("d.csv", 'a,b,c\n1,"",x\n2,,"q""\n,"\n3,"multi\r\nline",""\n')
    first = t.output("run", "-e", 'from "d.csv"', "-f", "csv")
    t.equal(first, 'a,b,c\n1,"",x\n2,,"q""\n,"\n3,"multi\r\nline",""\n', "csv output")
    t.write("again.csv", first)
    t.query(
        'from "again.csv" | derive e = b is null, n = length(b)',
        '{"a":1,"b":"","c":"x","e":false,"n":0}\n'
        '{"a":2,"b":null,"c":"q\\"\\n,","e":true,"n":null}\n'
        '{"a":3,"b":"multi\\r\\nline","c":"","e":false,"n":11}\n',
        form="jsonl",
    )


@test(SUITE, "json and jsonl output")
def json_output(t):
    t.write("d.jsonl", DATA)
    rows = [
        '{"id":1,"name":"Ada","amount":12.50,"ok":true,"x":null}',
        '{"id":20,"name":"Bö|b, \\"q\\"","amount":7,"ok":null,"x":[1,{"a":"é"}]}',
        '{"id":3,"name":"","amount":null,"ok":false,"x":"two\\nlines\\\\"}',
    ]
    t.query('from "d.jsonl"', "\n".join(rows) + "\n", form="jsonl")
    t.query('from "d.jsonl"', "[\n  " + ",\n  ".join(rows) + "\n]\n", form="json")
    t.query('from "d.jsonl" | where false', "[]\n", form="json")
    t.query(
        'from "d.jsonl" | take 1 | select d = @2024-01-02, `my "key"` = 2.0',
        '{"d":"2024-01-02","my \\"key\\"":2.0}\n',
        form="jsonl",
    )


@test(SUITE, "markdown output escapes and aligns")
def markdown(t):
    t.write("d.jsonl", DATA)
    t.query(
        'from "d.jsonl"',
        "| id | name | amount | ok | x |\n"
        "| ---: | --- | ---: | --- | --- |\n"
        "| 1 | Ada | 12.50 | true |  |\n"
        '| 20 | Bö\\|b, "q" | 7 |  | [1,{"a":"é"}] |\n'
        "| 3 |  |  | false | two<br>lines\\\\ |\n",
        form="markdown",
    )
