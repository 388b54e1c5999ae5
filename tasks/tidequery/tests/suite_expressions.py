"""Expressions: numbers, null, text, dates, lists, conversions, precedence."""

from harness import test

SUITE = "expressions"


@test(SUITE, "decimal arithmetic is exact and keeps fractional digits")
def decimals(t):
    t.expressions(
        ("0.1 + 0.2", "0.3"),
        ("12.50 + 2", "14.50"),
        ("1.10 * 1.1", "1.210"),
        ("5.00 - 5", "0.00"),
        ("2 * 3.0", "6.0"),
        ("-(1.50)", "-1.50"),
        ("0.0 * -3", "0.0"),
        ("123456789012345678901234567890 * 1000000007 + 1",
         "123456789876543201987654320198641975231"),
        ("9999999999999999999999.99 + 0.01", "10000000000000000000000.00"),
        ("0.000000000000000000001 * 0.1", "0.0000000000000000000001"),
        ("1_000 + 1", "1001"),
        ("1 == 1.00", "true"),
        ("7.50 % 2", "1.50"),
    )  # fmt: skip


@test(SUITE, "division, remainder and rounding half to even")
def division(t):
    t.expressions(
        ("10 / 4", "2.5"),
        ("6 / 3", "2.0"),
        ("1 / 3", "0.333333333333"),
        ("2 / 3", "0.666666666667"),
        ("-2 / 3", "-0.666666666667"),
        ("0.0000000000005 / 1", "0.0"),
        ("0.0000000000015 / 1", "0.000000000002"),
        ("0.0000000000025 / 1", "0.000000000002"),
        ("100 / 0.5", "200.0"),
        ("-7 // 2", "-4"),
        ("7.5 // 2", "3"),
        ("-7 % 3", "2"),
        ("7 % -3", "-2"),
        ("-0.5 % 2", "1.5"),
        ("round(2.5)", "2"),
        ("round(3.5)", "4"),
        ("round(-2.5)", "-2"),
        ("round(2.345, 2)", "2.34"),
        ("round(2.355, 2)", "2.36"),
        ("round(7, 2)", "7.00"),
        ("round(-0.04, 1)", "0.0"),
        ("floor(-1.5)", "-2"),
        ("ceil(-1.5)", "-1"),
        ("ceil(1.01)", "2"),
        ("abs(-3.20)", "3.20"),
        ("sign(-0.5)", "-1"),
        ("sign(0.0)", "0"),
        ("typeof(round(1.5))", '"int"'),
    )
    t.query_fails("value", 'from "one.csv" | derive x = 1 ^// (one - 1)')
    t.query_fails("value", 'from "one.csv" | derive x = one ^% 0.0')
    t.query_fails("value", 'from "one.csv" | derive x = ^round(one, -1)')


@test(SUITE, "null follows three-valued logic")
def three_valued(t):
    t.expressions(
        ("null and false", "false"),
        ("null and true", "null"),
        ("null or true", "true"),
        ("null or false", "null"),
        ("not null", "null"),
        ("null == null", "null"),
        ("null is null", "true"),
        ("1 is not null", "true"),
        ("1 + null", "null"),
        ('"a" ++ null', "null"),
        ("-null", "null"),
        ("null ?? 3 + 1", "4"),
        ("1 in [2, null]", "null"),
        ("2 in [2, null]", "true"),
        ("3 not in [1, 2]", "true"),
        ("3 not in [1, null]", "null"),
        ("null in []", "false"),
        ("null in [1]", "null"),
        ("5 between null and 4", "false"),
        ("5 between null and 6", "null"),
        ("5 not between 1 and 4", "true"),
        ("if(null, 1, 2)", "2"),
    )


