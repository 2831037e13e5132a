"""Connections of the client: which are used again, when they end, and that no turn is used for two requests."""

import asyncio
import gc
import socket
import time
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import uvloop

from bailiwick.base.sections import NetSettings
from bailiwick.net import connection, pool
from bailiwick.net.answer import AnswerReader
from bailiwick.net.client import HttpFetcher
from bailiwick.net.guard import Guard
from bailiwick.net.resolver import SystemDns
from bailiwick.ports import FailureKind, FetchAnswer, FetchFailure
from tests.net.inside import PUBLIC, FencedGuard, Names
from tests.net.test_client import (
    HOST,
    Permission,
    Story,
    answer_of,
    ask,
    fail,
    fetching,
    get,
    raw,
    saying,
    unwanted,
)

BOTH_LOOPS = pytest.mark.parametrize("loop", [uvloop.new_event_loop, asyncio.new_event_loop], ids=["uvloop", "asyncio"])
Loop = Callable[[], asyncio.AbstractEventLoop]


def run(story: Story, loop: Loop = uvloop.new_event_loop) -> None:
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(story())


async def until(is_so: Callable[[], bool], *, seconds: float = 2) -> None:
    async with asyncio.timeout(seconds):
        while not is_so():
            await asyncio.sleep(0.005)


class Ends:
    """A server that answers as it is told to, and counts the connections that have ended."""

    def __init__(self, *answers: bytes, later: bytes = b"", pause: float = 0.0) -> None:
        self._answers, self._later, self._pause = answers, later, pause
        self.port = self.requests = self.connections = self.ended = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                answer = self._answers[min(self.requests, len(self._answers) - 1)]
                self.requests += 1
                await asyncio.sleep(self._pause)
                writer.write(answer)
                if self._later:
                    await asyncio.sleep(0.01)
                    writer.write(self._later)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.ended += 1
            writer.close()

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator["Ends"]:
        async with await asyncio.start_server(self._serve, "127.0.0.1", 0) as listener:
            self.port = listener.sockets[0].getsockname()[1]
            yield self

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/"


# What is used again

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"
REUSED = {
    "a length": answer_of(b"x"),
    "chunks": CHUNKED,
    "nothing": b"HTTP/1.1 304 Not Modified\r\n\r\n",
    "HTTP/1.0 that says so": b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx",
}
NOT_REUSED = {
    "close": answer_of(b"x", "Connection: close"),
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
    "an answer behind": answer_of(b"x") + answer_of(b"planted"),
    "another protocol": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
}


@BOTH_LOOPS
@pytest.mark.parametrize("answer", REUSED.values(), ids=REUSED)
def test_after_a_whole_answer_a_connection_is_used_again(answer: bytes, loop: Loop) -> None:
    async def story() -> None:
        async with Ends(answer)() as server, fetching(server.port) as fetcher:
            for _ in range(5):
                await get(fetcher, server.url)
            assert (server.requests, server.connections) == (5, 1)

    run(story, loop)


@BOTH_LOOPS
@pytest.mark.parametrize("answer", NOT_REUSED.values(), ids=NOT_REUSED)
def test_after_any_other_it_is_closed(answer: bytes, loop: Loop) -> None:
    async def story() -> None:
        async with Ends(answer)() as server, fetching(server.port) as fetcher:
            for _ in range(3):
                assert (await get(fetcher, server.url)).body in (b"x", b"")
            assert (server.requests, server.connections) == (3, 3)
            await until(lambda: server.ended == 3)  # with the client still open

    run(story, loop)


@pytest.mark.parametrize("answer", [answer_of(b"x") + b"y", CHUNKED + b"y"], ids=["a length", "chunks"])
def test_after_a_length_that_is_a_lie_it_is_closed(answer: bytes) -> None:
    async def story() -> None:
        async with Ends(answer)() as server, fetching(server.port) as fetcher:
            for _ in range(2):
                assert (await fail(fetcher, server.url)).kind is FailureKind.BROKEN
            assert (server.requests, server.connections) == (2, 2)
            await until(lambda: server.ended == 2)

    run(story)


