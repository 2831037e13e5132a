"""The parse stage: takes pages that wait, has them extracted by the pool, writes what came of it.

Two rounds at a time, so that the pool is busy while one of them is at the database. Everything is idempotent and may be
killed at any point: what was not written is taken again when its time is over, or at once where the process is gone.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from bailiwick.base.clock import SystemClock
from bailiwick.base.errors import BailiwickError, BodyDamagedError, NotFoundError
from bailiwick.base.retry import retrying
from bailiwick.db.engine import Database
from bailiwick.extract import queue
from bailiwick.extract.page import Body, Extracted
from bailiwick.extract.pool import ExtractionPool
from bailiwick.extract.queue import Claimed, Taker
from bailiwick.extract.version import EXTRACTOR_VERSION
from bailiwick.extract.writing import Result, Written, write
from bailiwick.model.content import ParseOutcome, Relevance, Unread
from bailiwick.ports import BodyStore

T = TypeVar("T")
Extract = Callable[[Body], Awaitable[Extracted | Unread]]
SecondOpinion = Callable[[Claimed, Extracted], Awaitable[Relevance | None]]
"""Somebody else's judgement of a page that the profile wants judged by a model; None: the first one holds."""

_ROUNDS = 2
_WRITE_SECONDS = 2.0
_IDLE_SECONDS = 1.0
_UNKNOWN_PROFILE_SECONDS = 3600.0
_PATIENCE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Work:
    """What the stage works with. `marks` are those of the profiles that there are, by name."""

    database: Database
    store: BodyStore
    pool: ExtractionPool
    taker: Taker
    marks: Callable[[], dict[str, int]]
    batch_pages: int = 64
    second_opinion: SecondOpinion | None = None
    say: Callable[[str], None] = lambda _: None


@dataclass(slots=True)
class ParseProgress:
    """How it is going."""

    outcomes: Counter[ParseOutcome] = field(default_factory=Counter)
    relevant: int = 0
    changed: int = 0
    items: int = 0
    unknown_profiles: Counter[str] = field(default_factory=Counter)
    started: float = field(default_factory=time.monotonic)

    @property
    def pages(self) -> int:
        return self.outcomes.total()

    @property
    def unread(self) -> int:
        """Pages of which no content could be read."""
        return self.pages - self.outcomes[ParseOutcome.PARSED]

    def add(self, written: Written) -> None:
        self.outcomes.update(written.outcomes)
        self.relevant += written.relevant
        self.changed += written.changed
        self.items += written.items


@dataclass(frozen=True, slots=True)
class _Ready:
    """A page that can be extracted."""

    page: Claimed
    known: Sequence[bytes]
    data: bytes | Unread


