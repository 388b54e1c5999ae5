"""The values of the language and what can be done with them.

=========  =======================================
kind       Python representation
=========  =======================================
null       ``None``
bool       ``bool``
int        ``int`` (any size)
decimal    ``decimal.Decimal`` with at least one fractional digit
text       ``str``
date       ``datetime.date``
list       ``list``
record     ``dict`` with text keys
=========  =======================================
"""

from __future__ import annotations

import datetime
import decimal
import json
import re
from decimal import Decimal
from typing import Any, List, Optional

from tidequery.errors import TideError

# Wide enough that sums and products of real data are never rounded.
CONTEXT = decimal.Context(
    prec=5000, rounding=decimal.ROUND_HALF_EVEN, Emax=999999, Emin=-999999
)
DIVISION_DIGITS = 12

INT_TEXT = re.compile(r"-?(?:0|[1-9][0-9]*)\Z")
DECIMAL_TEXT = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+\Z")
DATE_TEXT = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})\Z")


def kind_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    if isinstance(value, Decimal):
        return "decimal"
    if isinstance(value, str):
        return "text"
    if isinstance(value, datetime.date):
        return "date"
    if isinstance(value, list):
        return "list"
    return "record"


def is_number(value: Any) -> bool:
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


def family_of(value: Any) -> str:
    """The kind, with both number kinds taken together."""
    return "number" if is_number(value) else kind_of(value)


def type_error(message: str) -> TideError:
    return TideError("type", message)


def value_error(message: str) -> TideError:
    return TideError("value", message)


# --------------------------------------------------------------------- parsing


def parse_date(text: str) -> Optional[datetime.date]:
    match = DATE_TEXT.match(text)
    if match is None:
        return None
    try:
        return datetime.date(*(int(part) for part in match.groups()))
    except ValueError:
        return None


def parse_int(text: str) -> Optional[int]:
    return int(text) if INT_TEXT.match(text) else None


def parse_decimal(text: str) -> Optional[Decimal]:
    """A decimal, also from the text of an int."""
    if DECIMAL_TEXT.match(text):
        return unsigned_zero(Decimal(text))
    if INT_TEXT.match(text):
        return as_decimal(int(text))
    return None


def parse_bool(text: str) -> Optional[bool]:
    return {"true": True, "false": False}.get(text)


# --------------------------------------------------------------------- numbers


def with_digits(number: Decimal, digits: int) -> Decimal:
    """Round half to even to exactly this many fractional digits."""
    return number.quantize(Decimal(1).scaleb(-digits), context=CONTEXT)


def as_decimal(number: Any) -> Decimal:
    """An int or decimal as a decimal with at least one fractional digit."""
    result = number if isinstance(number, Decimal) else Decimal(number)
    if result.as_tuple().exponent > -1:
        result = with_digits(result, 1)
    return result


def trimmed(number: Decimal) -> Decimal:
    """Without trailing zeros, but with at least one fractional digit."""
    digits = -number.as_tuple().exponent
    plain = format(number, "f")
    kept = digits - (len(plain) - len(plain.rstrip("0"))) if digits > 0 else 0
    return with_digits(number, max(kept, 1))


def unsigned_zero(number: Any) -> Any:
    """Decimal arithmetic knows -0.0; the language does not."""
    if isinstance(number, Decimal) and number.is_zero() and number.is_signed():
        return number.copy_abs()
    return number


def divide(left: Any, right: Any) -> Decimal:
    """The quotient, rounded half to even to 12 digits, trailing zeros removed."""
    if right == 0:
        raise value_error("division by zero")
    top, bottom = Decimal(left), Decimal(right)
    top_exponent, bottom_exponent = top.as_tuple().exponent, bottom.as_tuple().exponent
    scale = max(0, -top_exponent, -bottom_exponent)
    numerator = int(top.scaleb(scale, CONTEXT)) * 10**DIVISION_DIGITS
    denominator = int(bottom.scaleb(scale, CONTEXT))
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    quotient, rest = divmod(numerator, denominator)
    if rest * 2 > denominator or (rest * 2 == denominator and quotient % 2):
        quotient += 1
    return unsigned_zero(trimmed(Decimal(quotient).scaleb(-DIVISION_DIGITS, CONTEXT)))


def floor_int(number: Any) -> int:
    if isinstance(number, int):
        return number
    return int(number.to_integral_value(decimal.ROUND_FLOOR, CONTEXT))


