"""The command line."""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import Any, Dict, List, NoReturn, Optional, Sequence

from tidequery import __version__, nodes, parser, printer
from tidequery.errors import SourceText, TideError, unknown
from tidequery.evaluator import Environment
from tidequery.output import FORMATS
from tidequery.planner import Plan, Planner
from tidequery.project import Definitions, load_project, read_source_text
from tidequery.sources import STDIN, Reader, ReadOptions, Table, schema_of

PARAM = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)\Z", re.DOTALL)
QUERY_LABEL = "<query>"


class ArgumentParser(argparse.ArgumentParser):
    """Reports mistakes the way all other errors are reported."""

    def error(self, message: str) -> NoReturn:
        raise TideError("usage", message)


class HelpFormatter(argparse.HelpFormatter):
    """A given width spares every start the import of what measures the terminal."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=100)


def add_project_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--project", metavar="FILE", help="use this project file")
    command.add_argument(
        "--no-project", action="store_true", help="do not look for a project file"
    )


def add_query_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("query", nargs="?", metavar="FILE", help="a query file")
    command.add_argument("-e", "--expr", metavar="TEXT", help="the query itself")
    command.add_argument(
        "-p", "--param", action="append", default=[], metavar="NAME=VALUE", dest="params"
    )
    add_project_options(command)


def add_output_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("-f", "--format", choices=list(FORMATS), default="table")
    command.add_argument("-o", "--output", metavar="FILE", help="write here, not to stdout")


def build_parser() -> ArgumentParser:
    root = ArgumentParser(
        prog="tidequery",
        description="Pipeline queries over CSV and JSON Lines files.",
        allow_abbrev=False,
        formatter_class=HelpFormatter,
    )
    root.add_argument("--version", action="version", version=f"tidequery {__version__}")
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, text: str) -> ArgumentParser:
        return commands.add_parser(
            name,
            help=text,
            description=text,
            allow_abbrev=False,
            formatter_class=HelpFormatter,
        )

    run = command("run", "run a query")
    add_query_options(run)
    add_output_options(run)
    add_query_options(command("check", "check a query without running it"))
    add_query_options(command("explain", "show the stages of a query"))
    schema = command("schema", "describe the columns of a file or view")
    schema.add_argument("source", metavar="FILE", help='a file, "-" or "@VIEW"')
    schema.add_argument("--as", choices=["csv", "jsonl"], dest="input_format")
    schema.add_argument(
        "-p", "--param", action="append", default=[], metavar="NAME=VALUE", dest="params"
    )
    add_project_options(schema)
    add_output_options(schema)
    defs = command("defs", "list the definitions of the project")
    add_project_options(defs)
    add_output_options(defs)
    return root


# ------------------------------------------------------------------- commands


class Session:
    """What the commands share: the definitions and a way to plan queries."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        if options.project is not None and options.no_project:
            raise TideError("usage", "--project and --no-project exclude each other")
        self.given = parse_params(getattr(options, "params", []))
        self.project = load_project(options.project, not options.no_project)
        self.definitions = Definitions()
        self.definitions.add(self.project)

    def planner(self) -> Planner:
        params = self.definitions.param_values(self.given)
        env = Environment(params, self.definitions.functions)
        return Planner(env, self.definitions.views, Reader())

    def query(self) -> nodes.Pipeline:
        module = parser.parse_query(query_source(self.options))
        self.definitions.add(module.definitions)
        assert module.pipeline is not None
        return module.pipeline


def parse_params(given: Sequence[str]) -> Dict[str, str]:
    result: Dict[str, str] = {}
    for text in given:
        match = PARAM.match(text)
        if match is None:
            raise TideError("usage", f'"{text}" is not of the form NAME=VALUE')
        result[match.group(1)] = match.group(2)
    return result


def query_source(options: argparse.Namespace) -> SourceText:
    if (options.query is None) == (options.expr is None):
        raise TideError("usage", "give either a query file or -e TEXT")
    if options.expr is not None:
        return SourceText(QUERY_LABEL, options.expr)
    return read_source_text(options.query, "")


def planned(session: Session) -> Plan:
    pipeline = session.query()
    return session.planner().plan(pipeline)


def command_run(session: Session) -> str:
    return FORMATS[session.options.format](planned(session).table())


def command_check(session: Session) -> str:
    planned(session)
    return "ok\n"


def command_explain(session: Session) -> str:
    pipeline = session.query()
    plan = session.planner().plan(pipeline)
    lines: List[str] = []
    for number, (stage, step) in enumerate(zip(pipeline.stages, plan.steps), 1):
        lines.append(f"{number}. {printer.stage_text(stage)}")
        lines.append("   columns: " + ", ".join(map(printer.name_text, step.columns)))
    return "\n".join(lines) + "\n"


def command_schema(session: Session) -> str:
    options = session.options
    planner = session.planner()
    if options.source.startswith("@"):
        view = options.source[1:]
        if view not in planner.views:
            error = unknown("view", view, planner.views, None)
            raise TideError("usage", error.message)
        table = planner.view(view, planner.views[view].position).table()
        is_csv = False
    else:
        if options.source == STDIN and options.input_format is None:
            raise TideError("usage", "standard input needs --as")
        table = planner.reader.read(
            options.source, "", ReadOptions(format=options.input_format)
        )
        is_csv = planner.reader.format_of(options.source, options.input_format) == "csv"
    return FORMATS[options.format](schema_of(table, is_csv))


def command_defs(session: Session) -> str:
    words = {nodes.ViewDef: "view", nodes.FuncDef: "def", nodes.ParamDef: "param"}
    rows: List[List[Any]] = [
        [words[type(item)], item.name, printer.definition_text(item)]
        for item in session.project
    ]
    return FORMATS[session.options.format](Table(["kind", "name", "text"], rows))


COMMANDS = {
    "run": command_run,
    "check": command_check,
    "explain": command_explain,
    "schema": command_schema,
    "defs": command_defs,
}

# ----------------------------------------------------------------------- main


def write_result(text: str, path: Optional[str]) -> None:
    data = text.encode("utf-8", "surrogateescape")
    if path is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        with open(path, "wb") as file:
            file.write(data)
    except OSError as error:
        raise TideError("usage", f'cannot write "{path}": {error.strerror}') from None


def report(text: str) -> None:
    sys.stderr.buffer.write((text + "\n").encode("utf-8", "replace"))
    sys.stderr.buffer.flush()


def main(arguments: Optional[Sequence[str]] = None) -> int:
    sys.setrecursionlimit(20000)
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    try:
        options = build_parser().parse_args(arguments)
        result = COMMANDS[options.command](Session(options))
        write_result(result, getattr(options, "output", None))
    except TideError as error:
        report(error.render())
        return error.exit_status
    except RecursionError:
        report("<query>:1:1: syntax error: the query is nested too deeply")
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return 0
