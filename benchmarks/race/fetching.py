"""`fetch`: what one page costs in an HTTP client that does nothing else with it: CPU microseconds a page."""

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import httptools

from bailiwick.base.settings import Settings
from bailiwick.net.client import HttpFetcher
from bailiwick.net.guard import Guard
from bailiwick.ports import FetchAnswer, FetchRequest
from benchmarks.race.meters import Cores, on_core
from benchmarks.race.pages import Size, render
from benchmarks.race.report import Report, table
from benchmarks.race.served import Served, serving
from benchmarks.svg import Bar, bars

_AT_ONCE = 5


def fetch(options: argparse.Namespace, cores: Cores, scratch: Path) -> None:
    """The parser in a bare protocol, aiohttp in a bare loop, and our client, in turn, from one server."""
    import uvloop

    report = Report("fetch", options.out)
    report.begin(cores)
    size = Size(options.pages)
    paths = list(render(size))
    clients: dict[str, Callable[[Served, Iterator[str]], Awaitable[None]]] = {
        "httptools in a bare protocol": _bare,
        "aiohttp, a bare session": _aiohttp,
        "ours": _ours,
    }
    taken: dict[str, list[float]] = {name: [] for name in clients}
    with serving(size, cores, scratch) as web, on_core(cores.client):
        for _ in range(options.rounds):
            for name, client in clients.items():
                with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                    started = time.process_time()
                    runner.run(client(web, iter(paths)))
                    taken[name].append((time.process_time() - started) / len(paths) * 1e6)
    table(("CPU microseconds a page", "quickest", "median"),
          [(name, f"{min(all_):.0f}", f"{statistics.median(all_):.0f}") for name, all_ in taken.items()])  # fmt: skip
    report.samples += [{"client": name, "microseconds": all_} for name, all_ in taken.items()]
    rows = [Bar(name, min(all_)) for name, all_ in taken.items()]
    report.end(bars("Fetching a page of 40 kB", rows, unit="CPU microseconds, quickest round"))


class _Bare(asyncio.Protocol):
    """As little as can be: no time, no bound, no answer that is not as it should be."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def get(self, request: bytes) -> "asyncio.Future[int]":
        self.parser, self.pieces = httptools.HttpResponseParser(self), []
        self.fields: list[tuple[bytes, bytes]] = []
        self.answered = asyncio.get_running_loop().create_future()
        self.transport.write(request)  # type: ignore[attr-defined]
        return self.answered

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        self.fields.append((name, value))

    def on_body(self, piece: bytes) -> None:
        self.pieces.append(piece)

    def on_message_complete(self) -> None:
        self.answered.set_result(len(b"".join(self.pieces)))


async def _bare(web: Served, paths: Iterator[str]) -> None:
    async def ask() -> None:
        _, connection = await asyncio.get_running_loop().create_connection(_Bare, "127.0.0.1", web.port)
        for path in paths:
            request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\nAccept-Encoding: gzip\r\n\r\n"
            assert await connection.get(request.encode()) > 1_000
        connection.transport.close()

    await asyncio.gather(*(ask() for _ in range(_AT_ONCE)))


async def _aiohttp(web: Served, paths: Iterator[str]) -> None:
    import aiohttp

    async with aiohttp.ClientSession() as session:

        async def ask() -> None:
            for path in paths:
                async with session.get(f"{web.url.rstrip('/')}{path}") as answer:
                    assert len(await answer.read()) > 1_000

        await asyncio.gather(*(ask() for _ in range(_AT_ONCE)))


class _Now:
    def sending(self) -> bool:
        return True


async def _ours(web: Served, paths: Iterator[str]) -> None:
    fetcher = HttpFetcher(Settings().net, Guard(allow_private=True), user_agent="bench")

    async def ask() -> None:
        for path in paths:
            answer = await fetcher.fetch(FetchRequest(f"{web.url.rstrip('/')}{path}", _Now()))
            assert isinstance(answer, FetchAnswer), answer
            assert len(answer.body or b"") > 1_000

    await asyncio.gather(*(ask() for _ in range(_AT_ONCE)))
    await fetcher.close()
