"""What a running crawl looks like: a live table on a terminal, a line now and then elsewhere."""

import asyncio
import sys
import time
from typing import TYPE_CHECKING

import click

from bailiwick.base.amounts import size
from bailiwick.cli.output import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bailiwick.cli.crawl_parsing import Parsing
    from bailiwick.crawl.engine import Engine
    from bailiwick.crawl.progress import DomainProgress, Progress

_FRAME_SECONDS = 0.25
_LINE_SECONDS = 10.0
_ROWS = 12
_TROUBLED = 3


async def display(engine: "Engine", parsing: "Parsing | None" = None, *, quiet: bool) -> None:
    """Show the engine's progress, and that of parsing, until it is cancelled."""
    if quiet:
        return
    if sys.stderr.isatty():
        await _live(engine, parsing)
    else:
        await _lines(engine, parsing)


async def _live(engine: "Engine", parsing: "Parsing | None") -> None:
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:
        while True:
            live.update(_picture(engine.progress, parsing, live.console.height - 6), refresh=True)
            await asyncio.sleep(_FRAME_SECONDS)


async def _lines(engine: "Engine", parsing: "Parsing | None") -> None:
    while True:
        await asyncio.sleep(_LINE_SECONDS)
        click.echo(", ".join([headline(engine.progress), *_parsed(engine.progress, parsing)]), err=True)
        troubled = [known for known in engine.progress.open_domains if known.trouble]
        for known in troubled[:_TROUBLED]:
            click.echo(printable(f"  {known.name}: {known.trouble}"), err=True)


def headline(progress: "Progress") -> str:
    """Everything in one line."""
    opened = progress.open_domains
    parts = [
        f"{progress.pages:,} pages",
        f"{progress.rate():.1f}/s",
        f"{progress.errors:,} errors",
        size(progress.bytes_received),
        f"{len(opened):,} domains open",
    ]
    if progress.images:
        parts.append(f"{progress.images.total():,} images")
    if progress.elsewhere:
        parts.append(f"{progress.elsewhere:,} at another process")
    return ", ".join(parts)


def _parsed(progress: "Progress", parsing: "Parsing | None") -> list[str]:
    """How far parsing is, in words."""
    if parsing is None:
        return []
    tally = parsing.tally
    said = [f"{tally.pages:,} parsed", f"{tally.relevant:,} relevant"]
    return [*said, "waiting for parsing"] if progress.is_held_back else said


def _bars(progress: "Progress", parsing: "Parsing | None") -> "RenderableType":
    """One for pages fetched of those that are known and wanted, one for pages parsed of those that were fetched."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    bars = Table.grid(padding=(0, 1))
    waiting = sum(_left(known) for known in progress.open_domains)
    fetched = f"{progress.pages:,} of {progress.pages + waiting:,}"
    bars.add_row("fetch", ProgressBar(progress.pages + waiting or 1, progress.pages, width=40), fetched)
    if parsing is not None:
        done = parsing.tally.pages
        words = ", ".join([f"{done:,} of {done + parsing.waiting:,}", *_parsed(progress, parsing)[1:]])
        bars.add_row("parse", ProgressBar(done + parsing.waiting or 1, done, width=40), words)
    return bars


def _picture(progress: "Progress", parsing: "Parsing | None", height: int) -> "RenderableType":
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    opened = progress.open_domains
    rows = opened[: max(min(_ROWS, height), 1)]
    table = Table.grid(padding=(0, 2))
    for justify in ("left", "right", "right", "right", "right", "left"):
        table.add_column(justify=justify, no_wrap=True, overflow="ellipsis")
    for known in rows:
        table.add_row(*(Text(printable(cell)) for cell in _cells(known)))
    hidden = [Text(f"… and {len(opened) - len(rows):,} more domains", style="dim")] if len(opened) > len(rows) else []
    return Group(Text(headline(progress), style="bold"), _bars(progress, parsing), table, *hidden)


def _cells(known: "DomainProgress") -> list[str]:
    done = known.pages_known - known.pages_waiting
    rate = known.pages_done / max(time.monotonic() - known.started, 0.1)
    return [
        known.name,
        f"{done:,}/{known.pages_known:,} pages",
        f"{rate:.1f}/s",
        f"{known.errors:,} errors",
        f"depth {known.depth}",
        known.trouble or politeness(known),
    ]


def politeness(known: "DomainProgress") -> str:
    """What the delay means: "politeness 2.0 s (default), 33 min left, --delay to change"."""
    whose = "default" if known.is_default_delay else "--delay"
    text = f"politeness {known.delay_seconds:.1f} s ({whose})"
    seconds = _left(known) * known.delay_seconds
    if seconds >= 1:
        text += f", {_duration(seconds)} left"
    return f"{text}, --delay to change" if known.is_default_delay and seconds >= 5 else text


def _left(known: "DomainProgress") -> int:
    """Pages that wait and are within its budget."""
    if not known.page_budget:
        return known.pages_waiting
    return min(known.pages_waiting, max(known.page_budget - known.run_pages, 0))


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
