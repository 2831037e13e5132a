"""How results are shown: a table on a terminal, plain aligned columns in a pipe, JSON lines on request."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import click
from pydantic import JsonValue

Row = Mapping[str, JsonValue]


def show_rows(rows: Iterable[Row], columns: Sequence[str], *, as_json: bool, empty: str) -> None:
    """A list of things. The columns are keys of the rows; JSON shows every key."""
    if as_json:
        for row in rows:
            click.echo(json.dumps(row, ensure_ascii=False))
        return
    table = [[_cell(row.get(column)) for column in columns] for row in rows]
    if not table:
        click.echo(empty, err=True)
    elif sys.stdout.isatty():
        _rich_table(columns, table)
    else:
        _plain_table([column.upper() for column in columns], table)


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
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def size(count: int) -> str:
    """Bytes for people."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def _cell(value: JsonValue) -> str:
    if value is None:
        return "-"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # What comes from outside must not move the cursor or forge a column.
    return "".join(character if character.isprintable() else " " for character in text)


def _plain_table(columns: Sequence[str], rows: list[list[str]]) -> None:
    lines = [[column.replace("_", " ") for column in columns], *rows]
    widths = [max(len(line[n]) for line in lines) for n in range(len(columns))]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _rich_table(columns: Sequence[str], rows: list[list[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column.replace("_", " ").upper(), overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)
