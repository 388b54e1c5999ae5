import unittest
from decimal import Decimal

from tidequery import values
from tidequery.errors import TideError, edit_distance, suggestion


class Arithmetic(unittest.TestCase):
    def test_digits_are_kept(self):
        self.assertEqual(values.plain(values.add(Decimal("12.50"), 2)), "14.50")
        self.assertEqual(values.plain(values.multiply(Decimal("1.10"), Decimal("1.1"))), "1.210")

    def test_division_rounds_half_to_even(self):
        self.assertEqual(values.plain(values.divide(10, 4)), "2.5")
        self.assertEqual(values.plain(values.divide(6, 3)), "2.0")
        self.assertEqual(values.plain(values.divide(Decimal("0.0000000000015"), 1)), "0.000000000002")
        self.assertEqual(values.plain(values.divide(Decimal("0.0000000000025"), 1)), "0.000000000002")

    def test_floor_division_and_remainder(self):
        self.assertEqual(values.floor_divide(-7, 2), -4)
        self.assertEqual(values.floor_divide(Decimal("7.5"), 2), 3)
        self.assertEqual(values.modulo(7, -3), -2)

    def test_division_by_zero(self):
        with self.assertRaises(TideError) as caught:
            values.divide(1, 0)
        self.assertEqual(caught.exception.kind, "value")

    def test_no_negative_zero(self):
        self.assertEqual(values.plain(values.multiply(Decimal("0.0"), -3)), "0.0")
        self.assertEqual(values.plain(values.round_number(Decimal("-0.04"), 1)), "0.0")


class Comparison(unittest.TestCase):
    def test_numbers_compare_by_value(self):
        self.assertTrue(values.equal(1, Decimal("1.0")))
        self.assertEqual(values.identity([1]), values.identity([Decimal("1.0")]))

    def test_bools_are_not_numbers(self):
        self.assertNotEqual(values.identity(True), values.identity(1))
        with self.assertRaises(TideError):
            values.compare(True, 1)


class Suggestions(unittest.TestCase):
    def test_distance(self):
        self.assertEqual(edit_distance("lenght", "length"), 2)
        self.assertEqual(edit_distance("", "abc"), 3)

    def test_nearest_name_wins_and_ties_go_by_code_point(self):
        self.assertIn('"amound"', suggestion("amoun", ["amount", "amound", "x"]))
        self.assertEqual(suggestion("far", ["entirely"]), "")


if __name__ == "__main__":
    unittest.main()
