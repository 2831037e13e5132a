"""The local web's bad manners, byte for byte: a test of limits is worth what its attacks are."""

import socket
import zlib
from collections.abc import Callable, Iterator

import brotli
import pytest
import zstandard

from bailiwick.demo.web import hostile as h
from bailiwick.demo.web.answers import Behaviour, Page
from bailiwick.demo.web.running import Running, serve
from bailiwick.demo.web.sites import Site, Web
from tests.demo.test_web import _raw, _request, wait_for

A = "a.test"
BODY = "<!doctype html><title>A</title><p>" + "The tide goes out. " * 20


@pytest.fixture
def running() -> Iterator[Running]:
    site = Site(A)
    site.add(Page("/", BODY))
    with serve(Web([site])) as served:
        yield served


def said(running: Running, behaviour: Behaviour) -> bytes:
    """All that comes until the connection is closed."""
    running.web[A].behave("/", behaviour)
    return _raw(running, _request("/", close=False))


@pytest.mark.parametrize(
    ("behaviour", "length"), [(h.wrong_length(7), len(BODY) + 7), (h.wrong_length(-7), len(BODY) - 7)]
)
def test_lengths_that_are_wrong(running: Running, behaviour: Behaviour, length: int) -> None:
    head, _, body = said(running, behaviour).partition(b"\r\n\r\n")
    assert b"Content-Length: %d" % length in head
    assert body.decode() == BODY


def test_heads_that_are_too_much_or_too_little(running: Running) -> None:
    assert said(running, h.lengths("-1", "2")).count(b"Content-Length: ") == 2
    assert len(said(running, h.long_status_line(9_000)).split(b"\r\n")[0]) > 9_000
    assert len(said(running, h.long_header(9_000))) > 9_000
    assert said(running, h.many_headers(50, "Set-Cookie", "c{n}=1")).count(b"\r\nSet-Cookie: c") == 50
    assert said(running, h.http_0_9()).startswith(b"<p>")
    assert said(running, h.chunk_of(b"ffff")).endswith(b"\r\n\r\nffff\r\n<p>A few bytes.</p>\r\n0\r\n\r\n")
    assert said(running, h.interim(100, 103)).split(b"\r\n\r\n")[:2] == [b"HTTP/1.1 100 Soon", b"HTTP/1.1 103 Soon"]


@pytest.mark.parametrize(
    "behaviour",
    [
        h.endless_header(), h.endless_headers(), h.endless_interim(), h.endless_tiny_chunks(), h.endless_chunk_size(),
        h.endless_trailers(), h.dripping(0.001), h.dripping_head(0.001), h.stalling(5_000),
    ],
)  # fmt: skip
def test_what_has_no_end_ends_with_the_client(running: Running, behaviour: Behaviour) -> None:
    running.web[A].behave("/", behaviour)
    with socket.create_connection(("127.0.0.1", running.port), timeout=5) as raw:
        raw.sendall(_request("/", close=False))
        received = 0
        while received < 300:
            piece = raw.recv(65_536)
            assert piece
            received += len(piece)
        assert len(running.log.open_requests()) == 1
    wait_for(lambda: not running.log.open_requests())
    assert running.log.answered_200() == set()


def test_a_reset_is_one(running: Running) -> None:
    running.web[A].behave("/", h.reset_after(100))
    with socket.create_connection(("127.0.0.1", running.port), timeout=5) as raw:
        raw.sendall(_request("/", close=False))
        wait_for(lambda: not running.log.open_requests())
        with pytest.raises(ConnectionResetError):
            list(iter(lambda: raw.recv(65_536), b""))


DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda packed: zlib.decompress(packed, wbits=31),
    "deflate": zlib.decompress,
    "br": brotli.decompress,
    "zstd": lambda packed: zstandard.ZstdDecompressor().decompressobj().decompress(packed),
}


@pytest.mark.parametrize("coding", DECODERS)
def test_a_bomb_is_small_until_it_is_opened(running: Running, coding: str) -> None:
    packed = said(running, _closing(h.bomb(coding, 5_000_000))).partition(b"\r\n\r\n")[2]
    assert len(packed) < 20_000
    assert len(DECODERS[coding](packed)) == 5_000_000


def test_half_a_coding(running: Running) -> None:
    packed = said(running, _closing(h.broken_off("gzip"))).partition(b"\r\n\r\n")[2]
    state = zlib.decompressobj(wbits=31)
    assert BODY.encode().startswith(state.decompress(packed))
    assert not state.eof


def test_a_page_of_one_piece(running: Running) -> None:
    assert said(running, _closing(h.page_of(b"<%d>", 3, before=b"<p>", after=b"."))).endswith(b"<p><0><1><2>.")


def _closing(behaviour: Behaviour) -> Behaviour:
    """The same answer on a connection that ends with it."""
    return lambda request, answer: h.interim()(request, behaviour(request, answer))
