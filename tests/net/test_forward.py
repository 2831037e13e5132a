"""The forward proxy with real clients and servers on loopback: what it carries, what it bounds, whom it serves."""

import asyncio
import base64
import logging
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import aiohttp
import pytest
import trustme
from aiohttp import web
from aiohttp.abc import ResolveResult

from bailiwick.net.forward import Bounds, ForwardProxy
from bailiwick.net.guard import AddressRefusedError, Guard, Resolve
from tests.net.inside import PUBLIC, FencedGuard, Names, said, status_of, with_password
from tests.net.test_client import answer_of, raw, run, saying

HOST = "a.test"
Reader, Writer = asyncio.StreamReader, asyncio.StreamWriter


@asynccontextmanager
async def proxy_to(*ports: int, names: Names | None = None, **how: Any) -> AsyncIterator[ForwardProxy]:
    """A proxy for which a.test is on loopback, at these ports. Its bounds are given by name."""
    bounds = Bounds(**{key: how.pop(key) for key in list(how) if key in Bounds.__slots__})
    guard = how.pop("guard", None) or Guard(resolves=tuple(Resolve.parse(f"{HOST}:{port}:127.0.0.1") for port in ports))
    async with ForwardProxy(guard, bounds=bounds, dns=names or Names(), **how) as proxy:
        yield proxy


async def echo(request: web.Request) -> web.StreamResponse:
    """The request, as JSON; `/chunked` and `/late` in their own way."""
    body = await request.read()
    answer = web.json_response(
        {"method": request.method, "path": request.raw_path, "headers": list(request.headers.items()),
         "body": len(body), "sum": sum(body)},
        headers={"X-Answer": "end to end", "Keep-Alive": "timeout=5", "Proxy-Authenticate": 'Basic realm="trap"'},
    )  # fmt: skip
    if request.path == "/chunked":
        answer.enable_chunked_encoding()
    return answer


