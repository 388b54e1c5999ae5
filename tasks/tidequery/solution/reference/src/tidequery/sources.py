"""Reads CSV and JSON Lines data into tables."""

from __future__ import annotations

import json
import os
import sys
from decimal import Decimal
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from tidequery import values
from tidequery.errors import TideError

Row = Sequence[Any]
STDIN = "-"


class Table(NamedTuple):
    columns: List[str]
    rows: List[Row]


class ReadOptions(NamedTuple):
    """``None`` stands for "as the file name says" or the default."""

    format: Optional[str] = None
    delimiter: Optional[str] = None
    header: bool = True
    infer: bool = True
    missing: str = ""


FORMAT_OF_SUFFIX = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


def suffix_of(path: str) -> str:
    return os.path.splitext(path)[1].lower()


class Reader:
    """Reads sources; every source is read once, standard input too."""

    def __init__(self) -> None:
        self.contents: Dict[str, str] = {}
        self.tables: Dict[Tuple[str, ReadOptions], Table] = {}

    def read(self, label: str, base: str, options: ReadOptions) -> Table:
        """The table of a file; ``label`` is its name as the user wrote it."""
        path = label if label == STDIN else os.path.join(base, label)
        key = (path, options)
        if key not in self.tables:
            self.tables[key] = self.parse(label, path, options)
        return self.tables[key]

    def parse(self, label: str, path: str, options: ReadOptions) -> Table:
        suffix = suffix_of(path)
        format_name = self.format_of(path, options.format)
        if format_name is None:
            raise TideError(
                "data", f'the format of "{label}" is unknown; say with format = "csv" or "jsonl"'
            )
        text = self.content(label, path)
        if format_name == "jsonl":
            return read_jsonl(label, text)
        delimiter = options.delimiter or ("\t" if suffix == ".tsv" else ",")
        return CsvReader(label, text, delimiter, options).table()

    def format_of(self, path: str, given: Optional[str]) -> Optional[str]:
        return given or FORMAT_OF_SUFFIX.get(suffix_of(path))

    def content(self, label: str, path: str) -> str:
        if path not in self.contents:
            self.contents[path] = decode(label, read_bytes(label, path))
        return self.contents[path]


def read_bytes(label: str, path: str) -> bytes:
    try:
        if path == STDIN:
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TideError("data", f'cannot read "{label}": {reason}') from None


