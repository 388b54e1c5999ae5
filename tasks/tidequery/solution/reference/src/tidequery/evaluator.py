"""Compiles expressions to Python closures.

Names are resolved while compiling, so that a query with an unknown column,
function or parameter is refused before a single row is processed.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

from tidequery import nodes, values
from tidequery.aggregates import AGGREGATES
from tidequery.errors import Position, TideError, unknown
from tidequery.functions import FUNCTIONS, LAZY_FUNCTIONS, Function, call
from tidequery.values import kind_of, type_error
from tidequery.windows import WINDOWS

Row = Sequence[Any]
Evaluate = Callable[[Row], Any]

BUILTIN_NAMES = frozenset(FUNCTIONS) | set(LAZY_FUNCTIONS) | set(AGGREGATES) | set(WINDOWS)


class Environment:
    """What expressions can refer to besides columns."""

    def __init__(
        self, params: Dict[str, Any], functions: Dict[str, nodes.FuncDef]
    ) -> None:
        self.params = params
        self.functions = functions
        self.compiled: Dict[str, Evaluate] = {}
        self.in_progress: Set[str] = set()

    def function_body(self, name: str, position: Position) -> Evaluate:
        """The compiled body of a user function; its row is the argument list."""
        if name in self.in_progress:
            raise TideError("name", f'function "{name}" calls itself', position)
        if name not in self.compiled:
            definition = self.functions[name]
            self.in_progress.add(name)
            try:
                names = [param for param, _ in definition.params]
                self.compiled[name] = Compiler(self, names).compile(definition.body)
            finally:
                self.in_progress.discard(name)
        return self.compiled[name]


def truth(value: Any, position: Position) -> Optional[bool]:
    """The value of a condition: true, false or null."""
    if value is None or isinstance(value, bool):
        return value
    raise TideError("type", f"expected a bool, not {kind_of(value)}", position)


def like_matcher(pattern: str) -> "re.Pattern[str]":
    parts: List[str] = []
    index = 0
    while index < len(pattern):
        char = pattern[index]
        if char == "\\" and index + 1 < len(pattern):
            index += 1
            parts.append(re.escape(pattern[index]))
        elif char == "%":
            parts.append(".*")
        elif char == "_":
            parts.append(".")
        else:
            parts.append(re.escape(char))
        index += 1
    return re.compile("".join(parts), re.DOTALL)


def like(text: Any, pattern: Any) -> bool:
    if not isinstance(text, str) or not isinstance(pattern, str):
        raise type_error(f'"like" needs text, not {kind_of(text)} and {kind_of(pattern)}')
    return like_matcher(pattern).fullmatch(text) is not None


def is_in(value: Any, container: Any) -> Optional[bool]:
    if container is None:
        return None
    if not isinstance(container, list):
        raise type_error(f'"in" needs a list, not {kind_of(container)}')
    if value is None:
        return None if container else False
    saw_null = False
    for item in container:
        if item is None:
            saw_null = True
        elif values.equal(value, item):
            return True
    return None if saw_null else False


COMPARE_TESTS: Dict[str, Callable[[Any, Any], bool]] = {
    "==": values.equal,
    "!=": lambda left, right: not values.equal(left, right),
    "<": lambda left, right: values.compare(left, right) < 0,
    "<=": lambda left, right: values.compare(left, right) <= 0,
    ">": lambda left, right: values.compare(left, right) > 0,
    ">=": lambda left, right: values.compare(left, right) >= 0,
}


def logical_and(left: Optional[bool], right: Optional[bool]) -> Optional[bool]:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def negated(value: Optional[bool]) -> Optional[bool]:
    return None if value is None else not value


class Compiler:
    """Compiles expressions over rows with the given columns."""

    def __init__(self, env: Environment, columns: Sequence[str]) -> None:
        self.env = env
        self.columns = {name: index for index, name in enumerate(columns)}

    def compile(self, expr: nodes.Expr) -> Evaluate:
        return getattr(self, f"compile_{type(expr).__name__.lower()}")(expr)

    def condition(self, expr: nodes.Expr) -> Evaluate:
        """Like compile, but only true, false and null are allowed values."""
        evaluate, start = self.compile(expr), expr.start
        return lambda row: truth(evaluate(row), start)

    # ----------------------------------------------------------------- leaves

    def compile_literal(self, expr: nodes.Literal) -> Evaluate:
        value = expr.value
        return lambda row: value

    def compile_column(self, expr: nodes.Column) -> Evaluate:
        index = self.columns.get(expr.name)
        if index is None:
            raise unknown("column", expr.name, self.columns, expr.position)
        return lambda row: row[index]

    def compile_param(self, expr: nodes.Param) -> Evaluate:
        if expr.name not in self.env.params:
            raise unknown("parameter", expr.name, self.env.params, expr.position)
        value = self.env.params[expr.name]
        return lambda row: value

    def compile_listexpr(self, expr: nodes.ListExpr) -> Evaluate:
        items = [self.compile(item) for item in expr.items]
        return lambda row: [item(row) for item in items]

    # -------------------------------------------------------------- operators

    def compile_unary(self, expr: nodes.Unary) -> Evaluate:
        operand, place = self.compile(expr.operand), expr.position
        if expr.op == "not":
            return lambda row: negated(truth(operand(row), place))

        def minus(row: Row) -> Any:
            value = operand(row)
            if value is None:
                return None
            if not values.is_number(value):
                raise TideError("type", f'"-" cannot be used on {kind_of(value)}', place)
            return values.negate(value)

        return minus

    def compile_binary(self, expr: nodes.Binary) -> Evaluate:
        left, right = self.compile(expr.left), self.compile(expr.right)
        op, place = expr.op, expr.position
        if op == "??":
            return lambda row: right(row) if (value := left(row)) is None else value
        if op in ("and", "or"):
            return self.logical(op, left, right, place)
        test = COMPARE_TESTS.get(op)

        def apply(row: Row) -> Any:
            first, second = left(row), right(row)
            if first is None or second is None:
                return None
            try:
                if test is not None:
                    return test(first, second)
                return values.arithmetic(op, first, second)
            except TideError as error:
                raise error.at(place)

        return apply

    def logical(self, op: str, left: Evaluate, right: Evaluate, place: Position) -> Evaluate:
        decisive = op == "or"

        def apply(row: Row) -> Any:
            first = truth(left(row), place)
            if first is decisive:
                return decisive
            second = truth(right(row), place)
            if second is decisive:
                return decisive
            return None if first is None or second is None else not decisive

        return apply

    def compile_isnull(self, expr: nodes.IsNull) -> Evaluate:
        operand, inverse = self.compile(expr.operand), expr.negated
        return lambda row: (operand(row) is None) is not inverse

    def predicate(
        self, expr: Any, operands: Sequence[nodes.Expr], test: Callable[..., Any]
    ) -> Evaluate:
        """A three-valued test of some operands, possibly negated."""
        parts = [self.compile(operand) for operand in operands]
        inverse, place = expr.negated, expr.position

        def apply(row: Row) -> Any:
            try:
                result = test(*(part(row) for part in parts))
            except TideError as error:
                raise error.at(place)
            return negated(result) if inverse else result

        return apply

    def compile_inlist(self, expr: nodes.InList) -> Evaluate:
        return self.predicate(expr, (expr.operand, expr.container), is_in)

    def compile_like(self, expr: nodes.Like) -> Evaluate:
        def test(text: Any, pattern: Any) -> Optional[bool]:
            return None if text is None or pattern is None else like(text, pattern)

        return self.predicate(expr, (expr.operand, expr.pattern), test)

    def compile_between(self, expr: nodes.Between) -> Evaluate:
        def ordered(low: Any, high: Any) -> Optional[bool]:
            return None if low is None or high is None else values.compare(low, high) <= 0

        def test(value: Any, low: Any, high: Any) -> Optional[bool]:
            return logical_and(ordered(low, value), ordered(value, high))

        return self.predicate(expr, (expr.operand, expr.low, expr.high), test)

    def compile_field(self, expr: nodes.Field) -> Evaluate:
        operand, name, place = self.compile(expr.operand), expr.name, expr.position

        def get(row: Row) -> Any:
            record = operand(row)
            if record is None:
                return None
            if not isinstance(record, dict):
                raise TideError("type", f"{kind_of(record)} has no fields", place)
            return record.get(name)

        return get

    def compile_index(self, expr: nodes.Index) -> Evaluate:
        operand, index, place = self.compile(expr.operand), self.compile(expr.index), expr.position

        def get(row: Row) -> Any:
            items, number = operand(row), index(row)
            if items is None or number is None:
                return None
            if not isinstance(items, list) or kind_of(number) != "int":
                kinds = f"{kind_of(items)} and {kind_of(number)}"
                raise TideError("type", f"indexing needs a list and an int, not {kinds}", place)
            if 1 <= number <= len(items):
                return items[number - 1]
            return items[number] if -len(items) <= number < 0 else None

        return get

    def compile_case(self, expr: nodes.Case) -> Evaluate:
        branches = [(self.condition(test), self.compile(value)) for test, value in expr.branches]
        otherwise = self.compile(expr.otherwise) if expr.otherwise else lambda row: None

        def choose(row: Row) -> Any:
            for test, value in branches:
                if test(row):
                    return value(row)
            return otherwise(row)

        return choose

    # ------------------------------------------------------------------ calls

    def compile_call(self, expr: nodes.Call) -> Evaluate:
        name, place = expr.name, expr.position
        if expr.distinct or expr.condition is not None:
            raise TideError(
                "call", '"distinct" and "where" only go with aggregate functions', place
            )
        if name in LAZY_FUNCTIONS:
            return self.lazy_call(expr)
        if name in FUNCTIONS:
            return self.builtin_call(FUNCTIONS[name], expr)
        if name in self.env.functions:
            return self.user_call(self.env.functions[name], expr)
        if name in AGGREGATES:
            raise TideError("call", f'aggregate function "{name}" is not allowed here', place)
        if name in WINDOWS:
            raise TideError("call", f'window function "{name}" is not allowed here', place)
        raise unknown("function", name, BUILTIN_NAMES | set(self.env.functions), place)

    def wrong_count(self, expr: nodes.Call) -> TideError:
        return TideError(
            "call", f'function "{expr.name}" cannot take {len(expr.args)} arguments', expr.position
        )

    def check_count(self, expr: nodes.Call, least: int, most: Optional[int]) -> None:
        if len(expr.args) < least or (most is not None and len(expr.args) > most):
            raise self.wrong_count(expr)

    def lazy_call(self, expr: nodes.Call) -> Evaluate:
        self.check_count(expr, *LAZY_FUNCTIONS[expr.name])
        if expr.name == "if":
            test = self.condition(expr.args[0])
            yes, no = self.compile(expr.args[1]), self.compile(expr.args[2])
            return lambda row: yes(row) if test(row) else no(row)
        args = [self.compile(arg) for arg in expr.args]

        def coalesce(row: Row) -> Any:
            for arg in args:
                value = arg(row)
                if value is not None:
                    return value
            return None

        return coalesce

    def builtin_call(self, entry: Function, expr: nodes.Call) -> Evaluate:
        if not entry.accepts(len(expr.args)):
            raise self.wrong_count(expr)
        args, place = [self.compile(arg) for arg in expr.args], expr.position

        def apply(row: Row) -> Any:
            given = [arg(row) for arg in args]
            try:
                return call(entry, given)
            except TideError as error:
                raise error.at(place)

        return apply

    def user_call(self, definition: nodes.FuncDef, expr: nodes.Call) -> Evaluate:
        self.check_count(expr, len(definition.params), len(definition.params))
        args = [self.compile(arg) for arg in expr.args]
        body = self.env.function_body(expr.name, expr.position)
        return lambda row: body([arg(row) for arg in args])


class SlotCompiler(Compiler):
    """Compiles expressions in which some calls stand for computed values.

    Those calls are collected; the rows which the compiled expression is used
    on hold the visible columns first and then one value per collected call.
    """

    def __init__(
        self,
        env: Environment,
        columns: Sequence[str],
        inner_columns: Sequence[str],
    ) -> None:
        super().__init__(env, columns)
        self.inner = Compiler(env, inner_columns)
        self.slots: List[Any] = []

    def new_slot(self, slot: Any) -> Evaluate:
        index = len(self.columns) + len(self.slots)
        self.slots.append(slot)
        return lambda row: row[index]


class AggregateSlot:
    """One aggregate call, ready to run over the rows of a group."""

    def __init__(
        self,
        expr: nodes.Call,
        value: Optional[Evaluate],
        extra: List[Any],
        condition: Optional[Evaluate],
    ) -> None:
        self.run = AGGREGATES[expr.name][2]
        self.expr = expr
        self.value = value
        self.extra = extra
        self.condition = condition


class AggregateCompiler(SlotCompiler):
    """For ``aggregate``: group keys are visible, other columns only inside calls."""

    def compile_column(self, expr: nodes.Column) -> Evaluate:
        if expr.name not in self.columns and expr.name in self.inner.columns:
            raise TideError(
                "name",
                f'column "{expr.name}" is not a group key; use it inside an aggregate function',
                expr.position,
            )
        return super().compile_column(expr)

    def compile_call(self, expr: nodes.Call) -> Evaluate:
        if expr.name not in AGGREGATES:
            return super().compile_call(expr)
        least, most, _ = AGGREGATES[expr.name]
        self.check_count(expr, least, most)
        if expr.distinct and not expr.args:
            raise TideError("call", '"distinct" needs a value', expr.position)
        value = self.inner.compile(expr.args[0]) if expr.args else None
        constants = Compiler(self.env, ())
        extra = [constants.compile(arg)(()) for arg in expr.args[1:]]
        condition = self.inner.condition(expr.condition) if expr.condition else None
        return self.new_slot(AggregateSlot(expr, value, extra, condition))


class WindowSlot:
    """One window call, ready to run over the rows of a partition."""

    def __init__(self, expr: nodes.Call, args: List[Evaluate]) -> None:
        self.run = WINDOWS[expr.name][3]
        self.expr = expr
        self.args = args


class WindowCompiler(SlotCompiler):
    """For ``window``: window calls may stand anywhere in the expression."""

    def __init__(self, env: Environment, columns: Sequence[str], sorted_rows: bool) -> None:
        super().__init__(env, columns, columns)
        self.sorted_rows = sorted_rows

    def compile_call(self, expr: nodes.Call) -> Evaluate:
        if expr.name not in WINDOWS or expr.distinct or expr.condition is not None:
            return super().compile_call(expr)
        least, most, needs_sort, _ = WINDOWS[expr.name]
        self.check_count(expr, least, most)
        if needs_sort and not self.sorted_rows:
            raise TideError("call", f'"{expr.name}" needs a "sort" in the window', expr.position)
        return self.new_slot(WindowSlot(expr, [self.inner.compile(arg) for arg in expr.args]))


def compile_keys(
    compiler: Compiler, keys: Sequence[nodes.SortKey]
) -> List[Tuple[Evaluate, nodes.SortKey]]:
    return [(compiler.compile(key.expr), key) for key in keys]
