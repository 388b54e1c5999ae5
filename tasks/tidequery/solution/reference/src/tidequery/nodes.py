"""The syntax tree of queries and definitions."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from tidequery.errors import Position


class Node:
    """Base of all nodes: the annotated names of a class are its fields.

    Fields of base classes come first; a value in the class body is the
    default.  This is what dataclasses do, but the program starts noticeably
    faster without generating code for some thirty of them.
    """

    fields: Tuple[str, ...] = ()

    def __init_subclass__(cls) -> None:
        cls.fields = cls.fields + tuple(cls.__dict__.get("__annotations__", ()))

    def __init__(self, *values: Any, **named: Any) -> None:
        if len(values) > len(self.fields):
            raise TypeError(f"{type(self).__name__} has only {len(self.fields)} fields")
        self.__dict__.update(zip(self.fields, values), **named)
        for name in self.fields:
            if not hasattr(self, name):
                raise TypeError(f"{type(self).__name__} needs the field {name}")


# ---------------------------------------------------------------- expressions


class Expr(Node):
    """``position`` is the place errors of this node are reported at,
    ``start`` is where its first token stands."""

    position: Position
    start: Position


class Literal(Expr):
    value: Any


class Column(Expr):
    name: str


class Param(Expr):
    name: str


class ListExpr(Expr):
    items: List[Expr]


class Unary(Expr):
    op: str  # "-" or "not"
    operand: Expr


class Binary(Expr):
    op: str
    left: Expr
    right: Expr


class IsNull(Expr):
    operand: Expr
    negated: bool


class InList(Expr):
    operand: Expr
    container: Expr
    negated: bool


class Between(Expr):
    operand: Expr
    low: Expr
    high: Expr
    negated: bool


class Like(Expr):
    operand: Expr
    pattern: Expr
    negated: bool


class Field(Expr):
    operand: Expr
    name: str


class Index(Expr):
    operand: Expr
    index: Expr


class Case(Expr):
    branches: List[Tuple[Expr, Expr]]
    otherwise: Optional[Expr]


class Call(Expr):
    name: str
    args: List[Expr]
    distinct: bool = False
    condition: Optional[Expr] = None


# --------------------------------------------------------------------- stages


class Assign(Node):
    """``name = expr``; ``bare`` when only a column name was written."""

    name: str
    expr: Expr
    position: Position
    bare: bool = False


class SortKey(Node):
    expr: Expr
    descending: bool
    nulls_first: bool


class Source(Node):
    """Where rows come from: exactly one of path, view or pipeline is set."""

    position: Position
    path: Optional[str] = None
    view: Optional[str] = None
    pipeline: Optional["Pipeline"] = None
    options: Sequence[Tuple[str, Any, Position]] = ()


class Stage(Node):
    position: Position


class From(Stage):
    source: Source


class Where(Stage):
    condition: Expr


class Derive(Stage):
    items: List[Assign]


class Select(Stage):
    items: List[Optional[Assign]]  # None stands for "*"
    star_positions: List[Position]


class Drop(Stage):
    names: List[Tuple[str, Position]]


class Rename(Stage):
    pairs: List[Tuple[str, str, Position, Position]]  # new, old and their places


class Sort(Stage):
    keys: List[SortKey]


class Limit(Stage):
    word: str  # "take" or "skip"
    count: Expr


class Group(Stage):
    keys: List[Assign]
    items: List[Assign]


class Join(Stage):
    kind: str
    source: Source
    alias: Optional[str]
    keys: List[Tuple[str, str, Position, Position]]  # left, right and their places


class Union(Stage):
    source: Source


class Distinct(Stage):
    names: List[Tuple[str, Position]]


class Unnest(Stage):
    column: str
    column_position: Position
    name: str  # of the element column
    name_position: Position
    index: Optional[Tuple[str, Position]]
    keep: bool


class Window(Stage):
    partition: List[Expr]
    keys: List[SortKey]
    items: List[Assign]


class Assert(Stage):
    condition: Expr
    message: Optional[str]


class Pipeline(Node):
    stages: List[Stage]


# ---------------------------------------------------------------- definitions


class ViewDef(Node):
    name: str
    pipeline: Pipeline
    position: Position


class FuncDef(Node):
    name: str
    params: List[Tuple[str, Position]]
    body: Expr
    position: Position


class ParamDef(Node):
    name: str
    type_name: Optional[str]
    default: Optional[Expr]
    position: Position
