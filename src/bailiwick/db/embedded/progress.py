"""Tells a slow start from a stuck one, and passes on what the server says about its recovery."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from bailiwick.base.errors import ServerMissingError
from bailiwick.db.embedded.layout import Layout
from bailiwick.db.embedded.processes import server_processes

_LOOK_SECONDS = 0.5
_TELL_SECONDS = 1.0
_RECOVERERS = ("startup", "checkpointer")  # the others work for our own questions, or for nothing


class Progress:
    """Looked at while waiting. Progress is a new line in the log, processor time, or a process that waits for the disk.

    The log alone is not enough: the checkpoint that ends a recovery may write for minutes and says nothing. Its
    FATAL lines do not count: they are answers to those who ask.
    """

    def __init__(self, layout: Layout, stall_seconds: float, say: Callable[[str], None]) -> None:
        self._layout, self._stall_seconds, self._say = layout, stall_seconds, say
        self._seen: tuple[str, float] = ("", 0.0)
        self._moved_at = self._told_at = time.monotonic()
        self._looked_at = float("-inf")

    def check(self) -> None:
        """Raise when there has been no progress for too long."""
        now = time.monotonic()
        if now - self._looked_at >= _LOOK_SECONDS:
            self._looked_at = now
            self._look(now)
        if now - self._moved_at > self._stall_seconds:
            raise ServerMissingError(
                f"the database is starting but has made no progress for {self._stall_seconds:.0f} seconds",
                hint=f"see {self._layout.log}; [database] stall_seconds sets the limit; it may still come up by itself",
            )
        if now - self._told_at >= _TELL_SECONDS:
            self._told_at = now
            self._say(self._latest())

    def _look(self, now: float) -> None:
        seconds, waits_for_disk = _activity(self._layout)
        seen = (self._last_line("LOG:"), seconds)
        if waits_for_disk or seen != self._seen:
            self._seen, self._moved_at = seen, now

    def _latest(self) -> str:
        said = self._last_line("in progress, elapsed time").partition("LOG:")[2].strip()
        return f"the database is recovering after a crash: {said}" if said else "waiting for the database to start"

    def _last_line(self, word: str) -> str:
        lines = reversed(tail(self._layout.log).splitlines())
        return next((line for line in lines if word in line), "")


def tail(path: Path, limit: int = 20_000) -> str:
    """The end of a log."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - limit))
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def _activity(layout: Layout) -> tuple[float, bool]:
    """The processor time of recovery so far, and whether it waits for the disk now."""
    seconds, waits = 0.0, False
    for process in server_processes(layout):
        with suppress(psutil.Error):
            if not any(title in "".join(process.cmdline()[:1]) for title in _RECOVERERS):
                continue
            used = process.cpu_times()
            seconds += used.user + used.system
            waits = waits or process.status() == psutil.STATUS_DISK_SLEEP
    return seconds, waits
