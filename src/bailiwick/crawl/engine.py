"""The engine: many leased domains open at once in one event loop, one thread for the database.

Each domain's slice fetches at its own pace; one coroutine (`_keep`) does everything that needs the database, in order:
flush, release, take pages, obey, renew, claim. So nothing about a domain is ever written by two hands.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from bailiwick.base.errors import BailiwickError, DiskLowError
from bailiwick.base.settings import Settings
from bailiwick.base.telemetry import LogEvent, logger
from bailiwick.crawl import flush_order
from bailiwick.crawl.desk import Desk, Opened
from bailiwick.crawl.facts import Ending, boottime
from bailiwick.crawl.html import Parsed, parse_page
from bailiwick.crawl.images.beside import ImagesBeside, no_images
from bailiwick.crawl.isolation import LARGE_BYTES, IsolatedParser
from bailiwick.crawl.opening import CONTROL_SECONDS, open_slice
from bailiwick.crawl.outcomes import StopReason
from bailiwick.crawl.progress import Progress
from bailiwick.crawl.reading import unexpected
from bailiwick.crawl.results import Taken
from bailiwick.crawl.seen import SeenTable
from bailiwick.crawl.sitemaps import SitemapDue, read_sitemap
from bailiwick.crawl.slice import GRACE_SECONDS, Slice
from bailiwick.crawl.tools import Tools
from bailiwick.crawl.visit import visit

T = TypeVar("T")
_CLAIM_PAUSE_SECONDS = 1.0
_CLAIMING_SECONDS = 0.5
_LAST_WRITES_SECONDS = 20.0
_HOUSE_SECONDS = 3600.0
_ISOLATED_FROM_CRASHES = 2
_QUEUED_TOTAL, _QUEUED_LEAST = 20_000, 20
"""Pages that wait in memory for their fetch, of all domains together, and of each one all the same."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What this engine is to crawl: domains of these jobs alone, or whatever is due; for how long."""

    job_ids: Sequence[int] | None = None
    time_seconds: float | None = None
    stays: bool = False
    """Wait for what becomes due, instead of ending when there is nothing."""
    is_too_much: Callable[[], bool] | None = None
    """Asked now and then, in the thread for the database: whether to fetch no more until others have caught up."""
    is_parsed: bool = False
    """Somebody parses beside: slices wait for what that finds."""


