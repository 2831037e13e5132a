"""Other hosts than the page's own, asked for its images (P5, exception *asset*): whom we may ask, when, and for what.

Never one that the profile does not name, nor a domain that was rejected, suspended or blacklisted. Each request waits
for its host's gate, and robots.txt holds.
"""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isinf
from typing import ParamSpec, TypeVar
from weakref import WeakValueDictionary

from bailiwick.base.errors import NameRefusedError
from bailiwick.crawl.addresses import host_of, origin_of
from bailiwick.crawl.desk import OTHER_HOST_DELAY_SECONDS, reserve
from bailiwick.crawl.images.writing import SQL
from bailiwick.crawl.kept_robots import keep_robots, known_robots
from bailiwick.crawl.robots import read_robots
from bailiwick.crawl.slice import Slice
from bailiwick.crawl.tools import Tools
from bailiwick.crawl.visit import Asking
from bailiwick.db.engine import Database
from bailiwick.model.images import ImageOutcome
from bailiwick.model.names import DomainName
from bailiwick.net.gates import RESERVED_SECONDS, Pace, backoff_seconds, retry_after
from bailiwick.net.robots import RobotsKind, RobotsVerdict
from bailiwick.ports import FailureKind, FetchAnswer, FetchFailure, FetchRequest

P = ParamSpec("P")
T = TypeVar("T")
LONGEST_WAIT_SECONDS = 60.0
_JITTER_SECONDS = 0.2
_CONNECTIONS = 3
"""To the database, at once: there are ten for all of the process."""
BUSY_SECONDS = 15.0
"""The host is another's, or has much to do for us already: so long until its image is looked at again."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an image was not asked for; one that still waits, for how long."""

    outcome: ImageOutcome
    why: str
    wait_seconds: float = 0.0


_BUSY = Refusal(ImageOutcome.WAITING, "its host is busy", BUSY_SECONDS)
Answered = FetchAnswer | FetchFailure | Refusal | None
"""None: nothing could be sent, and nothing is known."""


def allowed(host: str, patterns: tuple[str, ...]) -> bool:
    """Whether a profile names this host; `*.` in front of a name takes in all names below it."""
    name = host.partition(":")[0]
    return any(name.endswith(pattern[1:]) if pattern.startswith("*.") else name == pattern for pattern in patterns)


class OtherHosts:
    """The dealings of one process with hosts that it holds no lease of."""

    def __init__(self, database: Database, tools: Tools) -> None:
        self._database, self._tools = database, tools
        self._reading: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Origins whose robots.txt is being read."""
        self._places = asyncio.Semaphore(_CONNECTIONS)

    async def ask(self, part: Slice, url: str, path: str, headers: dict[str, str]) -> Answered:
        """One image of a page of this slice, if its host may be asked for it at all."""
        verdict = await self._robots(part, origin_of(url))
        if not isinstance(verdict, RobotsVerdict):
            return verdict
        if verdict.kind is RobotsKind.CLOSED_FOR_NOW:
            return Refusal(ImageOutcome.WAITING, verdict.reason, float(verdict.expires_seconds))
        if not verdict.robots.allows(path):
            return Refusal(ImageOutcome.ROBOTS_DENIED, verdict.robots.rule_for(path) or "robots.txt")
        return await self._request(part, url, headers, verdict.robots.crawl_delay_seconds or 0.0)

    async def _robots(self, part: Slice, origin: str) -> RobotsVerdict | Answered:
        """As it is known, or read now: by one of those who want it."""
        lock = self._reading.setdefault(origin, asyncio.Lock())
        async with lock:
            known = await self._in_thread(known_robots, self._database, origin, self._tools.agent)
            return known if known is not None else await self._read_robots(part, origin)

    async def _read_robots(self, part: Slice, origin: str) -> RobotsVerdict | Answered:
        refused: list[Refusal] = []

        async def ask(url: str) -> FetchAnswer | FetchFailure | None:
            answer = await self._request(part, url, {}, 0.0)
            if isinstance(answer, Refusal):
                refused.append(answer)
                return None
            return answer

        answer = await read_robots(f"{origin}/robots.txt", ask, self._tools.rules)
        if not isinstance(answer, FetchAnswer):
            return refused[0] if refused else answer
        verdict = await self._in_thread(keep_robots, self._database, origin, answer, self._tools.agent)
        if verdict.robots.crawl_delay_seconds:  # owed from this request on
            await self._in_thread(self._hold_off, host_of(origin), verdict.robots.crawl_delay_seconds)
        return verdict

    async def _request(self, part: Slice, url: str, headers: dict[str, str], delay: float) -> Answered:
        """One request at a moment that is reserved for it."""
        host = host_of(url)
        if (refused := await self._turn(host, delay)) is not None:
            return refused
        turn = await Pace(0.0).turn(good_for_seconds=RESERVED_SECONDS)
        part.on_wire += 1
        try:
            answer = await self._tools.fetcher.fetch(FetchRequest(url, Asking(part, turn), headers))
        finally:
            part.on_wire -= 1
            turn.give_up(tried=True)
        if isinstance(answer, FetchFailure) and answer.kind is FailureKind.NOT_SENT:
            return None
        if isinstance(answer, FetchAnswer) and answer.status in (429, 503):
            asked = retry_after(answer.headers.get("retry-after"), datetime.now(UTC), answer.headers.get("date"))
            await self._in_thread(self._hold_off, host, backoff_seconds(1, asked))
        return answer

    async def _turn(self, host: str, delay: float) -> Refusal | None:
        """Wait until the host may be asked: then the moment is ours. None is reserved ahead of its time.

        So a host that asks for a pause gets it: nobody has a later moment up his sleeve.
        """
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while True:
            wait = await self._in_thread(self._reserved, host, delay)
            if isinstance(wait, Refusal) or wait <= 0:
                return wait if isinstance(wait, Refusal) else None
            if time.monotonic() + wait > deadline:
                return _BUSY
            await asyncio.sleep(wait + random.uniform(0.0, _JITTER_SECONDS))  # noqa: S311 - others wait for it, too

    async def _in_thread(self, work: Callable[P, T], *arguments: P.args, **more: P.kwargs) -> T:
        async with self._places:
            return await asyncio.to_thread(work, *arguments, **more)

    def _reserved(self, host: str, delay: float) -> float | Refusal:
        """Looked at right before each request: a rejection holds from the moment it is written."""
        try:
            name = DomainName.parse(host, allow_private=True)
        except NameRefusedError as error:
            return Refusal(ImageOutcome.ADDRESS_REFUSED, error.message)
        with self._database.read() as conn:
            if conn.exec_driver_sql(SQL["refused_host"], {"names": [name.host, name.name]}).scalar_one():
                return Refusal(ImageOutcome.HOST_REFUSED, f"nothing is fetched from {name}")
        wait = reserve(self._database, host, delay_seconds=max(delay, OTHER_HOST_DELAY_SECONDS), longest_seconds=0.0)
        return _BUSY if isinf(wait) else wait

    def _hold_off(self, host: str, seconds: float) -> None:
        name = DomainName.parse(host, allow_private=True)
        with self._database.begin() as conn:
            conn.exec_driver_sql(SQL["hold_host"], {"host": name.host, "seconds": seconds})
