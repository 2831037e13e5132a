"""The HTTP client against real servers on loopback: what it keeps, what it bounds, and where it refuses to go."""

import asyncio
import gzip
import socket
import ssl
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import brotli
import pytest
import trustme
import uvloop
import zstandard

from bailiwick.base.errors import SettingsError
from bailiwick.base.sections import NetSettings
from bailiwick.demo.web.answers import Page
from bailiwick.demo.web.behaviours import (
    delayed,
    encoded,
    endless,
    gzip_bomb,
    redirect,
    slow_body,
    truncated,
    with_header,
)
from bailiwick.demo.web.running import Running, serve
from bailiwick.demo.web.sites import Site, Web
from bailiwick.net.client import HttpFetcher
from bailiwick.net.guard import Guard, Resolve
from bailiwick.ports import FailureKind, FetchAnswer, FetchFailure, FetchRequest

HOST = "a.test"
HTML = "<!doctype html><title>A page</title><p>The wind turns once the tide goes out.</p>\n" * 40
Story = Callable[[], Coroutine[Any, Any, None]]


def run(story: Story) -> None:
    """On the loop that the program uses."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(story())


class Permission:
    """Permission for so many requests; how often it was asked."""

    def __init__(self, requests: int = 1) -> None:
        self.left = requests
        self.asked = 0

    def sending(self) -> bool:
        self.asked += 1
        self.left -= 1
        return self.left >= 0


Respond = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


class RawServer:
    """Says what it is told to, byte for byte, and counts."""

    def __init__(self, respond: Respond) -> None:
        self._respond = respond
        self._writers: set[asyncio.StreamWriter] = set()
        self.connections = 0
        self.heads: list[bytes] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)
        try:
            while not writer.is_closing():
                self.heads.append(await reader.readuntil(b"\r\n\r\n"))
                await self._respond(self.heads[-1], writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def hang_up(self) -> None:
        for writer in self._writers:
            writer.transport.abort()


@asynccontextmanager
async def raw(respond: Respond | bytes, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[RawServer]:
    server = RawServer(saying(respond) if isinstance(respond, bytes) else respond)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        server.hang_up()
        await asyncio.sleep(0)


def saying(*pieces: bytes, pause: float = 0.0, close: bool = True) -> Respond:
    async def respond(_: bytes, writer: asyncio.StreamWriter) -> None:
        for number, piece in enumerate(pieces):
            await asyncio.sleep(pause if number else 0)
            writer.write(piece)
            await writer.drain()
        if close:
            writer.close()

    return respond


def answer_of(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@asynccontextmanager
async def fetching(port: int, *, guard: Guard | None = None, **settings: Any) -> AsyncIterator[HttpFetcher]:
    guard = guard or Guard(resolves=(Resolve.parse(f"*:{port}:127.0.0.1"),))
    limits = {"connect_timeout_seconds": 5, "idle_timeout_seconds": 5, "total_timeout_seconds": 10} | settings
    fetcher = HttpFetcher(NetSettings(**limits), guard, user_agent="Tests/1 (+tests@example.org)")
    try:
        yield fetcher
    finally:
        await fetcher.close()


async def ask(fetcher: HttpFetcher, url: str, **how: Any) -> FetchAnswer | FetchFailure:
    return await fetcher.fetch(FetchRequest(url, how.pop("turn", None) or Permission(), **how))


async def get(fetcher: HttpFetcher, url: str, **how: Any) -> FetchAnswer:
    answer = await ask(fetcher, url, **how)
    assert isinstance(answer, FetchAnswer), answer
    return answer


async def fail(fetcher: HttpFetcher, url: str, **how: Any) -> FetchFailure:
    failure = await ask(fetcher, url, **how)
    assert isinstance(failure, FetchFailure), failure
    assert failure.message
    assert "\0" not in failure.message
    failure.message.encode()
    return failure


def unwanted(_status: int, _content_type: str) -> bool:
    return False


@contextmanager
def web_of(*behaviours: Any, body: str | bytes = HTML, path: str = "/") -> Iterator[Running]:
    site = Site(HOST)
    site.add(Page(path, body))
    site.behave(path, *behaviours)
    with serve(Web([site])) as running:
        yield running


# What is asked, and what is kept


def test_the_answer_is_kept_as_it_came() -> None:
    head = (
        b"HTTP/1.1 200 Gr\xfc\xdfe aus K\xc3\xb6ln\r\nServer: Old/1.0\r\nX-Twice: one\r\nx-TWICE: two\r\n"
        b'ETag: "caf\xe9"\r\nX-Utf8: K\xc3\xb6ln\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n'
    )

    async def story() -> None:
        async with raw(head + b"hello") as server, fetching(server.port) as fetcher:
            url = f"http://{HOST}:{server.port}/"
            answer = await get(fetcher, url)
            assert (answer.url, answer.status, answer.body, answer.bytes_received) == (url, 200, b"hello", 5)
            assert answer.head == head
            assert not answer.is_truncated
            assert 0 <= answer.milliseconds < 5_000
            assert answer.headers["content-type"] == "text/html"
            assert answer.headers["x-utf8"] == "Köln"
            # A database stores UTF-8: no half of a character may be left in a header.
            assert answer.headers["etag"] == '"café"'

    run(story)


def test_a_status_without_a_phrase_and_a_page_without_a_length_are_fine() -> None:
    async def story() -> None:
        async with raw(b"HTTP/1.0 404\r\n\r\nuntil the end") as server, fetching(server.port) as fetcher:
            answer = await get(fetcher, f"http://{HOST}:{server.port}/")
            assert (answer.status, answer.body, answer.headers) == (404, b"until the end", {})

    run(story)


def test_headers_that_come_more_than_once_are_not_lost() -> None:
    headers = ["X-Robots-Tag: otherbot: noindex", "X-Robots-Tag: noindex", "Content-Encoding: identity"]

    async def story() -> None:
        async with raw(answer_of(b"x", *headers)) as server, fetching(server.port) as fetcher:
            answer = await get(fetcher, f"http://{HOST}:{server.port}/")
            assert answer.headers["x-robots-tag"] == "otherbot: noindex\nnoindex"

    run(story)


def test_hints_before_the_answer_are_not_the_answer() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"

    async def story() -> None:
        async with raw(early + answer_of(b"late")) as server, fetching(server.port) as fetcher:
            assert (await get(fetcher, f"http://{HOST}:{server.port}/")).body == b"late"

    run(story)


def test_the_request_says_who_asks_and_spells_the_path_as_given() -> None:
    async def story() -> None:
        async with raw(answer_of(b"")) as server, fetching(server.port) as fetcher:
            path = "/a%2Fb/%7Ec?q=%20+&r=%C3%A4"
            await get(fetcher, f"http://{HOST}:{server.port}{path}", headers={"If-None-Match": '"x"'})
            lines = server.heads[0].decode().split("\r\n")
            assert lines[0] == f"GET {path} HTTP/1.1"
            assert f"Host: {HOST}:{server.port}" in lines
            assert "User-Agent: Tests/1 (+tests@example.org)" in lines
            assert "Accept-Encoding: gzip, deflate, br, zstd" in lines
            assert 'If-None-Match: "x"' in lines
            assert not any(line.lower().startswith(("cookie:", "authorization:", "referer:")) for line in lines)

    run(story)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(code: int) -> None:
    async def story() -> None:
        with web_of(redirect("/elsewhere", status=code)) as running:
            async with fetching(running.port) as fetcher:
                answer = await get(fetcher, running.url(HOST))
        assert (answer.status, answer.headers["location"]) == (code, "/elsewhere")
        assert [entry.path for entry in running.log.entries()] == ["/"]

    run(story)


def test_no_cookie_is_kept() -> None:
    async def story() -> None:
        async with (
            raw(saying(answer_of(b"x", "Set-Cookie: id=1; Path=/"), close=False)) as server,
            fetching(server.port) as fetcher,
        ):
            for _ in range(3):
                answer = await get(fetcher, f"http://{HOST}:{server.port}/")
                assert answer.headers["set-cookie"] == "id=1; Path=/"
            assert len(server.heads) == 3
            assert not any(b"cookie" in head.lower() for head in server.heads)

    run(story)


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async with raw(answer_of(b"proxied")) as proxy, raw(answer_of(b"direct")) as server:
            for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
                monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
            async with fetching(server.port) as fetcher:
                assert (await get(fetcher, f"http://{HOST}:{server.port}/")).body == b"direct"
            assert proxy.connections == 0

    run(story)


# Content codings


def raw_deflate(plain: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(plain) + packer.flush()


CODINGS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "none": ("", bytes),
    "identity": ("identity", bytes),
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("X-GZip", gzip.compress),
    "zlib": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstandard.compress),
}


@pytest.mark.parametrize(("coding", "code"), CODINGS.values(), ids=CODINGS)
@pytest.mark.parametrize("delivery", ["whole", "in pieces", "chunked"])
def test_the_body_is_decoded(coding: str, code: Callable[[bytes], bytes], delivery: str) -> None:
    coded = code(HTML.encode())
    header = [f"Content-Encoding: {coding}"] if coding else []
    whole = answer_of(coded, *header)
    body_at = len(whole) - len(coded)
    if delivery == "chunked":
        chunks = (
            b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (coded[:1], coded[1:20], coded[20:]))
            + b"0\r\n\r\n"
        )
        head = "\r\n".join(["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", *header]).encode() + b"\r\n\r\n"
        pieces = [head + chunks]
    else:
        pieces = [whole] if delivery == "whole" else [whole[:body_at], whole[body_at:][:1], whole[body_at + 1 :]]

    async def story() -> None:
        async with raw(saying(*pieces, pause=0.005)) as server, fetching(server.port) as fetcher:
            answer = await get(fetcher, f"http://{HOST}:{server.port}/")
            assert answer.body == HTML.encode()
            assert answer.bytes_received == len(coded)
            assert not answer.is_truncated
            assert f"Content-Encoding: {coding}".encode() in answer.head or not coding

    run(story)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_pages_of_the_local_web_are_decoded(coding: str) -> None:
    async def story() -> None:
        with web_of(encoded(coding)) as running:
            async with fetching(running.port) as fetcher:
                assert (await get(fetcher, running.url(HOST))).body == HTML.encode()

    run(story)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("lzma", b"whatever"),
        ("gzip, br", gzip.compress(b"x")),
        ("gzip", b"<p>Not compressed at all"),
        ("gzip", gzip.compress(HTML.encode())[:-8] + b"\0" * 8),
        ("br", b"<p>Not compressed at all" * 20),
        ("zstd", b"<p>Not compressed at all"),
        ("deflate", b"\xff\xff\xff\xff"),
    ],
    ids=["unknown", "two", "no gzip", "gzip's checksum", "no br", "no zstd", "no deflate"],
)
def test_an_unknown_or_damaged_coding_is_a_failure_of_its_own_kind(coding: str, body: bytes) -> None:
    async def story() -> None:
        respond = saying(answer_of(body, f"Content-Encoding: {coding}"), close=False)
        async with raw(respond) as server, fetching(server.port) as fetcher:
            for _ in range(2):
                failure = await fail(fetcher, f"http://{HOST}:{server.port}/")
                assert failure.kind is FailureKind.ENCODING
            # Nobody minds the coding of a body that nobody wants.
            answer = await get(fetcher, f"http://{HOST}:{server.port}/", wants_body=unwanted)
            assert answer.body is None

    run(story)


@pytest.mark.parametrize("coding", ["gzip", "zlib", "br", "zstd"])
def test_a_coding_that_breaks_off_leaves_a_truncated_body(coding: str) -> None:
    name, code = CODINGS[coding]
    plain = b"".join(b"%d " % (number * 7919) for number in range(20_000))
    coded = code(plain)

    async def story() -> None:
        cut = answer_of(coded[: len(coded) // 2], f"Content-Encoding: {name}")
        async with raw(cut) as server, fetching(server.port) as fetcher:
            answer = await get(fetcher, f"http://{HOST}:{server.port}/")
            assert answer.is_truncated
            assert answer.body is not None
            assert plain.startswith(answer.body)
            assert len(answer.body) < len(plain)
        async with raw(answer_of(b"", f"Content-Encoding: {name}")) as server, fetching(server.port) as fetcher:
            empty = await get(fetcher, f"http://{HOST}:{server.port}/")
            assert (empty.body, empty.is_truncated) == (b"", False)

    run(story)


# Sizes

LIMIT = 100_000


@pytest.mark.parametrize(("size", "is_cut"), [(LIMIT - 1, False), (LIMIT, False), (LIMIT + 1, True), (3 * LIMIT, True)])
@pytest.mark.parametrize("coding", ["none", "gzip", "br", "zstd"])
def test_a_body_is_cut_at_the_limit_and_not_before(size: int, is_cut: bool, coding: str) -> None:
    name, code = CODINGS[coding]
    body = bytes(number % 251 for number in range(size))

    async def story() -> None:
        whole = answer_of(code(body), *([f"Content-Encoding: {name}"] if name else []))
        async with raw(saying(whole, close=False)) as server, fetching(server.port, max_body_bytes=LIMIT) as fetcher:
            answer = await get(fetcher, f"http://{HOST}:{server.port}/")
            assert answer.is_truncated is is_cut
            assert answer.body == body[:LIMIT]

    run(story)


def peak_of(story: Story) -> int:
    """Bytes that were in use at once; what the test itself has made counts not."""
    tracemalloc.start()
    try:
        run(story)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def bombs() -> dict[str, tuple[str, bytes]]:
    size = 100 << 20
    frame = b"\x28\xb5\x2f\xfd\x00\x68" + (((128 * 1024) << 3 | 2).to_bytes(3, "little") + b"\0") * 8_000
    return {
        "br": ("br", brotli.compress(bytes(size), quality=1)),
        "zstd": ("zstd", zstandard.compress(bytes(size))),
        "zstd, worst": ("zstd", frame),
    }


@pytest.mark.parametrize("kind", ["br", "zstd", "zstd, worst"])
def test_a_bomb_takes_little_memory(kind: str) -> None:
    coding, coded = bombs()[kind]
    assert len(coded) < LIMIT
    whole = answer_of(coded, f"Content-Encoding: {coding}")

    async def story() -> None:
        async with raw(whole) as server, fetching(server.port, max_body_bytes=LIMIT) as fetcher:
            answer = await get(fetcher, f"http://{HOST}:{server.port}/")
            assert answer.is_truncated
            assert answer.body == bytes(LIMIT)

    assert peak_of(story) < 8_000_000


def test_a_gzip_bomb_of_the_local_web_takes_little_memory() -> None:
    with web_of(gzip_bomb(100_000_000)) as running:

        async def story() -> None:
            async with fetching(running.port, max_body_bytes=LIMIT) as fetcher:
                answer = await get(fetcher, running.url(HOST))
                assert answer.is_truncated
                assert answer.body is not None
                assert len(answer.body) == LIMIT

        assert peak_of(story) < 8_000_000


def test_a_body_without_end_is_cut_and_its_connection_closed() -> None:
    with web_of(endless()) as running:

        async def story() -> None:
            async with fetching(running.port, max_body_bytes=LIMIT) as fetcher:
                answer = await get(fetcher, running.url(HOST))
                assert answer.is_truncated
                assert answer.body is not None
                assert len(answer.body) == LIMIT
                assert answer.bytes_received < 10 * LIMIT
                while running.log.open_requests():  # the server saw us hang up, with the client still open
                    await asyncio.sleep(0.005)

        assert peak_of(story) < 8_000_000


def test_compressed_bytes_without_end_that_say_nothing_are_cut_too() -> None:
    """Empty zstd frames for skipping (RFC 8878 section 3.1.2): any amount comes in, and nothing out."""
    skipped = (b"\x50\x2a\x4d\x18" + (1_000).to_bytes(4, "little") + bytes(1_000)) * 500

    async def story() -> None:
        whole = answer_of(skipped, "Content-Encoding: zstd")
        async with raw(whole) as server, fetching(server.port, max_body_bytes=LIMIT) as fetcher:
            answer = await get(fetcher, f"http://{HOST}:{server.port}/")
            assert (answer.body, answer.is_truncated) == (b"", True)
            assert answer.bytes_received < 4 * LIMIT

    run(story)


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 1_000_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: a\r\n" % number for number in range(70_000)) + b"\r\n",
        b"HTTP/1.1 200 " + b"a" * 1_000_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X" * 1_000_000 + b": a\r\n\r\n",
    ],
    ids=["value", "number", "phrase", "name"],
)
def test_a_head_of_a_megabyte_is_no_answer(head: bytes) -> None:
    async def story() -> None:
        async with raw(head) as server, fetching(server.port) as fetcher:
            failure = await fail(fetcher, f"http://{HOST}:{server.port}/")
            assert failure.kind is FailureKind.BROKEN
            assert len(failure.message) <= 300

    assert peak_of(story) < 8_000_000


def test_a_head_of_ordinary_size_is_an_answer() -> None:
    headers = [f"X-{number}: {'a' * 400}" for number in range(100)]

    async def story() -> None:
        async with raw(answer_of(b"x", *headers)) as server, fetching(server.port) as fetcher:
            assert len((await get(fetcher, f"http://{HOST}:{server.port}/")).headers) == 101

    run(story)


# A body that nobody wants


def test_a_large_body_that_nobody_wants_is_not_read() -> None:
    async def story() -> None:
        with web_of(endless()) as running:
            asked: list[tuple[int, str]] = []

            def wants(status: int, content_type: str) -> bool:
                asked.append((status, content_type))
                return False

            async with fetching(running.port) as fetcher:
                before = time.monotonic()
                answer = await get(fetcher, running.url(HOST), wants_body=wants)
                assert time.monotonic() - before < 2
                assert (answer.body, answer.is_truncated) == (None, False)
                assert answer.bytes_received < 1_000_000
                assert asked == [(200, "text/html; charset=utf-8")]
                while running.log.open_requests():
                    await asyncio.sleep(0.005)

    run(story)


@pytest.mark.parametrize("pieces", [1, 5])
@pytest.mark.parametrize("chunked", [False, True])
def test_after_a_small_one_the_connection_is_used_again(pieces: int, chunked: bool) -> None:
    body = HTML.encode()
    if chunked:
        whole = b"HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    else:
        whole = answer_of(body, status="404 No")
    step = -(-len(whole) // pieces)
    parts = [whole[at : at + step] for at in range(0, len(whole), step)]

    async def story() -> None:
        async with (
            raw(saying(*parts, pause=0.005, close=False)) as server,
            fetching(server.port) as fetcher,
        ):
            for _ in range(3):
                answer = await get(fetcher, f"http://{HOST}:{server.port}/", wants_body=unwanted)
                assert (answer.status, answer.body) == (404, None)
                assert answer.bytes_received == len(body)
            assert (len(server.heads), server.connections) == (3, 1)

    run(story)


def test_a_body_that_is_promised_large_is_not_waited_for() -> None:
    async def story() -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 50000000\r\n\r\n"
        async with raw(saying(head, close=False)) as server, fetching(server.port) as fetcher:
            before = time.monotonic()
            answer = await get(fetcher, f"http://{HOST}:{server.port}/", wants_body=unwanted)
            assert time.monotonic() - before < 1
            assert (answer.status, answer.body, answer.bytes_received) == (200, None, 0)
            await get(fetcher, f"http://{HOST}:{server.port}/", wants_body=unwanted)
            assert server.connections == 2

    run(story)


@pytest.mark.parametrize(
    "respond",
    [
        saying(b"HTTP/1.1 404 No\r\nContent-Length: 5000\r\n\r\nnot all of it"),
        saying(b"HTTP/1.1 404 No\r\nContent-Length: 5000\r\n\r\n"),
        saying(b"HTTP/1.1 404 No\r\nContent-Length: 5000\r\n\r\nstalled", close=False),
        saying(b"HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n", close=False),
    ],
    ids=["cut", "cut at once", "stalled", "stalled at once"],
)
def test_what_goes_wrong_with_a_body_that_nobody_wants_changes_no_answer(respond: Respond) -> None:
    async def story() -> None:
        async with raw(respond) as server, fetching(server.port, idle_timeout_seconds=0.1) as fetcher:
            answer = await get(fetcher, f"http://{HOST}:{server.port}/", wants_body=unwanted)
            assert (answer.status, answer.body) == (404, None)

    run(story)


# Time


def test_an_answer_that_drips_is_given_up_after_the_total_time() -> None:
    async def story() -> None:
        with web_of(slow_body(30)) as running:
            async with fetching(running.port, total_timeout_seconds=0.3) as fetcher:
                before = time.monotonic()
                failure = await fail(fetcher, running.url(HOST))
                assert failure.kind is FailureKind.TIMEOUT
                assert 0.25 < time.monotonic() - before < 2
                assert 250 <= failure.milliseconds < 2_000

    run(story)


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"])
def test_a_server_that_falls_silent_is_given_up_after_the_idle_time(said: bytes) -> None:
    async def story() -> None:
        async with (
            raw(saying(said, close=False)) as server,
            fetching(server.port, idle_timeout_seconds=0.2) as fetcher,
        ):
            before = time.monotonic()
            failure = await fail(fetcher, f"http://{HOST}:{server.port}/")
            assert failure.kind is FailureKind.TIMEOUT
            assert 0.15 < time.monotonic() - before < 2

    run(story)


def test_a_slow_answer_within_its_time_is_an_answer() -> None:
    async def story() -> None:
        with web_of(delayed(0.15), slow_body(0.3)) as running:
            async with fetching(running.port, idle_timeout_seconds=0.5, total_timeout_seconds=5) as fetcher:
                answer = await get(fetcher, running.url(HOST))
                assert answer.body == HTML.encode()
                assert answer.milliseconds >= 400

    run(story)


def test_a_connection_that_never_opens_is_given_up_after_the_connect_time() -> None:
    """A full backlog: the kernel drops what asks for more."""

    async def story() -> None:
        with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
            port = listener.getsockname()[1]
            crowd = []
            for _ in range(8):
                waiting = socket.socket()
                waiting.setblocking(False)
                waiting.connect_ex(("127.0.0.1", port))
                crowd.append(waiting)
            async with fetching(port, connect_timeout_seconds=0.2) as fetcher:
                before = time.monotonic()
                turn = Permission()
                failure = await fail(fetcher, f"http://{HOST}:{port}/", turn=turn)
                assert failure.kind is FailureKind.TIMEOUT
                assert 0.15 < time.monotonic() - before < 2
                assert turn.asked == 0
            for waiting in crowd:
                waiting.close()

    run(story)


def test_a_handshake_that_nobody_answers_is_given_up_after_the_connect_time() -> None:
    async def story() -> None:
        async with (
            raw(saying(b"", close=False)) as server,
            fetching(server.port, connect_timeout_seconds=0.2) as fetcher,
        ):
            failure = await fail(fetcher, f"https://{HOST}:{server.port}/")
            assert failure.kind is FailureKind.TIMEOUT
            assert failure.milliseconds < 2_000

    run(story)


def test_a_fetch_that_is_cancelled_leaves_the_client_usable() -> None:
    async def story() -> None:
        with web_of(slow_body(30)) as running:
            async with fetching(running.port) as fetcher:
                task = asyncio.ensure_future(ask(fetcher, running.url(HOST)))
                while not running.log.entries():
                    await asyncio.sleep(0.005)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert (await get(fetcher, running.url(HOST, "/nowhere"))).status == 404
                while running.log.open_requests():
                    await asyncio.sleep(0.005)

    run(story)


# Answers that are none


@pytest.mark.parametrize(
    "said",
    [
        b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n",
        b"220 mail.example.org ESMTP ready\r\n",
        b"<html>no head at all</html>",
        b"HTTP/1.1 two hundred OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nnot all of it",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nnot all of it",
    ],
)
def test_what_is_no_http_or_ends_early_is_broken(said: bytes) -> None:
    async def story() -> None:
        async with raw(said) as server, fetching(server.port) as fetcher:
            turn = Permission()
            failure = await fail(fetcher, f"http://{HOST}:{server.port}/", turn=turn)
            assert failure.kind is FailureKind.BROKEN
            assert (turn.asked, len(server.heads)) == (1, 1)

    run(story)


def test_a_page_of_the_local_web_that_is_cut_off_is_broken() -> None:
    async def story() -> None:
        with web_of(truncated(100)) as running:
            async with fetching(running.port) as fetcher:
                assert (await fail(fetcher, running.url(HOST))).kind is FailureKind.BROKEN

    run(story)


def test_bytes_behind_an_answer_are_not_the_next_answer() -> None:
    """Response splitting: what comes unasked for must not be taken for what is asked next."""

    async def story() -> None:
        answers = iter([answer_of(b"first") + answer_of(b"planted"), answer_of(b"second")])

        async def respond(_: bytes, writer: asyncio.StreamWriter) -> None:
            writer.write(next(answers))

        async with raw(respond) as server, fetching(server.port) as fetcher:
            assert (await get(fetcher, f"http://{HOST}:{server.port}/1")).body == b"first"
            assert (await get(fetcher, f"http://{HOST}:{server.port}/2")).body == b"second"

    run(story)


def test_nobody_listens() -> None:
    async def story() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        async with fetching(port) as fetcher:
            turn = Permission()
            assert (await fail(fetcher, f"http://{HOST}:{port}/", turn=turn)).kind is FailureKind.CONNECT
            assert turn.asked == 0

    run(story)


@pytest.mark.parametrize(
    "url",
    [
        "", "a.test", "http://", "http:///x", "http://[::1", "http://a.test:99999/", "http://a.test:b/", "ftp://a.test/",
        "file:///etc/passwd", "//a.test/", "http://a..test/", "http://a\0b/",
        "http://\udce9.test/", f"http://{'a' * 64}.test/",
    ],
)  # fmt: skip
def test_what_is_no_url_is_a_failure_and_no_exception(url: str) -> None:
    async def story() -> None:
        async with fetching(1, guard=Guard()) as fetcher:
            turn = Permission()
            failure = await fail(fetcher, url, turn=turn)
            assert failure.kind is FailureKind.BROKEN
            assert turn.asked == 0

    run(story)


@pytest.mark.parametrize("path", ["/a HTTP/1.1\r\nX-Injected: 1", "/a\nb", "/a b", "/a\tb", "/a\x7f"])
def test_a_url_cannot_end_the_request_line(path: str) -> None:
    async def story() -> None:
        async with raw(answer_of(b"x")) as server, fetching(server.port) as fetcher:
            failure = await fail(fetcher, f"http://{HOST}:{server.port}{path}")
            assert failure.kind is FailureKind.BROKEN
            assert server.connections == 0

    run(story)


# The moment of writing


def test_a_request_that_may_not_be_sent_is_not() -> None:
    async def story() -> None:
        async with raw(answer_of(b"x")) as server, fetching(server.port) as fetcher:
            turn = Permission(0)
            failure = await fail(fetcher, f"http://{HOST}:{server.port}/", turn=turn)
            assert failure.kind is FailureKind.NOT_SENT
            assert turn.asked == 1
            await asyncio.sleep(0.02)
            assert (server.connections, server.heads) == (1, [])
            assert (await get(fetcher, f"http://{HOST}:{server.port}/")).status == 200

    run(story)


def test_permission_is_asked_once_the_connection_is_open() -> None:
    """Between the question and the writing lies no wait: the lease is looked at then, not a handshake earlier."""

    async def story() -> None:
        async with raw(answer_of(b"x")) as server, fetching(server.port) as fetcher:
            seen: list[int] = []

            class Looking(Permission):
                def sending(self) -> bool:
                    seen.append(len(server.heads))
                    return super().sending()

            await get(fetcher, f"http://{HOST}:{server.port}/", turn=Looking())
            assert seen == [0]
            assert len(server.heads) == 1

    run(story)


def test_a_server_that_hangs_up_without_an_answer_is_asked_once_a_turn() -> None:
    async def story() -> None:
        async with raw(b"") as server, fetching(server.port) as fetcher:
            for asked in (1, 2):
                turn = Permission()
                failure = await fail(fetcher, f"http://{HOST}:{server.port}/", turn=turn)
                assert failure.kind is FailureKind.NOT_SENT  # the client would ask again, and is not let
                assert (turn.asked, len(server.heads)) == (2, asked)

    run(story)


def test_a_kept_connection_that_the_server_closes_costs_one_request_a_turn() -> None:
    async def story() -> None:
        lives = iter([True, False])

        async def respond(_: bytes, writer: asyncio.StreamWriter) -> None:
            if next(lives, True):
                writer.write(answer_of(b"x"))
            else:
                writer.transport.abort()

        async with raw(respond) as server, fetching(server.port) as fetcher:
            url = f"http://{HOST}:{server.port}/"
            assert (await get(fetcher, url)).status == 200
            turn = Permission()
            assert (await fail(fetcher, url, turn=turn)).kind is FailureKind.NOT_SENT
            assert (turn.asked, len(server.heads)) == (2, 2)
            again = Permission()
            assert (await get(fetcher, url, turn=again)).status == 200
            assert (again.asked, len(server.heads)) == (1, 3)

    run(story)


def test_a_kept_connection_that_was_closed_in_the_meantime_is_not_used() -> None:
    async def story() -> None:
        async with raw(saying(answer_of(b"x"), close=False)) as server, fetching(server.port) as fetcher:
            url = f"http://{HOST}:{server.port}/"
            await get(fetcher, url)
            server.hang_up()
            await asyncio.sleep(0.02)
            turn = Permission()
            assert (await get(fetcher, url, turn=turn)).status == 200
            assert (turn.asked, len(server.heads), server.connections) == (1, 2, 2)

    run(story)


# TLS


class Authority:
    def __init__(self, folder: Path) -> None:
        authority = trustme.CA()
        self.file = folder / "ca.pem"
        authority.cert_pem.write_to_path(str(self.file))
        self.server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert(HOST).configure_cert(self.server)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


def test_an_unknown_authority_is_not_trusted(authority: Authority) -> None:
    async def story() -> None:
        async with raw(answer_of(b"x"), tls=authority.server) as server, fetching(server.port) as fetcher:
            turn = Permission()
            failure = await fail(fetcher, f"https://{HOST}:{server.port}/", turn=turn)
            assert failure.kind is FailureKind.TLS
            assert "certificate" in failure.message.lower()
            assert (turn.asked, server.heads) == (0, [])

    run(story)


def test_an_authority_of_the_operators_own_is_trusted_for_its_hosts(authority: Authority) -> None:
    async def story() -> None:
        async with (
            raw(answer_of(b"secret"), tls=authority.server) as server,
            fetching(server.port, extra_ca_file=authority.file) as fetcher,
        ):
            assert (await get(fetcher, f"https://{HOST}:{server.port}/")).body == b"secret"
            failure = await fail(fetcher, f"https://b.test:{server.port}/")  # the certificate is for another host
            assert failure.kind is FailureKind.TLS
            assert len(server.heads) == 1

    run(story)


def test_tls_to_a_plain_port_is_a_tls_failure() -> None:
    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        writer.close()

    async def story() -> None:
        async with await asyncio.start_server(respond, "127.0.0.1", 0) as listener:
            port = listener.sockets[0].getsockname()[1]
            async with fetching(port) as fetcher:
                assert (await fail(fetcher, f"https://{HOST}:{port}/")).kind is FailureKind.TLS

    run(story)


@pytest.mark.parametrize("content", [None, b"", b"-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n"])
def test_an_extra_ca_file_that_is_none_is_told_at_once(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_bytes(content)

    async def story() -> None:
        with pytest.raises(SettingsError, match="extra_ca_file") as refused:
            HttpFetcher(NetSettings(extra_ca_file=file), Guard(), user_agent="x")
        assert str(file) in refused.value.message
        assert "PEM" in str(refused.value.hint)

    run(story)


# Names


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (socket.EAI_NONAME, FailureKind.DNS),
        (socket.EAI_NODATA, FailureKind.DNS),
        (socket.EAI_FAIL, FailureKind.DNS),
        (socket.EAI_AGAIN, FailureKind.TIMEOUT),
    ],
)
def test_a_name_without_an_address_and_a_silent_name_server_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, code: int, kind: FailureKind
) -> None:
    """The one thing that is not real here: no question leaves this machine."""

    def lookup(host: str, *_: object, **__: object) -> None:
        raise socket.gaierror(code, f"no {host}")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)

    async def story() -> None:
        async with fetching(1, guard=Guard()) as fetcher:
            turn = Permission()
            failure = await fail(fetcher, "http://nowhere.invalid:1/", turn=turn)
            assert failure.kind is kind
            assert "nowhere.invalid" in failure.message
            assert turn.asked == 0

    asyncio.run(story())  # Python's own loop asks by `socket.getaddrinfo`; uvloop has its own


def test_a_name_of_punycode_is_found_by_its_rule() -> None:
    async def story() -> None:
        async with raw(answer_of(b"x")) as server:
            guard = Guard(resolves=(Resolve.parse(f"bücher.test:{server.port}:127.0.0.1"),))
            async with fetching(server.port, guard=guard) as fetcher:
                assert (await get(fetcher, f"http://xn--bcher-kva.test:{server.port}/")).status == 200

    run(story)


# No way inside


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.255.0.1", "0.0.0.0", "0x7f000001", "0x7f.1", "localhost", "LOCALHOST",
        "[::1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[::]", "[64:ff9b::7f00:1]", "[fe80::1]", "169.254.169.254",
    ],
)  # fmt: skip
def test_an_address_inside_is_refused_and_nothing_reaches_it(host: str) -> None:
    async def story() -> None:
        async with raw(answer_of(b"inside")) as canary, fetching(canary.port, guard=Guard()) as fetcher:
            for scheme in ("http", "https"):
                turn = Permission()
                failure = await fail(fetcher, f"{scheme}://{host}:{canary.port}/", turn=turn)
                assert failure.kind is FailureKind.REFUSED, failure
                assert "is not a public address" in failure.message
                assert turn.asked == 0
            await asyncio.sleep(0.02)
            assert canary.connections == 0

    run(story)


@pytest.mark.parametrize("host", ["127.1", "2130706433", "0177.0.0.1", "0", "017700000001"])
def test_an_address_in_disguise_is_not_even_tried(host: str) -> None:
    async def story() -> None:
        async with raw(answer_of(b"inside")) as canary, fetching(canary.port, guard=Guard()) as fetcher:
            failure = await fail(fetcher, f"http://{host}:{canary.port}/")
            assert failure.kind in (FailureKind.BROKEN, FailureKind.REFUSED)
            await asyncio.sleep(0.02)
            assert canary.connections == 0

    run(story)


def test_a_name_whose_addresses_are_all_inside_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `localhost` on most machines: several addresses, and still it is the guard that says no."""

    def lookup(host: str, port: int, *_: object, **__: object) -> list[tuple[object, ...]]:
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", port, 0, 0)),
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)),
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", port)),
        ]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)

    async def story() -> None:
        async with raw(answer_of(b"inside")) as canary, fetching(canary.port, guard=Guard()) as fetcher:
            failure = await fail(fetcher, f"http://rebound.test:{canary.port}/")
            assert failure.kind is FailureKind.REFUSED
            await asyncio.sleep(0.02)
            assert canary.connections == 0

    asyncio.run(story())


