"""Evaluation jobs at work: URLs are claimed, evaluated and routed, many at once; pages of approved domains are crawled.

Killed at any point, nothing is lost: a URL is settled together with its evaluation, in one transaction, and a claim of
a process that is gone is free again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from bailiwick.app import App
from bailiwick.base.errors import BailiwickError, ConflictError
from bailiwick.crawl import jobs as crawl_jobs
from bailiwick.crawl.engine import Engine, Wanted
from bailiwick.crawl.jobs import JobOptions
from bailiwick.crawl.outcomes import StopReason
from bailiwick.extract.forgetting import evidence_without_forgotten
from bailiwick.ledger.events import Actor
from bailiwick.net.guard import Resolve
from bailiwick.pipeline.evaluating import Evaluator
from bailiwick.pipeline.worker import Order, run_engine
from bailiwick.registry.apply import SQL as REGISTRY_SQL
from bailiwick.registry.apply import lock_queue, requeue
from bailiwick.review.routing import NewEvaluation, Routed, route
from bailiwick.score import jobs
from bailiwick.score.jobs import ClaimedUrl, EvaluationJob, JobCounts, Settled

AT_ONCE = 32
_MOST_REFUSED = 1000
_LOOK_SECONDS = 1.0
_LONGEST_LOOK_SECONDS = 10.0
_MOST_DOMAINS = 1000
_END_SECONDS = 30.0

Outcome = Routed | Settled
Saw = Callable[[ClaimedUrl, Outcome], None]


@dataclass
class Watch:
    """What is told while it goes on."""

    counted: Callable[[JobCounts], None] = lambda _counts: None
    saw: Saw = lambda _url, _outcome: None


@dataclass
class Run:
    """One process at work on one job."""

    app: App
    job: EvaluationJob
    evaluator: Evaluator
    actor: Actor
    watch: Watch
    crawls: bool = True
    """Whether pages of approved domains are crawled here; no: whoever crawls brings them."""
    resolves: tuple[Resolve, ...] = ()
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    _engine: Engine | None = None

    async def to_its_end(self) -> bool:
        """Until nothing of the job waits, or somebody pauses, cancels or stops it. True: it is finished."""
        counting = asyncio.create_task(self._count())
        crawling = asyncio.create_task(self._crawl_beside()) if self.crawls else None
        try:
            await self._work_off()
        finally:
            self._over.set()
            counting.cancel()
            with suppress(asyncio.CancelledError):
                await counting
            if crawling is not None:
                await self._end_crawl(crawling)
            await asyncio.to_thread(self._give_back)
        is_finished = await asyncio.to_thread(self._finish)
        self.watch.counted(await asyncio.to_thread(self._counts))
        return is_finished

    def stop(self) -> None:
        """What is under way is finished; nothing further is taken."""
        self.stopping.set()

    async def _work_off(self) -> None:
        """So many at once; what becomes free is filled up in one claim."""
        running: set[asyncio.Task[None]] = set()
        try:
            while not self.stopping.is_set():
                room = self.evaluator.room(AT_ONCE) - len(running)
                claimed = await asyncio.to_thread(self._claim, room) if room > 0 else []
                to_do = list(self._tell_refused(claimed))
                if claimed and not to_do:
                    continue
                running |= {asyncio.create_task(self._work(url)) for url in to_do}
                pause = None if claimed else await asyncio.to_thread(self._pause)
                if not claimed and not running and pause is None:
                    return
                running = await self._one_done(running, pause)
            await asyncio.gather(*running)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _tell_refused(self, claimed: Sequence[ClaimedUrl]) -> Iterator[ClaimedUrl]:
        """Gives the others."""
        for url in claimed:
            if (refusal := url.refusal) is not None:
                self.watch.saw(url, refusal)
            else:
                yield url

    async def _one_done(self, running: "set[asyncio.Task[None]]", pause: float | None) -> "set[asyncio.Task[None]]":
        """Wait until one is done, it is time to look again, or somebody says stop."""
        stop = asyncio.create_task(self.stopping.wait())
        try:
            limit = pause if pause is not None else _LOOK_SECONDS
            done, _ = await asyncio.wait({*running, stop}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop.cancel()
        for task in done & running:
            task.result()
        return running - done

    async def _work(self, url: ClaimedUrl) -> None:
        self.watch.saw(url, await self._evaluated(url))

    async def _evaluated(self, url: ClaimedUrl) -> Outcome:
        try:
            found = await self.evaluator.evaluate(url)
        except BailiwickError as error:
            if not error.retryable:
                raise
            found = Settled(url.id, "waiting", error.message, again_seconds=_LONGEST_LOOK_SECONDS)
        return await asyncio.to_thread(self._settled, url, found)

    def _settled(self, url: ClaimedUrl, found: NewEvaluation | Settled) -> Outcome:
        def write() -> Outcome:
            with self.app.database.begin() as conn:
                if isinstance(found, Settled):
                    if found.is_asked and url.asked_seconds is None:
                        self._ask_for_page(conn, url)
                    jobs.settle(conn, [found])
                    return found
                settings = self.app.settings.review
                allowed = replace(found, proofs=evidence_without_forgotten(conn, found.proofs))
                routed = route(conn, allowed, self.evaluator.bands, settings, submitted_by=self.job.created_by)
                jobs.settle(conn, [Settled(url.id, "evaluated")])
                return routed

        return self.app.patiently(write)

    def _ask_for_page(self, conn: Connection, url: ClaimedUrl) -> None:
        """Of an approved domain: whoever crawls it takes this page first."""
        asked = {"domain_id": [url.domain_id], "path": [url.path], "actor": self.actor.id}
        lock_queue(conn, [url.domain_id])
        conn.exec_driver_sql(jobs.SQL["ask_for_pages"], asked)
        conn.exec_driver_sql(REGISTRY_SQL["wake_asked"], {"ids": [url.domain_id]})
        requeue(conn, [url.domain_id])

    def _claim(self, limit: int) -> list[ClaimedUrl]:
        """The next to look at. What is refused takes no work: as much of it as there is, is settled with them."""

        def take() -> list[ClaimedUrl]:
            with self.app.database.begin() as conn:
                claimed = jobs.claim(conn, self.job.id, limit)
                if any(url.refusal for url in claimed):
                    claimed += jobs.claim(conn, self.job.id, _MOST_REFUSED, refused_only=True)
                    jobs.settle(conn, [refusal for url in claimed if (refusal := url.refusal)])
                return claimed

        return self.app.patiently(take)

    def _pause(self) -> float | None:
        """How long there is nothing to take; None: there never will be, for us."""
        with self.app.database.read() as conn:
            if jobs.get(conn, self.job.id).state != "running":
                return None
            seconds = jobs.next_in(conn, self.job.id)
        return None if seconds is None else min(max(seconds, _LOOK_SECONDS / 4), _LOOK_SECONDS)

    async def _count(self) -> None:
        """Tells how far it is, now and then."""
        while True:
            self.watch.counted(await asyncio.to_thread(self._counts))
            await asyncio.sleep(_LOOK_SECONDS)

    async def _crawl_beside(self) -> None:
        """Crawls what the job awaits of approved domains, again and again: each time those pages alone."""
        while not self._over.is_set():
            wanted = await asyncio.to_thread(self._want_crawl)
            if wanted is not None and not self._over.is_set():
                order = Order(Wanted([wanted], self.app.settings.score.page_wait_seconds), self.resolves)
                await run_engine(self.app, order, self._started)
                self._engine = None
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), _LOOK_SECONDS)

    def _started(self, engine: Engine) -> None:
        self._engine = engine
        if self._over.is_set():
            engine.stop(StopReason.SHUTDOWN)

    async def _end_crawl(self, crawling: "asyncio.Task[None]") -> None:
        """In order: what was fetched is written, and its leases are given back."""
        if self._engine is not None:
            self._engine.stop(StopReason.SHUTDOWN)
        try:
            await asyncio.wait_for(crawling, _END_SECONDS)
        except TimeoutError:
            self.app.say("the crawl beside it did not end in time: whoever crawls next takes its leases over")

    def _want_crawl(self) -> int | None:
        """The crawl job that fetches what is awaited; None: nothing is."""
        with self.app.database.begin() as conn:
            awaited = jobs.awaited_domains(conn, self.job.id, limit=_MOST_DOMAINS)
            if not awaited:
                return None
            options = JobOptions(max_pages=max(awaited.values()) + 1, max_depth=0, starts_at_home=False)
            name = f"pages for job {self.job.id}"
            with suppress(ConflictError):
                return crawl_jobs.ensure(conn, name, list(awaited), options, self.actor, priority=1).id
        return None

    def _counts(self) -> JobCounts:
        with self.app.database.read() as conn:
            return jobs.counts(conn, self.job.id)

    def _give_back(self) -> None:
        with suppress(BailiwickError), self.app.database.begin() as conn:
            jobs.give_back(conn)

    def _finish(self) -> bool:
        with self.app.database.begin() as conn:
            return jobs.finish(conn, self.job.id)


def run_job(
    app: App,
    job: EvaluationJob,
    watch: Watch,
    *,
    resolves: Sequence[Resolve] = (),
    crawls: bool = True,
    listen: Callable[[Run], Awaitable[None]] | None = None,
) -> bool:
    """Work on a job until it is over. Says whether it is finished."""
    return asyncio.run(_run_job(app, job, watch, tuple(resolves), crawls=crawls, listen=listen))


async def _run_job(
    app: App,
    job: EvaluationJob,
    watch: Watch,
    resolves: tuple[Resolve, ...],
    *,
    crawls: bool,
    listen: Callable[[Run], Awaitable[None]] | None,
) -> bool:
    with app.database.begin() as conn:
        actor = app.actor(conn)
    profile = app.profiles().get(job.profile)
    if profile is None:
        raise ConflictError(f"there is no profile {job.profile!r} any more", hint="bailiwick profile list")
    evaluator = Evaluator(app, profile, actor, resolves)
    run = Run(app, job, evaluator, actor, watch, crawls, resolves)
    try:
        if listen is not None:
            await listen(run)
        return await run.to_its_end()
    finally:
        await evaluator.close()
