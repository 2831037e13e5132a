"""Pace: when the next request to a host may be written."""

import asyncio
import time
from collections.abc import Callable


def next_allowed(last_sent: float, delay_seconds: float, not_before: float) -> float:
    """The earliest moment for the next request: a full delay after the last one, and not before what the host asks."""
    return max(last_sent + delay_seconds, not_before)


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
        self._turn = asyncio.Lock()

    @property
    def last_sent(self) -> float:
        """When a request was last written, by the monotonic clock."""
        return self._last

    def wait_seconds(self) -> float:
        return max(0.0, next_allowed(self._last, self.delay_seconds, self._not_before) - self._now())

    def hold_off(self, seconds: float) -> None:
        """The host asked for a pause."""
        self._not_before = max(self._not_before, self._now() + seconds)

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
