"""Writes syntax trees as canonical text."""

from __future__ import annotations

import datetime
import re
from typing import Any, List, Sequence

from tidequery import nodes
from tidequery.lexer import RESERVED
from tidequery.values import plain

PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

# Binding strength of the expression levels, weakest first.
OR, AND, NOT, COMPARE, COALESCE, SUM, PRODUCT, SIGN, POSTFIX = range(1, 10)
BINARY_LEVEL = {
    "or": OR, "and": AND, "??": COALESCE,
    "+": SUM, "-": SUM, "++": SUM,
    "*": PRODUCT, "/": PRODUCT, "//": PRODUCT, "%": PRODUCT,
}  # fmt: skip


def name_text(name: str) -> str:
    if PLAIN_NAME.match(name) and name not in RESERVED:
        return name
    return f"`{name}`"


def text_literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    for char, escape in (("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        escaped = escaped.replace(char, escape)
    return f'"{escaped}"'


def literal_text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return text_literal(value)
    if isinstance(value, datetime.date):
        return f"@{value.isoformat()}"
    return plain(value)


def level_of(expr: nodes.Expr) -> int:
    if isinstance(expr, nodes.Binary):
        return BINARY_LEVEL.get(expr.op, COMPARE)
    if isinstance(expr, nodes.Unary):
        return NOT if expr.op == "not" else SIGN
    if isinstance(expr, (nodes.IsNull, nodes.InList, nodes.Between, nodes.Like)):
        return COMPARE
    return POSTFIX


def at_level(expr: nodes.Expr, lowest: int) -> str:
    """The text of an operand, in parentheses if it binds weaker than allowed."""
    text = expr_text(expr)
    return text if level_of(expr) >= lowest else f"({text})"


def commas(exprs: Sequence[nodes.Expr]) -> str:
    return ", ".join(expr_text(expr) for expr in exprs)


def expr_text(expr: nodes.Expr) -> str:
    if isinstance(expr, nodes.Literal):
        return literal_text(expr.value)
    if isinstance(expr, nodes.Column):
        return name_text(expr.name)
    if isinstance(expr, nodes.Param):
        return f"${expr.name}"
    if isinstance(expr, nodes.ListExpr):
        return f"[{commas(expr.items)}]"
    if isinstance(expr, nodes.Binary):
        level = level_of(expr)
        # Left-associative levels take an operand of their own level on the
        # left; comparisons take none on either side.
        left = at_level(expr.left, level + (level == COMPARE))
        return f"{left} {expr.op} {at_level(expr.right, level + 1)}"
    if isinstance(expr, nodes.Unary):
        if expr.op == "not":
            return f"not {at_level(expr.operand, NOT)}"
        return f"-{at_level(expr.operand, SIGN)}"
    if isinstance(expr, nodes.Field):
        return f"{at_level(expr.operand, POSTFIX)}.{name_text(expr.name)}"
    if isinstance(expr, nodes.Index):
        return f"{at_level(expr.operand, POSTFIX)}[{expr_text(expr.index)}]"
    if isinstance(expr, nodes.Case):
        return case_text(expr)
    if isinstance(expr, nodes.Call):
        return call_text(expr)
    return predicate_text(expr)


def predicate_text(expr: nodes.Expr) -> str:
    left = at_level(expr.operand, COALESCE)
    inverse = "not " if expr.negated else ""
    if isinstance(expr, nodes.IsNull):
        return f"{left} is {inverse}null"
    if isinstance(expr, nodes.InList):
        return f"{left} {inverse}in {at_level(expr.container, COALESCE)}"
    if isinstance(expr, nodes.Like):
        return f"{left} {inverse}like {at_level(expr.pattern, COALESCE)}"
    low, high = at_level(expr.low, COALESCE), at_level(expr.high, COALESCE)
    return f"{left} {inverse}between {low} and {high}"


def case_text(expr: nodes.Case) -> str:
    parts = ["case"]
    for condition, value in expr.branches:
        parts.append(f"when {expr_text(condition)} then {expr_text(value)}")
    if expr.otherwise is not None:
        parts.append(f"else {expr_text(expr.otherwise)}")
    return " ".join(parts + ["end"])


def call_text(expr: nodes.Call) -> str:
    inside = ("distinct " if expr.distinct else "") + commas(expr.args)
    if expr.condition is not None:
        inside = f"{inside} where {expr_text(expr.condition)}".lstrip()
    return f"{name_text(expr.name)}({inside})"


# --------------------------------------------------------------------- stages


def assign_text(item: nodes.Assign) -> str:
    if item.bare:
        return name_text(item.name)
    return f"{name_text(item.name)} = {expr_text(item.expr)}"


def assigns_text(items: Sequence[nodes.Assign]) -> str:
    return ", ".join(assign_text(item) for item in items)


def sort_text(keys: Sequence[nodes.SortKey]) -> str:
    parts: List[str] = []
    for key in keys:
        parts.append(
            expr_text(key.expr)
            + (" desc" if key.descending else "")
            + (" nulls first" if key.nulls_first else "")
        )
    return "sort " + ", ".join(parts)


def source_text(source: nodes.Source) -> str:
    if source.pipeline is not None:
        return f"({pipeline_text(source.pipeline)})"
    if source.view is not None:
        return name_text(source.view)
    text = text_literal(source.path or "")
    if source.options:
        text += " with " + ", ".join(
            f"{name} = {literal_text(value)}" for name, value, _ in source.options
        )
    return text


def pair_text(left: str, right: str) -> str:
    return name_text(left) if left == right else f"{name_text(left)} = {name_text(right)}"


def names_text(names: Sequence[Any]) -> str:
    return ", ".join(name_text(name) for name, _ in names)


def stage_text(stage: nodes.Stage) -> str:
    if isinstance(stage, nodes.From):
        return f"from {source_text(stage.source)}"
    if isinstance(stage, nodes.Where):
        return f"where {expr_text(stage.condition)}"
    if isinstance(stage, nodes.Derive):
        return f"derive {assigns_text(stage.items)}"
    if isinstance(stage, nodes.Select):
        return "select " + ", ".join(
            "*" if item is None else assign_text(item) for item in stage.items
        )
    if isinstance(stage, nodes.Drop):
        return f"drop {names_text(stage.names)}"
    if isinstance(stage, nodes.Rename):
        return "rename " + ", ".join(
            f"{name_text(new)} = {name_text(old)}" for new, old, _, _ in stage.pairs
        )
    if isinstance(stage, nodes.Sort):
        return sort_text(stage.keys)
    if isinstance(stage, nodes.Limit):
        return f"{stage.word} {expr_text(stage.count)}"
    if isinstance(stage, nodes.Group):
        keys = f"group {assigns_text(stage.keys)} " if stage.keys else ""
        return f"{keys}aggregate {assigns_text(stage.items)}"
    if isinstance(stage, nodes.Join):
        alias = f" as {name_text(stage.alias)}" if stage.alias else ""
        keys = ", ".join(pair_text(left, right) for left, right, _, _ in stage.keys)
        return f"join {stage.kind} {source_text(stage.source)}{alias} on {keys}"
    if isinstance(stage, nodes.Union):
        return f"union {source_text(stage.source)}"
    if isinstance(stage, nodes.Distinct):
        return f"distinct {names_text(stage.names)}".rstrip()
    if isinstance(stage, nodes.Unnest):
        return unnest_text(stage)
    if isinstance(stage, nodes.Window):
        return window_text(stage)
    message = f", {text_literal(stage.message)}" if stage.message is not None else ""
    return f"assert {expr_text(stage.condition)}{message}"


def unnest_text(stage: nodes.Unnest) -> str:
    text = f"unnest {name_text(stage.column)}"
    if stage.name != stage.column:
        text += f" as {name_text(stage.name)}"
    if stage.index is not None:
        text += f" index {name_text(stage.index[0])}"
    return text + (" keep" if stage.keep else "")


def window_text(stage: nodes.Window) -> str:
    parts = ["window"]
    if stage.partition:
        parts.append(f"by {commas(stage.partition)}")
    if stage.keys:
        parts.append(sort_text(stage.keys))
    parts.append(f"derive {assigns_text(stage.items)}")
    return " ".join(parts)


def pipeline_text(pipeline: nodes.Pipeline) -> str:
    return " | ".join(stage_text(stage) for stage in pipeline.stages)


# ---------------------------------------------------------------- definitions


def definition_text(definition: Any) -> str:
    name = name_text(definition.name)
    if isinstance(definition, nodes.ViewDef):
        return f"view {name} = {pipeline_text(definition.pipeline)}"
    if isinstance(definition, nodes.FuncDef):
        params = names_text(definition.params)
        return f"def {name}({params}) = {expr_text(definition.body)}"
    type_part = f": {definition.type_name}" if definition.type_name else ""
    default = ""
    if definition.default is not None:
        default = f" = {expr_text(definition.default)}"
    return f"param {name}{type_part}{default}"
