"""The parse stage: takes pages that wait, has them extracted by the pool, writes what came of it.

Two rounds at a time, so that the pool is busy while one of them is at the database. Everything is idempotent and may be
killed at any point: what was not written is taken again when its time is over, or at once where the process is gone.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TypeVar

from bailiwick.base.clock import SystemClock
from bailiwick.base.errors import BailiwickError, BodyDamagedError, NotFoundError
from bailiwick.base.retry import retrying
from bailiwick.db.engine import Database
from bailiwick.extract import queue
from bailiwick.extract.images.writing import wake
from bailiwick.extract.page import Body, Extracted
from bailiwick.extract.pool import ExtractionPool, PoolClosedError
from bailiwick.extract.queue import Claimed, Taker
from bailiwick.extract.version import EXTRACTOR_VERSION
from bailiwick.extract.writing import Result, Written, write
from bailiwick.model.content import ParseOutcome, Relevance, Unread
from bailiwick.model.images import PageImages
from bailiwick.ports import BodyStore
from bailiwick.registry.workers import WorkerName

T = TypeVar("T")
SecondOpinion = Callable[[Claimed, Extracted], Awaitable[Relevance | None]]
"""Somebody else's judgement of a page that the profile wants judged by a model; None: the first one holds."""
SecondReading = Callable[[Claimed, Extracted], Awaitable[Extracted]]
"""A relevant page with the items that a model reads out of it, where the profile wants that."""

_ROUNDS = 2
_PART_PAGES = 8
"""Pages that a child gets at once: so few that a slow one keeps few waiting."""
_WRITE_SECONDS = 2.0
_IDLE_SECONDS = 1.0
_WAKE_SECONDS = 60.0
"""How often domains at rest are looked at for images that wait to be tried again."""
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
    second_reading: SecondReading | None = None
    written: Callable[[Written], None] = lambda _: None
    """Told after each write."""
    say: Callable[[str], None] = lambda _: None
    image_profiles: Callable[[], Sequence[str]] = tuple
    """Profiles that fetch images, if they can be read here."""


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
    body: Body | Unread


