"""Reading CSV and JSON Lines, source options, schema."""

from harness import test

SUITE = "sources"


@test(SUITE, "column types of CSV files are inferred from all cells")
def inference(t):
    t.write(
        "a.csv",
        "i,d,b,day,zip,mix,none,plus,baddate\n"
        "1,1.50,true,2024-02-29,007,1,,+1,2023-02-29\n"
        "-20,3,false,2023-12-31,10115,x,,2,2024-01-01\n"
        ",,,,,,,,\n",
    )
    t.prints(
        "column,type,nulls,distinct\n"
        "i,int,1,2\nd,decimal,1,2\nb,bool,1,2\nday,date,1,2\nzip,text,1,2\n"
        "mix,text,1,2\nnone,text,3,0\nplus,text,1,2\nbaddate,text,1,2\n",
        "schema", "a.csv", "-f", "csv",
    )  # fmt: skip
    t.query(
        'from "a.csv" | take 2',
        '{"i":1,"d":1.50,"b":true,"day":"2024-02-29","zip":"007","mix":"1","none":null,'
        '"plus":"+1","baddate":"2023-02-29"}\n'
        '{"i":-20,"d":3.0,"b":false,"day":"2023-12-31","zip":"10115","mix":"x","none":null,'
        '"plus":"2","baddate":"2024-01-01"}\n',
        form="jsonl",
    )


@test(SUITE, "CSV quoting, line ends and short records")
def csv_syntax(t):
    t.write(
        "q.csv",
        b"\xef\xbb\xbfid,text,,n\r\n"
        b'1,"a, ""b""",x,"5"\r\n'
        b"\r\n"
        b'2,"line one\nline two", y ,6\r\n'
        b'3,"",in"side,\r\n'
        b"4\r\n",
    )
    t.query(
        'from "q.csv"',
        '{"id":1,"text":"a, \\"b\\"","c3":"x","n":5}\n'
        '{"id":2,"text":"line one\\nline two","c3":" y ","n":6}\n'
        '{"id":3,"text":"","c3":"in\\"side","n":null}\n'
        '{"id":4,"text":null,"c3":null,"n":null}\n',
        form="jsonl",
    )


@test(SUITE, "source options: format, delimiter, header, infer, missing, and TSV")
def options(t):
    t.write("data.txt", "1;NA;x\n2;3.5;NA\n;\"NA\";y\n")
    t.write("codes.csv", "code,flag\n1,true\n2,\n")
    t.write("tabs.tsv", 'a\tb\n1\t"x\ty"\n2\tp,q\n')
    t.query(
        'from "data.txt" with format = "csv", delimiter = ";", header = false, missing = "NA"'
        ' | union "codes.csv" with infer = false | union "tabs.tsv"'
        " | derive k1 = typeof(c1), k2 = typeof(code), k3 = typeof(flag)",
        "c1,c2,c3,code,flag,a,b,k1,k2,k3\n"
        "1,,x,,,,,int,null,null\n2,3.5,,,,,,int,null,null\n,NA,y,,,,,null,null,null\n"
        ",,,1,true,,,null,text,text\n,,,2,,,,null,text,null\n"
        ',,,,,1,x\ty,null,null,null\n,,,,,2,"p,q",null,null,null\n',
    )
    t.query_fails("call", 'from "codes.csv" with ^colour = "red"')
    t.query_fails("call", 'from "codes.csv" with ^header = "no"')


@test(SUITE, "JSON Lines columns, numbers and nested values")
def json_lines(t):
    t.write(
        "e.jsonl",
        '{"id":1,"v":1.50,"tags":["a",{"k":null}]}\n'
        "\n"
        '{"v":2,"id":2,"day":"2024-01-01","big":123456789012345678901234567890}\n'
        '   {"id":3,"v":1e3,"tags":[],"é":"ü\\u00df"}\n',
    )
    t.query(
        'from "e.jsonl" | derive kv = typeof(v), kd = typeof(day)',
        '{"id":1,"v":1.50,"tags":["a",{"k":null}],"day":null,"big":null,"é":null,"kv":"decimal","kd":"null"}\n'
        '{"id":2,"v":2,"tags":null,"day":"2024-01-01","big":123456789012345678901234567890,"é":null,"kv":"int","kd":"text"}\n'
        '{"id":3,"v":1000.0,"tags":[],"day":null,"big":null,"é":"üß","kv":"decimal","kd":"null"}\n',
        form="jsonl",
    )


@test(SUITE, "schema of JSON Lines, of standard input and of views")
def schema(t):
    t.write(
        "m.jsonl",
        '{"a":1,"m":1,"n":null,"l":[1],"r":{"x":1}}\n'
        '{"a":1.0,"m":"1","n":null,"l":[1.0],"r":{"x":2}}\n'
        '{"a":2.5,"m":true,"n":null}\n',
    )
    t.prints(
        "column | type    | nulls | distinct\n"
        "-------+---------+-------+---------\n"
        "a      | decimal |     0 |        2\n"
        "m      | mixed   |     0 |        3\n"
        "n      | null    |     3 |        0\n"
        "l      | list    |     1 |        1\n"
        "r      | record  |     1 |        2\n"
        "(5 rows)\n",
        "schema", "m.jsonl",
    )  # fmt: skip
    t.prints(
        "column,type,nulls,distinct\nx,int,0,2\n",
        "schema", "-", "--as", "csv", "--format", "csv", stdin="x\n1\n2\n1\n",
    )  # fmt: skip
    t.write("tide.project", 'view v = from "m.jsonl" | select a, k = typeof(m) | where a > $min;')
    t.prints(
        "column,type,nulls,distinct\na,decimal,0,1\nk,text,0,1\n",
        "schema", "@v", "-p", "min=1.5", "-f", "csv",
    )  # fmt: skip
    t.fails("usage", "tidequery", "schema", "-", stdin="x\n1\n")
    t.fails("usage", "tidequery", "schema", "@w")
    t.fails("data", "tidequery", "schema", "missing.csv")


@test(SUITE, "standard input as a source, also twice")
def standard_input(t):
    t.query(
        'from "-" with format = "jsonl" | union "-" with format = "jsonl" | derive m = n * 2',
        "n,k,m\n1,ä,2\n2,,4\n1,ä,2\n2,,4\n",
        stdin='{"n":1,"k":"ä"}\n{"n":2}\n',
        env={"LANG": "C", "LC_ALL": "C"},
    )


@test(SUITE, "malformed or missing data is reported with its place")
def malformed(t):
    for name, content, line in (
        ("long.csv", "a,b\n1,2\n\n1,2,3\n", 4),
        ("open.csv", 'a,b\n1,"x\ny\n\n2,3\n', 2),
        ("junk.csv", 'a,b\n"1\n"x,2\n', 2),
        ("twice.csv", "a,b,a\n1,2,3\n", 1),
        ("latin.csv", b"a\nok\n\xe9\n", 3),
        ("bad.jsonl", '{"a":1}\n{"a":\n', 2),
        ("nan.jsonl", '{"a":1}\n\n{"a":NaN}\n', 3),
    ):
        t.write("sub/" + name, content)
        query = f'from "sub/{name}" | take 1'
        t.fails("data", f"sub/{name}:{line}", "run", "-e", query)
    t.write("a.csv", "id\n1\n")
    t.write("a.dat", "id\n1\n")
    t.query_fails("data", 'from "a.csv"\n| join left\n   ^"nowhere.jsonl" on id')
    t.query_fails("data", 'from ^"a.dat"')
