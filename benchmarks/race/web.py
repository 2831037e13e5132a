"""The web server of the race, in a process of its own on a core of its own.

    python -m benchmarks.race.web --log FILE --pages 5000 --core 1

Everything is rendered before the first line on standard output, which says the port. Each request is one line of the
log, written before its answer: monotonic seconds, host, path, status. Any host is answered for. Ends with its standard
input.
"""

import argparse
import asyncio
import os
import threading
import time
from pathlib import Path
from typing import cast
from zlib import crc32

import uvloop

from benchmarks.race.pages import HOST, Size, render

ANY_PAGE = b"/known/"
"""Every path below is a page, for databases that know more pages than can be rendered."""
_TLS = b"\x16"
_HEAD = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nServer: race\r\n\r\n"
_ROBOTS = b"User-agent: *\nDisallow: /private/\nDisallow: /*?print=\n"


class Pages:
    """The rendered site."""

    def __init__(self, size: Size) -> None:
        self._bodies = {path.encode(): body.encode() for path, body in render(size).items()}
        self._any = list(self._bodies.values())

    def answer(self, host: bytes, path: bytes) -> tuple[int, bytes]:
        body = self._bodies.get(path)
        if body is None and path.startswith(ANY_PAGE):
            body = self._any[crc32(path) % len(self._any)]
        if body is not None:
            body = body.replace(HOST.encode(), host)
            return 200, _HEAD % (b"200 OK", b"text/html; charset=utf-8", len(body)) + body
        if path == b"/robots.txt":
            return 200, _HEAD % (b"200 OK", b"text/plain", len(_ROBOTS)) + _ROBOTS
        return 404, _HEAD % (b"404 Not Found", b"text/plain", 0)


class Connection(asyncio.Protocol):
    """Requests in, answers out."""

    def __init__(self, pages: Pages, log: int) -> None:
        self._pages, self._log, self._received = pages, log, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if self._received.startswith(_TLS):
            self._transport.abort()
            return
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head, self._received = self._received[:end], self._received[end + 4 :]
            self._transport.write(self._answer(head))

    def _answer(self, head: bytes) -> bytes:
        path = head.split(b" ", 2)[1]
        at = head.lower().find(b"\r\nhost:")
        host = head[at + 7 :].split(b"\r\n", 1)[0].strip() if at >= 0 else b"-"
        status, answer = self._pages.answer(host, path)
        os.write(self._log, b"%.6f\t%s\t%s\t%d\n" % (time.monotonic(), host, path, status))
        return answer


async def _serve(options: argparse.Namespace) -> None:
    pages = Pages(Size(options.pages, options.links, options.bytes))
    log = os.open(options.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def read_to_the_end() -> None:
        while os.read(0, 4096):
            pass
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=read_to_the_end, daemon=True).start()
    server = await loop.create_server(lambda: Connection(pages, log), "127.0.0.1", 0, backlog=4096)
    os.write(1, b"%d\n" % server.sockets[0].getsockname()[1])
    await ended.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--links", type=int, default=60)
    parser.add_argument("--bytes", type=int, default=40_000)
    parser.add_argument("--core", type=int)
    options = parser.parse_args()
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(options))


if __name__ == "__main__":
    main()
