"""The workers of `bailiwick serve`, beside the web interface in processes of their own: one crawls, one parses."""

import asyncio

from bailiwick.app import App
from bailiwick.cli.context import Session
from bailiwick.crawl.engine import Engine, Wanted
from bailiwick.extract.queue import backlog
from bailiwick.net.guard import Resolve
from bailiwick.pipeline.parsing import ParseOrder, nobody_watches, parse
from bailiwick.pipeline.worker import Order, work


def run_worker(session: Session, resolves: tuple[Resolve, ...], *, parent: int) -> int:
    """Crawl whatever is approved and due, until it is told to stop."""
    app = session.app.create()
    app.patiently(lambda: app.settings)
    wanted = Wanted(stays=True, is_too_much=lambda: _is_too_much(app), is_parsed=True)
    work(app, Order(wanted, resolves, parent=parent), _watch)
    return 0


def run_parser(session: Session, *, parent: int) -> int:
    """Parse whatever is fetched, until it is told to stop."""
    app = session.app.create()
    app.patiently(lambda: app.settings)
    parse(app, ParseOrder(stays=True, parent=parent), nobody_watches)
    return 0


def _is_too_much(app: App) -> bool:
    most = app.settings.parse.max_backlog
    with app.database.read() as conn:
        return backlog(conn, most=most) >= most


async def _watch(engine: Engine) -> None:  # noqa: ARG001 - the dashboard shows it
    await asyncio.Event().wait()
