"""Window functions: one value per row of an ordered partition.

An implementation receives the number of rows, the sort identities of the rows
(equal identities are ties) and the already evaluated arguments, one list with
a value per row for each argument.  It gives back one value per row.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from tidequery import aggregates, values
from tidequery.functions import extreme
from tidequery.values import kind_of, value_error

Column = List[Any]


def win_row_number(ties: Column) -> Column:
    return list(range(1, len(ties) + 1))


def win_rank(ties: Column) -> Column:
    result: Column = []
    for number, tie in enumerate(ties, 1):
        same = number > 1 and tie == ties[number - 2]
        result.append(result[-1] if same else number)
    return result


def win_dense_rank(ties: Column) -> Column:
    result: Column = []
    for index, tie in enumerate(ties):
        if index == 0:
            result.append(1)
        else:
            result.append(result[-1] + (tie != ties[index - 1]))
    return result


def shifted(column: Column, counts: Optional[Column], default: Optional[Column], sign: int) -> Column:
    result: Column = []
    for index in range(len(column)):
        count = counts[index] if counts is not None else 1
        if kind_of(count) != "int" or count < 0:
            raise value_error("the distance must be an int that is not negative")
        other = index + sign * count
        if 0 <= other < len(column):
            result.append(column[other])
        else:
            result.append(default[index] if default is not None else None)
    return result


def win_lag(
    ties: Column, column: Column, counts: Optional[Column] = None, default: Optional[Column] = None
) -> Column:
    return shifted(column, counts, default, -1)


def win_lead(
    ties: Column, column: Column, counts: Optional[Column] = None, default: Optional[Column] = None
) -> Column:
    return shifted(column, counts, default, 1)


def win_first_value(ties: Column, column: Column) -> Column:
    return [column[0]] * len(column)


def win_last_value(ties: Column, column: Column) -> Column:
    return [column[-1]] * len(column)


def present(column: Column) -> Column:
    return [value for value in column if value is not None]


def win_total(ties: Column, column: Column) -> Column:
    return [aggregates.agg_sum(present(column))] * len(column)


def running(column: Column, step: Callable[[Any, Any], Any]) -> Column:
    """Fold the values so far; nulls change nothing."""
    result: Column = []
    so_far = None
    for value in column:
        if value is not None:
            so_far = step(so_far, value)
        result.append(so_far)
    return result


def win_running_sum(ties: Column, column: Column) -> Column:
    aggregates.require_numbers("running_sum", present(column))
    return running(column, lambda old, new: new if old is None else values.add(old, new))


def win_running_min(ties: Column, column: Column) -> Column:
    return running(column, lambda old, new: extreme((old, new), -1))


def win_running_max(ties: Column, column: Column) -> Column:
    return running(column, lambda old, new: extreme((old, new), 1))


def win_running_count(ties: Column, column: Optional[Column] = None) -> Column:
    if column is None:
        return win_row_number(ties)
    result: Column = []
    count = 0
    for value in column:
        count += value is not None
        result.append(count)
    return result


# name -> (least, most) number of arguments, needs "sort", implementation
WINDOWS: Dict[str, Tuple[int, int, bool, Callable[..., Column]]] = {
    "row_number": (0, 0, False, win_row_number),
    "rank": (0, 0, True, win_rank),
    "dense_rank": (0, 0, True, win_dense_rank),
    "lag": (1, 3, False, win_lag),
    "lead": (1, 3, False, win_lead),
    "first_value": (1, 1, False, win_first_value),
    "last_value": (1, 1, False, win_last_value),
    "total": (1, 1, False, win_total),
    "running_sum": (1, 1, False, win_running_sum),
    "running_min": (1, 1, False, win_running_min),
    "running_max": (1, 1, False, win_running_max),
    "running_count": (0, 1, False, win_running_count),
}
