"""The request log: what the server saw, when, and what it answered. The proof of politeness is read off it.

Two lines of JSON a request, each written by one `write` call: `open` when the request was received, `done` when the
connection was lost or the last bytes of the answer are about to go out: who has an answer finds it here. What is open
stays visible, too, when the server is killed. Times are CLOCK_MONOTONIC: one clock for all processes of a machine.
On Linux `received` is when the kernel had the request, however late the server read it.
"""

import json
import math
import os
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Self

from bailiwick.demo.web.answers import NOT_PAGES
from bailiwick.demo.web.arrivals import Arrival


@dataclass(slots=True)
class Entry:
    """One request. `host` is its site's, without port; `www` says that it was asked for with `www.` in front."""

    number: int
    host: str
    path: str
    scheme: str
    www: bool
    received: float
    """Seconds of the monotonic clock."""
    at: float
    """Seconds since 1970."""
    status: int | None = None
    """None while open, and for ever when the connection ended without an answer."""
    answered: float | None = None
    whole: bool = False
    blur: float = 0.0
    """It may have been received so many seconds earlier or later than that."""

    @property
    def open(self) -> bool:
        return self.answered is None


class RequestLog:
    """The last `keep` requests (None: all) in memory, the counters of all, and every request in the file, if any.

    Written by the server's thread; may be read from any.
    """

    def __init__(self, file: Path | None = None, *, keep: int | None = None) -> None:
        self._entries: deque[Entry] = deque(maxlen=keep)
        self._file = None if file is None else os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._numbers = 0
        self._write({"event": "start", "t": time.monotonic(), "at": time.time()})
        self.requests: Counter[str] = Counter()
        """Host -> requests."""
        self.statuses: Counter[tuple[str, int | None]] = Counter()
        """(host, status) -> answers."""
        self.asked: Counter[tuple[str, str]] = Counter()
        """(host, path and query) -> requests."""

    @classmethod
    def read(cls, file: Path) -> Self:
        """The log that server processes, one after the other, have written to a file."""
        log = cls()
        running: dict[int, Entry] = {}
        for line in file.read_bytes().split(b"\n")[:-1]:
            row = json.loads(line)
            if row["event"] == "open":
                running[row["n"]] = entry = Entry(
                    row["n"],
                    row["host"],
                    row["path"],
                    row["scheme"],
                    row["www"],
                    row["t"],
                    row["at"],
                    blur=row.get("blur", 0.0),
                )
                log._keep(entry)
            elif row["event"] == "done":
                log._end(running.pop(row["n"]), row["status"], whole=row["whole"], answered=row["t"])
            else:  # a new server: what was open at the old one has ended with it
                for entry in running.values():
                    log._end(entry, None, whole=False, answered=row["t"])
                running.clear()
        return log

    def opened(
        self, host: str, path: str, *, scheme: str = "http", www: bool = False, arrived: Arrival | None = None
    ) -> Entry:
        """A request is read; it came in then (None: now)."""
        self._numbers += 1
        now = time.monotonic()
        came = arrived or Arrival(now)
        at = time.time() - (now - came.at)
        entry = Entry(self._numbers, host, path, scheme, www, came.at, at, blur=came.blur)
        self._keep(entry)
        if self._file is not None:  # asked here, too: making the line costs more than all the rest
            self._write(_open_line(entry))
        return entry

    def done(self, entry: Entry, status: int | None, *, whole: bool) -> None:
        """Its answer has gone out, now, or never will."""
        self._end(entry, status, whole=whole, answered=time.monotonic())
        if self._file is not None:
            self._write(_done_line(entry))

    def close(self) -> None:
        """No more lines are written to the file."""
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)

    def entries(self, host: str | None = None) -> list[Entry]:
        """In the order in which they were read."""
        found = list(self._entries)
        return found if host is None else [entry for entry in found if entry.host == host]

    def answered_200(self) -> set[tuple[str, str]]:
        """(host, path and query) of every page that was answered with 200, and to the end."""
        return {
            (entry.host, entry.path)
            for entry in self.entries()
            if entry.status == 200 and entry.whole and entry.path not in NOT_PAGES
        }

    def times(self, host: str) -> list[float]:
        """When the requests to this host were received, robots.txt and all."""
        return sorted(entry.received for entry in self.entries(host))

    def min_gap(self, host: str) -> float:
        """The least number of seconds between two requests; infinite with fewer than two."""
        return min((after - before for before, after in pairwise(self.times(host))), default=math.inf)

    def most_at_once(self, host: str) -> int:
        """The most requests to this host that were open at the same time."""
        return max(_open_counts(self.entries(host)), default=0)

    def open_requests(self) -> list[Entry]:
        return [entry for entry in self.entries() if entry.open]

    def _keep(self, entry: Entry) -> None:
        self._entries.append(entry)
        self.requests[entry.host] += 1
        self.asked[entry.host, entry.path] += 1

    def _end(self, entry: Entry, status: int | None, *, whole: bool, answered: float) -> None:
        entry.status, entry.whole, entry.answered = status, whole, answered
        self.statuses[entry.host, status] += 1

    def _write(self, line: dict[str, object]) -> None:
        if self._file is not None:
            os.write(self._file, json.dumps(line, separators=(",", ":")).encode() + b"\n")


def _open_counts(entries: list[Entry]) -> Iterator[int]:
    """How many are open after each moment; what ends at the moment at which another begins is not open with it."""
    moments = [(entry.received, 1) for entry in entries]
    moments += [(entry.answered, -1) for entry in entries if entry.answered is not None]
    count = 0
    for _, change in sorted(moments):
        count += change
        yield count


def _open_line(entry: Entry) -> dict[str, object]:
    return {
        "event": "open",
        "n": entry.number,
        "host": entry.host,
        "path": entry.path,
        "scheme": entry.scheme,
        "www": entry.www,
        "t": entry.received,
        "at": entry.at,
        "blur": entry.blur,
    }


def _done_line(entry: Entry) -> dict[str, object]:
    return {
        "event": "done",
        "n": entry.number,
        "host": entry.host,
        "path": entry.path,
        "status": entry.status,
        "whole": entry.whole,
        "t": entry.answered,
    }
