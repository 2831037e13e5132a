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

    from bailiwick.crawl.engine import Engine
    from bailiwick.crawl.progress import DomainProgress, Progress

_FRAME_SECONDS = 0.25
_LINE_SECONDS = 10.0
_ROWS = 12
_TROUBLED = 3


async def display(engine: "Engine", *, quiet: bool) -> None:
    """Show the engine's progress until it is cancelled."""
    if quiet:
        return
    if sys.stderr.isatty():
        await _live(engine)
    else:
        await _lines(engine)


async def _live(engine: "Engine") -> None:
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:
        while True:
            live.update(_picture(engine.progress, live.console.height - 4), refresh=True)
            await asyncio.sleep(_FRAME_SECONDS)


async def _lines(engine: "Engine") -> None:
    while True:
        await asyncio.sleep(_LINE_SECONDS)
        click.echo(headline(engine.progress), err=True)
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
    if progress.elsewhere:
        parts.append(f"{progress.elsewhere:,} at another process")
    return ", ".join(parts)


def _picture(progress: "Progress", height: int) -> "RenderableType":
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
    return Group(Text(headline(progress), style="bold"), table, *hidden)


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
    left = known.pages_waiting
    if known.page_budget:
        left = min(left, max(known.page_budget - known.run_pages, 0))
    seconds = left * known.delay_seconds
    if seconds >= 1:
        text += f", {_duration(seconds)} left"
    return f"{text}, --delay to change" if known.is_default_delay and seconds >= 5 else text


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
