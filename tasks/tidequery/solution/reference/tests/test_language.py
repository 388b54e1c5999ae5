import os
import tempfile
import unittest

from tidequery import parser, printer
from tidequery.errors import SourceText, TideError
from tidequery.evaluator import Environment
from tidequery.planner import Planner
from tidequery.sources import CsvReader, Reader, ReadOptions


def source(text):
    return SourceText("<test>", text)


def canonical(text):
    pipeline = parser.parse_query(source(text)).pipeline
    return printer.pipeline_text(pipeline)


class Printing(unittest.TestCase):
    def test_parentheses_are_minimal(self):
        self.assertEqual(
            canonical("from a|where ((x+1)*2>3) and (not(y or z))"),
            "from a | where (x + 1) * 2 > 3 and not (y or z)",
        )

    def test_canonical_text_is_stable(self):
        text = (
            'from "a.csv" with header = false | join left (from b | take 1) as c on k = `the key`'
            " | window by g sort d desc nulls first derive n = row_number()"
            ' | unnest t as u index i keep | assert n > 0, "bad \\"n\\""'
        )
        self.assertEqual(canonical(text), text)


class Errors(unittest.TestCase):
    def place(self, text):
        with self.assertRaises(TideError) as caught:
            parser.parse_query(source(text))
        position = caught.exception.position
        return position.line, position.column

    def test_token_that_cannot_be_accepted(self):
        self.assertEqual(self.place("from a\n| take 1.5"), (2, 8))

    def test_end_of_text_is_after_the_last_token(self):
        self.assertEqual(self.place("from a | where x >  # more\n"), (1, 19))


class Csv(unittest.TestCase):
    def read(self, text, **options):
        return CsvReader("x.csv", text, ",", ReadOptions(**options)).table()

    def test_quotes_tell_null_from_empty(self):
        self.assertEqual([list(row) for row in self.read('a,b\n"",\n').rows], [["", None]])

    def test_leading_zeros_are_text(self):
        self.assertEqual([list(row) for row in self.read("a,b\n007,1\n").rows], [["007", 1]])

    def test_line_of_a_bad_record(self):
        with self.assertRaises(TideError) as caught:
            self.read('a\n"x\ny"\n1,2\n')
        self.assertEqual(caught.exception.data_line, 4)


class Planning(unittest.TestCase):
    def run_query(self, text, data):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "d.csv"), "w", encoding="utf-8") as file:
                file.write(data)
            pipeline = parser.parse_query(SourceText("<test>", text, folder)).pipeline
            table = Planner(Environment({}, {}), {}, Reader()).plan(pipeline).table()
        return table.columns, [list(row) for row in table.rows]

    def test_group_in_order_of_appearance(self):
        self.assertEqual(
            self.run_query('from "d.csv" | group k aggregate n = count(v)', "k,v\nb,1\na,\nb,2\n"),
            (["k", "n"], [["b", 2], ["a", 0]]),
        )

    def test_window_keeps_row_order(self):
        self.assertEqual(
            self.run_query('from "d.csv" | window sort v derive s = running_sum(v)', "v\n3\n1\n"),
            (["v", "s"], [[3, 4], [1, 1]]),
        )


if __name__ == "__main__":
    unittest.main()