def ceil_int(number: Any) -> int:
    return -floor_int(-number)


def floor_divide(left: Any, right: Any) -> int:
    if right == 0:
        raise value_error("division by zero")
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    scale = max(-Decimal(v).as_tuple().exponent for v in (left, right))
    return int(Decimal(left).scaleb(scale, CONTEXT)) // int(
        Decimal(right).scaleb(scale, CONTEXT)
    )


def multiply(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    return unsigned_zero(CONTEXT.multiply(Decimal(left), Decimal(right)))


def add(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    return unsigned_zero(CONTEXT.add(Decimal(left), Decimal(right)))


def subtract(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        return left - right
    return unsigned_zero(CONTEXT.subtract(Decimal(left), Decimal(right)))


def modulo(left: Any, right: Any) -> Any:
    return subtract(left, multiply(right, floor_divide(left, right)))


def negate(number: Any) -> Any:
    return -number if isinstance(number, int) else unsigned_zero(CONTEXT.minus(number))


def round_number(number: Any, digits: int) -> Any:
    if digits < 0:
        raise value_error("round needs a number of digits that is not negative")
    rounded = with_digits(Decimal(number), digits)
    return int(rounded) if digits == 0 else unsigned_zero(rounded)


# ------------------------------------------------------------------ arithmetic


def shift_date(day: datetime.date, days: int) -> datetime.date:
    try:
        return day + datetime.timedelta(days=days)
    except OverflowError:
        raise value_error("the date is out of range") from None


def arithmetic(op: str, left: Any, right: Any) -> Any:
    """A binary operator on two values that are not null."""
    if op == "++":
        if isinstance(left, str) and isinstance(right, str):
            return left + right
    elif is_number(left) and is_number(right):
        return NUMBER_OPERATORS[op](left, right)
    elif isinstance(left, datetime.date) and op in "+-":
        if kind_of(right) == "int":
            return shift_date(left, right if op == "+" else -right)
        if op == "-" and isinstance(right, datetime.date):
            return (left - right).days
    raise type_error(f'"{op}" cannot be used on {kind_of(left)} and {kind_of(right)}')


NUMBER_OPERATORS = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "//": floor_divide,
    "%": modulo,
}

# ------------------------------------------------------------------ comparison

ORDERED_FAMILIES = ("number", "text", "bool", "date")


def require_comparable(left: Any, right: Any) -> None:
    if family_of(left) != family_of(right):
        raise type_error(f"cannot compare {kind_of(left)} with {kind_of(right)}")


def identity(value: Any) -> Any:
    """A hashable key: equal keys mean equal values, null equal to null."""
    if isinstance(value, list):
        return ("list", tuple(identity(item) for item in value))
    if isinstance(value, dict):
        return ("record", frozenset((k, identity(v)) for k, v in value.items()))
    return (family_of(value), value)


def equal(left: Any, right: Any) -> bool:
    """Equality of two values that are not null."""
    require_comparable(left, right)
    if isinstance(left, (list, dict)):
        return identity(left) == identity(right)
    return left == right


def compare(left: Any, right: Any) -> int:
    """-1, 0 or 1 for two values that are not null."""
    require_comparable(left, right)
    if family_of(left) not in ORDERED_FAMILIES:
        raise type_error(f"values of kind {kind_of(left)} have no order")
    return (left > right) - (left < right)


def same_ordered_family(values: List[Any]) -> None:
    """Check that values (none of them null) can be ordered among each other."""
    for value in values:
        require_comparable(values[0], value)
        if family_of(value) not in ORDERED_FAMILIES:
            raise type_error(f"values of kind {kind_of(value)} have no order")


# --------------------------------------------------------------------- writing


def plain(number: Any) -> str:
    return format(number, "f") if isinstance(number, Decimal) else str(number)


def to_json(value: Any) -> str:
    """Compact JSON; decimals keep their digits, dates are strings."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if is_number(value):
        return plain(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, datetime.date):
        return f'"{value.isoformat()}"'
    if isinstance(value, list):
        return "[" + ",".join(to_json(item) for item in value) + "]"
    return (
        "{"
        + ",".join(
            f"{json.dumps(key, ensure_ascii=False)}:{to_json(item)}"
            for key, item in value.items()
        )
        + "}"
    )


def to_text(value: Any) -> str:
    """The plain text of a value that is not null."""
    if isinstance(value, str):
        return value
    if isinstance(value, datetime.date):
        return value.isoformat()
    return to_json(value)