@test(SUITE, "operator precedence, associativity and evaluation of only what is needed")
def precedence(t):
    t.expressions(
        ("2 + 3 * 4", "14"),
        ("(2 + 3) * 4", "20"),
        ("10 - 4 - 3", "3"),
        ("100 // 10 // 3", "3"),
        ("-2 * -3", "6"),
        ("not true or true", "true"),
        ("true or true and false", "true"),
        ("not 1 == 2", "true"),
        ('1 + 1 == 2 and "a" ++ "b" == "ab"', "true"),
        ("null ?? 1 == 1", "true"),
        ("(1 == 2) == false", "true"),
        ("3 between 1 + 1 and 2 * 2 and true", "true"),
        ("-[1, 2][2] + 5", "3"),
        ("false and 1 / 0 == 1", "false"),
        ("true or 1 / 0 == 1", "true"),
        ("1 ?? 1 / 0", "1"),
        ("if(true, 1, 1 / 0)", "1"),
        ("coalesce(null, 2, 1 / 0)", "2"),
        ("case when false then 1 / 0 when true then 5 else 1 / 0 end", "5"),
        ("case when null then 1 end", "null"),
    )
    t.query_fails("value", 'from "one.csv" | derive x = null and 1 ^/ 0 == 1')
    t.query_fails("syntax", 'from "one.csv" | derive x = 1 == 1 ^== 1')
    t.query_fails("syntax", 'from "one.csv" | derive x = 1 < 2 ^is not null')


@test(SUITE, "text functions")
def text_functions(t):
    t.expressions(
        ('upper("tide")', '"TIDE"'),
        ('lower("ÄB")', '"äb"'),
        ('trim("  a b ")', '"a b"'),
        ('length("héllo")', "5"),
        ('substr("tidequery", 5)', '"query"'),
        ('substr("tidequery", 1, 4)', '"tide"'),
        ('substr("tidequery", -5, 2)', '"qu"'),
        ('substr("abc", 3, 10)', '"c"'),
        ('substr("abc", 9)', '""'),
        ('replace("a-b-c", "-", "+")', '"a+b+c"'),
        ('split("a,,b", ",")', '["a","","b"]'),
        ('contains("abc", "bc")', "true"),
        ('starts_with("abc", "b")', "false"),
        ('ends_with("abc", "bc")', "true"),
        ('pad_left("7", 3, "0")', '"007"'),
        ('pad_right("ab", 4) ++ "|"', '"ab  |"'),
        ('pad_left("long", 2)', '"long"'),
        ('implode([1, null, "x", 2.50, @2024-01-02], "/")', '"1/x/2.50/2024-01-02"'),
        ('upper(null)', "null"),
        ('substr("abc", null)', "null"),
    )
    t.query_fails("value", 'from "one.csv" | derive x = 1 + length(^split("abc", ""))')


@test(SUITE, "text literals, escapes and like")
def text_literals(t):
    t.expressions(
        (r'"a\"b\\c"', r'"a\"b\\c"'),
        (r"'it\'s'", '"it\'s"'),
        (r'"tab\tnew\nline"', r'"tab\tnew\nline"'),
        (r'"\u{e9}\u{1F30A}"', '"é🌊"'),
        ("""'say "hi"'""", r'"say \"hi\""'),
        ('"a # b | c"', '"a # b | c"'),
        ('"invoice-17" like "inv%-__"', "true"),
        ('"invoice-17" like "voice%"', "false"),
        ('"Abc" like "abc"', "false"),
        ('"a.c" like "abc"', "false"),
        (r'"50%" like "50\\%"', "true"),
        (r'"505" like "50\\%"', "false"),
        (r'"a\nb" like "a_b"', "true"),
        ('"x" not like "y%"', "true"),
        ('null like "%"', "null"),
    )


