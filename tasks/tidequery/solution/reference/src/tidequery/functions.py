"""The scalar functions of the language.

A function declares the kinds of its arguments; :func:`call` checks them and
gives null back when an argument is null, so that the implementations only see
values they can work with.
"""

from __future__ import annotations

import calendar
import datetime
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from tidequery import values
from tidequery.values import kind_of, type_error, value_error

NUMBER = ("int", "decimal")
TEXT = ("text",)
INT = ("int",)
DATE = ("date",)
LIST = ("list",)
ANY: Tuple[str, ...] = ()  # no restriction


class Function(NamedTuple):
    name: str
    kinds: Tuple[Tuple[str, ...], ...]
    required: int
    run: Callable[..., Any]
    sees_null: bool = False
    variadic: bool = False

    def accepts(self, count: int) -> bool:
        if count < self.required:
            return False
        return self.variadic or count <= len(self.kinds)


FUNCTIONS: Dict[str, Function] = {}

# Functions which the evaluator handles itself because they do not evaluate
# all their arguments: name -> (least, most) number of arguments.
LAZY_FUNCTIONS = {"if": (3, 3), "coalesce": (1, None)}


def function(
    *kinds: Tuple[str, ...],
    optional: int = 0,
    sees_null: bool = False,
    variadic: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated implementation under its own name."""

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        name = run.__name__.removeprefix("fn_")
        required = len(kinds) - optional
        FUNCTIONS[name] = Function(name, kinds, required, run, sees_null, variadic)
        return run

    return register


def call(entry: Function, args: Sequence[Any]) -> Any:
    if not entry.sees_null:
        for arg in args:
            if arg is None:
                return None
    for number, (arg, kinds) in enumerate(zip(args, entry.kinds), 1):
        if kinds and kind_of(arg) not in kinds:
            wanted = " or ".join(kinds)
            raise type_error(
                f"argument {number} of {entry.name} must be {wanted}, not {kind_of(arg)}"
            )
    return entry.run(*args)


# ------------------------------------------------------------------------ text


@function(TEXT)
def fn_upper(text: str) -> str:
    return text.upper()


@function(TEXT)
def fn_lower(text: str) -> str:
    return text.lower()


@function(TEXT)
def fn_trim(text: str) -> str:
    return text.strip()


@function(TEXT + LIST)
def fn_length(value: Any) -> int:
    return len(value)


@function(TEXT, INT, INT, optional=1)
def fn_substr(text: str, start: int, length: Optional[int] = None) -> str:
    if start == 0:
        raise value_error("substr counts from 1, or from -1 at the end")
    if length is not None and length < 0:
        raise value_error("the length for substr must not be negative")
    begin = start - 1 if start > 0 else max(len(text) + start, 0)
    return text[begin:] if length is None else text[begin : begin + length]


@function(TEXT, TEXT, TEXT)
def fn_replace(text: str, old: str, new: str) -> str:
    if not old:
        raise value_error("replace cannot look for an empty text")
    return text.replace(old, new)


@function(TEXT, TEXT)
def fn_split(text: str, separator: str) -> List[str]:
    if not separator:
        raise value_error("split needs a separator that is not empty")
    return text.split(separator)


@function(TEXT + LIST, ANY)
def fn_contains(container: Any, item: Any) -> bool:
    if isinstance(container, list):
        wanted = values.identity(item)
        return any(values.identity(value) == wanted for value in container)
    return require_text("contains", item) in container


def require_text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise type_error(f"argument 2 of {name} must be text, not {kind_of(value)}")
    return value


@function(TEXT, TEXT)
def fn_starts_with(text: str, prefix: str) -> bool:
    return text.startswith(prefix)


@function(TEXT, TEXT)
def fn_ends_with(text: str, suffix: str) -> bool:
    return text.endswith(suffix)


def one_char(fill: str) -> str:
    if len(fill) != 1:
        raise value_error("the fill text must be one character")
    return fill


@function(TEXT, INT, TEXT, optional=1)
def fn_pad_left(text: str, width: int, fill: str = " ") -> str:
    return text.rjust(width, one_char(fill))


@function(TEXT, INT, TEXT, optional=1)
def fn_pad_right(text: str, width: int, fill: str = " ") -> str:
    return text.ljust(width, one_char(fill))


@function(LIST, TEXT)
def fn_implode(items: List[Any], separator: str) -> str:
    return separator.join(values.to_text(item) for item in items if item is not None)


# --------------------------------------------------------------------- numbers


@function(NUMBER)
def fn_abs(number: Any) -> Any:
    return values.negate(number) if number < 0 else number


@function(NUMBER)
def fn_sign(number: Any) -> int:
    return (number > 0) - (number < 0)


@function(NUMBER, INT, optional=1)
def fn_round(number: Any, digits: int = 0) -> Any:
    return values.round_number(number, digits)


@function(NUMBER)
def fn_floor(number: Any) -> int:
    return values.floor_int(number)


@function(NUMBER)
def fn_ceil(number: Any) -> int:
    return values.ceil_int(number)


# ----------------------------------------------------------------------- dates


@function(DATE)
def fn_year(day: datetime.date) -> int:
    return day.year


@function(DATE)
def fn_quarter(day: datetime.date) -> int:
    return (day.month + 2) // 3


@function(DATE)
def fn_month(day: datetime.date) -> int:
    return day.month


@function(DATE)
def fn_day(day: datetime.date) -> int:
    return day.day


@function(DATE)
def fn_weekday(day: datetime.date) -> int:
    return day.isoweekday()


@function(DATE, INT)
def fn_add_months(day: datetime.date, months: int) -> datetime.date:
    year, month0 = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not datetime.MINYEAR <= year <= datetime.MAXYEAR:
        raise value_error("the date is out of range")
    last = calendar.monthrange(year, month0 + 1)[1]
    return datetime.date(year, month0 + 1, min(day.day, last))


@function(DATE, TEXT)
def fn_trunc_date(day: datetime.date, unit: str) -> datetime.date:
    if unit == "year":
        return day.replace(month=1, day=1)
    if unit == "quarter":
        return day.replace(month=fn_quarter(day) * 3 - 2, day=1)
    if unit == "month":
        return day.replace(day=1)
    if unit == "week":
        return values.shift_date(day, -day.weekday())
    raise value_error("trunc_date knows the units year, quarter, month and week")


@function(DATE, TEXT)
def fn_format_date(day: datetime.date, pattern: str) -> str:
    result, index = [], 0
    parts = {"YYYY": f"{day.year:04}", "MM": f"{day.month:02}", "DD": f"{day.day:02}"}
    while index < len(pattern):
        for code, text in parts.items():
            if pattern.startswith(code, index):
                result.append(text)
                index += len(code)
                break
        else:
            result.append(pattern[index])
            index += 1
    return "".join(result)


@function(INT, INT, INT)
def fn_date_of(year: int, month: int, day: int) -> Optional[datetime.date]:
    try:
        return datetime.date(year, month, day)
    except (ValueError, OverflowError):
        return None


# ----------------------------------------------------------------- conversions


@function(ANY)
def fn_to_int(value: Any) -> Optional[int]:
    if isinstance(value, (bool, int)):
        return int(value)
    if values.is_number(value):
        return int(value)
    return values.parse_int(value) if isinstance(value, str) else None


@function(ANY)
def fn_to_decimal(value: Any) -> Any:
    if values.is_number(value):
        return values.as_decimal(value)
    return values.parse_decimal(value) if isinstance(value, str) else None


@function(ANY)
def fn_to_text(value: Any) -> str:
    return values.to_text(value)


@function(ANY)
def fn_to_date(value: Any) -> Optional[datetime.date]:
    if isinstance(value, datetime.date):
        return value
    return values.parse_date(value) if isinstance(value, str) else None


@function(ANY)
def fn_to_bool(value: Any) -> Optional[bool]:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return {0: False, 1: True}.get(value)
    return values.parse_bool(value) if isinstance(value, str) else None


@function(ANY, sees_null=True)
def fn_typeof(value: Any) -> str:
    return kind_of(value)


# --------------------------------------------------------------------- general


def extreme(candidates: Sequence[Any], sign: int) -> Any:
    """The least (sign -1) or greatest (sign 1) value; nulls do not count."""
    best = None
    for value in candidates:
        if value is None:
            continue
        if best is None:
            values.compare(value, value)  # refuses kinds without an order
            best = value
        elif values.compare(value, best) * sign > 0:
            best = value
    return best


@function(ANY, sees_null=True, variadic=True)
def fn_least(*candidates: Any) -> Any:
    return extreme(candidates, -1)


@function(ANY, sees_null=True, variadic=True)
def fn_greatest(*candidates: Any) -> Any:
    return extreme(candidates, 1)


@function(("record",))
def fn_keys(record: Dict[str, Any]) -> List[str]:
    return list(record)
