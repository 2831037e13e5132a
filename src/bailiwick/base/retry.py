"""Patience with what comes back by itself."""

from collections.abc import Callable
from typing import TypeVar

from bailiwick.base.clock import Clock
from bailiwick.base.errors import BailiwickError

T = TypeVar("T")
_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 5.0


def retrying(
    work: Callable[[], T], *, clock: Clock, limit_seconds: float, say: Callable[[str], None] = lambda _: None
) -> T:
    """Do the work; after an error that is retryable, again, with growing pauses, until the limit is over.

    The work must be safe to repeat. What it waits for is said once. The last error is raised as it is.
    """
    deadline = clock.monotonic() + limit_seconds
    pause, said = _FIRST_PAUSE_SECONDS, ""
    while True:
        try:
            return work()
        except BailiwickError as error:
            if not error.retryable or clock.monotonic() + pause > deadline:
                raise
            if error.message != said:
                said = error.message
                say(f"{said}; trying again")
        clock.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
