"""Writes tables in the output formats."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, List

from tidequery.sources import Row, Table
from tidequery.values import is_number, to_json, to_text


def is_number_column(table: Table, index: int) -> bool:
    """True if the column has values besides null and all of them are numbers."""
    present = [row[index] for row in table.rows if row[index] is not None]
    return bool(present) and all(is_number(value) for value in present)


def table_cell(value: Any) -> str:
    if value is None:
        return "null"
    text = to_text(value)
    for char, escape in (("\\", "\\\\"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(char, escape)
    return text


def as_table(table: Table) -> str:
    count = len(table.columns)
    numeric = [is_number_column(table, index) for index in range(count)]
    cells = [[table_cell(value) for value in row] for row in table.rows]
    header = [table_cell(name) for name in table.columns]
    widths = [
        max(len(line[index]) for line in [header, *cells]) for index in range(count)
    ]

    def line(texts: List[str]) -> str:
        padded = [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(texts, widths, numeric)
        ]
        return " | ".join(padded).rstrip(" ")

    rule = "-+-".join("-" * width for width in widths)
    footer = "(1 row)" if len(cells) == 1 else f"({len(cells)} rows)"
    return "\n".join([line(header), rule, *map(line, cells), footer]) + "\n"


def csv_cell(value: Any) -> str:
    if value is None:
        return ""
    text = to_text(value)
    if text == "" or any(char in text for char in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def as_csv(table: Table) -> str:
    lines = [",".join(map(csv_cell, table.columns))]
    lines.extend(",".join(map(csv_cell, row)) for row in table.rows)
    return "\n".join(lines) + "\n"


def json_object(table: Table, row: Row) -> str:
    members = (
        f"{json.dumps(name, ensure_ascii=False)}:{to_json(value)}"
        for name, value in zip(table.columns, row)
    )
    return "{" + ",".join(members) + "}"


def as_jsonl(table: Table) -> str:
    return "".join(json_object(table, row) + "\n" for row in table.rows)


def as_json(table: Table) -> str:
    if not table.rows:
        return "[]\n"
    return "[\n" + ",\n".join(f"  {json_object(table, row)}" for row in table.rows) + "\n]\n"


def markdown_cell(value: Any) -> str:
    if value is None:
        return ""
    text = to_text(value).replace("\\", "\\\\").replace("|", "\\|")
    return text.replace("\r\n", "<br>").replace("\n", "<br>")


def as_markdown(table: Table) -> str:
    def line(texts: List[str]) -> str:
        return "| " + " | ".join(texts) + " |"

    marks = [
        "---:" if is_number_column(table, index) else "---"
        for index in range(len(table.columns))
    ]
    body = [line(list(map(markdown_cell, row))) for row in table.rows]
    return "\n".join([line(list(map(markdown_cell, table.columns))), line(marks), *body]) + "\n"


FORMATS: Dict[str, Callable[[Table], str]] = {
    "table": as_table,
    "csv": as_csv,
    "jsonl": as_jsonl,
    "json": as_json,
    "markdown": as_markdown,
}