def test_a_rule_opens_one_door_and_no_other() -> None:
    async def story() -> None:
        async with raw(answer_of(b"own")) as own, raw(answer_of(b"canary")) as canary:
            guard = Guard(resolves=(Resolve.parse(f"{HOST}:{own.port}:127.0.0.1"),))
            async with fetching(own.port, guard=guard) as fetcher:
                urls = [
                    f"http://127.0.0.1:{own.port}/",
                    f"http://localhost:{own.port}/",
                    f"http://127.0.0.1:{canary.port}/",
                ]
                # At the same time: whose request a connection is for must not be mixed up.
                answers = await asyncio.gather(
                    *(ask(fetcher, url) for _ in range(10) for url in (f"http://{HOST}:{own.port}/", *urls))
                )
            kinds = {answer.kind for answer in answers if isinstance(answer, FetchFailure)}
            bodies = [answer.body for answer in answers if isinstance(answer, FetchAnswer)]
            assert kinds == {FailureKind.REFUSED}
            assert bodies == [b"own"] * 10
            assert (own.connections, len(own.heads), canary.connections) == (10, 10, 0)

    run(story)


def test_the_operator_may_open_all_doors() -> None:
    async def story() -> None:
        async with raw(answer_of(b"intranet")) as server, fetching(0, guard=Guard(allow_private=True)) as fetcher:
            assert (await get(fetcher, f"http://127.0.0.1:{server.port}/")).body == b"intranet"
            assert (await get(fetcher, f"http://localhost:{server.port}/")).body == b"intranet"

    run(story)


def test_a_redirect_inside_leads_nowhere() -> None:
    async def story() -> None:
        async with raw(answer_of(b"inside")) as canary:
            with web_of(redirect(f"http://127.0.0.1:{canary.port}/")) as running:
                async with fetching(running.port) as fetcher:
                    assert (await get(fetcher, running.url(HOST))).status == 301
            assert canary.connections == 0

    run(story)


def test_what_a_server_sends_with_its_headers_stays_with_them() -> None:
    async def story() -> None:
        with web_of(with_header("X-Robots-Tag", "noindex"), with_header("Retry-After", "7")) as running:
            async with fetching(running.port) as fetcher:
                answer = await get(fetcher, running.url(HOST))
                assert answer.headers["x-robots-tag"] == "noindex"
                assert answer.headers["retry-after"] == "7"
                assert b"X-Robots-Tag: noindex\r\n" in answer.head

    run(story)
