"""Parsing in a child: the same answers, a page that kills is found out, and no healthy one is condemned for others."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import psutil
import pytest
import uvloop

from bailiwick.crawl import isolation
from bailiwick.crawl.html import parse_page
from bailiwick.crawl.isolation import ATTEMPTS, IsolatedParser, PoisonError

HOST = "a.test"
UTF8 = "text/html; charset=utf-8"
# Half a second in the parser: nested blocks cost the square of their depth.
SLOW = b"<div>" * 15_000 + b"<a href=/slow>slow</a>"


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """On the loop that the program uses."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(story())


class CountingParser(IsolatedParser):
    """Remembers its children."""

    def __init__(self) -> None:
        super().__init__()
        self.pids: list[int] = []

    async def _start(self) -> asyncio.subprocess.Process:
        child = await super()._start()
        self.pids.append(child.pid)
        return child


@asynccontextmanager
async def parsing() -> AsyncIterator[CountingParser]:
    parser = CountingParser()
    try:
        yield parser
    finally:
        await parser.close()


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not is_so():
            await asyncio.sleep(0.005)


async def works(pid: int) -> None:
    """Until the child is in the parser: it has read the page, and burns time."""
    child = psutil.Process(pid)
    before = child.cpu_times().user
    await until(lambda: child.cpu_times().user > before)


def page(number: int) -> bytes:
    return (
        f"<title>{number}</title><a href='/{number}'>x</a><a href='https://b.test/{number}'>out {number}</a>".encode()
    )


PAGES = {
    "empty": (b"", "", ""),
    "links": (page(7), UTF8, HOST),
    "another charset": ("<meta charset=koi8-r><p>Привет".encode("koi8-r"), "text/html", HOST),
    "odd words": (
        "<a href='https://b.test/'>\u2028ß😀&#xD800;\"\\</a>".encode(),
        'text/html; x="\u00e9\U0001f600"',
        "bücher.test",
    ),
    "marks": (b"<base href=/b/><meta name=robots content=noindex><link rel=canonical href=/c><img src=/i>", UTF8, HOST),
    "any bytes": (bytes(range(256)) * 50, "text/html; charset=shift_jis", HOST),
    "3 MB in, 2 MB out": (b"<a href='https://b.test/%s'>x</a>" % (b"y" * 100) * 20_000, UTF8, HOST),
}


def test_the_answer_is_that_of_the_parser() -> None:
    async def story() -> None:
        async with parsing() as parser:
            for body, content_type, host in PAGES.values():
                assert await parser.parse(body, content_type, host) == parse_page(body, content_type, host)
            assert len(parser.pids) == 1  # one child for all of them

    run(story)


def test_pages_that_come_at_once_do_not_mix() -> None:
    async def story() -> None:
        async with parsing() as parser:
            found = await asyncio.gather(*(parser.parse(page(number), UTF8, HOST) for number in range(50)))
            assert found == [parse_page(page(number), UTF8, HOST) for number in range(50)]
            assert len(parser.pids) == 1

    run(story)


def test_a_page_whose_child_dies_every_time_is_poison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAILIWICK_FAILPOINT", "parse:POISON")

    async def story() -> None:
        async with parsing() as parser:
            assert (await parser.parse(page(1), UTF8, HOST)).hrefs[0] == "/1"
            parser.pids.clear()
            with pytest.raises(PoisonError):
                await parser.parse(b"<p>POISON" + bytes(500_000), UTF8, HOST)
            assert len(parser.pids) == ATTEMPTS - 1  # the first attempt was with the child that was there
            assert (await parser.parse(page(2), UTF8, HOST)).hrefs[0] == "/2"
            parser.pids.clear()
            with pytest.raises(PoisonError):
                await parser.parse(b"POISON", UTF8, HOST)
            assert ATTEMPTS == 3

    run(story)


