"""A parse worker: one parse stage in this process, put together from the App, with the signals that end it."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.app import App
from bailiwick.base.settings import Settings
from bailiwick.evidence.asking import Budget
from bailiwick.extract.content import ContentLimits
from bailiwick.extract.page import Extracted
from bailiwick.extract.parsers.facts import ParserOrder
from bailiwick.extract.pool import ExtractionPool, PoolLimits
from bailiwick.extract.queue import Claimed, Taker
from bailiwick.extract.relevance.model_judge import ModelJudge
from bailiwick.extract.stage import ParseProgress, ParseStage, SecondOpinion, SecondReading, Work
from bailiwick.model.content import Relevance
from bailiwick.model.profiles import ModelReading, ModelUse
from bailiwick.pipeline.ageing import age_beside
from bailiwick.pipeline.delivering import deliver_beside, deliver_last
from bailiwick.pipeline.following import follow_up
from bailiwick.pipeline.indexing import index_beside
from bailiwick.pipeline.process import prepare_process, until_orphaned
from bailiwick.pipeline.tally import Tally
from bailiwick.registry.workers import this_worker

Watch: TypeAlias = Callable[[ParseStage], Coroutine[None, None, None]]
_WAIT_SECONDS = 0.05
_BATCH_BYTES = 8 << 20
"""The texts of a batch go to the database in one piece, again and again: of ordinary pages it is smaller than this."""
_MOST_CALLS = 8
"""To the model at once: each has a connection to the database now and then, and those are ten."""


@dataclass(frozen=True, slots=True)
class ParseOrder:
    """What is to be parsed, and for how long."""

    jobs: Sequence[int] | None = None
    stays: bool = False
    """Wait for more, instead of ending when nothing waits."""
    parent: int | None = None
    """Stop when this process is gone."""
    tally: Tally | None = None


def parse(app: App, order: ParseOrder, watch: Watch) -> tuple[ParseProgress, bool]:
    """Parse until it is over. Returns how it went, and whether it was interrupted."""
    import uvloop

    prepare_process(large_bytes=_BATCH_BYTES)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_parse(app, order, watch))


async def _parse(app: App, order: ParseOrder, watch: Watch) -> tuple[ParseProgress, bool]:
    settings, me = app.settings, this_worker()
    work = Work(
        database=app.database,
        store=app.body_store,
        pool=pool_of(app, settings),
        taker=Taker(str(me), me.machine, settings.parse.claim_seconds, order.jobs, app.site_parsers.marks),
        marks=app.profile_marks,
        image_profiles=app.image_profiles,
        batch_pages=settings.parse.batch_pages,
        second_opinion=_second_opinion(app),
        second_reading=_second_reading(app),
        written=order.tally.add if order.tally is not None else lambda _: None,
        say=app.say,
    )
    stage = ParseStage(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stage.stop)
    beside = [asyncio.create_task(watch(stage))]
    if order.parent is not None:
        beside.append(asyncio.create_task(_stop_with_parent(stage, order.parent)))
    if order.stays:
        beside.append(asyncio.create_task(index_beside(app, lambda: stage.progress.pages)))
        beside.append(asyncio.create_task(deliver_beside(app)))
        beside.append(asyncio.create_task(age_beside(app)))
    try:
        progress = await stage.run(stays=order.stays)
    finally:
        for task in beside:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
    await asyncio.to_thread(follow_up, app)
    await deliver_last(app)
    return progress, stage.is_stopping


def pool_of(app: App, settings: Settings, *, size: int | None = None) -> ExtractionPool:
    """As many children as the settings say, or as this, each within their limits."""
    parse_settings = settings.parse
    limits = PoolLimits(
        ContentLimits(max_text_chars=parse_settings.max_text_chars, max_pdf_pages=parse_settings.max_pdf_pages),
        parse_settings.page_seconds,
        parse_settings.page_memory_bytes,
    )
    usual = parse_settings.processes or max((os.cpu_count() or 1) - 1, 1)
    found = app.site_parsers
    parsers = ParserOrder(found.sources, frozenset(found.hosts), parse_settings.parser_seconds)
    return ExtractionPool(size or usual, app.place.profiles, limits, parsers)


def _second_opinion(app: App) -> SecondOpinion | None:
    """Of the model that the settings name, for profiles that want one."""
    model = app.language_model
    if model is None:
        return None
    settings = app.settings.model
    profiles, budget = app.profiles(), Budget.of(settings)
    places = asyncio.Semaphore(min(settings.concurrency, _MOST_CALLS))
    judges: dict[str, ModelJudge] = {}

    async def ask(page: Claimed, found: Extracted) -> Relevance | None:
        profile = profiles.get(page.profile)
        if profile is None or profile.model.use is ModelUse.OFF or found.relevance is None:
            return None
        if page.profile not in judges:
            judges[page.profile] = ModelJudge(profile, model, budget, begin=app.database.begin)
        async with places:
            return await asyncio.to_thread(judges[page.profile].judge, found.content, found.relevance)

    return ask


def _second_reading(app: App) -> SecondReading | None:
    """Items by the model that the settings name, for profiles that want them."""
    model = app.language_model
    if model is None:
        return None
    from bailiwick.extract.items.model_reader import ModelReader  # loads all extractors

    settings = app.settings.model
    profiles, budget = app.profiles(), Budget.of(settings)
    places = asyncio.Semaphore(min(settings.concurrency, _MOST_CALLS))
    readers: dict[str, ModelReader] = {}

    async def read(page: Claimed, found: Extracted) -> Extracted:
        profile = profiles.get(page.profile)
        if profile is None or profile.model.extract is ModelReading.OFF:
            return found
        if page.profile not in readers:
            readers[page.profile] = ModelReader(profile, model, budget, begin=app.database.begin)
        async with places:
            return await asyncio.to_thread(readers[page.profile].read, found, page.url)

    return read


async def _stop_with_parent(stage: ParseStage, parent: int) -> None:
    await until_orphaned(parent)
    stage.stop()


async def nobody_watches(_stage: ParseStage) -> None:
    """For `parse`: others show how it goes."""


def parse_beside(app: App, tally: Tally, *, parent: int) -> int:
    """Parse beside a crawl, in a process of its own, until it is told to stop. It learns from the tally what."""
    while not tally.is_ordered:
        if os.getppid() != parent:
            return 0
        time.sleep(_WAIT_SECONDS)
    app.patiently(lambda: app.settings)
    parse(app, ParseOrder(tally.jobs, stays=True, parent=parent, tally=tally), nobody_watches)
    return 0
