"""Turns pipelines into plans: columns are resolved first, rows come later."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from tidequery import nodes, values
from tidequery.errors import Position, TideError, unknown
from tidequery.evaluator import (
    AggregateCompiler,
    AggregateSlot,
    Compiler,
    Environment,
    Evaluate,
    WindowCompiler,
    compile_keys,
)
from tidequery.aggregates import distinct_values
from tidequery.printer import expr_text
from tidequery.sources import Reader, ReadOptions, Row, Table

Rows = List[Row]
Transform = Callable[[Rows], Rows]
Keys = List[Tuple[Evaluate, nodes.SortKey]]


class Step(NamedTuple):
    """One planned stage: the columns after it and the work on the rows."""

    columns: List[str]
    run: Transform


class Plan(NamedTuple):
    steps: List[Step]

    @property
    def columns(self) -> List[str]:
        return self.steps[-1].columns

    def rows(self) -> Rows:
        rows: Rows = []
        for step in self.steps:
            rows = step.run(rows)
        return rows

    def table(self) -> Table:
        return Table(self.columns, self.rows())


def duplicate_column(name: str, position: Position) -> TideError:
    return TideError("name", f'duplicate column "{name}"', position)


def check_unique(names: Sequence[Tuple[str, Position]]) -> None:
    seen = set()
    for name, position in names:
        if name in seen:
            raise duplicate_column(name, position)
        seen.add(name)


def column_index(columns: Sequence[str], name: str, position: Position) -> int:
    if name not in columns:
        raise unknown("column", name, columns, position)
    return columns.index(name)


def assigned_columns(columns: Sequence[str], items: Sequence[nodes.Assign]) -> List[str]:
    """The columns after assignments: known names stay in place, new ones follow."""
    return list(dict.fromkeys([*columns, *(item.name for item in items)]))


class Planner:
    def __init__(
        self, env: Environment, views: Dict[str, nodes.ViewDef], reader: Reader
    ) -> None:
        self.env = env
        self.views = views
        self.reader = reader
        self.open_views: List[str] = []

    def plan(self, pipeline: nodes.Pipeline) -> Plan:
        steps: List[Step] = []
        columns: List[str] = []
        for stage in pipeline.stages:
            method = getattr(self, f"plan_{type(stage).__name__.lower()}")
            step = method(stage, columns)
            columns = step.columns
            steps.append(step)
        return Plan(steps)

    # ---------------------------------------------------------------- sources

    def source(self, source: nodes.Source) -> Plan:
        if source.pipeline is not None:
            return self.plan(source.pipeline)
        if source.view is not None:
            return self.view(source.view, source.position)
        options = read_options(source.options)
        base = source.position.source.base
        try:
            table = self.reader.read(source.path or "", base, options)
        except TideError as error:
            raise error.at(source.position)
        return Plan([Step(table.columns, lambda rows: list(table.rows))])

    def view(self, name: str, position: Position) -> Plan:
        if name not in self.views:
            raise unknown("view", name, self.views, position)
        if name in self.open_views:
            raise TideError("name", f'view "{name}" refers to itself', position)
        self.open_views.append(name)
        try:
            return self.plan(self.views[name].pipeline)
        finally:
            self.open_views.pop()

    def plan_from(self, stage: nodes.From, columns: List[str]) -> Step:
        plan = self.source(stage.source)
        return Step(plan.columns, lambda rows: plan.rows())

    # ----------------------------------------------------- one row at a time

    def plan_where(self, stage: nodes.Where, columns: List[str]) -> Step:
        test = Compiler(self.env, columns).condition(stage.condition)
        return Step(columns, lambda rows: [row for row in rows if test(row)])

    def plan_assert(self, stage: nodes.Assert, columns: List[str]) -> Step:
        test = Compiler(self.env, columns).condition(stage.condition)
        message = stage.message
        if message is None:
            message = expr_text(stage.condition)

        def run(rows: Rows) -> Rows:
            for number, row in enumerate(rows, 1):
                if test(row) is not True:
                    raise TideError("assert", f"row {number}: {message}", stage.position)
            return rows

        return Step(columns, run)

    def plan_derive(self, stage: nodes.Derive, columns: List[str]) -> Step:
        check_unique([(item.name, item.position) for item in stage.items])
        current = list(columns)
        actions: List[Tuple[int, Evaluate]] = []
        for item in stage.items:
            evaluate = Compiler(self.env, current).compile(item.expr)
            if item.name not in current:
                current.append(item.name)
            actions.append((current.index(item.name), evaluate))
        missing = len(current) - len(columns)

        def run(rows: Rows) -> Rows:
            result: Rows = []
            for row in rows:
                new = [*row, *([None] * missing)]
                for index, evaluate in actions:
                    new[index] = evaluate(new)
                result.append(new)
            return result

        return Step(current, run)

    def plan_select(self, stage: nodes.Select, columns: List[str]) -> Step:
        compiler = Compiler(self.env, columns)
        stars = iter(stage.star_positions)
        named = {item.name for item in stage.items if item is not None}
        outputs: List[Tuple[str, Position]] = []
        evaluators: List[Evaluate] = []
        for item in stage.items:
            if item is not None:
                outputs.append((item.name, item.position))
                evaluators.append(compiler.compile(item.expr))
                continue
            place = next(stars)
            for name in columns:
                if name not in named:
                    outputs.append((name, place))
                    evaluators.append(compiler.compile(nodes.Column(place, place, name)))
        check_unique(outputs)
        return Step(
            [name for name, _ in outputs],
            lambda rows: [[evaluate(row) for evaluate in evaluators] for row in rows],
        )

    def picking(self, names: List[str], indexes: List[int]) -> Step:
        return Step(names, lambda rows: [[row[index] for index in indexes] for row in rows])

    def plan_drop(self, stage: nodes.Drop, columns: List[str]) -> Step:
        check_unique(stage.names)
        dropped = {column_index(columns, name, place) for name, place in stage.names}
        kept = [index for index in range(len(columns)) if index not in dropped]
        if not kept:
            raise TideError("name", "no column would be left", stage.position)
        return self.picking([columns[index] for index in kept], kept)

    def plan_rename(self, stage: nodes.Rename, columns: List[str]) -> Step:
        check_unique([(old, place) for _, old, _, place in stage.pairs])
        check_unique([(new, place) for new, _, place, _ in stage.pairs])
        renamed = list(columns)
        for new, old, _, old_place in stage.pairs:
            renamed[column_index(columns, old, old_place)] = new
        for new, _, place, _ in stage.pairs:
            if renamed.count(new) > 1:
                raise duplicate_column(new, place)
        return Step(renamed, lambda rows: rows)

    def plan_unnest(self, stage: nodes.Unnest, columns: List[str]) -> Step:
        at = column_index(columns, stage.column, stage.column_position)
        placed = [(stage.name, stage.name_position)]
        if stage.index is not None:
            placed.append(stage.index)
        others = [*columns[:at], *columns[at + 1 :]]
        for name, place in placed:
            if name in others:
                raise duplicate_column(name, place)
        check_unique(placed)
        names = [name for name, _ in placed]
        result_columns = [*columns[:at], *names, *columns[at + 1 :]]

        def elements(value: Any) -> List[List[Any]]:
            if value is not None and not isinstance(value, list):
                raise TideError(
                    "type",
                    f"unnest needs a list, not {values.kind_of(value)}",
                    stage.column_position,
                )
            if not value:
                return [[None, None][: len(names)]] if stage.keep else []
            return [[item, number][: len(names)] for number, item in enumerate(value, 1)]

        def run(rows: Rows) -> Rows:
            return [
                [*row[:at], *cells, *row[at + 1 :]]
                for row in rows
                for cells in elements(row[at])
            ]

        return Step(result_columns, run)

    # -------------------------------------------------------- order and amount

    def plan_sort(self, stage: nodes.Sort, columns: List[str]) -> Step:
        keys = compile_keys(Compiler(self.env, columns), stage.keys)

        def run(rows: Rows) -> Rows:
            return [rows[index] for index in sorted_indexes(rows, range(len(rows)), keys)]

        return Step(columns, run)

    def plan_limit(self, stage: nodes.Limit, columns: List[str]) -> Step:
        evaluate = Compiler(self.env, ()).compile(stage.count)

        def run(rows: Rows) -> Rows:
            count = evaluate(())
            if values.kind_of(count) != "int" or count < 0:
                raise TideError(
                    "value",
                    f"{stage.word} needs an int that is not negative",
                    stage.count.position,
                )
            return rows[:count] if stage.word == "take" else rows[count:]

        return Step(columns, run)

    def plan_distinct(self, stage: nodes.Distinct, columns: List[str]) -> Step:
        check_unique(stage.names)
        indexes = [column_index(columns, name, place) for name, place in stage.names]
        indexes = indexes or list(range(len(columns)))

        def run(rows: Rows) -> Rows:
            kept: Dict[Any, Row] = {}
            for row in rows:
                kept.setdefault(tuple(values.identity(row[i]) for i in indexes), row)
            return list(kept.values())

        return Step(columns, run)

    # ------------------------------------------------------------ combinations

    def plan_union(self, stage: nodes.Union, columns: List[str]) -> Step:
        plan = self.source(stage.source)
        result = list(dict.fromkeys([*columns, *plan.columns]))
        order = [
            plan.columns.index(name) if name in plan.columns else None for name in result
        ]
        padding = [None] * (len(result) - len(columns))

        def run(rows: Rows) -> Rows:
            upper = [[*row, *padding] for row in rows]
            lower = [
                [None if index is None else row[index] for index in order]
                for row in plan.rows()
            ]
            return upper + lower

        return Step(result, run)

    def plan_join(self, stage: nodes.Join, columns: List[str]) -> Step:
        plan = self.source(stage.source)
        left_keys = [column_index(columns, name, place) for name, _, place, _ in stage.keys]
        right_keys = [
            column_index(plan.columns, name, place) for _, name, _, place in stage.keys
        ]
        carried = [
            index for index in range(len(plan.columns)) if index not in right_keys
        ]
        if stage.kind in ("semi", "anti"):
            carried = []
        result = list(columns)
        for index in carried:
            name = plan.columns[index]
            if name in result:
                name = f"{stage.alias or 'right'}_{name}"
            if name in result:
                raise duplicate_column(name, stage.position)
            result.append(name)

        def run(rows: Rows) -> Rows:
            matches: Dict[Any, Rows] = {}
            for right in plan.rows():
                key = join_key(right, right_keys)
                if key is not None:
                    matches.setdefault(key, []).append([right[i] for i in carried])
            joined: Rows = []
            for left in rows:
                found = matches.get(join_key(left, left_keys), [])
                if stage.kind in ("semi", "anti"):
                    if bool(found) == (stage.kind == "semi"):
                        joined.append(left)
                elif found:
                    joined.extend([*left, *right] for right in found)
                elif stage.kind == "left":
                    joined.append([*left, *([None] * len(carried))])
            return joined

        return Step(result, run)

    # ---------------------------------------------------------------- grouping

    def plan_group(self, stage: nodes.Group, columns: List[str]) -> Step:
        names = [(item.name, item.position) for item in [*stage.keys, *stage.items]]
        compiler = Compiler(self.env, columns)
        keys = [compiler.compile(key.expr) for key in stage.keys]
        check_unique(names)
        aggregate = AggregateCompiler(self.env, [key.name for key in stage.keys], columns)
        items = [aggregate.compile(item.expr) for item in stage.items]

        def run(rows: Rows) -> Rows:
            groups: Dict[Any, Tuple[List[Any], Rows]] = {}
            if not keys:
                groups[()] = ([], [])
            for row in rows:
                key = [evaluate(row) for evaluate in keys]
                identity = tuple(values.identity(value) for value in key)
                groups.setdefault(identity, (key, []))[1].append(row)
            result: Rows = []
            for key, members in groups.values():
                slots = [aggregate_value(slot, members) for slot in aggregate.slots]
                full = [*key, *slots]
                result.append([*key, *(evaluate(full) for evaluate in items)])
            return result

        return Step([name for name, _ in names], run)

    def plan_window(self, stage: nodes.Window, columns: List[str]) -> Step:
        check_unique([(item.name, item.position) for item in stage.items])
        compiler = Compiler(self.env, columns)
        partition = [compiler.compile(expr) for expr in stage.partition]
        keys = compile_keys(compiler, stage.keys)
        window = WindowCompiler(self.env, columns, bool(stage.keys))
        items = [window.compile(item.expr) for item in stage.items]
        result_columns = assigned_columns(columns, stage.items)
        targets = [result_columns.index(item.name) for item in stage.items]
        missing = len(result_columns) - len(columns)

        def run(rows: Rows) -> Rows:
            parts: Dict[Any, List[int]] = {}
            for index, row in enumerate(rows):
                key = tuple(values.identity(evaluate(row)) for evaluate in partition)
                parts.setdefault(key, []).append(index)
            slots: List[List[Any]] = [[] for _ in rows]
            for members in parts.values():
                ordered = sorted_indexes(rows, members, keys)
                ties = [
                    tuple(values.identity(evaluate(rows[i])) for evaluate, _ in keys)
                    for i in ordered
                ]
                for slot in window.slots:
                    for index, value in zip(ordered, window_column(slot, rows, ordered, ties)):
                        slots[index].append(value)
            result: Rows = []
            for row, extra in zip(rows, slots):
                full = [*row, *extra]
                new = [*row, *([None] * missing)]
                for target, evaluate in zip(targets, items):
                    new[target] = evaluate(full)
                result.append(new)
            return result

        return Step(result_columns, run)


# ---------------------------------------------------------------- work on rows


def join_key(row: Row, indexes: Sequence[int]) -> Optional[Tuple[Any, ...]]:
    """The identity of the key columns; no key when one of them is null."""
    key = tuple(values.identity(row[index]) for index in indexes)
    return None if any(row[index] is None for index in indexes) else key


def aggregate_value(slot: AggregateSlot, rows: Rows) -> Any:
    try:
        if slot.condition is not None:
            rows = [row for row in rows if slot.condition(row)]
        if slot.value is None:
            return slot.run(rows)
        items = [value for row in rows if (value := slot.value(row)) is not None]
        if slot.expr.distinct:
            items = distinct_values(items)
        return slot.run(items, *slot.extra)
    except TideError as error:
        raise error.at(slot.expr.position)


def window_column(slot: Any, rows: Rows, ordered: List[int], ties: List[Any]) -> List[Any]:
    args = [[evaluate(rows[index]) for index in ordered] for evaluate in slot.args]
    try:
        return slot.run(ties, *args)
    except TideError as error:
        raise error.at(slot.expr.position)


def sorted_indexes(rows: Rows, indexes: Sequence[int], keys: Keys) -> List[int]:
    """The row numbers in sorted order; equal rows keep their order.

    Python's sort is stable, so sorting by the last key first and by the first
    key last gives the wanted order.
    """
    result = list(indexes)
    columns = [{index: evaluate(rows[index]) for index in result} for evaluate, _ in keys]
    for column, (_, key) in zip(columns, keys):
        try:
            values.same_ordered_family([v for v in column.values() if v is not None])
        except TideError as error:
            raise error.at(key.expr.start)
    for column, (_, key) in reversed(list(zip(columns, keys))):
        nulls = [index for index in result if column[index] is None]
        present = [index for index in result if column[index] is not None]
        present.sort(key=column.__getitem__, reverse=key.descending)
        result = nulls + present if key.nulls_first else present + nulls
    return result


# -------------------------------------------------------------- source options


OPTION_KINDS = {
    "format": "text",
    "delimiter": "text",
    "header": "bool",
    "infer": "bool",
    "missing": "text",
}


def read_options(options: Sequence[Tuple[str, Any, Position]]) -> ReadOptions:
    given: Dict[str, Any] = {}
    for name, value, position in options:
        if name not in OPTION_KINDS:
            raise TideError("call", f'unknown option "{name}"', position)
        if name in given:
            raise TideError("call", f'option "{name}" is given twice', position)
        if values.kind_of(value) != OPTION_KINDS[name]:
            raise TideError("call", f'option "{name}" must be {OPTION_KINDS[name]}', position)
        if name == "format" and value not in ("csv", "jsonl"):
            raise TideError("call", 'option "format" must be "csv" or "jsonl"', position)
        if name == "delimiter" and (len(value) != 1 or value in '"\r\n'):
            raise TideError("call", 'option "delimiter" must be one character', position)
        given[name] = value
    return ReadOptions(**given)
