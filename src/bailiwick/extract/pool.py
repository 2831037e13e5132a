"""A few child processes that extract pages. One that dies over a page is replaced; the page's outcome is recorded.

Each child has a thread that talks to it and blocks: with an event loop a page took a fifth more of the worker's own CPU
(measured). Pages come in small batches, for the same reason.
"""

import asyncio
import queue
import signal
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

from bailiwick.extract.children import Child
from bailiwick.extract.content import ContentLimits
from bailiwick.extract.page import Body, Extracted
from bailiwick.extract.parsers.facts import ParserOrder
from bailiwick.model.content import ParseOutcome, Unread
from bailiwick.model.items import ParserOutcome, ParserTry

ATTEMPTS = 3
"""Only a page whose child died by itself so often is poison."""
MOST_KILLS = 20
"""Children that were killed from outside say nothing against their page; but the kernel kills for memory, too."""
_FROM_OUTSIDE = frozenset({-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP})
_GRACE_SECONDS = 5.0
_LOOK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """What a page may take."""

    content: ContentLimits
    page_seconds: float
    memory_bytes: int


class PoolClosedError(Exception):
    """The pool was closed before the page could be extracted."""


class ExtractionPool:
    """Children are started on use and kept. Close it at the end."""

    def __init__(
        self, size: int, profiles: Path | None, limits: PoolLimits, parsers: ParserOrder | None = None
    ) -> None:
        self.size = size
        self._limits = limits
        arguments = [
            str(profiles or ""), parsers.written() if parsers else "",
            str(limits.page_seconds), str(limits.memory_bytes), *map(str, astuple(limits.content)),
        ]  # fmt: skip
        self._children = [Child(arguments) for _ in range(size)]
        self._free: queue.LifoQueue[Child] = queue.LifoQueue()
        for child in self._children:
            self._free.put(child)
        self._threads = ThreadPoolExecutor(size, "bailiwick-extract")
        self._closed = threading.Event()
        self._watch = threading.Thread(target=self._end_what_hangs, name="bailiwick-extract-watch", daemon=True)
        self._watch.start()

    async def extract(self, bodies: Sequence[Body]) -> list[Extracted | Unread]:
        """Like `PageExtractor.extract` for each of these, in the next free child; poison and time-outs are values, too.

        PoolClosedError if the pool is closed meanwhile.
        """
        if self._closed.is_set():
            raise PoolClosedError
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._extract_all, bodies)

    def close(self) -> None:
        """End the children; what is under way ends with PoolClosedError. Safe to call again."""
        self._closed.set()
        for child in self._children:
            child.kill()
        self._threads.shutdown()
        self._watch.join()
        for child in self._children:
            child.drop()

    def _extract_all(self, bodies: Sequence[Body]) -> list[Extracted | Unread]:
        child = self._free.get()
        try:
            return self._answers(child, list(bodies))
        finally:
            self._free.put(child)

    def _answers(self, child: Child, bodies: list[Body]) -> list[Extracted | Unread]:
        found: list[Extracted | Unread] = []
        trial = _Trial()
        while len(found) < len(bodies):
            if self._closed.is_set():
                raise PoolClosedError
            answers, death = child.ask(bodies[len(found) :])
            if answers:
                found += [trial.with_parsers(answers[0]), *answers[1:]]
                trial = _Trial()
            if death is None:
                continue
            if child.parser is not None and (child.hung or death not in _FROM_OUTSIDE):
                # The user's own parser did it, not the page: that is read without them.
                trial.parsers.append(_ended(child.parser, is_slow=child.hung or death == -signal.SIGALRM))
                bodies[len(found)] = replace(bodies[len(found)], use_parsers=False)
            elif (verdict := self._verdict(trial, death, is_hung=child.hung)) is not None:
                found.append(verdict)
                trial = _Trial()
        return found

    def _verdict(self, trial: "_Trial", death: int, *, is_hung: bool) -> Unread | None:
        """Of a page over which a child died; None where it may be tried again."""
        if is_hung or death == -signal.SIGALRM:
            return Unread(ParseOutcome.TIMEOUT, f"it takes more than {self._limits.page_seconds:.0f} s")
        trial.kills += death in _FROM_OUTSIDE
        trial.deaths += death not in _FROM_OUTSIDE
        if trial.deaths < ATTEMPTS and trial.kills < MOST_KILLS:
            return None
        if self._closed.is_set():
            raise PoolClosedError
        if trial.deaths == ATTEMPTS:
            return Unread(ParseOutcome.POISON, f"it killed the parser {trial.deaths} times")
        return Unread(ParseOutcome.POISON, f"its parser was killed {trial.kills} times")

    def _end_what_hangs(self) -> None:
        """A child ends itself when its page takes too long; this is for one that cannot: it was stopped, say."""
        while not self._closed.wait(_LOOK_SECONDS):
            for child in self._children:
                longest = child.asked * self._limits.page_seconds + _GRACE_SECONDS
                if (since := child.busy_since) is not None and time.monotonic() - since > longest:
                    child.hung = True
                    child.kill()


@dataclass(slots=True)
class _Trial:
    """What happened over one page so far."""

    deaths: int = 0
    kills: int = 0
    parsers: list[ParserTry] = field(default_factory=list)
    """Site parsers that took the process along."""

    def with_parsers(self, answer: Extracted | Unread) -> Extracted | Unread:
        if not self.parsers or isinstance(answer, Unread):
            return answer
        return replace(answer, tries=[*self.parsers, *answer.tries])


def _ended(parser: ParserTry, *, is_slow: bool) -> ParserTry:
    return replace(parser, outcome=ParserOutcome.TIMEOUT, why="it never ended") if is_slow else parser
