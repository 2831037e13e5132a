"""A progress bar on a terminal; nothing in a pipe or with --quiet."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

Advance = Callable[[int], None]
"""Says how far the work is by now."""


@contextmanager
def progress(what: str, *, total: int | None) -> Iterator[Advance]:
    """A bar on stderr while the work lasts; without a total it only shows that something moves."""
    if not sys.stderr.isatty() or click.get_current_context().find_root().params["quiet"]:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    look = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*look, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)