class ParseStage:
    """Parse until nothing waits any more, or until told to stop."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self.progress = ParseProgress()
        self.is_stopping = False
        self._db = ThreadPoolExecutor(1, "bailiwick-parse-db")
        self._marks = work.marks()
        self._wake = asyncio.Event()
        self._woken_at = time.monotonic()

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
            await asyncio.to_thread(self._work.pool.close)
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
        if time.monotonic() - self._woken_at >= _WAKE_SECONDS:
            self._woken_at = time.monotonic()
            await self._ask(lambda: self._in_transaction(lambda conn: wake(conn, None, self._work.image_profiles())))
        try:
            async with asyncio.timeout(_IDLE_SECONDS):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _round(self, batch: Sequence["_Ready"]) -> None:
        """Extract these, and write them as they get ready: one slow page does not hold up the others."""
        parts = [batch[start : start + _PART_PAGES] for start in range(0, len(batch), _PART_PAGES)]
        tasks = {asyncio.create_task(self._extracted(part)): part for part in parts}
        left: set[asyncio.Task[list[Result]]] = set(tasks)
        try:
            while left and not self.is_stopping:
                done, _ = await asyncio.wait(left, timeout=_WRITE_SECONDS)
                if done:
                    await self._write([result for task in done for result in task.result()])
                    left -= done
        except PoolClosedError:
            pass  # the other round was told to stop
        finally:
            if left:
                await self._give_back(left, [ready.page for task in left for ready in tasks[task]])

    async def _give_back(self, left: "set[asyncio.Task[list[Result]]]", pages: Sequence[Claimed]) -> None:
        await asyncio.to_thread(self._work.pool.close)  # whatever is under way ends at once
        await asyncio.gather(*left, return_exceptions=True)
        await self._ask(lambda: self._in_transaction(lambda conn: queue.give_back(conn, self._work.taker, pages)))

    async def _extracted(self, part: Sequence["_Ready"]) -> list[Result]:
        """A few pages by one child."""
        started = time.monotonic()
        bodies = [ready.body for ready in part if isinstance(ready.body, Body)]
        answers = iter(await self._work.pool.extract(bodies))
        found = [next(answers) if isinstance(ready.body, Body) else ready.body for ready in part]
        milliseconds = round((time.monotonic() - started) * 1000 / len(part))
        if self._work.second_opinion is not None:
            found = await asyncio.gather(*map(self._judged_again, part, found))
        if self._work.second_reading is not None:
            found = await asyncio.gather(*map(self._read_again, part, found))
        return [
            Result(ready.page, self._mark(ready.page), one, milliseconds)
            for ready, one in zip(part, found, strict=True)
        ]

    async def _judged_again(self, ready: "_Ready", found: Extracted | Unread) -> Extracted | Unread:
        """By a model, where the profile asks for one; what becomes relevant by it is extracted in full."""
        if self._work.second_opinion is None or isinstance(found, Unread) or found.relevance is None:
            return found
        opinion = await self._work.second_opinion(ready.page, found)
        if opinion is None:
            return found
        if opinion.is_relevant == found.relevance.is_relevant:
            return replace(found, relevance=opinion)
        if not opinion.is_relevant or isinstance(ready.body, Unread):
            return Extracted(found.content, opinion, images=_no_images(found))
        [again] = await self._work.pool.extract([replace(ready.body, relevance=opinion)])
        return again

    async def _read_again(self, ready: "_Ready", found: Extracted | Unread) -> Extracted | Unread:
        """By a model, for items; what is known or not relevant is left alone."""
        if self._work.second_reading is None or isinstance(found, Unread) or found.relevance is None:
            return found
        return await self._work.second_reading(ready.page, found) if found.relevance.is_relevant else found

    def _body(self, page: Claimed, known: Sequence[bytes]) -> Body | Unread:
        if page.ref is None:
            return Unread(ParseOutcome.NO_BODY, "no body is stored of it")
        try:
            return Body(self._work.store.get(page.ref).body, page.content_type, page.url, page.profile, known)
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
        return [_Ready(page, self._body(page, known)) for page, known in self._claimed()]

    def _claimed(self) -> list[tuple[Claimed, list[bytes]]]:
        with self._work.database.begin() as conn:
            pages = queue.claim(conn, self._work.taker, limit=self._work.batch_pages)
            if any(page.profile not in self._marks for page in pages):
                self._marks = self._work.marks()  # one may have come since
            strange = [page for page in pages if page.profile not in self._marks]
            if strange:
                queue.give_back(conn, self._work.taker, strange, wait_seconds=_UNKNOWN_PROFILE_SECONDS)
                self._say_unknown(strange)
            ready = [(page, self._mark(page)) for page in pages if page.profile in self._marks]
            known = queue.known_contents(conn, ready, version=EXTRACTOR_VERSION) if ready else {}
            return [(page, known.get(page.key, [])) for page, _ in ready]

    def _mark(self, page: Claimed) -> int:
        """Of all that decides how a page is parsed beside the program: its profile, and the parsers for its site."""
        return self._marks[page.profile] ^ page.parser_mark

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
        self._work.written(written)
        if written.images.domains:
            await self._ask(
                lambda: self._in_transaction(
                    lambda conn: wake(conn, written.images.domains, self._work.image_profiles())
                )
            )

    def _bury_the_dead(self) -> None:
        """What processes of this machine held that are gone is free at once."""
        with self._work.database.begin() as conn:
            names = queue.holders(conn, self._work.taker.machine)
            gone = [name for name in names if not WorkerName.parse(name).is_alive]
            if gone:
                queue.free_dead(conn, gone)
        with self._work.database.begin() as conn:
            wake(conn, None, self._work.image_profiles())


def _no_images(found: Extracted) -> PageImages | None:
    """Of a page that is not relevant after all."""
    return None if found.images is None else PageImages([], found.images.downloads)
