"""Parsing in a disposable child process: for large bodies, which may keep a parser busy for long (nested elements and
attributes by the ten thousand), and for domains whose worker has died twice: a page may be what kills it.

The child is a plain program that reads one body after another; only a page whose child died by itself three times is
poison, so that killing workers from outside condemns no healthy page.
"""

import asyncio
import json
import struct
import sys
from dataclasses import asdict

from bailiwick.base.children import end_child
from bailiwick.crawl.html import Parsed, parse_page

ATTEMPTS = 3
_LENGTH = struct.Struct(">III")
_ANSWER = struct.Struct(">I")
_SECONDS = 10.0
LARGE_BYTES = 100_000
"""From this size on a body is parsed apart: the event loop belongs to a thousand domains (lexbor is quadratic in the
depth of a document and in the number of an element's attributes: 200 KB took 3 s)."""


class SlowPageError(Exception):
    """The page took too long to parse."""


class PoisonError(Exception):
    """The page's child died by itself every time."""


class IsolatedParser:
    """One child at a time, made on use and thrown away when it dies or hangs."""

    def __init__(self) -> None:
        self._child: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def parse(self, body: bytes, content_type: str, host: str) -> Parsed:
        """Like `parse_page`. PoisonError when three children died over it, SlowPageError when one did not end."""
        async with self._turn:
            for _ in range(ATTEMPTS):
                child = self._child or await self._start()
                try:
                    async with asyncio.timeout(_SECONDS):
                        return await self._ask(child, body, content_type, host)
                except TimeoutError:
                    await self._drop()
                    raise SlowPageError(f"it takes more than {_SECONDS:.0f} s to parse") from None
                except (OSError, EOFError, asyncio.IncompleteReadError):
                    await self._drop()
                except BaseException:
                    await self._drop()  # it still owes an answer, which must not become the next page's
                    raise
        raise PoisonError("it kills the parser")

    async def close(self) -> None:
        async with self._turn:
            await self._drop()

    async def _ask(self, child: asyncio.subprocess.Process, body: bytes, content_type: str, host: str) -> Parsed:
        if child.stdin is None or child.stdout is None:
            raise EOFError
        kind, name = content_type.encode(), host.encode()
        child.stdin.write(_LENGTH.pack(len(body), len(kind), len(name)) + body + kind + name)
        await child.stdin.drain()
        (length,) = _ANSWER.unpack(await child.stdout.readexactly(_ANSWER.size))
        return Parsed(**json.loads(await child.stdout.readexactly(length)))

    async def _start(self) -> asyncio.subprocess.Process:
        self._child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bailiwick.crawl.isolation",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us alone
        )  # fmt: skip
        return self._child

    async def _drop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await end_child(child)


def main() -> None:
    """The child: answers until its parent is gone."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while header := source.read(_LENGTH.size):
        body, kind, name = (source.read(length) for length in _LENGTH.unpack(header))
        answer = json.dumps(asdict(parse_page(body, kind.decode(), name.decode()))).encode()
        sink.write(_ANSWER.pack(len(answer)) + answer)
        sink.flush()


if __name__ == "__main__":
    main()