def test_a_body_that_was_cut_or_left_is_not_waited_for_by_the_next_request() -> None:
    async def story() -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n"
        for how in ({"max_body_bytes": 1_000}, {}):
            wants = {} if how else {"wants_body": unwanted}
            async with Ends(head + bytes(100_000))() as server, fetching(server.port, **how) as fetcher:
                for _ in range(2):
                    answer = await get(fetcher, server.url, **wants)
                    assert answer.body == (bytes(1_000) if how else None)
                assert (server.requests, server.connections) == (2, 2)
                await until(lambda server=server: server.ended == 2)

    run(story)


@BOTH_LOOPS
@pytest.mark.parametrize("later", [b"x", b"\r\n", answer_of(b"planted")], ids=["a byte", "a line end", "an answer"])
def test_what_comes_while_nobody_asks_closes_the_connection(later: bytes, loop: Loop) -> None:
    """Response splitting, with a pause: the second request must not be answered by what is there already."""

    async def story() -> None:
        async with Ends(answer_of(b"asked"), later=later)() as server, fetching(server.port) as fetcher:
            for number in (1, 2):
                assert (await get(fetcher, server.url)).body == b"asked"
                await until(lambda number=number: server.ended == number)
            assert server.connections == 2

    run(story, loop)


def test_origins_do_not_share_connections() -> None:
    async def story() -> None:
        async with Ends(answer_of(b"x"))() as server, fetching(server.port) as fetcher:
            for _ in range(2):
                for host in ("a.test", "b.test"):
                    await get(fetcher, f"http://{host}:{server.port}/")
            assert (server.requests, server.connections) == (4, 2)
            # It is the scheme that counts, too: no plain connection is taken for a secure one.
            assert isinstance(await ask(fetcher, f"https://a.test:{server.port}/"), FetchFailure)
            assert server.requests == 4

    run(story)


def test_as_many_connections_are_open_as_are_asked_for() -> None:
    async def story() -> None:
        async with Ends(answer_of(b"x"), pause=0.05)() as server, fetching(server.port) as fetcher:
            for _ in range(2):
                await asyncio.gather(*(get(fetcher, server.url) for _ in range(20)))
            assert (server.requests, server.connections) == (40, 20)

    run(story)


@BOTH_LOOPS
def test_a_kept_connection_that_has_ended_is_seen_before_a_turn_is_used(loop: Loop) -> None:
    """The end is in the kernel, and the loop has not read it yet: nothing is waited for between the two requests."""

    async def story() -> None:
        async with raw(answer_of(b"x")) as server, fetching(server.port) as fetcher:
            for number in (1, 2, 3):
                turn = Permission()
                assert (await get(fetcher, f"http://{HOST}:{server.port}/", turn=turn)).body == b"x"
                assert (turn.asked, len(server.heads)) == (1, number)

    run(story, loop)


def test_a_planted_answer_that_the_loop_has_not_read_is_not_taken_for_one() -> None:
    async def story() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            async with fetching(port) as fetcher:
                url = f"http://{HOST}:{port}/"
                first = asyncio.create_task(get(fetcher, url))
                await asyncio.sleep(0.02)
                peer, _ = listener.accept()
                peer.sendall(answer_of(b"first"))
                await first
                peer.sendall(answer_of(b"planted"))
                time.sleep(0.02)  # the loop must not see it
                second = asyncio.create_task(get(fetcher, url))
                await asyncio.sleep(0.02)
                again, _ = listener.accept()
                again.sendall(answer_of(b"second"))
                assert (await second).body == b"second"
                again.close()
                peer.close()

    run(story)


# One request a turn