@test(SUITE, "dates and calendar functions")
def dates(t):
    t.expressions(
        ("@2024-02-28 + 2", '"2024-03-01"'),
        ("@2024-01-01 - 1", '"2023-12-31"'),
        ("@2024-03-01 - @2024-02-01", "29"),
        ("@2024-01-02 > @2023-12-31", "true"),
        ("year(@2024-11-09)", "2024"),
        ("quarter(@2024-11-09)", "4"),
        ("quarter(@2024-03-31)", "1"),
        ("month(@2024-11-09)", "11"),
        ("day(@2024-11-09)", "9"),
        ("weekday(@2024-11-10)", "7"),
        ("weekday(@2024-11-11)", "1"),
        ("add_months(@2024-01-31, 1)", '"2024-02-29"'),
        ("add_months(@2024-03-31, -13)", '"2023-02-28"'),
        ("add_months(@2023-12-15, 1)", '"2024-01-15"'),
        ('trunc_date(@2024-11-10, "week")', '"2024-11-04"'),
        ('trunc_date(@2024-11-10, "month")', '"2024-11-01"'),
        ('trunc_date(@2024-11-10, "quarter")', '"2024-10-01"'),
        ('trunc_date(@2024-11-10, "year")', '"2024-01-01"'),
        ('format_date(@2024-03-05, "DD.MM.YYYY (D)")', '"05.03.2024 (D)"'),
        ("date_of(2023, 2, 29)", "null"),
        ("date_of(2024, 2, 29)", '"2024-02-29"'),
    )
    t.query_fails("value", 'from "one.csv" | derive x = ^trunc_date(@2024-01-01, "day")')
    t.query_fails("syntax", 'from "one.csv" | derive x = ^@2023-02-29')


@test(SUITE, "conversions between kinds")
def conversions(t):
    t.expressions(
        ("to_int(-2.9)", "-2"),
        ("to_int(true)", "1"),
        ('to_int("42")', "42"),
        ('to_int("042")', "null"),
        ('to_int("4.0")', "null"),
        ("to_decimal(3)", "3.0"),
        ('to_decimal("3.10")', "3.10"),
        ('to_decimal("x")', "null"),
        ("to_text(1.50)", '"1.50"'),
        ("to_text(@2024-01-02)", '"2024-01-02"'),
        ('to_text([1, "a", null])', r'"[1,\"a\",null]"'),
        ("to_text(false)", '"false"'),
        ('to_date("2024-02-29")', '"2024-02-29"'),
        ('to_date("2023-02-29")', "null"),
        ('to_bool("true")', "true"),
        ("to_bool(0)", "false"),
        ("to_bool(2)", "null"),
        ("typeof(null)", '"null"'),
        ("typeof(1.0)", '"decimal"'),
        ("typeof(@2024-01-01)", '"date"'),
        ("typeof([])", '"list"'),
        ("to_int(null)", "null"),
    )


@test(SUITE, "lists, records, least and greatest")
def lists(t):
    t.write("r.jsonl", '{"r":{"b":{"c":1.50},"a":null},"l":[{"k":"v"}]}\n')
    t.expressions(
        ("[10, 20, 30][1]", "10"),
        ("[10, 20, 30][-1]", "30"),
        ("[10, 20, 30][4]", "null"),
        ("[10, 20, 30][0]", "null"),
        ("length([1, [2, 3]])", "2"),
        ("[1, [2, 3]][2][1]", "2"),
        ("contains([1, 2], 2.0)", "true"),
        ('contains([1, 2], "2")', "false"),
        ("[1, 2] == [1.0, 2]", "true"),
        ("least(3, null, 1.5)", "1.5"),
        ('greatest("a", "B")', '"a"'),
        ("greatest(null, null)", "null"),
        ("r.b.c", "1.50"),
        ("r.zzz", "null"),
        ("r.zzz.y", "null"),
        ("keys(r)", '["b","a"]'),
        ("l[1].k", '"v"'),
        ("r.b", '{"c":1.50}'),
        source="r.jsonl",
    )
    t.query_fails("type", 'from "r.jsonl" | select x = l^.k')
    t.query_fails("type", 'from "r.jsonl" | select x = r^[1]')


@test(SUITE, "operations on the wrong kinds are type errors at the operator")
def wrong_kinds(t):
    t.write("one.csv", "n,s,d\n1,a,2024-01-01\n")
    for marked in (
        "s ^++ n == s",
        "d ^+ 1.5 == d",
        "^upper(n) == s",
        "^n + 1",
        "n == 1 ^and n",
        "n ^not in [s]",
        "n ^between 0 and s",
        "[n] ^< [n]",
    ):
        t.query_fails("type", 'from "one.csv" | where ' + marked)
