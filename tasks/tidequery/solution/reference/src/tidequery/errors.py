"""Errors that the program reports to its user.

Every error has a *kind*; the kind decides the exit status.  Errors which
belong to a place in a query text carry a :class:`Position`, errors which
belong to a line of a data file carry the file's name and that line.
"""

from __future__ import annotations

from typing import Iterable, NamedTuple, Optional

EXIT_QUERY = 1
EXIT_USAGE = 2
EXIT_DATA = 3
EXIT_RUNTIME = 4

EXIT_OF_KIND = {
    "syntax": EXIT_QUERY,
    "name": EXIT_QUERY,
    "call": EXIT_QUERY,
    "usage": EXIT_USAGE,
    "data": EXIT_DATA,
    "type": EXIT_RUNTIME,
    "value": EXIT_RUNTIME,
    "assert": EXIT_RUNTIME,
}


class SourceText(NamedTuple):
    """A named text: a query file, the text of ``-e`` or a project file."""

    label: str
    text: str
    base: str = ""  # the directory that file names in the text are relative to

    def line(self, number: int) -> str:
        lines = self.text.split("\n")
        return lines[number - 1] if 1 <= number <= len(lines) else ""


class Position(NamedTuple):
    """A place in a source text; line and column count from 1."""

    source: SourceText
    line: int
    column: int


class TideError(Exception):
    """An error with a kind, a message and optionally a place."""

    def __init__(
        self,
        kind: str,
        message: str,
        position: Optional[Position] = None,
        data_file: Optional[str] = None,
        data_line: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.position = position
        self.data_file = data_file
        self.data_line = data_line

    @property
    def exit_status(self) -> int:
        return EXIT_OF_KIND[self.kind]

    def at(self, position: Position) -> "TideError":
        """Fill in the position unless a more precise one is known already."""
        if self.position is None and self.data_file is None:
            self.position = position
        return self

    def render(self) -> str:
        """The text for standard error, without a final newline."""
        message = f"{self.kind} error: {self.message}"
        if self.position is not None:
            place = self.position
            head = f"{place.source.label}:{place.line}:{place.column}: {message}"
            source_line = place.source.line(place.line).replace("\t", " ")
            if not source_line.strip():
                return head
            return f"{head}\n  {source_line}\n  {' ' * (place.column - 1)}^"
        if self.data_file is not None:
            where = self.data_file
            if self.data_line is not None:
                where = f"{where}:{self.data_line}"
            return f"{where}: {message}"
        return f"tidequery: {message}"


def edit_distance(left: str, right: str) -> int:
    """Levenshtein distance of two words."""
    previous = list(range(len(right) + 1))
    for row, left_char in enumerate(left, 1):
        current = [row]
        for column, right_char in enumerate(right, 1):
            current.append(
                min(
                    previous[column] + 1,
                    current[column - 1] + 1,
                    previous[column - 1] + (left_char != right_char),
                )
            )
        previous = current
    return previous[-1]


def suggestion(name: str, known: Iterable[str]) -> str:
    """``' (did you mean "x"?)'`` for the nearest known name, or nothing."""
    best = min(
        ((edit_distance(name, other), other) for other in set(known)),
        default=None,
    )
    if best is None or best[0] > 2:
        return ""
    return f' (did you mean "{best[1]}"?)'


def unknown(what: str, name: str, known: Iterable[str], position: Position) -> TideError:
    """The error for a name that nothing defines."""
    return TideError("name", f'unknown {what} "{name}"{suggestion(name, known)}', position)
