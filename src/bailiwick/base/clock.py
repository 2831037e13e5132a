"""Time, as something that is passed in. The database has its own clock: SQL function `bailiwick_now()`."""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """What a loop needs of time."""

    def now(self) -> datetime:
        """The wall clock, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let that much time pass."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class FakeClock:
    """Time that moves only when told to: `sleep` returns at once and moves it."""

    def __init__(self, start: datetime | None = None) -> None:
        self._now = start or datetime(2026, 1, 1, tzinfo=UTC)
        self._elapsed = 0.0

    def now(self) -> datetime:
        return self._now + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        return self._elapsed

    def sleep(self, seconds: float) -> None:
        if seconds < 0:
            raise ValueError("time does not go back")
        self._elapsed += seconds
