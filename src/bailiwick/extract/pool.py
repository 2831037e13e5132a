"""A few child processes that extract pages. One that dies over a page is replaced; the page's outcome is recorded.

Each child has a thread that talks to it and blocks: with an event loop a page took a fifth more of the worker's own CPU
(measured). Pages come in small batches, for the same reason.
"""

import asyncio
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from bailiwick.extract.content import ContentLimits
from bailiwick.extract.page import Body, Extracted
from bailiwick.extract.parsers.facts import ParserOrder
from bailiwick.extract.wire import LENGTH, pack_body, unpack_answer
from bailiwick.model.content import ParseOutcome, Unread
from bailiwick.model.items import ParserOutcome, ParserTry

ATTEMPTS = 3
"""Only a page whose child died by itself so often is poison."""
MOST_KILLS = 20
"""Children that were killed from outside say nothing against their page; but the kernel kills for memory, too."""
_FROM_OUTSIDE = frozenset({-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP})
_GRACE_SECONDS = 5.0
_LOOK_SECONDS = 0.5
_ENDING_SECONDS = 0.2


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
        self._children = [_Child(arguments) for _ in range(size)]
        self._free: queue.LifoQueue[_Child] = queue.LifoQueue()
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
            return [self._extract(child, body) for body in bodies]
        finally:
            self._free.put(child)

    def _extract(self, child: "_Child", body: Body) -> Extracted | Unread:
        deaths = kills = 0
        died: list[ParserTry] = []
        while deaths < ATTEMPTS and kills < MOST_KILLS:
            if self._closed.is_set():
                raise PoolClosedError
            answer = child.ask(body)
            if isinstance(answer, Extracted):
                return replace(answer, tries=[*died, *answer.tries])
            if not isinstance(answer, int):
                return answer
            if child.parser is not None and (child.hung or answer not in _FROM_OUTSIDE):
                # The user's own parser did it, not the page: that is read without them.
                died.append(_ended(child.parser, is_slow=child.hung or answer == -signal.SIGALRM))
                body = replace(body, use_parsers=False)
                continue
            if child.hung or answer == -signal.SIGALRM:
                return Unread(ParseOutcome.TIMEOUT, f"it takes more than {self._limits.page_seconds:.0f} s")
            kills += answer in _FROM_OUTSIDE
            deaths += answer not in _FROM_OUTSIDE
        if self._closed.is_set():
            raise PoolClosedError
        why = f"it killed the parser {deaths} times" if deaths == ATTEMPTS else f"its parser was killed {kills} times"
        return Unread(ParseOutcome.POISON, why)

    def _end_what_hangs(self) -> None:
        """A child ends itself when its page takes too long; this is for one that cannot: it was stopped, say."""
        longest = self._limits.page_seconds + _GRACE_SECONDS
        while not self._closed.wait(_LOOK_SECONDS):
            for child in self._children:
                if (since := child.busy_since) is not None and time.monotonic() - since > longest:
                    child.hung = True
                    child.kill()


class _Child:
    """One process, made on use and thrown away when it dies or hangs. One thread asks; another may kill."""

    def __init__(self, arguments: list[str]) -> None:
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None
        self.busy_since: float | None = None
        self.hung = False
        self.parser: ParserTry | None = None
        """The site parser that is at work, or was when the process ended."""

    def ask(self, body: Body) -> Extracted | Unread | int:
        """The answer; or how the process died over it."""
        self.hung, self.parser = False, None
        process = self._process or self._start()
        self.busy_since = time.monotonic()
        try:
            return self._answer(process, body)
        except (OSError, EOFError):
            return self.drop()
        finally:
            self.busy_since = None

    def kill(self) -> None:
        if (process := self._process) is not None:
            process.kill()

    def drop(self) -> int:
        """End the process, if there is one; how it ended."""
        process, self._process = self._process, None
        if process is None:
            return 0
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # what could not be written any more
                if pipe is not None:
                    pipe.close()
        # It may be about to end by itself, and how it does is worth knowing.
        try:
            return process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
        return process.wait()

    def _start(self) -> "subprocess.Popen[bytes]":
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bailiwick.extract.child", *self._arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the worker alone
        )  # fmt: skip
        return self._process

    def _answer(self, process: "subprocess.Popen[bytes]", body: Body) -> Extracted | Unread:
        if process.stdin is None or process.stdout is None:
            raise EOFError
        process.stdin.write(pack_body(body))
        process.stdin.flush()
        while True:
            (length,) = LENGTH.unpack(_exactly(process, LENGTH.size))
            told = unpack_answer(_exactly(process, length))
            if not isinstance(told, ParserTry):
                return told
            self.parser = told if told.outcome is ParserOutcome.DIED else None


def _ended(parser: ParserTry, *, is_slow: bool) -> ParserTry:
    return replace(parser, outcome=ParserOutcome.TIMEOUT, why="it never ended") if is_slow else parser


def _exactly(process: "subprocess.Popen[bytes]", number: int) -> bytes:
    data = process.stdout.read(number) if process.stdout is not None else b""
    if len(data) < number:
        raise EOFError
    return data
