"""Turns query text into tokens."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, List, NamedTuple

from tidequery.errors import Position, SourceText, TideError
from tidequery.values import parse_date

RESERVED = frozenset(
    """and or not in is between like null true false case when then else end
    where derive sort aggregate distinct as by on with asc desc nulls""".split()
)

SYMBOLS = (
    "==", "!=", "<=", ">=", "??", "++", "//",
    "<", ">", "+", "-", "*", "/", "%", "=", "|", "(", ")", "[", "]", ",", ".", ";", ":",
)

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
NUMBER = re.compile(r"[0-9][0-9_]*(?:\.[0-9][0-9_]*)?")
DATE = re.compile(r"@[0-9]{4}-[0-9]{2}-[0-9]{2}")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'"}
UNICODE_ESCAPE = re.compile(r"\{([0-9A-Fa-f]{1,6})\}")


class Token(NamedTuple):
    """``kind`` is one of word, name, int, decimal, text, date, param, symbol, end.

    A *word* is a bare word (which may be reserved), a *name* was written in
    backticks and is never a keyword.
    """

    kind: str
    value: Any
    position: Position

    def describe(self) -> str:
        if self.kind == "end":
            return "the end of the text"
        if self.kind == "text":
            return "a text literal"
        if self.kind == "param":
            return f'"${self.value}"'
        return f'"{self.value}"'


class Lexer:
    """Scans one source text from front to back."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.text = source.text
        self.offset = 0
        self.line = 1
        self.line_start = 0
        self.after_last = Position(source, 1, 1)

    def position(self) -> Position:
        return Position(self.source, self.line, self.offset - self.line_start + 1)

    def fail(self, message: str, position: Position) -> TideError:
        return TideError("syntax", message, position)

    def advance(self, count: int) -> None:
        for _ in range(count):
            if self.text[self.offset] == "\n":
                self.line += 1
                self.line_start = self.offset + 1
            self.offset += 1

    def tokens(self) -> List[Token]:
        result: List[Token] = []
        while True:
            self.skip_blank()
            if self.offset >= len(self.text):
                result.append(Token("end", None, self.after_last))
                return result
            result.append(self.next_token())
            self.after_last = self.position()

    def skip_blank(self) -> None:
        while self.offset < len(self.text):
            char = self.text[self.offset]
            if char in " \t\r\n":
                self.advance(1)
            elif char == "#":
                while self.offset < len(self.text) and self.text[self.offset] != "\n":
                    self.advance(1)
            else:
                return

    def next_token(self) -> Token:
        start = self.position()
        char = self.text[self.offset]
        if char in "\"'":
            return Token("text", self.quoted_text(char, start), start)
        if char == "`":
            return Token("name", self.quoted_name(start), start)
        if char == "@":
            return Token("date", self.date(start), start)
        if char == "$":
            match = WORD.match(self.text, self.offset + 1)
            if match is None:
                raise self.fail('a parameter name must follow "$"', start)
            self.advance(1 + len(match.group()))
            return Token("param", match.group(), start)
        match = WORD.match(self.text, self.offset)
        if match is not None:
            self.advance(len(match.group()))
            return Token("word", match.group(), start)
        match = NUMBER.match(self.text, self.offset)
        if match is not None:
            return self.number(match.group(), start)
        for symbol in SYMBOLS:
            if self.text.startswith(symbol, self.offset):
                self.advance(len(symbol))
                return Token("symbol", symbol, start)
        raise self.fail(f'unexpected character "{char}"', start)

    def number(self, written: str, start: Position) -> Token:
        self.advance(len(written))
        if WORD.match(self.text, self.offset):
            raise self.fail("a number must not run into a word", start)
        digits = written.replace("_", "")
        if "." in digits:
            return Token("decimal", Decimal(digits), start)
        return Token("int", int(digits), start)

    def date(self, start: Position) -> Any:
        match = DATE.match(self.text, self.offset)
        value = parse_date(match.group()[1:]) if match else None
        if match is None or value is None:
            raise self.fail("a date is written @YYYY-MM-DD and must exist", start)
        self.advance(len(match.group()))
        return value

    def quoted_name(self, start: Position) -> str:
        stop = self.text.find("`", self.offset + 1)
        name = self.text[self.offset + 1 : stop] if stop > 0 else ""
        if stop < 0 or "\n" in name:
            raise self.fail("this backtick is never closed", start)
        if not name:
            raise self.fail("a name must not be empty", start)
        self.advance(len(name) + 2)
        return name

    def quoted_text(self, quote: str, start: Position) -> str:
        self.advance(1)
        parts: List[str] = []
        while True:
            if self.offset >= len(self.text) or self.text[self.offset] == "\n":
                raise self.fail("this text literal is never closed", start)
            char = self.text[self.offset]
            if char == quote:
                self.advance(1)
                return "".join(parts)
            if char == "\\":
                parts.append(self.escape())
            else:
                parts.append(char)
                self.advance(1)

    def escape(self) -> str:
        start = self.position()
        follower = self.text[self.offset + 1 : self.offset + 2]
        if follower in ESCAPES and follower:
            self.advance(2)
            return ESCAPES[follower]
        if follower == "u":
            match = UNICODE_ESCAPE.match(self.text, self.offset + 2)
            if match is not None:
                code = int(match.group(1), 16)
                if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
                    self.advance(2 + len(match.group()))
                    return chr(code)
        raise self.fail("unknown escape in a text literal", start)
