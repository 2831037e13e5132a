"""Answers that no honest server gives: each costs a client time, memory or its temper unless it has limits.

site.behave("/drip", dripping(1.0))
site.behave("/bomb", bomb("br"))

Those that write byte by byte (a script) end with the connection; whoever waits for their end waits for ever.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, count, repeat

from bailiwick.demo.web.answers import HTML, Answer, Behaviour, Delivery, Request

_OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_CHUNKED = _OK + b"Transfer-Encoding: chunked\r\n\r\n"
_MILLION = 1_000_000


def said(*pieces: bytes, piece_seconds: float = 0.0, lingers: bool = False, resets: bool = False) -> Behaviour:
    """These bytes in place of an answer, as they are; then the connection is closed, reset, or stays as it is."""
    delivery = Delivery(script=lambda: pieces, piece_seconds=piece_seconds, lingers=lingers, resets=resets)
    return lambda _, answer: replace(answer, delivery=delivery)


def without_end(start: bytes, pieces: Iterable[bytes], *, piece_seconds: float = 0.0) -> Behaviour:
    """A start, and these pieces until the client hangs up."""
    delivery = Delivery(script=lambda: chain((start,), pieces), piece_seconds=piece_seconds)
    return lambda _, answer: replace(answer, delivery=delivery)


# The head


def wrong_length(by: int) -> Behaviour:
    """Content-Length promises so many bytes more than there are; fewer, if negative."""
    return _promising(lambda length: [str(length + by)])


def lengths(*values: str) -> Behaviour:
    """Content-Length as it is said here, as often as it is said."""
    return _promising(lambda _: list(values))


def long_status_line(size: int = _MILLION) -> Behaviour:
    """200, and so many bytes of reasons."""
    return said(b"HTTP/1.1 200 " + b"O" * size + b"\r\nContent-Length: 0\r\n\r\n")


def long_header(size: int = _MILLION) -> Behaviour:
    """One header of so many bytes."""
    return said(_OK + b"X-Long: " + b"x" * size + b"\r\nContent-Length: 0\r\n\r\n")


def many_headers(number: int = 10_000, name: str = "X-Header-{n}", value: str = "{n}") -> Behaviour:
    """So many headers; `Set-Cookie` as a name makes it a flood of cookies."""
    lines = "".join(f"{name.format(n=n)}: {value.format(n=n)}\r\n" for n in range(number))
    return said(_OK + lines.encode() + b"Content-Length: 0\r\n\r\n")


def endless_header() -> Behaviour:
    """A header line that does not end."""
    return without_end(_OK + b"X-Long: ", repeat(b"x" * 10_000))


def endless_headers() -> Behaviour:
    """One header after the other, and never the empty line."""
    return without_end(_OK, (b"X-Header-%d: %d\r\n" % (n, n) for n in count()))


def interim(*statuses: int) -> Behaviour:
    """Interim answers (1xx) before the answer itself."""

    def behave(_: Request, answer: Answer) -> Answer:
        body = answer.payload()
        before = b"".join(b"HTTP/1.1 %d Soon\r\n\r\n" % status for status in statuses)
        pieces = (before, answer.head(len(body), keep_alive=False) + body)
        return replace(answer, delivery=Delivery(script=lambda: pieces))

    return behave


def endless_interim(status: int = 103, *, piece_seconds: float = 0.0) -> Behaviour:
    """Interim answers, and never the answer itself."""
    return without_end(b"", repeat(b"HTTP/1.1 %d Soon\r\n\r\n" % status), piece_seconds=piece_seconds)


def http_0_9(body: bytes = b"<p>In the beginning was the body.</p>\n") -> Behaviour:
    """A body without any head, as in 1991."""
    return said(body)


# The body on its way


def dripping(piece_seconds: float = 1.0) -> Behaviour:
    """One byte of the body after the other, for ever: never silent for long, never done (Slowloris)."""
    return without_end(_OK + b"\r\n<p>", repeat(b"x"), piece_seconds=piece_seconds)


def dripping_head(piece_seconds: float = 1.0) -> Behaviour:
    """The same with the head."""
    return without_end(b"HTTP/1.1 200 OK\r\nX: ", repeat(b"x"), piece_seconds=piece_seconds)


def endless_tiny_chunks(*, piece_seconds: float = 0.0) -> Behaviour:
    """Chunks of one byte without end, thousands at a time: what they cost is not what they say."""
    return without_end(_CHUNKED, repeat(b"1\r\nx\r\n" * 2_000), piece_seconds=piece_seconds)


def endless_chunk_size(*, piece_seconds: float = 0.0) -> Behaviour:
    """A chunk whose size has no last digit."""
    return without_end(_CHUNKED, repeat(b"0" * 10_000), piece_seconds=piece_seconds)


def endless_trailers() -> Behaviour:
    """A small body in chunks whose trailers do not end."""
    return without_end(_CHUNKED + b"3\r\n<p>\r\n0\r\n", (b"X-Trailer-%d: %s\r\n" % (n, b"x" * 1_000) for n in count()))


def chunk_of(size: bytes) -> Behaviour:
    """A chunk whose size is said so, with a few bytes in it."""
    return said(_CHUNKED + size + b"\r\n<p>A few bytes.</p>\r\n0\r\n\r\n")


def reset_after(length: int = 100) -> Behaviour:
    """A reset in the middle of the body."""
    return said(_OK + b"Content-Length: 100000\r\n\r\n", b"<p>" + b"x" * length, piece_seconds=0.05, resets=True)


def stalling(length: int = 100) -> Behaviour:
    """So many bytes of the body, and then silence."""
    return said(_OK + b"Content-Length: 100000\r\n\r\n<p>" + b"x" * length, lingers=True)


# What the body is coded in


def coded(coding: str, body: bytes) -> Behaviour:
    """A body of these bytes that is said to be in this coding."""
    return lambda _, answer: replace(
        answer, status=200, body=body, content_type=HTML, headers={**answer.headers, "Content-Encoding": coding}
    )


def broken_off(coding: str) -> Behaviour:
    """The first half of the compressed body, and a Content-Length to match."""
    return lambda request, answer: coded(coding, _half(replace(answer, coding=coding).payload()))(request, answer)


def bomb(coding: str, size: int = 100_000_000) -> Behaviour:
    """A page of so many bytes that is next to nothing on the wire: gzip, deflate, br or zstd."""
    return coded(coding, b"".join(_packed(coding, (b"<p>" + b" " * 999_997 for _ in range(max(1, size // _MILLION))))))


# What the body is


def page_of(piece: bytes, times: int, *, before: bytes = b"", after: bytes = b"") -> Behaviour:
    """A page of one piece, again and again; `%d` in it is the number of the repetition."""
    numbered = b"%d" in piece
    middle = b"".join(piece % n for n in range(times)) if numbered else piece * times
    return html(b"<!doctype html>" + before + middle + after)


def html(body: bytes, content_type: str = "text/html") -> Behaviour:
    """These bytes as a page, whatever was there."""
    return lambda _, answer: replace(answer, status=200, body=body, content_type=content_type)


def _promising(promised: Callable[[int], list[str]]) -> Behaviour:
    def behave(_: Request, answer: Answer) -> Answer:
        body = answer.payload()
        said_lengths = "".join(f"Content-Length: {value}\r\n" for value in promised(len(body)))
        pieces = (_OK + said_lengths.encode() + b"\r\n" + body,)
        return replace(answer, delivery=Delivery(script=lambda: pieces))

    return behave


def _half(payload: bytes) -> bytes:
    return payload[: len(payload) // 2]


def _packed(coding: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
    if coding == "br":
        import brotli

        packer = brotli.Compressor(quality=5, lgwin=22)
        yield from map(packer.process, pieces)
        yield packer.finish()
        return
    if coding == "zstd":
        import zstandard

        frames = zstandard.ZstdCompressor(level=3).compressobj()
        yield from map(frames.compress, pieces)
        yield frames.flush()
        return
    state = zlib.compressobj(9, wbits=31 if coding == "gzip" else 15)
    yield from map(state.compress, pieces)
    yield state.flush()