class Engine:
    """Crawl until there is nothing left, the time is over, or somebody says stop."""

    def __init__(
        self,
        desk: Desk,
        tools: Tools,
        settings: Settings,
        wanted: Wanted,
        *,
        say: Callable[[str], None],
        images: ImagesBeside | None = None,
    ) -> None:
        self._desk, self._tools, self._settings, self._wanted, self._say = desk, tools, settings, wanted, say
        self.progress = Progress()
        self._images = images or no_images()
        self._open: dict[int, Slice] = {}
        self._tasks: dict[int, set[asyncio.Task[None]]] = {}
        self._isolated = IsolatedParser()
        self._seen = SeenTable()
        self._db = ThreadPoolExecutor(1, "bailiwick-db")
        self._wake = asyncio.Event()
        self._stopping: StopReason | None = None
        self._stopped_at = float("inf")
        self._failure: BailiwickError | None = None
        self._no_room: DiskLowError | None = None
        """What the disk said last; nothing is fetched until it has taken what waits for it."""
        self._unwritten = 0
        """Results of all domains that no flush has taken yet."""
        self._controlled = self._renewed = self._kept_house = time.monotonic()
        self._claimed = float("-inf")
        self._is_drained = False
        self._ends = time.monotonic() + wanted.time_seconds if wanted.time_seconds else float("inf")

    @property
    def stopped_for(self) -> StopReason | None:
        """What it was told to stop for; None if it ended by itself."""
        return self._stopping

    def stop(self, reason: StopReason = StopReason.SHUTDOWN) -> None:
        """End in order: what is under way gets a moment, then everything is written and given back."""
        if self._stopping is None:
            self._stopping, self._stopped_at = reason, time.monotonic()
            for part in self._open.values():
                self._stop(part, reason)
            self._wake.set()

    async def run(self) -> None:
        """The whole crawl. Leases are given back even when it fails."""
        try:
            while not await self._is_done():
                await self._keep()
                await self._rest()
        except BaseException:
            self.stop()
            raise
        finally:
            await self._close()
        if self._failure is not None:
            raise self._failure

    async def _is_done(self) -> bool:
        if self._stopping is not None:
            return True
        if time.monotonic() >= self._ends:
            self.stop(StopReason.TIME_BUDGET)
            return True
        if self._open or self._wanted.stays or not self._is_drained:
            return False
        if self._wanted.job_ids is None:
            return True
        left = await self._ask(self._desk.left_of, self._wanted.job_ids)
        self.progress.elsewhere = left.leased
        return not (left.leased or left.ready)

    async def _rest(self) -> None:
        """Until something happened, or a moment has passed."""
        idle = 0.02 if any(part.in_flight for part in self._open.values()) else 0.1
        try:
            async with asyncio.timeout(0.25):
                await self._wake.wait()
        except TimeoutError:
            return
        self._wake.clear()
        await asyncio.sleep(idle)  # gather what else happens meanwhile

    async def _keep(self) -> None:
        """One round of everything that needs the database."""
        now = time.monotonic()
        await self._flush(self._due_for_flush(now))
        if self._no_room is not None:
            # All that waited is written: there is room, but not for the body that was just fetched.
            self._say(f"stopping: {self._no_room.message}")
            self.stop(StopReason.STORAGE_FULL)
            return
        await self._end_slices(now)
        await self._read_sitemaps()
        await self._take_pages()
        await self._look_for_images(now)
        if now - self._controlled >= CONTROL_SECONDS:
            self._controlled = now
            await self._obey()
            await self._ask(self._desk.tell, self.progress.figures())
            if self._wanted.is_too_much is not None:
                self.progress.is_held_back = await self._ask(self._wanted.is_too_much)
        if now - self._renewed >= self._settings.lease.heartbeat_seconds:
            self._renewed = now
            await self._renew()
        if now - self._kept_house >= _HOUSE_SECONDS:
            self._kept_house = now
            await self._ask(self._desk.keep_house)
        await self._claim(now)
        self._start_fetches()

    # Flush

    def _due_for_flush(self, now: float) -> list[Slice]:
        if self._no_room is not None:
            return [part for part in self._open.values() if part.has_unwritten]
        return flush_order.due(self._open.values(), self._settings.crawl, now)

    async def _flush(self, parts: Sequence[Slice], *, patience_seconds: float = float("inf")) -> None:
        for group in flush_order.together(parts):
            await self._flush_together(group, patience_seconds)
        self._unwritten = sum(len(part.results) for part in self._open.values())

    async def _flush_together(self, parts: Sequence[Slice], patience_seconds: float) -> None:
        batches = [(part, part.take_batch()) for part in parts]
        answers = await self._patiently(
            lambda: self._desk.flush([batch for _, batch in batches]), patience_seconds=patience_seconds
        )
        for part, batch in batches:
            answer = answers[part.lease.domain_id]
            part.flushed(batch, new_pages=answer.new_pages, new_outlinks=answer.new_outlinks)
            if answer.is_held:
                self.progress.flushed(part, batch)
            else:
                self._stop(part, StopReason.LEASE_LOST)

    # Pages

    async def _take_pages(self) -> None:
        most = max(_QUEUED_TOTAL // max(len(self._open), 1), _QUEUED_LEAST)
        hungry = [(part, part.out + wanted) for part in self._open.values() if (wanted := part.wants_pages(most))]
        if hungry:
            found = await self._ask(self._desk.take, hungry)
            for part, asked in hungry:
                part.offer(found[part.lease.domain_id], asked)
        idle = [part for part in self._open.values() if part.needs_outlook]
        if idle:
            for domain_id, outlook in (await self._ask(self._desk.outlook, idle)).items():
                self._open[domain_id].outlook = outlook
                if outlook.next_in_seconds is not None:
                    wait = max(outlook.next_in_seconds, 0.05)  # what was not due when we looked may be due by now
                    asyncio.get_running_loop().call_later(wait, self._look_again, self._open[domain_id])

    async def _read_sitemaps(self) -> None:
        """One at a time a domain, beside its pages, once its origin is known."""
        hungry = [part for part in self._open.values() if part.may_read_sitemaps]
        if not hungry:
            return
        due = await self._ask(self._desk.next_sitemaps, hungry)
        for part in hungry:
            part.wants_sitemaps = part.lease.domain_id in due
            if part.wants_sitemaps:
                part.reads_sitemap = True
                self._spawn(part, self._sitemap(part, due[part.lease.domain_id]))

    async def _sitemap(self, part: Slice, due: SitemapDue) -> None:
        try:
            await read_sitemap(part, due, self._tools)
        except Exception as error:  # noqa: BLE001 - a sitemap is a help, not a need
            logger().error(LogEvent.PAGE_FAILED, domain=part.lease.name.name, path=due.url, error=repr(error))
            part.wants_sitemaps = False
        finally:
            part.reads_sitemap = False
            self._wake.set()

    async def _look_for_images(self, now: float) -> None:
        hungry = self._images.hungry(self._open.values(), now)
        if hungry:
            for domain_id, outlook in (await self._ask(self._desk.image_outlook, hungry)).items():
                self._open[domain_id].images.offer(outlook, now)

    def _image_ended(self, error: DiskLowError | None) -> None:
        self._no_room = error or self._no_room
        self._wake.set()

    def _look_again(self, part: Slice) -> None:
        part.look_again()
        self._wake.set()

    def _start_fetches(self) -> None:
        for part in self._open.values():
            self._fetch_more(part)
            if self._no_room is None:
                self._images.start(part, self._spawn, self._image_ended)

    def _fetch_more(self, part: Slice) -> None:
        while self._may_fetch and (page := part.next_page()) is not None:
            self._spawn(part, self._fetch(part, page))
        if part.next_is_blocked and not part.in_flight:
            self._wake.set()

    @property
    def _may_fetch(self) -> bool:
        has_room = self._no_room is None and self._unwritten < flush_order.MOST_UNWRITTEN
        return has_room and not self.progress.is_held_back

    def _spawn(self, part: Slice, work: "Coroutine[None, None, None]") -> None:
        task = asyncio.create_task(work)
        tasks = self._tasks.setdefault(part.lease.domain_id, set())
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def _fetch(self, part: Slice, page: Taken) -> None:
        try:
            result = await visit(part, page, self._tools, self._parser(part))
        except DiskLowError as error:
            self._no_room = error
            self._wake.set()
            result = None
        except asyncio.CancelledError:
            part.give_back(page)
            raise
        except BailiwickError as error:
            self._say(error.message)
            if not error.retryable:
                self._failure = error
                self.stop()
            await asyncio.sleep(1)
            result = None
        except Exception as error:  # noqa: BLE001 - one page must not end the crawl of a thousand domains
            logger().error(LogEvent.PAGE_FAILED, domain=part.lease.name.name, path=page.path, error=repr(error))
            result = unexpected(part, page, self._tools, error)
        if result is None:
            part.give_back(page)
        else:
            part.add(result)
            self._unwritten += 1
        is_full = len(part.results) >= self._settings.crawl.flush_pages or self._unwritten >= flush_order.PRESSING
        if is_full or part.is_urgent or part.next_is_blocked:
            self._wake.set()
        self._fetch_more(part)

    def _parser(self, part: Slice) -> Callable[[bytes, str, str], Awaitable[Parsed]]:
        return self._isolated.parse if part.lease.crashes >= _ISOLATED_FROM_CRASHES else self._parse

    async def _parse(self, body: bytes, content_type: str, host: str) -> Parsed:
        if len(body) >= LARGE_BYTES:
            return await self._isolated.parse(body, content_type, host)
        return parse_page(body, content_type, host)

    # The ends of slices

    async def _end_slices(self, now: float) -> None:
        over = [(part, ending) for part in list(self._open.values()) if (ending := part.ending(now)) is not None]
        for part, _ in over:
            self._cancel_fetches(part)
        await self._release(over)

    async def _release(self, over: Sequence[tuple[Slice, Ending]], *, patience_seconds: float = float("inf")) -> None:
        if not over:
            return
        await asyncio.sleep(0)  # cancelled fetches give their pages back
        for part, _ in over:
            part.gate.save(part.pages_known)
        await self._flush([part for part, _ in over if part.has_unwritten], patience_seconds=patience_seconds)
        over = [(part, Ending(part.stop) if part.stop is StopReason.LEASE_LOST else ending) for part, ending in over]
        mine = [(part, ending) for part, ending in over if ending.reason is not StopReason.LEASE_LOST]
        done = (
            await self._patiently(lambda: self._desk.release(mine), patience_seconds=patience_seconds)
            if mine
            else set()
        )
        for part, ending in over:
            del self._open[part.lease.domain_id]
            self._tasks.pop(part.lease.domain_id, None)
            lost = part.lease.domain_id not in done
            self.progress.ended(part, Ending(StopReason.LEASE_LOST) if lost else ending)
        self._claimed = float("-inf")
        self._is_drained = False

    def _stop(self, part: Slice, reason: StopReason) -> None:
        part.stop_for(reason, time.monotonic())

    def _cancel_fetches(self, part: Slice) -> None:
        for task in list(self._tasks.get(part.lease.domain_id, ())):
            task.cancel()

    # What others want

    async def _obey(self) -> None:
        parts = list(self._open.values())
        if not parts:
            return
        for domain_id, reason in (await self._ask(self._desk.control, parts)).items():
            self._stop(self._open[domain_id], reason)
        for domain_id in await self._ask(self._desk.drain, parts):
            self._open[domain_id].look_again()
        if await self._ask(self._desk.widen, parts):
            self._claimed = float("-inf")

    async def _renew(self) -> None:
        parts = list(self._open.values())
        asked_at = boottime()
        held = await self._ask(self._desk.renew, parts)
        for part in parts:
            if part.lease.domain_id in held:
                part.sending.renew(asked_at, self._settings.lease.seconds)
            else:
                self._stop(part, StopReason.LEASE_LOST)

    async def _claim(self, now: float) -> None:
        """Batch after batch, as long as there is room and each answer is full: then there is more."""
        if now - self._claimed < _CLAIM_PAUSE_SECONDS:
            return
        until = time.monotonic() + _CLAIMING_SECONDS
        while time.monotonic() < until:
            room = min(self._settings.crawl.max_open_domains - len(self._open), self._settings.crawl.claim_batch)
            if room <= 0 or self._stopping is not None:
                return
            opened = await self._ask(self._desk.claim, room, self._wanted.job_ids, self._open.keys())
            self._is_drained = not opened
            await self._begin(opened)
            if len(opened) < room:
                self._claimed = time.monotonic()
                return

    async def _begin(self, opened: Sequence[Opened]) -> None:
        """Open the slices of what was leased."""
        for one in opened:
            wait = self._drop(one.lease.domain_id)
            part = open_slice(one, self._settings, first_after_seconds=wait, seen=self._seen, images=self._images)
            self._open[one.lease.domain_id] = part
            self.progress.opened(part)
        if opened:
            await self._ask(self._desk.drain, [self._open[one.lease.domain_id] for one in opened])
            await self._take_pages()

    def _drop(self, domain_id: int) -> float:
        """End a slice whose lease was lost and is ours again before we saw it. How long until its host may be asked?"""
        part = self._open.pop(domain_id, None)
        if part is None:
            return 0.0
        self._stop(part, StopReason.LEASE_LOST)
        self._cancel_fetches(part)
        self.progress.ended(part, Ending(StopReason.LEASE_LOST))
        return part.pace.wait_seconds()

    # The end

    async def _close(self) -> None:
        """Write and give back everything, then go. Bounded: what cannot be written is fetched again."""
        deadline = time.monotonic() + GRACE_SECONDS
        while any(part.on_wire for part in self._open.values()) and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        parts = list(self._open.values())
        for part in parts:
            self._cancel_fetches(part)
        reason = self._stopping or StopReason.SHUTDOWN
        try:
            over = [(part, part.ending(time.monotonic()) or Ending(reason)) for part in parts]
            await self._release(over, patience_seconds=_LAST_WRITES_SECONDS)
            await self._ask(self._desk.leave)
        except BailiwickError as error:
            self._say(f"{error.message}; what was not written is fetched again next time")
        finally:
            await self._isolated.close()
            await self._tools.fetcher.close()
            self._db.shutdown(wait=False)

    async def _ask(self, work: "Callable[..., T]", *arguments: object) -> T:
        return await self._patiently(lambda: work(*arguments))

    async def _patiently(self, work: "Callable[[], T]", *, patience_seconds: float = float("inf")) -> T:
        """Do it in the database's thread; while the database is away, wait and try again. All of it may be repeated."""
        deadline, pause, told = time.monotonic() + patience_seconds, 0.2, False
        while True:
            try:
                done = await asyncio.get_running_loop().run_in_executor(self._db, work)
            except BailiwickError as error:
                if not error.retryable or time.monotonic() + pause > deadline or self._gives_up():
                    raise
                if isinstance(error, DiskLowError):
                    self._no_room = error
                if not told:
                    self._say(f"waiting: {error.message}")
                    told = True
            else:
                if told:
                    self._no_room = None
                    self._say("going on")
                return done
            await asyncio.sleep(pause)
            pause = min(pause * 2, 5.0)

    def _gives_up(self) -> bool:
        return time.monotonic() > self._stopped_at + _LAST_WRITES_SECONDS