@asynccontextmanager
async def echo_server(*, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    app = web.Application(client_max_size=1 << 26)
    app.router.add_route("*", "/{tail:.*}", echo)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
        await site.start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


@asynccontextmanager
async def connected(proxy: ForwardProxy) -> AsyncIterator[tuple[Reader, Writer]]:
    """A connection to the proxy, used by hand for ten seconds at most."""
    async with asyncio.timeout(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        try:
            yield reader, writer
        finally:
            writer.transport.abort()


@asynccontextmanager
async def tunnelled(proxy: ForwardProxy, port: int) -> AsyncIterator[tuple[Reader, Writer]]:
    async with connected(proxy) as (reader, writer):
        writer.write(with_password(proxy, f"CONNECT {HOST}:{port}"))
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 200 Connection established\r\n\r\n"
        yield reader, writer


@asynccontextmanager
async def listening(serve: Callable[[Reader, Writer], Awaitable[None]]) -> AsyncIterator[int]:
    """A server of any protocol; what it still does at the end is ended."""
    tasks: set[asyncio.Task[None]] = set()

    async def served(reader: Reader, writer: Writer) -> None:
        try:
            await serve(reader, writer)
            writer.close()
        except (ConnectionError, asyncio.CancelledError):
            writer.transport.abort()

    def accepted(reader: Reader, writer: Writer) -> None:
        tasks.add(asyncio.get_running_loop().create_task(served(reader, writer)))

    async with await asyncio.start_server(accepted, "127.0.0.1", 0) as listener:
        try:
            yield listener.sockets[0].getsockname()[1]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def ended(reader: Reader, *, seconds: float = 3) -> bytes:
    """What still comes until the connection ends, in whatever way."""
    got = b""
    with suppress(ConnectionError):
        async with asyncio.timeout(seconds):
            while piece := await reader.read(65_536):
                got += piece
    return got


# What is carried


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["/page?q=%20a&b", "/chunked"])
def test_a_plain_request_is_passed_on(method: str, path: str) -> None:
    async def story() -> None:
        body = b"" if method in ("GET", "OPTIONS") else bytes(range(256)) * 4096
        async with echo_server() as port, proxy_to(port) as proxy, aiohttp.ClientSession() as session:
            url = f"http://{HOST}:{port}{path}"
            async with session.request(method, url, data=body or None, proxy=proxy.url) as answer:
                got = await answer.json()
                assert (answer.status, answer.headers["X-Answer"]) == (200, "end to end")
                assert answer.headers["Connection"] == "close"
                assert "Keep-Alive" not in answer.headers
                assert "Proxy-Authenticate" not in answer.headers
            assert (got["method"], got["path"], got["body"], got["sum"]) == (method, path, len(body), sum(body))
            headers = {name.lower(): value for name, value in got["headers"]}
            assert headers["host"] == f"{HOST}:{port}"
            assert not any(name.startswith("proxy") for name in headers)
            assert (proxy.requests, proxy.refused) == (1, 0)
            assert proxy.bytes_carried >= len(body)

    run(story)


def test_a_chunked_body_is_passed_on_in_chunks() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for number in range(50):
            yield bytes([number]) * (number * 100 + 1)

    async def story() -> None:
        whole = b"".join([piece async for piece in pieces()])
        async with echo_server() as port, proxy_to(port) as proxy, aiohttp.ClientSession() as session:
            async with session.post(f"http://{HOST}:{port}/", data=pieces(), proxy=proxy.url) as answer:
                got = await answer.json()
            assert (got["body"], got["sum"]) == (len(whole), sum(whole))
            assert ["Transfer-Encoding", "chunked"] in got["headers"]

    run(story)


def test_only_what_is_meant_for_the_server_gets_there() -> None:
    async def story() -> None:
        async with raw(answer_of(b"x")) as server, proxy_to(server.port) as proxy:
            await said(
                proxy,
                with_password(
                    proxy, f"GET http://{HOST.upper()}.:{server.port}?q", "Host: other.test", "X-Kept: 1",
                    "Connection: X-Mine, Keep-Alive", "X-Mine: 1", "Keep-Alive: 5", "TE: gzip", "Upgrade: h2c",
                    "Proxy-Connection: keep-alive", "Expect: 100-continue",
                ),
            )  # fmt: skip
            assert server.heads == [
                f"GET /?q HTTP/1.1\r\nHost: {HOST}:{server.port}\r\nX-Kept: 1\r\nConnection: close\r\n\r\n".encode()
            ]

    run(story)


def test_an_old_client_is_served_in_its_own_way() -> None:
    async def story() -> None:
        async with raw(b"HTTP/1.0 200 OK\r\n\r\nuntil the end") as server, proxy_to(server.port) as proxy:
            request = with_password(proxy, f"OPTIONS http://{HOST}:{server.port}").replace(b"HTTP/1.1", b"HTTP/1.0", 1)
            answer = await said(proxy, request)
            assert answer == b"HTTP/1.0 200 OK\r\nConnection: close\r\n\r\nuntil the end"
            assert server.heads[0].startswith(b"OPTIONS * HTTP/1.0\r\n")

    run(story)


@pytest.mark.parametrize(
    ("method", "answer", "expected"),
    [
        ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nC\r\n\r\n"),
        ("GET", b"HTTP/1.1 204 None\r\n\r\n", b"HTTP/1.1 204 None\r\nC\r\n\r\n"),
        ("GET", b"HTTP/1.1 304 Same\r\nETag: x\r\n\r\n", b"HTTP/1.1 304 Same\r\nETag: x\r\nC\r\n\r\n"),
        ("GET", b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nabc", b"HTTP/1.1 200\r\nContent-Length: 2\r\nC\r\n\r\nab"),
        (
            "GET",
            b"HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\nC\r\n\r\n",
        ),
        (
            "GET",
            b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n0\r\nT: 1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nC\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        ),
    ],
)
def test_an_answer_ends_where_it_ends(method: str, answer: bytes, expected: bytes) -> None:
    """The server keeps the connection open: the proxy knows all the same, and hangs up."""

    async def story() -> None:
        async with raw(saying(answer, close=False)) as server, proxy_to(server.port, idle_seconds=5) as proxy:
            got = await said(proxy, with_password(proxy, f"{method} http://{HOST}:{server.port}/"), seconds=3)
            assert got == expected.replace(b"\r\nC\r\n", b"\r\nConnection: close\r\n")

    run(story)


def test_a_client_that_waits_for_permission_gets_it() -> None:
    async def story() -> None:
        async with echo_server() as port, proxy_to(port) as proxy, connected(proxy) as (reader, writer):
            head = ("Content-Length: 5", "Expect: 100-continue")
            writer.write(with_password(proxy, f"POST http://{HOST}:{port}/", *head))
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"hello")
            assert b'"body": 5' in await ended(reader)

    run(story)


def test_a_server_may_answer_before_it_has_read_all() -> None:
    async def story() -> None:
        async with raw(answer_of(b"no", status="413 Too Large")) as server, proxy_to(server.port) as proxy:
            async with connected(proxy) as (reader, writer):
                writer.write(with_password(proxy, f"POST http://{HOST}:{server.port}/", "Content-Length: 900000"))
                writer.write(b"x" * 100_000)
                answer = await ended(reader)
            assert status_of(answer) == 413
            assert answer.endswith(b"no")

    run(story)


def test_a_second_request_on_the_connection_goes_nowhere() -> None:
    """It would be one that nobody checked."""

    async def story() -> None:
        async with raw(saying(answer_of(b"first"), close=False)) as server, proxy_to(server.port) as proxy:
            second = with_password(proxy, f"GET http://{HOST}:{server.port}/second")
            answer = await said(proxy, with_password(proxy, f"GET http://{HOST}:{server.port}/", body=second))
            assert answer.endswith(b"first")
            assert len(server.heads) == 1
            assert proxy.requests == 1

    run(story)


# Tunnels


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def test_https_goes_through_a_tunnel(authority: trustme.CA) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(HOST).configure_cert(context)
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    body = bytes(range(256)) * 2048

    async def story() -> None:
        async with echo_server(tls=context) as port, proxy_to(port) as proxy, aiohttp.ClientSession() as session:
            url = f"https://{HOST}:{port}/path"
            async with session.post(url, data=body, proxy=proxy.url, ssl=trust) as answer:
                got = await answer.json()
            assert (got["method"], got["body"], got["sum"]) == ("POST", len(body), sum(body))
            assert proxy.requests == 1
            assert proxy.bytes_carried > len(body)
            with pytest.raises(aiohttp.ClientConnectorCertificateError):  # end to end: the proxy vouches for nothing
                await session.get(url, proxy=proxy.url)

    run(story)


def test_a_tunnel_carries_both_ways_and_each_way_ends_for_itself() -> None:
    size = 5_000_000

    async def serve(reader: Reader, writer: Writer) -> None:
        writer.write(b"hello ")
        got = await reader.read()  # until the client has ended its way
        writer.write(got[::-1])
        await writer.drain()

    async def story() -> None:
        sent = b"abcdefg" * (size // 7)
        async with listening(serve) as port, proxy_to(port) as proxy:
            async with tunnelled(proxy, port) as (reader, writer):
                assert await reader.readexactly(6) == b"hello "
                writer.write(sent)
                writer.write_eof()
                assert await reader.read(-1) == sent[::-1]
            assert proxy.bytes_carried == 2 * len(sent) + 6

    run(story)


def test_what_comes_right_behind_the_request_for_a_tunnel_is_not_lost() -> None:
    async def story() -> None:
        async with raw(answer_of(b"x")) as server, proxy_to(server.port) as proxy:
            first = b"GET / HTTP/1.1\r\n\r\n"
            answer = await said(proxy, with_password(proxy, f"CONNECT {HOST}:{server.port}", body=first))
            assert answer == b"HTTP/1.1 200 Connection established\r\n\r\n" + answer_of(b"x")
            assert server.heads == [first]

    run(story)


# Who may


def basic(user: str, password: str) -> str:
    return f"Proxy-Authorization: Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


@pytest.mark.parametrize("line", ["CONNECT {host}", "GET http://{host}/"])
def test_only_who_knows_the_password_is_served(line: str) -> None:
    async def story() -> None:
        async with raw(answer_of(b"x")) as server, proxy_to(server.port) as proxy, proxy_to(server.port) as other:
            assert other.password != proxy.password
            right = basic(proxy.username, proxy.password)
            for wrong in (
                [], [basic(proxy.username, "")], [basic(proxy.username, proxy.password[:-1])],
                [basic("", proxy.password)], [basic(other.username, other.password)], [right, right],
                [right.replace("Basic", "Bearer")], ["Proxy-Authorization: Basic"], ["Proxy-Authorization: Basic é"],
                [right.replace("Proxy-", "")], [right + "x"],
            ):  # fmt: skip
                first = line.format(host=f"{HOST}:{server.port}")
                answer = await said(proxy, "\r\n".join([f"{first} HTTP/1.1", *wrong, "", ""]).encode("latin-1"))
                assert status_of(answer) == 407, wrong
                assert b'\r\nProxy-Authenticate: Basic realm="Bailiwick"\r\n' in answer
                assert proxy.password.encode() not in answer
            assert (proxy.requests, server.connections) == (0, 0)
            request = "\r\n".join([f"{first} HTTP/1.1", right.replace("Basic", "bAsIc "), "", ""])
            assert status_of(await said(proxy, request.encode() + b"GET / HTTP/1.1\r\n\r\n")) == 200

    run(story)


def test_a_body_behind_a_refused_head_does_not_swallow_the_answer() -> None:
    """Hanging up on what was not read yet would be a reset, and could take the answer with it."""

    async def story() -> None:
        async with proxy_to(1) as proxy:
            head = f"POST http://{HOST}:1/ HTTP/1.1\r\nContent-Length: 900000\r\n\r\n"
            for _ in range(5):
                assert status_of(await said(proxy, head.encode() + b"x" * 900_000)) == 407

    run(story)


def test_it_listens_on_loopback_only_and_says_where() -> None:
    async def story() -> None:
        async with proxy_to(1) as proxy:
            assert proxy.server == f"http://127.0.0.1:{proxy.port}"
            assert proxy.url == f"http://{proxy.username}:{proxy.password}@127.0.0.1:{proxy.port}"
            assert len(proxy.password) >= 32
            assert [listener.getsockname() for listener in proxy._listener.sockets] == [("127.0.0.1", proxy.port)]

    run(story)


def test_nothing_secret_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def story() -> None:
        asyncio.get_running_loop().set_debug(True)
        async with raw(b"nonsense\r\n\r\n") as server, proxy_to(server.port, head_seconds=0.1) as proxy:
            for line in (f"GET http://{HOST}:{server.port}/", "GET nonsense", "CONNECT b.test:443", "CONNECT b.test:1"):
                await said(proxy, with_password(proxy, line))
            await said(proxy, with_password(proxy, "GET http://a.test/")[:-2])
            assert proxy.password not in caplog.text
            assert base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode() not in caplog.text
            assert proxy.password not in repr(proxy)

    run(story)


# What is not carried


@pytest.mark.parametrize(
    "request_head",
    [
        "", "GET", "GET /", "GET / HTTP/1.1", "GET http://a.test/", "GET http://a.test/ HTTP/2",
        "GET  http://a.test/ HTTP/1.1",
        "GET http:// HTTP/1.1", "GET http:///x HTTP/1.1", "GET http://:80/ HTTP/1.1", "GET http://./ HTTP/1.1",
        "GET https://a.test/ HTTP/1.1", "GET ftp://a.test/ HTTP/1.1", "GET file:///etc/passwd HTTP/1.1",
        "GET http://user@a.test/ HTTP/1.1", "GET http://a.test@b.test/ HTTP/1.1",
        "GET http://a.test\\@b.test/ HTTP/1.1",
        "GET http://a.test#x HTTP/1.1", "GET http://a.test:0/ HTTP/1.1", "GET http://a.test:65536/ HTTP/1.1",
        "GET http://a.test:8x/ HTTP/1.1", "GET http://a.test:/ HTTP/1.1", "GET http://a..test/ HTTP/1.1",
        "GET http://%61.test/ HTTP/1.1", "GET http://ä.test/ HTTP/1.1", "GET http://a.test/ä HTTP/1.1",
        f"GET http://{'a' * 254}/ HTTP/1.1", "GET http://[::1/ HTTP/1.1", "GET http://[a]/ HTTP/1.1",
        "GET http://[1.2.3.4]/ HTTP/1.1", "GET http://[::1%25lo]/ HTTP/1.1", "GET http://::1/ HTTP/1.1",
        "CONNECT a.test HTTP/1.1", "CONNECT http://a.test:443/ HTTP/1.1", "CONNECT a.test:443/ HTTP/1.1",
        "CONNECT u@a.test:443 HTTP/1.1", "CONNECT ::1:443 HTTP/1.1", "CONNECT :443 HTTP/1.1", "CONNECT / HTTP/1.1",
        "GET http://a.test/ HTTP/1.1\r\nNo colon", "GET http://a.test/ HTTP/1.1\r\nSpace : x",
        "GET http://a.test/ HTTP/1.1\r\n folded: x", "GET http://a.test/ HTTP/1.1\r\nA: b\nC: d",
        "GET http://a.test/ HTTP/1.1\r\nA: b\0", "GET http://a.test/ HTTP/1.1\r\nA: b\rC: d",
        "G\tT http://a.test/ HTTP/1.1",
        "POST http://a.test/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1",
        "POST http://a.test/ HTTP/1.1\r\nContent-Length: -1", "POST http://a.test/ HTTP/1.1\r\nContent-Length: 1, 1",
        "POST http://a.test/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked",
        "POST http://a.test/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked",
        "POST http://a.test/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "POST http://a.test/ HTTP/1.0\r\nTransfer-Encoding: chunked", "\x16\x03\x01",
    ],
)  # fmt: skip
def test_nonsense_is_refused(request_head: str) -> None:
    async def story() -> None:
        names = Names(others=["127.0.0.1"])
        async with proxy_to(1, names=names) as proxy:
            right = basic(proxy.username, proxy.password)
            answer = await said(proxy, f"{request_head}\r\n{right}\r\n\r\n".encode("latin-1"))
            assert status_of(answer) == 400
            assert answer.endswith(b"\r\n\r\nThis is no request for a proxy.\n")
            assert names.asked == []

    run(story)


@pytest.mark.parametrize(
    "body", [b"", b"x\r\n", b"-1\r\n", b"5\r\nab", b"2\r\nabc\r\n0\r\n\r\n", b"0x2\r\nab\r\n", b"g\r\n"]
)
def test_chunks_that_are_none_are_refused_and_do_not_look_whole(body: bytes) -> None:
    async def story() -> None:
        reached: list[bytes] = []

        async def serve(reader: Reader, writer: Writer) -> None:
            reached.append(await reader.read())

        async with listening(serve) as port, proxy_to(port) as proxy:
            head = with_password(proxy, f"POST http://{HOST}:{port}/", "Transfer-Encoding: chunked")
            async with connected(proxy) as (reader, writer):
                writer.write(head + body)
                writer.write_eof()
                assert status_of(await ended(reader)) == 400
        assert not any(got.endswith(b"0\r\n\r\n") for got in reached)

    run(story)


@pytest.mark.parametrize("port", [25, 22, 43, 8080, 6379, 65535])
def test_other_ports_are_closed_unless_they_are_given(port: int) -> None:
    async def story() -> None:
        names = Names(others=["10.0.0.1"])
        async with proxy_to(80, names=names) as proxy:
            for line in (f"CONNECT b.test:{port}", f"GET http://b.test:{port}/", f"CONNECT {HOST}:{port}"):
                answer = await said(proxy, with_password(proxy, line))
                assert status_of(answer) == 403
                assert answer.endswith(b"This port is not open.\n")
            assert (proxy.refused, names.asked) == (3, [])
        async with proxy_to(80, names=names, ports=frozenset({port})) as proxy:
            answer = await said(proxy, with_password(proxy, f"CONNECT b.test:{port}"))
            assert answer.endswith(b"This address is refused.\n")
            assert names.asked == ["b.test"]

    run(story)


def test_the_ports_of_the_web_are_open() -> None:
    async def story() -> None:
        names = Names(others=["10.0.0.1"])
        async with proxy_to(names=names) as proxy:
            for line in ("CONNECT b.test:443", "CONNECT b.test:80", "GET http://b.test/"):
                assert (await said(proxy, with_password(proxy, line))).endswith(b"This address is refused.\n")
            assert len(names.asked) == 3

    run(story)


# When it goes wrong


@pytest.mark.parametrize(
    "answer",
    [
        b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-", b"HTTP/2 200\r\n\r\n", b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\n\r\n", b"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: \x01\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", b"HTTP/1.1 103 Hint\r\n\r\n" * 20,
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_a_bad_gateway(answer: bytes) -> None:
    async def story() -> None:
        async with raw(answer) as server, proxy_to(server.port) as proxy:
            got = await said(proxy, with_password(proxy, f"GET http://{HOST}:{server.port}/"))
            assert b"HTTP/1.1 502 Bad Gateway\r\n" in got
            assert got.endswith(b"The server cannot be reached, or its answer is broken.\n")

    run(story)


@pytest.mark.parametrize("line", ["CONNECT {host}", "GET http://{host}/"])
def test_nobody_there(line: str) -> None:
    async def story() -> None:
        with socket.create_server(("127.0.0.1", 0)) as once:
            port = once.getsockname()[1]
        async with proxy_to(port) as proxy:
            for host in (f"{HOST}:{port}", "unknown.test:80"):
                assert status_of(await said(proxy, with_password(proxy, line.format(host=host)))) == 502
            assert (proxy.requests, proxy.refused) == (0, 0)

    run(story)


def test_a_body_that_breaks_off_does_not_look_whole() -> None:
    async def story() -> None:
        for cut in (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        ):
            async with raw(cut) as server, proxy_to(server.port) as proxy, aiohttp.ClientSession() as session:
                with pytest.raises(aiohttp.ClientError):
                    async with session.get(f"http://{HOST}:{server.port}/", proxy=proxy.url) as answer:
                        await answer.read()

    run(story)


# Bounds


class SilentNames(Names):
    async def resolve(self, host: str, port: int = 0, family: Any = socket.AF_INET) -> list[ResolveResult]:
        await asyncio.Event().wait()
        raise AssertionError


@contextmanager
def full_backlog() -> Iterator[int]:
    """A port at which connections are never taken: they stay half open."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        port = listener.getsockname()[1]
        waiting = [socket.socket() for _ in range(8)]
        try:
            for one in waiting:
                one.setblocking(False)
                one.connect_ex(("127.0.0.1", port))
            yield port
        finally:
            for one in waiting:
                one.close()


@pytest.mark.parametrize("line", ["CONNECT {host}", "GET http://{host}/"])
def test_connecting_and_asking_for_a_name_have_their_time(line: str) -> None:
    async def story() -> None:
        started = time.monotonic()
        with full_backlog() as port:
            async with proxy_to(port, connect_seconds=0.2) as proxy:
                assert status_of(await said(proxy, with_password(proxy, line.format(host=f"{HOST}:{port}")))) == 504
        async with proxy_to(names=SilentNames(), connect_seconds=0.2) as proxy:
            assert status_of(await said(proxy, with_password(proxy, line.format(host="b.test:80")))) == 504
        assert time.monotonic() - started < 3

    run(story)


@pytest.mark.parametrize(
    "sent", [b"", b"GET http://a.test/ HTTP/1.1\r\n", b"GET http://a.test/ HTTP/1.1\r\nA: b\r\n\r"]
)
def test_a_slow_client_is_not_waited_for(sent: bytes) -> None:
    async def story() -> None:
        async with proxy_to(1, head_seconds=0.2) as proxy, connected(proxy) as (reader, writer):
            writer.write(sent)
            assert status_of(await ended(reader)) == 408

    run(story)


def test_a_client_that_drips_its_head_is_not_waited_for() -> None:
    async def story() -> None:
        async with proxy_to(1, head_seconds=0.3) as proxy, connected(proxy) as (reader, writer):

            async def drip() -> None:
                with suppress(ConnectionError):
                    for _ in range(200):
                        writer.write(b"x")
                        await writer.drain()
                        await asyncio.sleep(0.02)

            dripping = asyncio.create_task(drip())
            assert status_of(await ended(reader)) == 408
            dripping.cancel()

    run(story)


def test_a_long_head_is_refused() -> None:
    async def story() -> None:
        async with proxy_to(1, head_bytes=2_000) as proxy:
            request = with_password(proxy, f"GET http://{HOST}:1/", f"X: {'x' * 5_000}")
            assert status_of(await said(proxy, request)) == 431
            assert status_of(await said(proxy, b"x" * 50_000)) == 431

    run(story)


def test_a_silent_server_and_a_silent_client_are_given_up() -> None:
    async def story() -> None:
        async with raw(saying(b"", close=False)) as server, proxy_to(server.port, idle_seconds=0.2) as proxy:
            url = f"http://{HOST}:{server.port}/"
            assert status_of(await said(proxy, with_password(proxy, f"GET {url}"))) == 504
            # The body that was promised does not come.
            request = with_password(proxy, f"POST {url}", "Content-Length: 9", body=b"half")
            assert status_of(await said(proxy, request)) == 504
            async with tunnelled(proxy, server.port) as (reader, _):
                with pytest.raises(ConnectionResetError):
                    await reader.read()

    run(story)


def test_a_tunnel_lives_while_one_side_speaks_but_not_for_ever() -> None:
    async def drip(_: Reader, writer: Writer) -> None:
        for _ in range(500):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    async def story() -> None:
        async with listening(drip) as port, proxy_to(port, idle_seconds=0.3, total_seconds=1.2) as proxy:
            started = time.monotonic()
            async with tunnelled(proxy, port) as (reader, _):
                got = await ended(reader)
            assert 1.0 < time.monotonic() - started < 2.5
            assert len(got) > 10

    run(story)


def test_a_client_that_does_not_read_is_given_up() -> None:
    async def serve(_: Reader, writer: Writer) -> None:
        for _ in range(500):
            writer.write(b"x" * 100_000)
            await writer.drain()

    async def story() -> None:
        async with listening(serve) as port, proxy_to(port, idle_seconds=0.3) as proxy:
            async with tunnelled(proxy, port) as (_, writer):
                writer.transport.pause_reading()  # type: ignore[attr-defined]
                async with asyncio.timeout(5):
                    while proxy._tasks:
                        await asyncio.sleep(0.02)
            assert proxy.bytes_carried < 30_000_000

    run(story)


@pytest.mark.parametrize("kind", ["tunnel", "until close", "length", "upload"])
def test_more_than_may_be_carried_is_cut_off_so_that_it_shows(kind: str) -> None:
    async def story() -> None:
        many = b"x" * 300_000
        head = b"HTTP/1.1 200 OK\r\n" + (b"Content-Length: 300000\r\n\r\n" if kind == "length" else b"\r\n")
        async with raw(head + many) as server, proxy_to(server.port, total_bytes=100_000) as proxy:
            if kind == "upload":
                line = f"POST http://{HOST}:{server.port}/"
                async with connected(proxy) as (reader, writer):
                    writer.write(with_password(proxy, line, "Content-Length: 300000", body=many))
                    with suppress(ConnectionError):
                        await reader.read()
            else:
                async with connected(proxy) as (reader, writer):
                    line = f"CONNECT {HOST}:{server.port}" if kind == "tunnel" else f"GET http://{HOST}:{server.port}/"
                    writer.write(with_password(proxy, line, body=b"GET / HTTP/1.1\r\n\r\n"))
                    with pytest.raises(ConnectionResetError):
                        await reader.read()
            assert 100_000 < proxy.bytes_carried < 300_000

    run(story)


def test_no_more_connections_than_bounded() -> None:
    async def story() -> None:
        async with raw(saying(answer_of(b"x"), close=False)) as server, proxy_to(server.port, connections=3) as proxy:
            request = with_password(proxy, f"GET http://{HOST}:{server.port}/")
            held = [await asyncio.open_connection("127.0.0.1", proxy.port) for _ in range(3)]
            answers = [await said(proxy, b"") for _ in range(2)]
            assert [status_of(answer) for answer in answers] == [503, 503]
            for _, writer in held:
                writer.transport.abort()
            async with asyncio.timeout(5):
                while proxy._tasks:
                    await asyncio.sleep(0.01)
            assert status_of(await said(proxy, request)) == 200

    run(story)


def test_many_at_once() -> None:
    async def story() -> None:
        async with echo_server() as port, proxy_to(port) as proxy, aiohttp.ClientSession() as session:

            async def one(number: int) -> None:
                body = bytes([number]) * 10_000
                async with session.post(f"http://{HOST}:{port}/{number}", data=body, proxy=proxy.url) as answer:
                    got = await answer.json()
                assert (got["path"], got["sum"]) == (f"/{number}", sum(body))

            async with asyncio.timeout(30):
                await asyncio.gather(*(one(number) for number in range(150)))
            assert proxy.requests == 150

    run(story)


# Its end, its hook


def test_closing_ends_everything_within_a_second() -> None:
    async def story() -> None:
        async with (
            raw(saying(b"", close=False)) as server,
            proxy_to(server.port) as proxy,
            tunnelled(proxy, server.port) as (reader, _),
        ):
            url = f"http://{HOST}:{server.port}/"
            waiting = [asyncio.create_task(said(proxy, with_password(proxy, f"GET {url}"))) for _ in range(20)]
            waiting += [asyncio.create_task(said(proxy, b"GET ")) for _ in range(5)]
            async with asyncio.timeout(5):
                while len(server.heads) < 20:
                    await asyncio.sleep(0.01)
            started = time.monotonic()
            await proxy.__aexit__(None, None, None)
            assert time.monotonic() - started < 1
            assert proxy._tasks == set()
            await ended(reader)
            await asyncio.gather(*waiting, return_exceptions=True)
            assert time.monotonic() - started < 1
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", proxy.port)

    run(story)


def test_each_connection_waits_to_be_admitted() -> None:
    admitted: list[tuple[str, int]] = []

    async def story() -> None:
        async with raw(answer_of(b"x")) as server:

            async def admit(host: str, port: int) -> None:
                assert server.connections == len(admitted)  # before, not after
                admitted.append((host, port))

            async with proxy_to(server.port, admit=admit) as proxy:
                for line in (f"GET http://A.test.:{server.port}/", f"CONNECT {HOST}:{server.port}"):
                    await said(proxy, with_password(proxy, line, body=b"GET / HTTP/1.1\r\n\r\n"))
                for line in ("CONNECT 10.0.0.1:443", f"CONNECT {HOST}:1", "nonsense"):
                    await said(proxy, with_password(proxy, line))
            assert admitted == [(HOST, server.port)] * 2

    run(story)


@pytest.mark.parametrize(("error", "status"), [(AddressRefusedError, 403), (TimeoutError, 504), (OSError, 502)])
def test_who_admits_may_say_no(error: type[OSError], status: int) -> None:
    async def refuse(_host: str, _port: int) -> None:
        raise error

    async def story() -> None:
        async with raw(answer_of(b"x")) as server, proxy_to(server.port, admit=refuse) as proxy:
            assert status_of(await said(proxy, with_password(proxy, f"CONNECT {HOST}:{server.port}"))) == status
            assert server.connections == 0

    run(story)


def test_waiting_to_be_admitted_has_its_time() -> None:
    async def never(_host: str, _port: int) -> None:
        await asyncio.Event().wait()

    async def story() -> None:
        async with raw(answer_of(b"x")) as server, proxy_to(server.port, admit=never, total_seconds=0.2) as proxy:
            assert status_of(await said(proxy, with_password(proxy, f"CONNECT {HOST}:{server.port}"))) == 504
            assert server.connections == 0

    run(story)


def test_whois_can_be_asked() -> None:
    """A protocol of its own, at a port of its own."""

    async def serve(reader: Reader, writer: Writer) -> None:
        question = await reader.readline()
        writer.write(b"domain: " + question)

    async def story() -> None:
        async with listening(serve) as port:
            guard, names = FencedGuard(internet=port), Names({"whois.test": [[PUBLIC]]})
            async with proxy_to(guard=guard, names=names, ports=frozenset({43})) as proxy:
                answer = await said(proxy, with_password(proxy, "CONNECT whois.test:43", body=b"example.org\r\n"))
                assert answer.endswith(b"\r\n\r\ndomain: example.org\r\n")
                assert guard.connected == [PUBLIC]

    run(story)
