"""Pace: when the next request to a host may be written."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_HOLD_SECONDS = 86_400.0
RESERVED_SECONDS = 2.0
"""A request to a host that nobody holds may be written this much later than the moment reserved for it."""
_FIRST_BACKOFF_SECONDS = 5.0
_LONGEST_BACKOFF_SECONDS = 3_600.0
_RETRY_FACTOR = 4.0
_RETRY_JITTER = 0.2
_LATENCY_WEIGHT = 0.2
_LONGEST_LATENCY_SECONDS = 60.0
_MARGIN_SECONDS = 0.002
"""Who waits for a delay waits so much longer: the request before may have been longer on its way to the host."""


@dataclass(frozen=True, slots=True)
class Manners:
    """All that decides about the next request: what is owed to the host, and how it answered of late."""

    delay_seconds: float
    """What the operator, the domain and its robots.txt ask for: the longest of them."""
    last_sent: float
    not_before: float
    """The host asked for a pause until then."""
    latency_seconds: float = 0.0


def next_allowed(manners: Manners) -> float:
    """The earliest moment for the next request, by the clock of the moments given. A pure function.

    A full delay after the last one; a host that takes longer than that to answer gets as long as it takes; and not
    before what it asked for.
    """
    delay = manners.delay_seconds
    if delay > 0:
        delay = max(delay, manners.latency_seconds)
    return max(manners.last_sent + delay, manners.not_before)


def backoff_seconds(times: int, retry_after_seconds: float | None) -> float:
    """How long to stay away after so many answers in a row that asked us to: what was asked for, or ever longer."""
    own = min(_FIRST_BACKOFF_SECONDS * 2.0 ** min(max(times - 1, 0), 20), _LONGEST_BACKOFF_SECONDS)
    return min(max(own, retry_after_seconds or 0.0), LONGEST_HOLD_SECONDS)


def retry_seconds(base_seconds: float, retries: int, random: float) -> float:
    """How long a page waits for its next try: four times as long each time, a day at most. A pure function.

    `random` lies in 0..1 and moves it by a fifth either way, so that pages which failed together come back apart.
    """
    longest = LONGEST_HOLD_SECONDS / (1 + _RETRY_JITTER)
    plain = min(base_seconds * _RETRY_FACTOR ** min(max(retries, 0), 20), longest)
    return plain * (1 + _RETRY_JITTER * (2 * random - 1))


def retry_after(value: str | None, now: datetime, date: str | None = None) -> float | None:
    """Seconds out of a Retry-After header: a number, or a date (RFC 9110 section 10.2.3). None if it is neither.

    A date is meant by the server's own clock: if its answer tells that (`date`, its Date header), ours does not count.
    """
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), LONGEST_HOLD_SECONDS)
    moment = _moment(text)
    if moment is None:
        return None
    return min(max((moment - (_moment(date or "") or now)).total_seconds(), 0.0), LONGEST_HOLD_SECONDS)


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


class Pace:
    """The pace of one host, kept by the holder of its lease.

    One request at a time is between its turn and the moment it is written: so the delay lies between the moments of
    writing, however long a connection takes to open. And so many at most are between their turn and their answer.
    """

    def __init__(
        self,
        delay_seconds: float,
        *,
        first_after_seconds: float = 0.0,
        most_at_once: int = 1_000_000,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.delay_seconds = delay_seconds
        self._now = now
        self._last = float("-inf")
        self._began = now()
        self._not_before = self._began + first_after_seconds
        self._latency = 0.0
        self._places = asyncio.Semaphore(most_at_once)
        self._turn = asyncio.Lock()

    @property
    def last_sent(self) -> float:
        """When a request was last written, by the monotonic clock."""
        return self._last

    @property
    def held_seconds(self) -> float:
        """How long the host still wants to be left alone."""
        return max(0.0, self._not_before - self._now())

    def wait_seconds(self) -> float:
        return max(0.0, self._next() - self._now())

    def is_past(self, moment: float) -> bool:
        return self._now() > moment

    def raise_delay(self, seconds: float | None) -> None:
        """The host's robots.txt asks for more; less is never given."""
        self.delay_seconds = max(self.delay_seconds, seconds or 0.0)

    def hold_off(self, seconds: float) -> None:
        """The host asked for a pause."""
        self._not_before = max(self._not_before, self._now() + seconds)

    def answered(self, seconds: float) -> None:
        """How long an answer took: a slow host is asked less often."""
        seconds = min(seconds, _LONGEST_LATENCY_SECONDS)
        self._latency += _LATENCY_WEIGHT * (seconds - self._latency)

    async def turn(self, *, good_for_seconds: float = float("inf")) -> "Turn":
        """Wait for a place, then for the turn to write one request. It has to be ended by `give_up`, sent or not.

        A moment that was reserved among others is good for a while only: who comes too late reserves another one.
        """
        await self._places.acquire()
        try:
            await self._wait_in_line()
        except BaseException:
            self._places.release()
            raise
        return Turn(self, self._now() + good_for_seconds)

    async def _wait_in_line(self) -> None:
        await self._turn.acquire()
        try:
            is_first = self._next() == self._began
            margin = 0.0 if is_first or not self.delay_seconds else _MARGIN_SECONDS
            while (wait := self._next() + margin - self._now()) > 0:  # looked at again: a timer may end early
                margin = _MARGIN_SECONDS
                await asyncio.sleep(wait)
        except BaseException:
            self._turn.release()
            raise

    def _end_turn(self, *, sent: bool) -> None:
        if sent:
            self._note_sent()
            # An event loop may write after whatever else is ready: when that is done, it is written for certain.
            asyncio.get_running_loop().call_soon(self._note_sent)
        self._turn.release()

    def _next(self) -> float:
        return next_allowed(Manners(self.delay_seconds, self._last, self._not_before, self._latency))

    def _note_sent(self) -> None:
        self._last = self._now()

    def _leave_place(self) -> None:
        self._places.release()


class Turn:
    """The right to write one request now, and a place among those that are under way."""

    __slots__ = ("_good_until", "_has_place", "_is_unused", "_pace")

    def __init__(self, pace: Pace, good_until: float) -> None:
        self._pace, self._good_until = pace, good_until
        self._is_unused = self._has_place = True

    @property
    def is_open(self) -> bool:
        """Nothing was written in it yet, it is not too late, and the host has not asked for a pause meanwhile."""
        return self._is_unused and not self._pace.held_seconds and not self._pace.is_past(self._good_until)

    def sent(self) -> None:
        """The request is being written: the delay starts."""
        self._use(sent=True)

    def give_up(self, *, tried: bool) -> None:
        """The request is over, or none was written; one that reached for the host counts as one for the pace."""
        self._use(sent=tried)
        if self._has_place:
            self._has_place = False
            self._pace._leave_place()  # noqa: SLF001 - two halves of one thing

    def _use(self, *, sent: bool) -> None:
        if self._is_unused:
            self._is_unused = False
            self._pace._end_turn(sent=sent)  # noqa: SLF001 - two halves of one thing
