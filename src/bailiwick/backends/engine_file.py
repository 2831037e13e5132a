"""`SearchEngine` by a file of results, so that any export of any engine can be judged (`--engine file:PATH`)."""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from shutil import copyfileobj
from tempfile import NamedTemporaryFile
from threading import Lock
from typing import IO, TextIO

from bailiwick.backends.engine_file_rows import Reject, UnusableFileError, read_rows
from bailiwick.base.errors import NotFoundError
from bailiwick.ports import EngineAnswer, EngineHit, EngineOutcome, EngineQuestion

_EXAMPLES = 20
_MOST_QUERIES, _SHOWN_CHARS = 10_000, 100
_MOST_READINGS = 8


@dataclass(frozen=True, slots=True)
class Rejects:
    """Lines of the file, as far as it was read, that are no results: how many, and the first few of them."""

    count: int = 0
    examples: tuple[Reject, ...] = ()


@dataclass(slots=True)
class _Reading:
    """One query's way through the file."""

    stream: TextIO
    hits: Iterator[EngineHit]
    count: int
    page: int = 0
    ahead: tuple[EngineHit, ...] = ()
    """Read already, to know whether there is more."""

    def turn(self) -> tuple[EngineHit, ...]:
        """The next page."""
        found = (*self.ahead, *islice(self.hits, self.count + 1 - len(self.ahead)))
        self.page, self.ahead = self.page + 1, found[self.count :]
        return found[: self.count]


@dataclass(slots=True)
class _Queries:
    """Which queries the rows say they answer, as far as the file was read, and which were asked."""

    asked: set[str] = field(default_factory=set)
    rows: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    spelled: dict[str, str] = field(default_factory=dict)

    def count(self, number: int, query: str) -> None:
        """Of one row: each counts once, however often the file is read."""
        if number > self.rows:
            self.rows, folded = number, _folded(query)
            if folded in self.counts or len(self.counts) < _MOST_QUERIES:
                self.counts[folded] += 1
                self.spelled.setdefault(folded, query[:_SHOWN_CHARS])
            else:
                self.counts[""] += 1

    def told(self, path: str) -> str | None:
        left = {query: count for query, count in self.counts.items() if query not in self.asked}
        if not left or "" in self.asked:  # no query asks for all rows
            return None
        example = max((query for query in left if query), key=left.__getitem__, default="")
        shown = f", such as {self.spelled[example]!r}" if example else ""
        return f"{sum(left.values()):,} rows of {path} answer other queries{shown}"


class FileEngine:
    """Gives the rows of a file in their order. A query matters only where rows say which query they answer."""

    name = "file"
    page_size = 1000
    most_pages = None

    def __init__(self, path: str) -> None:
        self._path, self._lock = path, Lock()
        self._readings: dict[str, _Reading] = {}
        self._rejects = Rejects()
        self._queries = _Queries()
        self._copy: IO[bytes] | None = None
        if path != "-" and not Path(path).is_file():
            raise NotFoundError(f"there is no file {path}", hint="file:PATH names a file of results; file:- reads them")

    @property
    def rejects(self) -> Rejects:
        return self._rejects

    @property
    def unasked(self) -> str | None:
        """Of rows that answer other queries than were asked, for people: how many, and which query for example."""
        return self._queries.told(self._path)

    async def ask(self, question: EngineQuestion) -> EngineAnswer:
        if question.page < 1 or question.count < 1:
            return EngineAnswer(EngineOutcome.INVALID, why="pages and results are counted from 1")
        return await asyncio.to_thread(self._page, question)

    async def close(self) -> None:
        with self._lock:
            for text in list(self._readings):
                self._drop(text)
            if self._copy is not None:
                self._copy.close()
                self._copy = None

    def _page(self, question: EngineQuestion) -> EngineAnswer:
        start = time.monotonic()
        with self._lock:
            try:
                hits, has_more = self._hits(question)
                outcome, why = EngineOutcome.ANSWERED, ""
            except (UnusableFileError, OSError) as error:
                self._drop(_folded(question.text))
                outcome, hits, has_more = EngineOutcome.INVALID, (), False
                why = f"the file {self._path} cannot be used: {getattr(error, 'strerror', None) or error}"
        milliseconds = round((time.monotonic() - start) * 1000)
        return EngineAnswer(outcome, hits, has_more, why, milliseconds=milliseconds)

    def _hits(self, question: EngineQuestion) -> tuple[tuple[EngineHit, ...], bool]:
        count, key = min(question.count, self.page_size), _folded(question.text)
        reading = self._readings.get(key)
        if reading is None or reading.count != count or reading.page >= question.page:
            reading = self._opened(key, count)
        found: tuple[EngineHit, ...] = ()
        while reading.page < question.page:
            found = reading.turn()
            if not reading.ahead:
                found = found if reading.page == question.page else ()
                self._drop(key)
                break
        return found, bool(reading.ahead)

    def _opened(self, key: str, count: int) -> _Reading:
        self._drop(key)
        self._queries.asked.add(key)
        if len(self._readings) >= _MOST_READINGS:
            self._drop(next(iter(self._readings)))
        stream = self._stream()
        self._readings[key] = _Reading(stream, self._chosen(stream, key), count)
        return self._readings[key]

    def _chosen(self, stream: TextIO, query: str) -> Iterator[EngineHit]:
        rejected = 0
        for number, row in enumerate(read_rows(stream), start=1):
            if isinstance(row, Reject):
                rejected += 1
                if rejected > self._rejects.count:  # each counts once, however often the file is read
                    kept = (*self._rejects.examples, row)[:_EXAMPLES]
                    self._rejects = Rejects(rejected, kept)
                continue
            if row.query is not None:
                self._queries.count(number, row.query)
            if not query or row.query is None or _folded(row.query) == query:
                yield row.hit

    def _stream(self) -> TextIO:
        """The text of the file, in UTF-8 or, where it begins so, in UTF-16. What is neither becomes �."""
        path = Path(self._path if self._path != "-" else self._copied().name)
        with path.open("rb") as source:
            start = source.read(2)
        encoding = "utf-16" if start in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        return path.open(encoding=encoding, errors="replace", newline="")

    def _copied(self) -> IO[bytes]:
        """Standard input as a file: it is read once for every query."""
        if self._copy is None:
            self._copy = NamedTemporaryFile(prefix="bailiwick-")  # noqa: SIM115 - closed with the engine
            copyfileobj(sys.stdin.buffer, self._copy)
            self._copy.flush()
        return self._copy

    def _drop(self, key: str) -> None:
        reading = self._readings.pop(key, None)
        if reading is not None:
            reading.stream.close()


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
