"""The worker of `bailiwick serve`, beside the web interface in a process of its own."""

import asyncio

from bailiwick.cli.context import Session
from bailiwick.crawl.engine import Engine, Wanted
from bailiwick.net.guard import Resolve
from bailiwick.pipeline.worker import Order, work


def run_worker(session: Session, resolves: tuple[Resolve, ...], *, parent: int) -> int:
    """Crawl whatever is approved and due, until it is told to stop."""
    app = session.app.create()
    app.patiently(lambda: app.settings)
    work(app, Order(Wanted(stays=True), resolves, parent=parent), _watch)
    return 0


async def _watch(engine: Engine) -> None:  # noqa: ARG001 - the dashboard shows it
    await asyncio.Event().wait()