def test_poison_for_one_is_no_harm_to_those_that_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAILIWICK_FAILPOINT", "parse:POISON")

    async def story() -> None:
        async with parsing() as parser:
            bodies = [page(1), b"POISON", page(2)]
            found = await asyncio.gather(*(parser.parse(body, UTF8, HOST) for body in bodies), return_exceptions=True)
            assert isinstance(found[1], PoisonError)
            assert [found[0], found[2]] == [parse_page(page(number), UTF8, HOST) for number in (1, 2)]

    run(story)


def test_a_child_that_is_killed_between_two_pages_condemns_neither() -> None:
    async def story() -> None:
        async with parsing() as parser:
            for number in range(3):
                assert (await parser.parse(page(number), UTF8, HOST)).hrefs[0] == f"/{number}"
                os.kill(parser.pids[-1], signal.SIGKILL)
            assert len(parser.pids) == 3

    run(story)


def test_a_page_survives_two_children_that_are_killed_over_it() -> None:
    async def story() -> None:
        async with parsing() as parser:
            await parser.parse(b"", UTF8, HOST)
            task = asyncio.ensure_future(parser.parse(SLOW, UTF8, HOST))
            for _ in range(ATTEMPTS - 1):
                pid = parser.pids[-1]
                await works(pid)
                os.kill(pid, signal.SIGKILL)
                await until(lambda killed=pid: parser.pids[-1] != killed)
            assert (await task).hrefs == ["/slow"]
            assert len(parser.pids) == ATTEMPTS

    run(story)


def test_a_child_that_hangs_is_thrown_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_SECONDS", 2.0)

    async def story() -> None:
        async with parsing() as parser:
            await parser.parse(b"", UTF8, HOST)
            hanging = parser.pids[0]
            os.kill(hanging, signal.SIGSTOP)
            with pytest.raises(isolation.SlowPageError):
                await parser.parse(page(1), UTF8, HOST)
            assert (await parser.parse(page(1), UTF8, HOST)).hrefs[0] == "/1"
            assert len(parser.pids) == 2
            assert not psutil.pid_exists(hanging)

    run(story)


def test_the_answer_to_a_page_that_was_given_up_is_not_the_next_ones() -> None:
    async def story() -> None:
        async with parsing() as parser:
            await parser.parse(b"", UTF8, HOST)
            task = asyncio.ensure_future(parser.parse(SLOW, UTF8, HOST))
            await works(parser.pids[0])
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await parser.parse(page(1), UTF8, HOST) == parse_page(page(1), UTF8, HOST)
            assert not psutil.pid_exists(parser.pids[0])

    run(story)


def test_closing_leaves_no_process_behind() -> None:
    async def story() -> None:
        parser = CountingParser()
        await parser.close()  # nothing was ever started
        await parser.parse(page(1), UTF8, HOST)
        (pid,) = parser.pids
        assert pid in {child.pid for child in psutil.Process().children()}
        await parser.close()
        assert not psutil.pid_exists(pid)
        await parser.close()
        # It is made on use, after closing too.
        await parser.parse(page(2), UTF8, HOST)
        await parser.close()
        assert not any(psutil.pid_exists(each) for each in parser.pids)

    run(story)


def test_closing_waits_for_the_page_that_is_being_parsed() -> None:
    async def story() -> None:
        parser = CountingParser()
        task = asyncio.ensure_future(parser.parse(SLOW, UTF8, HOST))
        await until(lambda: bool(parser.pids))
        await parser.close()
        assert (await task).hrefs == ["/slow"]
        assert not psutil.pid_exists(parser.pids[0])

    run(story)


def test_a_child_whose_parent_is_gone_ends() -> None:
    program = """
import asyncio, os, signal
from bailiwick.crawl.isolation import IsolatedParser
async def main():
    parser = IsolatedParser()
    await parser.parse(b"", "", "")
    print(parser._child.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    pid = int(done.stdout)

    def is_gone() -> bool:
        try:
            return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE  # waits for whoever adopted it
        except psutil.NoSuchProcess:
            return True

    limit = time.monotonic() + 10
    while not is_gone():
        assert time.monotonic() < limit
        time.sleep(0.005)
