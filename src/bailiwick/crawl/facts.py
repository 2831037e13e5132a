"""What a slice is told and what it tells: the facts that cross its border."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from bailiwick.crawl.outcomes import Outcome, StopReason
from bailiwick.net.robots import RobotsVerdict

_LAST_TENTH_AT_MOST = 60.0


@dataclass(frozen=True, slots=True)
class Known:
    """What the database knows of a domain when its slice starts."""

    pages: int
    waiting: int
    failed: int
    errors_in_row: int
    outlinks: int
    sent_seconds_ago: float | None
    revisit_seconds: float
    held_seconds: float = 0.0
    """The host asked to be left alone for this much longer."""
    backoffs: int = 0
    robots: Mapping[str, RobotsVerdict] = field(default_factory=dict)
    """robots.txt by origin, as far as it was read and has not expired."""
    traps: Mapping[str, object] = field(default_factory=dict)
    """What the rules against traps have learned of it."""
    has_other_workers: bool = False
    """One of them may have held the lease before, and may not know yet that it is lost."""
    refused_links: int = 0
    """Links that are kept as refused."""


class SendingEnds:
    """Until when the worker may send under a lease, by the clock that also counts sleep (CLOCK_BOOTTIME)."""

    __slots__ = ("_until",)

    def __init__(self, claimed_at: float, lease_seconds: float) -> None:
        self.renew(claimed_at, lease_seconds)

    def renew(self, asked_at: float, lease_seconds: float) -> None:
        """Counted from *before* the lease was asked for, and nothing in its last tenth (at most 60 s)."""
        self._until = asked_at + lease_seconds - min(lease_seconds / 10, _LAST_TENTH_AT_MOST)

    def may_send(self) -> bool:
        return boottime() < self._until


def boottime() -> float:
    """Seconds since boot, sleep included; where a system has no such clock, the monotonic one."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is left when the frontier gives nothing: too deep pages, and when the next retry is due."""

    has_deeper: bool
    next_in_seconds: float | None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a slice ended. No reason: its turn is over, and the run goes on (after a pause, perhaps)."""

    reason: StopReason | None
    pause_seconds: float = 0.0
    blamed: Outcome | None = None
    why: str | None = None
