"""Definitions: views, functions and parameters of a project and a query."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional

from tidequery import nodes, parser, values
from tidequery.errors import SourceText, TideError
from tidequery.evaluator import BUILTIN_NAMES
from tidequery.sources import infer_text

PROJECT_FILE = "tide.project"

TYPED_PARSERS = {
    "int": values.parse_int,
    "decimal": values.parse_decimal,
    "text": lambda text: text,
    "bool": values.parse_bool,
    "date": values.parse_date,
}

WORD_OF = {nodes.ViewDef: "view", nodes.FuncDef: "function", nodes.ParamDef: "parameter"}


class Definitions:
    """All definitions in force; later modules replace those of earlier ones."""

    def __init__(self) -> None:
        self.views: Dict[str, nodes.ViewDef] = {}
        self.functions: Dict[str, nodes.FuncDef] = {}
        self.params: Dict[str, nodes.ParamDef] = {}

    def table_for(self, definition: Any) -> Dict[str, Any]:
        return {
            nodes.ViewDef: self.views,
            nodes.FuncDef: self.functions,
            nodes.ParamDef: self.params,
        }[type(definition)]

    def add(self, definitions: List[Any]) -> None:
        """Add the definitions of one text, which must not repeat a name."""
        seen = set()
        for definition in definitions:
            word = WORD_OF[type(definition)]
            if (word, definition.name) in seen:
                raise TideError(
                    "name", f'duplicate {word} "{definition.name}"', definition.position
                )
            seen.add((word, definition.name))
            if isinstance(definition, nodes.FuncDef):
                check_function(definition)
            self.table_for(definition)[definition.name] = definition

    def param_values(self, given: Dict[str, str]) -> Dict[str, Any]:
        """The values of all parameters which have one."""
        result: Dict[str, Any] = {}
        for name, definition in self.params.items():
            if definition.default is not None and name not in given:
                result[name] = default_value(definition)
        for name, text in given.items():
            definition = self.params.get(name)
            type_name = definition.type_name if definition is not None else None
            result[name] = typed_param(name, text, type_name)
        return result


def check_function(definition: nodes.FuncDef) -> None:
    if definition.name in BUILTIN_NAMES:
        raise TideError(
            "name", f'"{definition.name}" is a built-in function', definition.position
        )
    names = set()
    for name, position in definition.params:
        if name in names:
            raise TideError("name", f'duplicate parameter "{name}"', position)
        names.add(name)


def default_value(definition: nodes.ParamDef) -> Any:
    expr = definition.default
    if isinstance(expr, nodes.Unary):
        value = values.negate(expr.operand.value)
    else:
        value = expr.value
    type_name = definition.type_name
    if type_name == "decimal" and values.kind_of(value) == "int":
        return values.as_decimal(value)
    if type_name and value is not None and values.kind_of(value) != type_name:
        raise TideError(
            "call",
            f'the default of parameter "{definition.name}" is not of type {type_name}',
            definition.position,
        )
    return value


def typed_param(name: str, text: str, type_name: Optional[str]) -> Any:
    if type_name is None:
        return infer_text(text)
    value = TYPED_PARSERS[type_name](text)
    if value is None:
        raise TideError("usage", f'the value of parameter "{name}" is not of type {type_name}')
    return value


def read_source_text(label: str, base: str) -> SourceText:
    """A query or project file; files that cannot be read are usage errors."""
    try:
        with open(label, "rb") as file:
            text = file.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TideError("usage", f'"{label}" is not valid UTF-8') from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TideError("usage", f'cannot read "{label}": {reason}') from None
    return SourceText(label, text, base)


def load_project(path: Optional[str], wanted: bool) -> List[Any]:
    """The definitions of the project file, in the order of the file."""
    if not wanted:
        return []
    if path is None:
        if not os.path.exists(PROJECT_FILE):
            return []
        path = PROJECT_FILE
    return parser.parse_project(read_source_text(path, os.path.dirname(path))).definitions
