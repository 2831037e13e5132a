"""Pace: when the next request to a host may be written."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_HOLD_SECONDS = 86_400.0
_FIRST_BACKOFF_SECONDS = 5.0
_LONGEST_BACKOFF_SECONDS = 3_600.0
_LATENCY_WEIGHT = 0.2
_LONGEST_LATENCY_SECONDS = 60.0


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


def retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds out of a Retry-After header: a number, or a date (RFC 9110 section 10.2.3). None if it is neither."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), LONGEST_HOLD_SECONDS)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return min(max((moment - now).total_seconds(), 0.0), LONGEST_HOLD_SECONDS)


class Pace:
    """The pace of one host, kept by the holder of its lease.

    One request at a time is between its turn and the moment it is written: so the delay lies between the moments of
    writing, however long a connection takes to open.
    """

    def __init__(
        self, delay_seconds: float, *, first_after_seconds: float = 0.0, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.delay_seconds = delay_seconds
        self._now = now
        self._last = float("-inf")
        self._not_before = now() + first_after_seconds
        self._latency = 0.0
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
        manners = Manners(self.delay_seconds, self._last, self._not_before, self._latency)
        return max(0.0, next_allowed(manners) - self._now())

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

    async def turn(self) -> "Turn":
        """Wait for the turn to write one request. It has to be ended: by `sent`, or by `give_up`."""
        await self._turn.acquire()
        try:
            while (wait := self.wait_seconds()) > 0:
                await asyncio.sleep(wait)
        except BaseException:
            self._turn.release()
            raise
        return Turn(self)

    def _end(self, *, sent: bool) -> None:
        if sent:
            self._last = self._now()
        self._turn.release()


class Turn:
    """The right to write one request now."""

    __slots__ = ("_pace",)

    def __init__(self, pace: Pace) -> None:
        self._pace: Pace | None = pace

    @property
    def is_open(self) -> bool:
        return self._pace is not None

    def sent(self) -> None:
        """The request is being written: the delay starts."""
        self._close(sent=True)

    def give_up(self, *, tried: bool) -> None:
        """No request was written. One that reached for the host counts as one for the pace. Safe after `sent`."""
        self._close(sent=tried)

    def _close(self, *, sent: bool) -> None:
        if self._pace is not None:
            self._pace._end(sent=sent)  # noqa: SLF001 - two halves of one thing
            self._pace = None