class ParseStage:
    """Parse until nothing waits any more, or until told to stop."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self.progress = ParseProgress()
        self.is_stopping = False
        self._db = ThreadPoolExecutor(1, "bailiwick-parse-db")
        self._marks = work.marks()
        self._wake = asyncio.Event()

    def stop(self) -> None:
        """What is parsed is written, the rest is given back."""
        self.is_stopping = True
        self._wake.set()

    async def run(self, *, stays: bool = False) -> ParseProgress:
        """With `stays` it waits for more instead of ending."""
        try:
            await self._ask(self._bury_the_dead)
            async with asyncio.TaskGroup() as rounds:
                for _ in range(_ROUNDS):
                    rounds.create_task(self._rounds(stays=stays))
        except* BailiwickError as group:
            raise group.exceptions[0] from None
        finally:
            await self._work.pool.close()
            self._db.shutdown()
        return self.progress

    async def _rounds(self, *, stays: bool) -> None:
        while not self.is_stopping:
            batch = await self._ask(self._claim)
            if batch:
                await self._round(batch)
            elif stays:
                await self._idle()
            else:
                return

    async def _idle(self) -> None:
        try:
            async with asyncio.timeout(_IDLE_SECONDS):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _round(self, batch: Sequence["_Ready"]) -> None:
        """Extract these, and write them as they get ready: one slow page does not hold up the others."""
        tasks = {asyncio.create_task(self._extracted(ready)): ready.page for ready in batch}
        left: set[asyncio.Task[Result]] = set(tasks)
        try:
            while left and not self.is_stopping:
                done, left = await asyncio.wait(left, timeout=_WRITE_SECONDS)
                if done:
                    await self._write([task.result() for task in done])
        finally:
            if left:
                await self._give_back(left, [tasks[task] for task in left])

    async def _give_back(self, left: "set[asyncio.Task[Result]]", pages: Sequence[Claimed]) -> None:
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._ask(lambda: self._in_transaction(lambda conn: queue.give_back(conn, self._work.taker, pages)))

    async def _extracted(self, ready: "_Ready") -> Result:
        page, started = ready.page, time.monotonic()
        mark = self._marks[page.profile]
        if isinstance(ready.data, Unread):
            return Result(page, mark, ready.data)
        body = Body(ready.data, page.content_type, page.url, page.profile, ready.known)
        found = await self._work.pool.extract(body)
        if isinstance(found, Extracted) and found.relevance is not None and self._work.second_opinion is not None:
            found = await self._judged_again(page, body, found)
        return Result(page, mark, found, round((time.monotonic() - started) * 1000))

    async def _judged_again(self, page: Claimed, body: Body, found: Extracted) -> Extracted | Unread:
        """By a model, where the profile asks for one; what becomes relevant by it is extracted in full."""
        opinion = self._work.second_opinion and await self._work.second_opinion(page, found)
        if opinion is None or found.relevance is None:
            return found
        if opinion.is_relevant == found.relevance.is_relevant:
            return Extracted(found.content, opinion, found.markdown, found.items)
        if not opinion.is_relevant:
            return Extracted(found.content, opinion)
        return await self._work.pool.extract(
            Body(body.data, body.content_type, body.url, body.profile, relevance=opinion)
        )

    def _body(self, page: Claimed) -> bytes | Unread:
        if page.ref is None:
            return Unread(ParseOutcome.NO_BODY, "no body is stored of it")
        try:
            return self._work.store.get(page.ref).body
        except (NotFoundError, BodyDamagedError) as error:
            return Unread(ParseOutcome.NO_BODY, error.message)

    # The database

    async def _ask(self, work: Callable[[], T]) -> T:
        """In the one thread for the database; while that is away or the disk is full, wait and say so."""

        def patiently() -> T:
            return retrying(work, clock=SystemClock(), limit_seconds=_PATIENCE_SECONDS, say=self._work.say)

        return await asyncio.get_running_loop().run_in_executor(self._db, patiently)

    def _in_transaction(self, work: "Callable[..., T]") -> T:
        with self._work.database.begin() as conn:
            return work(conn)

    def _claim(self) -> list["_Ready"]:
        """The next pages, with their bodies: all in one go, for a thread is not changed for nothing."""
        return [_Ready(page, known, self._body(page)) for page, known in self._claimed()]

    def _claimed(self) -> list[tuple[Claimed, list[bytes]]]:
        with self._work.database.begin() as conn:
            pages = queue.claim(conn, self._work.taker, limit=self._work.batch_pages)
            if any(page.profile not in self._marks for page in pages):
                self._marks = self._work.marks()  # one may have come since
            strange = [page for page in pages if page.profile not in self._marks]
            if strange:
                queue.give_back(conn, self._work.taker, strange, wait_seconds=_UNKNOWN_PROFILE_SECONDS)
                self._say_unknown(strange)
            ready = [(page, self._marks[page.profile]) for page in pages if page.profile in self._marks]
            known = queue.known_contents(conn, ready, version=EXTRACTOR_VERSION) if ready else {}
            return [(page, known.get(page.key, [])) for page, _ in ready]

    def _say_unknown(self, pages: Sequence[Claimed]) -> None:
        for page in pages:
            if not self.progress.unknown_profiles[page.profile]:
                self._work.say(
                    f"pages wait for the profile {page.profile!r}, which there is not: bailiwick profile list"
                )
            self.progress.unknown_profiles[page.profile] += 1

    async def _write(self, results: Sequence[Result]) -> None:
        written = await self._ask(lambda: self._in_transaction(lambda conn: write(conn, results)))
        self.progress.add(written)

    def _bury_the_dead(self) -> None:
        """What processes of this machine held that are gone is free at once."""
        from bailiwick.registry.workers import WorkerName

        with self._work.database.begin() as conn:
            names = queue.holders(conn, self._work.taker.machine)
            gone = [name for name in names if not WorkerName.parse(name).is_alive]
            if gone:
                queue.free_dead(conn, gone)
