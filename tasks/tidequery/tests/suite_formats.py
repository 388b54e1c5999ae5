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
        "id | name      | amount | ok    | mixed | nothing | x\n"
        "---+-----------+--------+-------+-------+---------+--------------\n"
        " 1 | Ada       |  12.50 | true  | x     | null    | null\n"
        '20 | Bö|b, "q" |      7 | null  | 1     | null    | [1,{"a":"é"}]\n'
        " 3 |           |   null | false | 1     | null    | two\\nlines\\\\\n"
        "(3 rows)\n",
        "run", "-e",
        'from "d.jsonl" | select id, name, amount, ok, mixed = case when id == 1 then "x" else 1 end, nothing = null, x',
    )  # fmt: skip
    t.prints(
        "name |   n\n-----+----\nAda  | 1.0\n(1 row)\n",
        "run", "-e", 'from "d.jsonl" | take 1 | select name, n = id / 1', "--format", "table",
    )  # fmt: skip
    t.prints(
        "id | mixed | gone\n---+-------+-----\n(0 rows)\n",
        "run", "-e", 'from "d.jsonl" | where id > 99 | select id, mixed = x, gone = null',
    )  # fmt: skip


@test(SUITE, "csv output quotes only where needed and reads back as the same rows")
def csv(t):
    t.write("d.jsonl", DATA)
    query = 'from "d.jsonl" | derive `a,b` = " pad ", cr = if(ok is null, "a\\r", "q\\"\\r\\n,")'
    t.prints("", "run", "-e", query, "-f", "csv", "-o", "again.csv")
    t.equal(
        t.read("again.csv"),
        'id,name,amount,ok,x,"a,b",cr\n'
        '1,Ada,12.50,true,, pad ,"q""\r\n,"\n'
        '20,"Bö|b, ""q""",7,,"[1,{""a"":""é""}]", pad ,"a\r"\n'
        '3,"",,false,"two\nlines\\", pad ,"q""\r\n,"\n',
        "the file of -o",
    )
    t.query(
        'from "again.csv" | derive e = name is null, n = length(cr)',
        '{"id":1,"name":"Ada","amount":12.50,"ok":true,"x":null,"a,b":" pad ","cr":"q\\"\\r\\n,","e":false,"n":5}\n'
        '{"id":20,"name":"Bö|b, \\"q\\"","amount":7.0,"ok":null,"x":"[1,{\\"a\\":\\"é\\"}]","a,b":" pad ",'
        '"cr":"a\\r","e":false,"n":2}\n'
        '{"id":3,"name":"","amount":null,"ok":false,"x":"two\\nlines\\\\","a,b":" pad ","cr":"q\\"\\r\\n,","e":false,"n":5}\n',
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
    t.query('from "d.jsonl"', "[\n  " + ",\n  ".join(rows) + "\n]\n", form="json")
    t.query('from "d.jsonl" | where false', "[]\n", form="json")
    more = ',"d":"2024-01-02","my \\"key\\"":2.0}\n'
    t.query(
        'from "d.jsonl" | derive d = @2024-01-02, `my "key"` = 2.0',
        "".join(row[:-1] + more for row in rows),
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