@BOTH_LOOPS
def test_a_sender_with_another_turn_is_asked_and_served(loop: Loop) -> None:
    async def story() -> None:
        lives = iter([True, False, True])

        async def respond(_: bytes, writer: asyncio.StreamWriter) -> None:
            if next(lives):
                writer.write(answer_of(b"x"))
            else:
                writer.transport.abort()

        async with raw(respond) as server, fetching(server.port) as fetcher:
            url = f"http://{HOST}:{server.port}/"
            await get(fetcher, url)
            turn = Permission(5)
            assert (await get(fetcher, url, turn=turn)).body == b"x"
            assert (turn.asked, len(server.heads), server.connections) == (2, 3, 2)

    run(story, loop)


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nContent-"], ids=["nothing", "half a head"])
def test_a_server_that_only_hangs_up_is_asked_twice_and_no_more(said: bytes) -> None:
    async def story() -> None:
        async with raw(said) as server, fetching(server.port) as fetcher:
            turn = Permission(5)
            failure = await fail(fetcher, f"http://{HOST}:{server.port}/", turn=turn)
            assert (failure.kind, failure.message) == (FailureKind.BROKEN, "the server hung up")
            assert (turn.asked, len(server.heads)) == (2, 2)

    run(story)


def test_a_server_that_hangs_up_amid_its_answer_is_not_asked_again() -> None:
    async def story() -> None:
        answers = iter([answer_of(b"x"), b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nnot all of it"])

        async def respond(_: bytes, writer: asyncio.StreamWriter) -> None:
            writer.write(answer := next(answers))
            if answer.endswith(b"of it"):
                writer.close()

        async with raw(respond) as server, fetching(server.port) as fetcher:
            url = f"http://{HOST}:{server.port}/"
            await get(fetcher, url)
            turn = Permission(5)
            assert (await fail(fetcher, url, turn=turn)).kind is FailureKind.BROKEN
            assert (turn.asked, len(server.heads)) == (1, 2)

    run(story)


def test_a_connection_that_was_opened_in_vain_is_kept() -> None:
    async def story() -> None:
        async with Ends(answer_of(b"x"))() as server, fetching(server.port) as fetcher:
            failure = await fail(fetcher, server.url, turn=Permission(0))
            assert failure.kind is FailureKind.NOT_SENT
            await get(fetcher, server.url)
            assert (server.requests, server.connections) == (1, 1)

    run(story)


# Time


def test_a_timer_of_one_request_does_not_end_the_next() -> None:
    """Nor does it matter that the time of all requests together is longer."""

    async def story() -> None:
        async with (
            Ends(answer_of(b"x"), pause=0.15)() as server,
            fetching(server.port, idle_timeout_seconds=0.25, total_timeout_seconds=0.3) as fetcher,
        ):
            for _ in range(6):
                await get(fetcher, server.url)
            assert server.connections == 1

    run(story)


def test_silence_on_a_kept_connection_is_timed_from_its_own_request() -> None:
    async def story() -> None:
        answers = iter([answer_of(b"x"), b"HTTP/1.1 200 OK\r\n"])

        async def respond(_: bytes, writer: asyncio.StreamWriter) -> None:
            writer.write(next(answers))

        async with raw(respond) as server, fetching(server.port, idle_timeout_seconds=0.3) as fetcher:
            url = f"http://{HOST}:{server.port}/"
            await get(fetcher, url)
            await asyncio.sleep(0.1)
            before = time.monotonic()
            assert (await fail(fetcher, url)).kind is FailureKind.TIMEOUT
            assert 0.28 < time.monotonic() - before < 1
            assert server.connections == 1

    run(story)


def test_bytes_that_come_one_by_one_are_no_silence_but_have_an_end() -> None:
    async def story() -> None:
        drip = saying(*(bytes([byte]) for byte in answer_of(b"slow")), pause=0.02)
        async with raw(drip) as server, fetching(server.port, idle_timeout_seconds=0.2) as fetcher:
            assert (await get(fetcher, f"http://{HOST}:{server.port}/")).body == b"slow"
        limits = {"idle_timeout_seconds": 0.2, "total_timeout_seconds": 0.4}
        async with raw(drip) as server, fetching(server.port, **limits) as fetcher:
            before = time.monotonic()
            assert (await fail(fetcher, f"http://{HOST}:{server.port}/")).kind is FailureKind.TIMEOUT
            assert 0.35 < time.monotonic() - before < 1

    run(story)


def test_a_kept_connection_is_closed_after_a_while_and_not_used_after_it() -> None:
    async def story() -> None:
        async with Ends(answer_of(b"x"))() as server, fetching(server.port, idle_timeout_seconds=0.4) as fetcher:
            await get(fetcher, server.url)
            await asyncio.sleep(0.1)
            await get(fetcher, server.url)
            assert server.connections == 1
            await until(lambda: server.ended == 1)
            await get(fetcher, server.url)
            assert server.connections == 2

    run(story)


def test_a_kept_connection_that_is_too_old_is_not_used_even_if_it_was_not_closed_yet() -> None:
    async def story() -> None:
        async with Ends(answer_of(b"x"))() as server, fetching(server.port, idle_timeout_seconds=0.8) as fetcher:
            await get(fetcher, server.url)
            await asyncio.sleep(0.3)  # it is looked at after 0.4 and after 0.8 s, and is young at the first time
            await get(fetcher, server.url)
            await asyncio.sleep(0.43)
            assert (server.connections, server.ended) == (1, 0)
            await get(fetcher, server.url)
            assert server.connections == 2

    run(story)


def test_a_body_that_nobody_wants_is_drained_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_DRAIN_SECONDS", 0.2)

    async def story() -> None:
        chunks = [b"HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n", *([b"1\r\nx\r\n"] * 200)]
        async with raw(saying(*chunks, pause=0.02)) as server, fetching(server.port) as fetcher:
            before = time.monotonic()
            answer = await get(fetcher, f"http://{HOST}:{server.port}/", wants_body=unwanted)
            assert 0.15 < time.monotonic() - before < 1
            assert (answer.status, answer.body) == (404, None)
            assert 0 < answer.bytes_received < 100

    run(story)


def test_requests_on_a_kept_connection_set_no_timers() -> None:
    async def story() -> None:
        loop = asyncio.get_running_loop()
        made: list[object] = []
        call_at = loop.call_at

        def counted(*args: Any, **how: Any) -> Any:
            made.append(args)
            return call_at(*args, **how)

        async with raw(saying(answer_of(b"x"), close=False)) as server, fetching(server.port) as fetcher:
            url = f"http://{HOST}:{server.port}/"
            await get(fetcher, url)
            loop.call_at = counted  # type: ignore[method-assign]
            for _ in range(50):
                await get(fetcher, url)
            # The server of this test waits nothing at all, but does so by a timer of its own.
            ours = [args for args in made if "Connection" in repr(args)]
            assert len(ours) <= 1
            assert server.connections == 1

    run(story, asyncio.new_event_loop)


# Giving up


@BOTH_LOOPS
@pytest.mark.parametrize(
    "said", [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"], ids=[0, 1, 2]
)
def test_a_cancelled_fetch_closes_its_connection_and_leaves_nothing(said: bytes, loop: Loop) -> None:
    async def story() -> None:
        async with Ends(said)() as server, fetching(server.port) as fetcher:
            tasks = asyncio.all_tasks()
            task = asyncio.create_task(ask(fetcher, server.url))
            await until(lambda: server.requests == 1)
            await asyncio.sleep(0.02)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await until(lambda: server.ended == 1)
            assert asyncio.all_tasks() <= tasks | {asyncio.current_task()}
            turn = Permission(0)  # what is on its way now comes by a connection of its own
            await fail(fetcher, server.url, turn=turn)
            assert server.connections == 2

    run(story, loop)


@BOTH_LOOPS
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_fetch_that_is_cancelled_while_it_connects_leaves_no_socket(scheme: str, loop: Loop) -> None:
    async def story() -> None:
        with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
            port = listener.getsockname()[1]
            crowd = [] if scheme == "https" else [_waiting(port) for _ in range(8)]
            async with fetching(port) as fetcher:
                task = asyncio.create_task(ask(fetcher, f"{scheme}://{HOST}:{port}/"))
                await asyncio.sleep(0.05)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await asyncio.sleep(0.01)
            if scheme == "https":
                peer, _ = listener.accept()
                peer.settimeout(2)
                assert peer.recv(1) == b"\x16"  # a TLS hello
                with suppress(ConnectionResetError):  # hanging up is an end, too
                    while peer.recv(10_000):  # a socket that is still open would time out
                        pass
                peer.close()
            for waiting in crowd:
                waiting.close()
        gc.collect()  # a socket that was left open would warn now, and a warning is an error here

    run(story, loop)


def _waiting(port: int) -> socket.socket:
    waiting = socket.socket()
    waiting.setblocking(False)
    waiting.connect_ex(("127.0.0.1", port))
    return waiting


def test_closing_the_client_ends_what_is_on_its_way() -> None:
    async def story() -> None:
        async with Ends(b"")() as server:
            async with fetching(server.port) as fetcher:
                task = asyncio.create_task(ask(fetcher, server.url))
                await until(lambda: server.requests == 1)
            async with asyncio.timeout(2):
                assert isinstance(await task, FetchFailure)
            await until(lambda: server.ended == 1)

    run(story)


def test_an_answer_does_not_wait_for_the_garbage_collector() -> None:
    async def story() -> None:
        seen: list[weakref.ref[AnswerReader]] = []

        def wants(_status: int, _content_type: str) -> bool:
            seen.extend(weakref.ref(thing) for thing in gc.get_objects() if isinstance(thing, AnswerReader))
            return True

        async with Ends(answer_of(b"x"))() as server, fetching(server.port) as fetcher:
            gc.collect()
            gc.disable()
            try:
                await get(fetcher, server.url, wants_body=wants)
                assert len(seen) == 1
                assert seen[0]() is None
            finally:
                gc.enable()

    run(story)


# Names and addresses


class SlowNames(Names):
    async def resolve(self, *args: Any, **how: Any) -> Any:
        answer = await super().resolve(*args, **how)
        await asyncio.sleep(0.05)
        return answer


@asynccontextmanager
async def by_names(guard: Guard, names: Names) -> AsyncIterator[HttpFetcher]:
    fetcher = HttpFetcher(NetSettings(), guard, user_agent="Tests/1", dns=names)
    try:
        yield fetcher
    finally:
        await fetcher.close()


def test_a_name_is_asked_for_once_by_all_who_need_it() -> None:
    async def story() -> None:
        async with raw(answer_of(b"x")) as server:
            names = SlowNames(others=[PUBLIC])
            async with by_names(FencedGuard(internet=server.port), names) as fetcher:
                tasks = [asyncio.create_task(ask(fetcher, "http://a.test:81/")) for _ in range(10)]
                await asyncio.sleep(0.01)
                tasks[0].cancel()  # who was first gives up, and takes no answer from the others
                answers = await asyncio.gather(*tasks, return_exceptions=True)
                assert isinstance(answers[0], asyncio.CancelledError)
                assert all(isinstance(answer, FetchAnswer) for answer in answers[1:]), answers
                await get(fetcher, "http://A.test:81/")
            assert names.asked == ["a.test"]

    run(story)


def test_a_name_that_was_not_found_is_asked_for_again() -> None:
    async def story() -> None:
        async with raw(answer_of(b"x")) as server:
            names = Names({"a.test": [[], [PUBLIC]]})
            async with by_names(FencedGuard(internet=server.port), names) as fetcher:
                failure = await fail(fetcher, "http://a.test:81/")
                assert failure.kind is FailureKind.DNS
                assert "a.test" in failure.message
                assert (await get(fetcher, "http://a.test:81/")).body == b"x"
            assert names.asked == ["a.test", "a.test"]

    run(story)


def test_if_one_address_does_not_answer_another_does() -> None:
    """The first one is where nobody listens."""
    deaf = "93.184.215.15"

    class HalfFenced(FencedGuard):
        def reach(self, place: Any) -> Any:
            there = super().reach(place)
            return ("127.0.0.1", 9) if place[0] == deaf else there

    async def story() -> None:
        async with raw(answer_of(b"x")) as server:
            guard = HalfFenced(internet=server.port)
            async with by_names(guard, Names(others=[deaf, PUBLIC])) as fetcher:
                assert (await get(fetcher, "http://a.test:81/")).body == b"x"
            assert guard.connected == [deaf, PUBLIC]

    run(story)


@BOTH_LOOPS
def test_the_systems_resolver_is_asked_by_the_loop(loop: Loop) -> None:
    async def story() -> None:
        found = await SystemDns().resolve("localhost", 81, socket.AF_UNSPEC)
        assert "127.0.0.1" in [place["host"] for place in found]
        assert {place["port"] for place in found} == {81}

    run(story, loop)


# TLS


def test_certificates_are_read_only_if_they_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes longer than all the rest of a start."""

    def read(*_: object, **__: object) -> None:
        raise AssertionError("read")

    monkeypatch.setattr(pool, "trust", read)

    async def story() -> None:
        async with Ends(answer_of(b"x"))() as server, fetching(server.port) as fetcher:
            assert (await get(fetcher, server.url)).body == b"x"

    run(story)


# What is written


def test_user_and_password_of_a_url_are_sent_as_they_are_meant() -> None:
    async def story() -> None:
        async with raw(answer_of(b"x")) as server, fetching(server.port) as fetcher:
            await get(fetcher, f"http://Aladdin:open%20sesame@{HOST}:{server.port}/")
            lines = server.heads[0].decode().split("\r\n")
            assert "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==" in lines
            assert f"Host: {HOST}:{server.port}" in lines

    run(story)


def test_a_header_that_is_given_takes_the_place_of_ours() -> None:
    async def story() -> None:
        async with raw(answer_of(b"x")) as server, fetching(server.port) as fetcher:
            await get(fetcher, f"http://{HOST}:{server.port}/", headers={"accept": "application/json"})
            lines = server.heads[0].decode().split("\r\n")
            assert [line for line in lines if line.lower().startswith("accept:")] == ["accept: application/json"]

    run(story)


@pytest.mark.parametrize("value", ["a\r\nX-Injected: 1", "a\nb", "a\0b"])
def test_a_header_cannot_end_its_line(value: str) -> None:
    async def story() -> None:
        async with raw(answer_of(b"x")) as server, fetching(server.port) as fetcher:
            turn = Permission()
            failure = await fail(fetcher, f"http://{HOST}:{server.port}/", headers={"X-Any": value}, turn=turn)
            assert failure.kind is FailureKind.BROKEN
            assert (turn.asked, server.connections) == (0, 0)

    run(story)


@pytest.mark.parametrize(
    ("tail", "asked"),
    [("", "/"), ("?q=1", "/?q=1"), ("#part", "/"), ("/x?a=/b#c?d", "/x?a=/b"), ("/a//b/../c", "/a//b/../c")],
)
def test_what_is_asked_for_is_the_path_and_the_query(tail: str, asked: str) -> None:
    async def story() -> None:
        async with raw(answer_of(b"x")) as server, fetching(server.port) as fetcher:
            await get(fetcher, f"http://{HOST}:{server.port}{tail}")
            assert server.heads[0].split(b"\r\n")[0].decode() == f"GET {asked} HTTP/1.1"

    run(story)
