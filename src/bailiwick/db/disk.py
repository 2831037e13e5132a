"""Free disk: writing work pauses before PostgreSQL would panic."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bailiwick.base.clock import Clock
from bailiwick.base.errors import DiskLowError
from bailiwick.base.sections import StorageSettings
from bailiwick.base.telemetry import LogEvent, logger

_LOOK_AGAIN_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class DiskState:
    """How much room there is, and how much there has to be."""

    path: Path
    free_bytes: int
    total_bytes: int
    needed_bytes: int

    @property
    def is_low(self) -> bool:
        return self.free_bytes < self.needed_bytes

    def __str__(self) -> str:
        return f"{_gigabytes(self.free_bytes)} free of {_gigabytes(self.total_bytes)} at {self.path}"


class DiskGuard:
    """Asked before every write; looks at the disk at most every two seconds."""

    def __init__(self, path: Path, settings: StorageSettings, clock: Clock) -> None:
        self._path, self._settings, self._clock = path, settings, clock
        self._looked_at = float("-inf")
        self._state = DiskState(path, 0, 0, 0)

    def state(self) -> DiskState:
        usage = shutil.disk_usage(self._path)
        needed = max(self._settings.min_free_bytes, int(usage.total * self._settings.min_free_percent / 100))
        return DiskState(self._path, usage.free, usage.total, needed)

    def check(self) -> None:
        """Raise DiskLowError when there is too little room to write safely."""
        if self._clock.monotonic() - self._looked_at >= _LOOK_AGAIN_SECONDS:
            self._state, self._looked_at = self.state(), self._clock.monotonic()
            if self._state.is_low:
                logger().warning(LogEvent.DISK_LOW, free=self._state.free_bytes, needed=self._state.needed_bytes)
        if self._state.is_low:
            raise DiskLowError(
                f"too little free disk to write safely: {self._state}, {_gigabytes(self._state.needed_bytes)} needed",
                hint="make room, or lower storage.min_free_bytes and storage.min_free_percent",
            )

    def wait(self, say: Callable[[str], None], *, limit_seconds: float) -> None:
        """Pause writing work until there is room again; DiskLowError when the limit is over."""
        deadline = self._clock.monotonic() + limit_seconds
        told = False
        while True:
            try:
                self.check()
            except DiskLowError as error:
                if self._clock.monotonic() >= deadline:
                    raise
                if not told:
                    say(f"paused: {error.message}")
                    told = True
                self._clock.sleep(_LOOK_AGAIN_SECONDS)
            else:
                if told:
                    say("there is room again: going on")
                return


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
