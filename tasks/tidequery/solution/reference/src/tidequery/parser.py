"""Recursive descent parser for queries and project files."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from tidequery import nodes
from tidequery.errors import Position, SourceText, TideError
from tidequery.lexer import RESERVED, Lexer, Token

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
JOIN_KINDS = ("inner", "left", "semi", "anti")
PARAM_TYPES = ("int", "decimal", "text", "bool", "date")


class Module:
    """The content of one text: definitions and, in a query, a pipeline."""

    def __init__(self) -> None:
        self.definitions: List[Any] = []
        self.pipeline: Optional[nodes.Pipeline] = None


def parse_query(source: SourceText) -> Module:
    return Parser(source).module(with_pipeline=True)


def parse_project(source: SourceText) -> Module:
    return Parser(source).module(with_pipeline=False)


class Parser:
    def __init__(self, source: SourceText) -> None:
        self.tokens = Lexer(source).tokens()
        self.index = 0

    # ---------------------------------------------------------- token helpers

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    def next(self) -> Token:
        token = self.token
        if token.kind != "end":
            self.index += 1
        return token

    def fail(self, expected: str) -> TideError:
        return TideError(
            "syntax",
            f"expected {expected} but found {self.token.describe()}",
            self.token.position,
        )

    def at_symbol(self, *symbols: str) -> bool:
        return self.token.kind == "symbol" and self.token.value in symbols

    def at_word(self, *words: str) -> bool:
        return self.token.kind == "word" and self.token.value in words

    def take_symbol(self, symbol: str) -> bool:
        if self.at_symbol(symbol):
            self.index += 1
            return True
        return False

    def take_word(self, word: str) -> bool:
        if self.at_word(word):
            self.index += 1
            return True
        return False

    def need_symbol(self, symbol: str) -> Token:
        if not self.at_symbol(symbol):
            raise self.fail(f'"{symbol}"')
        return self.next()

    def need_word(self, word: str) -> Token:
        if not self.at_word(word):
            raise self.fail(f'"{word}"')
        return self.next()

    def at_name(self) -> bool:
        token = self.token
        return token.kind == "name" or (
            token.kind == "word" and token.value not in RESERVED
        )

    def need_name(self, what: str) -> Token:
        if not self.at_name():
            raise self.fail(what)
        return self.next()

    # ------------------------------------------------------------ definitions

    def module(self, with_pipeline: bool) -> Module:
        result = Module()
        while self.token.kind != "end":
            if self.at_word("view", "def", "param"):
                result.definitions.append(self.definition())
                self.need_symbol(";")
            elif with_pipeline:
                break
            else:
                raise self.fail('"view", "def" or "param"')
        if with_pipeline:
            result.pipeline = self.pipeline()
            if self.token.kind != "end":
                raise self.fail('"|" or the end of the text')
        return result

    def definition(self) -> Any:
        word = self.next().value
        name = self.need_name("a name")
        if word == "view":
            self.need_symbol("=")
            return nodes.ViewDef(name.value, self.pipeline(), name.position)
        if word == "def":
            return self.function_definition(name)
        return self.param_definition(name)

    def function_definition(self, name: Token) -> nodes.FuncDef:
        params: List[Tuple[str, Position]] = []
        self.need_symbol("(")
        if not self.at_symbol(")"):
            params.append(self.name_and_position("a parameter name"))
            while self.take_symbol(","):
                params.append(self.name_and_position("a parameter name"))
        self.need_symbol(")")
        self.need_symbol("=")
        return nodes.FuncDef(name.value, params, self.expression(), name.position)

    def param_definition(self, name: Token) -> nodes.ParamDef:
        type_name: Optional[str] = None
        default: Optional[nodes.Expr] = None
        if self.take_symbol(":"):
            if not self.at_word(*PARAM_TYPES):
                raise self.fail("one of " + ", ".join(PARAM_TYPES))
            type_name = self.next().value
        if self.take_symbol("="):
            default = self.literal_only()
        return nodes.ParamDef(name.value, type_name, default, name.position)

    def literal_only(self) -> nodes.Expr:
        start = self.token.position
        negative = self.take_symbol("-")
        token = self.token
        if negative and token.kind not in ("int", "decimal"):
            raise self.fail("a number")
        literal = self.literal()
        if literal is None:
            raise self.fail("a literal")
        if negative:
            return nodes.Unary(start, start, "-", literal)
        return literal

    def name_and_position(self, what: str) -> Tuple[str, Position]:
        token = self.need_name(what)
        return token.value, token.position

    # -------------------------------------------------------------- pipelines

    def pipeline(self) -> nodes.Pipeline:
        if not self.at_word("from"):
            raise self.fail('"from"')
        stages: List[nodes.Stage] = [self.stage()]
        while self.take_symbol("|"):
            if self.at_word("from"):
                raise self.fail("a stage other than \"from\"")
            stages.append(self.stage())
        return nodes.Pipeline(stages)

    def stage(self) -> nodes.Stage:
        token = self.token
        parse = getattr(self, f"stage_{token.value}", None) if token.kind == "word" else None
        if parse is None:
            raise self.fail("the name of a stage")
        self.next()
        return parse(token.position)

    def source(self) -> nodes.Source:
        position = self.token.position
        if self.token.kind == "text":
            path, options = self.next().value, []
            if self.take_word("with"):
                options.append(self.source_option())
                while self.take_symbol(","):
                    options.append(self.source_option())
            return nodes.Source(position, path=path, options=options)
        if self.take_symbol("("):
            pipeline = self.pipeline()
            self.need_symbol(")")
            return nodes.Source(position, pipeline=pipeline)
        name = self.need_name("a file name in quotes, a view or a pipeline in parentheses")
        return nodes.Source(position, view=name.value)

    def source_option(self) -> Tuple[str, Any, Position]:
        name = self.need_name("the name of an option")
        self.need_symbol("=")
        literal = self.literal()
        if literal is None:
            raise self.fail("a literal")
        return name.value, literal.value, name.position

    def stage_from(self, position: Position) -> nodes.Stage:
        return nodes.From(position, self.source())

    def stage_where(self, position: Position) -> nodes.Stage:
        return nodes.Where(position, self.expression())

    def stage_derive(self, position: Position) -> nodes.Stage:
        return nodes.Derive(position, self.assignments())

    def stage_select(self, position: Position) -> nodes.Stage:
        items: List[Optional[nodes.Assign]] = []
        stars: List[Position] = []
        while True:
            if self.at_symbol("*"):
                stars.append(self.next().position)
                items.append(None)
            else:
                items.append(self.column_or_assignment())
            if not self.take_symbol(","):
                return nodes.Select(position, items, stars)

    def stage_drop(self, position: Position) -> nodes.Stage:
        return nodes.Drop(position, self.names())

    def stage_rename(self, position: Position) -> nodes.Stage:
        pairs = []
        while True:
            new = self.need_name("a new column name")
            self.need_symbol("=")
            old = self.need_name("a column name")
            pairs.append((new.value, old.value, new.position, old.position))
            if not self.take_symbol(","):
                return nodes.Rename(position, pairs)

    def stage_sort(self, position: Position) -> nodes.Stage:
        return nodes.Sort(position, self.sort_keys())

    def stage_take(self, position: Position) -> nodes.Stage:
        return nodes.Limit(position, "take", self.row_count())

    def stage_skip(self, position: Position) -> nodes.Stage:
        return nodes.Limit(position, "skip", self.row_count())

    def row_count(self) -> nodes.Expr:
        token = self.token
        if token.kind == "int":
            self.next()
            return nodes.Literal(token.position, token.position, token.value)
        if token.kind == "param":
            self.next()
            return nodes.Param(token.position, token.position, token.value)
        raise self.fail("a number of rows")

    def stage_group(self, position: Position) -> nodes.Stage:
        keys = [self.column_or_assignment()]
        while self.take_symbol(","):
            keys.append(self.column_or_assignment())
        self.need_word("aggregate")
        return nodes.Group(position, keys, self.assignments())

    def stage_aggregate(self, position: Position) -> nodes.Stage:
        return nodes.Group(position, [], self.assignments())

    def stage_join(self, position: Position) -> nodes.Stage:
        kind = self.next().value if self.at_word(*JOIN_KINDS) else "inner"
        source = self.source()
        alias = self.need_name("an alias").value if self.take_word("as") else None
        self.need_word("on")
        keys = []
        while True:
            left = self.need_name("a column name")
            right = self.need_name("a column name") if self.take_symbol("=") else left
            keys.append((left.value, right.value, left.position, right.position))
            if not self.take_symbol(","):
                return nodes.Join(position, kind, source, alias, keys)

    def stage_union(self, position: Position) -> nodes.Stage:
        return nodes.Union(position, self.source())

    def stage_distinct(self, position: Position) -> nodes.Stage:
        return nodes.Distinct(position, self.names() if self.at_name() else [])

    def stage_unnest(self, position: Position) -> nodes.Stage:
        column, place = self.name_and_position("a column name")
        name, name_place = column, place
        if self.take_word("as"):
            name, name_place = self.name_and_position("a column name")
        index = None
        if self.take_word("index"):
            index = self.name_and_position("a column name")
        keep = self.take_word("keep")
        return nodes.Unnest(position, column, place, name, name_place, index, keep)

    def stage_window(self, position: Position) -> nodes.Stage:
        partition: List[nodes.Expr] = []
        keys: List[nodes.SortKey] = []
        if self.take_word("by"):
            partition.append(self.expression())
            while self.take_symbol(","):
                partition.append(self.expression())
        if self.take_word("sort"):
            keys = self.sort_keys()
        self.need_word("derive")
        return nodes.Window(position, partition, keys, self.assignments())

    def stage_assert(self, position: Position) -> nodes.Stage:
        condition = self.expression()
        message = None
        if self.take_symbol(","):
            if self.token.kind != "text":
                raise self.fail("a text literal")
            message = self.next().value
        return nodes.Assert(position, condition, message)

    # ------------------------------------------------------------ stage parts

    def names(self) -> List[Tuple[str, Position]]:
        result = [self.name_and_position("a column name")]
        while self.take_symbol(","):
            result.append(self.name_and_position("a column name"))
        return result

    def assignments(self) -> List[nodes.Assign]:
        result = [self.assignment()]
        while self.take_symbol(","):
            result.append(self.assignment())
        return result

    def assignment(self) -> nodes.Assign:
        name = self.need_name("a column name")
        self.need_symbol("=")
        return nodes.Assign(name.value, self.expression(), name.position)

    def column_or_assignment(self) -> nodes.Assign:
        name = self.need_name("a column name")
        if self.take_symbol("="):
            return nodes.Assign(name.value, self.expression(), name.position)
        column = nodes.Column(name.position, name.position, name.value)
        return nodes.Assign(name.value, column, name.position, bare=True)

    def sort_keys(self) -> List[nodes.SortKey]:
        result = [self.sort_key()]
        while self.take_symbol(","):
            result.append(self.sort_key())
        return result

    def sort_key(self) -> nodes.SortKey:
        expr = self.expression()
        descending = False
        if self.take_word("desc"):
            descending = True
        else:
            self.take_word("asc")
        nulls_first = False
        if self.take_word("nulls"):
            if not self.at_word("first", "last"):
                raise self.fail('"first" or "last"')
            nulls_first = self.next().value == "first"
        return nodes.SortKey(expr, descending, nulls_first)

    # ------------------------------------------------------------ expressions

    def expression(self) -> nodes.Expr:
        return self.or_level()

    def or_level(self) -> nodes.Expr:
        left = self.and_level()
        while self.at_word("or"):
            token = self.next()
            left = nodes.Binary(token.position, left.start, "or", left, self.and_level())
        return left

    def and_level(self) -> nodes.Expr:
        left = self.not_level()
        while self.at_word("and"):
            token = self.next()
            left = nodes.Binary(token.position, left.start, "and", left, self.not_level())
        return left

    def not_level(self) -> nodes.Expr:
        if self.at_word("not"):
            token = self.next()
            return nodes.Unary(token.position, token.position, "not", self.not_level())
        return self.comparison_level()

    def comparison_level(self) -> nodes.Expr:
        left = self.coalesce_level()
        result = self.comparison_of(left)
        if result is None:
            return left
        if self.at_symbol(*COMPARISONS) or self.at_word("is", "in", "between", "like", "not"):
            raise TideError(
                "syntax",
                "comparisons cannot be chained; use parentheses",
                self.token.position,
            )
        return result

    def comparison_of(self, left: nodes.Expr) -> Optional[nodes.Expr]:
        token = self.token
        place, start = token.position, left.start
        if self.at_symbol(*COMPARISONS):
            self.next()
            return nodes.Binary(place, start, token.value, left, self.coalesce_level())
        if self.take_word("is"):
            negated = self.take_word("not")
            self.need_word("null")
            return nodes.IsNull(place, start, left, negated)
        negated = self.take_word("not")
        if self.take_word("in"):
            return nodes.InList(place, start, left, self.coalesce_level(), negated)
        if self.take_word("like"):
            return nodes.Like(place, start, left, self.coalesce_level(), negated)
        if self.take_word("between"):
            low = self.coalesce_level()
            self.need_word("and")
            return nodes.Between(place, start, left, low, self.coalesce_level(), negated)
        if negated:
            raise self.fail('"in", "like" or "between"')
        return None

    def coalesce_level(self) -> nodes.Expr:
        return self.binary_level(("??",), self.sum_level)

    def sum_level(self) -> nodes.Expr:
        return self.binary_level(("+", "-", "++"), self.product_level)

    def product_level(self) -> nodes.Expr:
        return self.binary_level(("*", "/", "//", "%"), self.sign_level)

    def binary_level(self, symbols: Tuple[str, ...], lower: Any) -> nodes.Expr:
        left = lower()
        while self.at_symbol(*symbols):
            token = self.next()
            left = nodes.Binary(token.position, left.start, token.value, left, lower())
        return left

    def sign_level(self) -> nodes.Expr:
        if self.at_symbol("-"):
            token = self.next()
            return nodes.Unary(token.position, token.position, "-", self.sign_level())
        return self.postfix_level()

    def postfix_level(self) -> nodes.Expr:
        result = self.primary()
        while True:
            token = self.token
            if self.take_symbol("."):
                name = self.need_name("a field name")
                result = nodes.Field(token.position, result.start, result, name.value)
            elif self.take_symbol("["):
                index = self.expression()
                self.need_symbol("]")
                result = nodes.Index(token.position, result.start, result, index)
            else:
                return result

    def literal(self) -> Optional[nodes.Literal]:
        token = self.token
        if token.kind in ("int", "decimal", "text", "date"):
            value = token.value
        elif self.at_word("null", "true", "false"):
            value = {"null": None, "true": True, "false": False}[token.value]
        else:
            return None
        self.next()
        return nodes.Literal(token.position, token.position, value)

    def primary(self) -> nodes.Expr:
        token = self.token
        place = token.position
        literal = self.literal()
        if literal is not None:
            return literal
        if token.kind == "param":
            self.next()
            return nodes.Param(place, place, token.value)
        if self.take_symbol("("):
            inner = self.expression()
            self.need_symbol(")")
            inner.start = place
            return inner
        if self.take_symbol("["):
            return nodes.ListExpr(place, place, self.expressions_until("]"))
        if self.take_word("case"):
            return self.case(place)
        if self.at_name():
            name = self.next().value
            if self.take_symbol("("):
                return self.call(name, place)
            return nodes.Column(place, place, name)
        raise self.fail("an expression")

    def expressions_until(self, closing: str) -> List[nodes.Expr]:
        result: List[nodes.Expr] = []
        if not self.at_symbol(closing):
            result.append(self.expression())
            while self.take_symbol(","):
                result.append(self.expression())
        self.need_symbol(closing)
        return result

    def case(self, place: Position) -> nodes.Expr:
        branches: List[Tuple[nodes.Expr, nodes.Expr]] = []
        otherwise = None
        if not self.at_word("when"):
            raise self.fail('"when"')
        while self.take_word("when"):
            condition = self.expression()
            self.need_word("then")
            branches.append((condition, self.expression()))
        if self.take_word("else"):
            otherwise = self.expression()
        self.need_word("end")
        return nodes.Case(place, place, branches, otherwise)

    def call(self, name: str, place: Position) -> nodes.Expr:
        distinct = self.take_word("distinct")
        args: List[nodes.Expr] = []
        condition = None
        if not self.at_symbol(")") and not self.at_word("where"):
            args.append(self.expression())
            while self.take_symbol(","):
                args.append(self.expression())
        if self.take_word("where"):
            condition = self.expression()
        self.need_symbol(")")
        return nodes.Call(place, place, name, args, distinct, condition)
