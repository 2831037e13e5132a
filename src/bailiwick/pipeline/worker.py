"""A worker: one engine in this process, put together from the App, with the signals that end it."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from bailiwick.app import App
from bailiwick.crawl.desk import Desk, reserve
from bailiwick.crawl.engine import Engine, Wanted
from bailiwick.crawl.images.beside import ImagesBeside
from bailiwick.crawl.images.fetching import ImageTools
from bailiwick.crawl.images.hosts import OtherHosts
from bailiwick.crawl.images.reader import ImageReader, is_available
from bailiwick.crawl.outcomes import StopReason
from bailiwick.crawl.tools import Tools
from bailiwick.model.urls import LinkJoiner, UrlRules
from bailiwick.net.agent import product, user_agent
from bailiwick.net.client import HttpFetcher
from bailiwick.net.credentials import Credentials
from bailiwick.net.guard import Guard, Resolve
from bailiwick.pipeline.process import prepare_process, until_orphaned
from bailiwick.pipeline.supervisor import INTERRUPTED


@dataclass(frozen=True, slots=True)
class Order:
    """What a worker is to do, and by which ways."""

    wanted: Wanted
    resolves: tuple[Resolve, ...] = ()
    user_agent: str | None = None
    parent: int | None = None
    """Stop when this process is gone."""


@dataclass
class Told:
    """Whether somebody said stop."""

    is_interrupted: bool = False
    tasks: list["asyncio.Task[None]"] = field(default_factory=list)


def work(app: App, order: Order, watch: "Callable[[Engine], Awaitable[None]]") -> tuple[Engine, bool]:
    """Crawl until it is over. Returns the engine with its figures, and whether it was interrupted."""
    import uvloop

    prepare_process()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_work(app, order, watch))


async def _work(app: App, order: Order, watch: "Callable[[Engine], Awaitable[None]]") -> tuple[Engine, bool]:
    told = Told()

    def started(engine: Engine) -> None:
        _listen(engine, told, app.say)
        told.tasks.append(asyncio.create_task(watch(engine)))  # type: ignore[arg-type]
        if order.parent is not None:
            told.tasks.append(asyncio.create_task(_stop_with_parent(engine, order.parent)))

    try:
        engine = await run_engine(app, order, started)
    finally:
        for task in told.tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        app.body_store.close()
    return engine, told.is_interrupted


async def run_engine(app: App, order: Order, started: Callable[[Engine], None]) -> Engine:
    """Crawl in this event loop until it is over. `started` gets the engine, by which it can be stopped."""
    settings = app.settings
    store = app.body_store
    guard = Guard(allow_private=settings.net.allow_private_networks, resolves=order.resolves)
    rules = UrlRules(allow_private=settings.names.allow_private)
    name = order.user_agent or user_agent(settings.crawl)
    desk = app.patiently(lambda: Desk(app.database, settings, store, agent=product(name)))
    tools = Tools(
        fetcher=HttpFetcher(settings.net, guard, user_agent=name),
        store=store,
        joiner=LinkJoiner(rules),
        rules=rules,
        credentials=Credentials(app.loaded.access),
        max_retries=settings.crawl.max_retries,
        retry_backoff_seconds=settings.crawl.retry_backoff_seconds,
        agent=product(name),
        reserve=lambda host: asyncio.to_thread(reserve, app.database, host),
    )
    images = _images(app, tools, order)
    engine = Engine(desk, tools, settings, order.wanted, say=app.say, images=images)
    started(engine)
    try:
        await engine.run()
    finally:
        if images.tools is not None:
            await images.tools.reader.close()
    return engine


def _images(app: App, tools: Tools, order: Order) -> ImagesBeside:
    """Where a profile has images fetched, if they can be decoded here."""
    if not is_available():
        return ImagesBeside(None, app.profiles(), awaits_parsing=False, say=app.say)
    found = ImageTools(
        tools=tools,
        hosts=OtherHosts(app.database, tools),
        reader=ImageReader(app.settings.images),
        files=app.image_files,
        max_body_bytes=app.settings.net.max_body_bytes,
    )
    return ImagesBeside(found, app.profiles(), awaits_parsing=order.wanted.is_parsed)


def _listen(engine: Engine, told: Told, say: Callable[[str], None]) -> None:
    """The first signal ends it in order, the second at once: both lose nothing."""

    def stop() -> None:
        if told.is_interrupted:
            os._exit(INTERRUPTED)
        told.is_interrupted = True
        say("stopping: writing what is done (once more to stop at once)")
        engine.stop(StopReason.SHUTDOWN)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop)


async def _stop_with_parent(engine: Engine, parent: int) -> None:
    await until_orphaned(parent)
    engine.stop(StopReason.SHUTDOWN)
