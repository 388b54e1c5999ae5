"""Aggregate functions: many values in, one value out.

Every aggregate receives the list of values of a group which are left after
the ``where`` filter, the removal of nulls and ``distinct``.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, List, Tuple

from tidequery import values
from tidequery.functions import extreme
from tidequery.values import is_number, kind_of, type_error


def require_numbers(name: str, items: List[Any]) -> None:
    for item in items:
        if not is_number(item):
            raise type_error(f"{name} needs numbers, not {kind_of(item)}")


def agg_count(items: List[Any]) -> int:
    return len(items)


def agg_sum(items: List[Any]) -> Any:
    require_numbers("sum", items)
    return functools.reduce(values.add, items) if items else None


def agg_avg(items: List[Any]) -> Any:
    require_numbers("avg", items)
    return values.divide(agg_sum(items), len(items)) if items else None


def agg_min(items: List[Any]) -> Any:
    return extreme(items, -1)


def agg_max(items: List[Any]) -> Any:
    return extreme(items, 1)


def agg_first(items: List[Any]) -> Any:
    return items[0] if items else None


def agg_last(items: List[Any]) -> Any:
    return items[-1] if items else None


def agg_median(items: List[Any]) -> Any:
    require_numbers("median", items)
    if not items:
        return None
    ordered = sorted(items)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return values.divide(values.add(ordered[middle - 1], ordered[middle]), 2)


def agg_list(items: List[Any]) -> List[Any]:
    return list(items)


def agg_joined(items: List[Any], separator: Any) -> Any:
    if not isinstance(separator, str):
        raise type_error(f"the separator of joined must be text, not {kind_of(separator)}")
    return separator.join(map(values.to_text, items)) if items else None


# name -> (least, most) number of arguments, implementation
AGGREGATES: Dict[str, Tuple[int, int, Callable[..., Any]]] = {
    "count": (0, 1, agg_count),
    "sum": (1, 1, agg_sum),
    "avg": (1, 1, agg_avg),
    "min": (1, 1, agg_min),
    "max": (1, 1, agg_max),
    "first": (1, 1, agg_first),
    "last": (1, 1, agg_last),
    "median": (1, 1, agg_median),
    "list": (1, 1, agg_list),
    "joined": (2, 2, agg_joined),
}


def distinct_values(items: List[Any]) -> List[Any]:
    """The first of each set of equal values, in order."""
    seen = {}
    for item in items:
        seen.setdefault(values.identity(item), item)
    return list(seen.values())
