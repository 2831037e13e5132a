"""A few child processes that extract pages. One that dies over a page is replaced; the page's outcome is recorded."""

import asyncio
import signal
import sys
from dataclasses import astuple, dataclass
from pathlib import Path

from bailiwick.extract.content import ContentLimits
from bailiwick.extract.page import Body, Extracted
from bailiwick.extract.wire import LENGTH, pack_body, unpack_answer
from bailiwick.model.content import ParseOutcome, Unread

ATTEMPTS = 3
"""Only a page whose child died by itself so often is poison."""
MOST_KILLS = 20
"""Children that were killed from outside say nothing against their page; but the kernel kills for memory, too."""
_FROM_OUTSIDE = frozenset({-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP})
_GRACE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """What a page may take."""

    content: ContentLimits
    page_seconds: float
    memory_bytes: int


class ExtractionPool:
    """Children are started on use and kept. Close it at the end."""

    def __init__(self, size: int, profiles: Path | None, limits: PoolLimits) -> None:
        self.size = size
        self._limits = limits
        self._arguments = [
            str(profiles or ""), str(limits.page_seconds), str(limits.memory_bytes), *map(str, astuple(limits.content)),
        ]  # fmt: skip
        self._free: asyncio.LifoQueue[_Child] = asyncio.LifoQueue()
        self._children = [_Child(self._arguments) for _ in range(size)]
        for child in self._children:
            self._free.put_nowait(child)

    async def extract(self, body: Body) -> Extracted | Unread:
        """Like `PageExtractor.extract`, in the next free child; poison and time-outs are values, too."""
        child = await self._free.get()
        try:
            return await self._extract(child, body)
        except BaseException:
            await child.drop()  # it still owes an answer, which must not become the next page's
            raise
        finally:
            self._free.put_nowait(child)

    async def _extract(self, child: "_Child", body: Body) -> Extracted | Unread:
        deaths = kills = 0
        while deaths < ATTEMPTS and kills < MOST_KILLS:
            answer = await child.ask(body, self._limits.page_seconds + _GRACE_SECONDS)
            if not isinstance(answer, int):
                return answer
            kills += answer in _FROM_OUTSIDE
            deaths += answer not in _FROM_OUTSIDE
        why = f"it killed the parser {deaths} times" if deaths == ATTEMPTS else f"its parser was killed {kills} times"
        return Unread(ParseOutcome.POISON, why)

    async def close(self) -> None:
        for child in self._children:
            await child.drop()


class _Child:
    """One process, made on use and thrown away when it dies or hangs."""

    def __init__(self, arguments: list[str]) -> None:
        self._arguments = arguments
        self._process: asyncio.subprocess.Process | None = None

    async def ask(self, body: Body, seconds: float) -> Extracted | Unread | int:
        """The answer; or how the process died over it."""
        process = self._process or await self._start()
        try:
            async with asyncio.timeout(seconds):
                return await self._answer(process, body)
        except TimeoutError:
            await self.drop()
            return Unread(ParseOutcome.TIMEOUT, f"it takes more than {seconds - _GRACE_SECONDS:.0f} s")
        except (OSError, EOFError, asyncio.IncompleteReadError):
            code = await self.drop()
            if code == -signal.SIGALRM:
                return Unread(ParseOutcome.TIMEOUT, f"it takes more than {seconds - _GRACE_SECONDS:.0f} s")
            return code

    async def drop(self) -> int:
        """End the process, if there is one; how it ended."""
        process, self._process = self._process, None
        if process is None:
            return 0
        # It may be about to end by itself, and how it does is worth knowing.
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(0.2):
                return await process.wait()
        except TimeoutError:
            process.kill()
        return await process.wait()

    async def _answer(self, process: asyncio.subprocess.Process, body: Body) -> Extracted | Unread:
        if process.stdin is None or process.stdout is None:
            raise EOFError
        process.stdin.write(pack_body(body))
        await process.stdin.drain()
        (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
        return unpack_answer(await process.stdout.readexactly(length))

    async def _start(self) -> asyncio.subprocess.Process:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bailiwick.extract.child", *self._arguments,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the worker alone
        )  # fmt: skip
        return self._process