def decode(label: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TideError(
            "data", "the text is not valid UTF-8", data_file=label, data_line=line
        ) from None


# -------------------------------------------------------------------- JSON Lines


def json_float(text: str) -> Decimal:
    number = Decimal(text)
    if abs(number.adjusted()) > 4000:
        raise ValueError("number out of range")
    return values.unsigned_zero(values.as_decimal(number))


def refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def read_jsonl(label: str, text: str) -> Table:
    columns: Dict[str, int] = {}
    records: List[Dict[str, Any]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line, parse_float=json_float, parse_constant=refuse_constant)
        except (ValueError, RecursionError):
            raise TideError(
                "data", "this line is not valid JSON", data_file=label, data_line=number
            ) from None
        if not isinstance(record, dict):
            raise TideError(
                "data", "this line is not a JSON object", data_file=label, data_line=number
            )
        for key in record:
            columns.setdefault(key, len(columns))
        records.append(record)
    names = list(columns)
    return Table(names, [[record.get(name) for name in names] for record in records])


# --------------------------------------------------------------------------- CSV

# A cell and whether it was written in quotes.
Cell = Tuple[str, bool]


class CsvReader:
    def __init__(self, label: str, text: str, delimiter: str, options: ReadOptions) -> None:
        self.label = label
        self.lines = text.split("\n")
        self.delimiter = delimiter
        self.options = options
        self.number = 0  # of lines consumed so far

    def fail(self, message: str, line: int) -> TideError:
        return TideError("data", message, data_file=self.label, data_line=line)

    def table(self) -> Table:
        records = self.records()
        if not records:
            raise self.fail("the file has no header" if self.options.header else "the file is empty", 1)
        if self.options.header:
            columns = self.header(*records.pop(0))
        else:
            columns = [f"c{number}" for number in range(1, len(records[0][1]) + 1)]
        for line, cells in records:
            if len(cells) > len(columns):
                raise self.fail(f"{len(cells)} cells but only {len(columns)} columns", line)
            cells.extend([("", False)] * (len(columns) - len(cells)))
        typed = [self.column([cells[i] for _, cells in records]) for i in range(len(columns))]
        return Table(columns, list(zip(*typed)) if records else [])

    def header(self, line: int, cells: List[Cell]) -> List[str]:
        names: List[str] = []
        for number, (name, _) in enumerate(cells, 1):
            name = name or f"c{number}"
            if name in names:
                raise self.fail(f'duplicate column "{name}"', line)
            names.append(name)
        return names

    # ---------------------------------------------------------------- records

    def records(self) -> List[Tuple[int, List[Cell]]]:
        """All records with the number of the line each one starts on."""
        result: List[Tuple[int, List[Cell]]] = []
        while self.number < len(self.lines):
            start = self.number + 1
            line = self.lines[self.number]
            self.number += 1
            if not line.rstrip("\r"):
                continue
            if '"' in line:
                result.append((start, self.quoted_record(line, start)))
            else:
                cells = line.removesuffix("\r").split(self.delimiter)
                result.append((start, [(cell, False) for cell in cells]))
        return result

    def quoted_record(self, line: str, start: int) -> List[Cell]:
        """A record with quotes in it; it may go on over further lines."""
        cells: List[Cell] = []
        index = 0
        while True:
            if not line.startswith('"', index):
                stop = line.find(self.delimiter, index)
                if stop < 0:
                    cells.append((line[index:].removesuffix("\r"), False))
                    return cells
                cells.append((line[index:stop], False))
                index = stop + 1
                continue
            text, line, index = self.quoted_cell(line, index + 1, start)
            cells.append((text, True))
            if line[index:] in ("", "\r"):
                return cells
            if not line.startswith(self.delimiter, index):
                raise self.fail("text after a closing quote", start)
            index += 1

    def quoted_cell(self, line: str, index: int, start: int) -> Tuple[str, str, int]:
        """The cell's text, the line it ends on and where it ends there."""
        parts: List[str] = []
        while True:
            stop = line.find('"', index)
            if stop < 0:
                parts.append(line[index:] + "\n")
                if self.number >= len(self.lines):
                    raise self.fail("a quoted cell is never closed", start)
                line, index = self.lines[self.number], 0
                self.number += 1
            elif line.startswith('""', stop):
                parts.append(line[index : stop + 1])
                index = stop + 2
            else:
                parts.append(line[index:stop])
                return "".join(parts), line, stop + 1

    # ------------------------------------------------------------------ types

    def column(self, cells: List[Cell]) -> List[Any]:
        """The typed values of one column."""
        nulls = ("", self.options.missing)
        texts = [
            None if text in nulls and not quoted else text for text, quoted in cells
        ]
        if not self.options.infer or all(text is None for text in texts):
            return texts
        for parse in CELL_PARSERS:
            typed = parse_all(parse, texts)
            if typed is not None:
                return typed
        return texts


CELL_PARSERS: Tuple[Callable[[str], Any], ...] = (
    values.parse_int,
    values.parse_decimal,
    values.parse_bool,
    values.parse_date,
)


def parse_all(parse: Callable[[str], Any], texts: List[Optional[str]]) -> Optional[List[Any]]:
    """All values parsed, or None as soon as one cannot be."""
    result: List[Any] = []
    for text in texts:
        value = None if text is None else parse(text)
        if value is None and text is not None:
            return None
        result.append(value)
    return result


def infer_text(text: str) -> Any:
    """One text by itself, typed like a CSV cell."""
    for parse in CELL_PARSERS:
        value = parse(text)
        if value is not None:
            return value
    return text


def schema_of(table: Table, is_csv: bool) -> Table:
    """A table which describes the columns of a table."""
    rows: List[Row] = []
    for index, name in enumerate(table.columns):
        column = [row[index] for row in table.rows]
        present = [value for value in column if value is not None]
        kinds = {values.kind_of(value) for value in present}
        if not kinds:
            kind = "text" if is_csv else "null"
        elif len(kinds) == 1:
            kind = kinds.pop()
        else:
            kind = "decimal" if kinds == {"int", "decimal"} else "mixed"
        distinct = len({values.identity(value) for value in present})
        rows.append([name, kind, len(column) - len(present), distinct])
    return Table(["column", "type", "nulls", "distinct"], rows)
