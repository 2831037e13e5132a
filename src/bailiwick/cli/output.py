"""How results are shown: a table on a terminal, plain aligned columns in a pipe, JSON lines on request."""

import json
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import click
from click.core import ParameterSource
from pydantic import JsonValue

Row = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Look:
    """How people see a row, where that is more than its values: cells made for them, and a line below it."""

    cells: Callable[[Row], Row] = lambda row: row
    below: Callable[[Row], str | None] = lambda _: None


_AS_IT_IS = Look()


def show_rows(
    rows: Iterable[Row], columns: Sequence[str], *, as_json: bool, empty: str, look: Look = _AS_IT_IS
) -> None:
    """A list of things. The columns are keys of the rows (as they look); JSON shows every key, and the values."""
    if as_json:
        for row in rows:
            click.echo(json.dumps(row, ensure_ascii=False))
        return
    table = [_line(row, columns, look) for row in rows]
    if not table:
        click.echo(empty, err=True)
    elif sys.stdout.isatty():
        _rich_table(columns, table)
    else:
        _plain_table([column.upper() for column in columns], table)


def more_rows(ctx: click.Context, rows: Sequence[Row], last: str) -> str | None:
    """The command for the page after a full one: the same options, and what to go on after."""
    if len(rows) < int(ctx.params["limit"]):
        return None
    words = [ctx.command_path]
    for option in ctx.command.params:
        name = option.name or ""
        typed = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if isinstance(option, click.Option) and typed and name != "after" and _is_meant(option, ctx.params[name]):
            words += [option.opts[0]] if option.is_flag else [option.opts[0], shlex.quote(str(ctx.params[name]))]
    return " ".join([*words, "--after", shlex.quote(last)])


def _is_meant(option: click.Option, value: object) -> bool:
    """Of several flags for one parameter only one was given."""
    return not option.is_flag or option.is_bool_flag or option.flag_value == value


def show_facts(facts: Row, *, as_json: bool) -> None:
    """One thing, fact by fact."""
    if as_json:
        click.echo(json.dumps(facts, ensure_ascii=False))
        return
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        click.echo(f"{click.style(name.replace('_', ' ').ljust(width), bold=True)}  {_cell(value)}")


def stamp(moment: datetime) -> str:
    """A time for people and machines alike: ISO 8601, UTC, seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def printable(text: str) -> str:
    """Text from outside, so that it cannot move the cursor, forge a column or a line."""
    return "".join(character if character.isprintable() else " " for character in text)


@dataclass(frozen=True, slots=True)
class _Line:
    """One row as text, and what stands below it."""

    cells: list[str]
    below: str | None = None


def _line(row: Row, columns: Sequence[str], look: Look) -> _Line:
    shown, below = look.cells(row), look.below(row)
    return _Line([_cell(shown.get(column)) for column in columns], f"  └─ {printable(below)}" if below else None)


def _cell(value: JsonValue) -> str:
    if value is None:
        return "-"
    return printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _plain_table(columns: Sequence[str], rows: list[_Line]) -> None:
    lines = [_Line([column.replace("_", " ") for column in columns]), *rows]
    widths = [max(len(line.cells[n]) for line in lines) for n in range(len(columns))]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line.cells, widths, strict=True)).rstrip())
        if line.below:
            click.echo(line.below)


def _rich_table(columns: Sequence[str], rows: list[_Line]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    # What stands below a row wraps within its first column: it must not push the others off the screen.
    widest = max(40, *(len(row.cells[0]) for row in rows))
    for n, column in enumerate(columns):
        table.add_column(column.replace("_", " ").upper(), overflow="fold", max_width=widest if n == 0 else None)
    for row in rows:
        first, *rest = map(Text, row.cells)
        if row.below:
            first.append(f"\n{row.below}", style="dim")
        table.add_row(first, *rest)
    Console().print(table)
