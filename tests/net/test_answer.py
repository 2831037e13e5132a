"""Answers read from bytes: what the web sends is taken, what is no answer is told, and nothing grows without bound."""

import tracemalloc

import pytest

from bailiwick.net.answer import HEAD_BYTES, MOST_INTERIM, AnswerReader, BrokenAnswerError, HungUpError

OK = b"HTTP/1.1 200 OK\r\n"
HELLO = b"Content-Length: 5\r\n\r\nhello"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"
LIMIT = 1_000_000


def wanted(_status: int, _content_type: str) -> bool:
    return True


def unwanted(_status: int, _content_type: str) -> bool:
    return False


def read(said: bytes, *, step: int = 0, wants: object = wanted, ends: bool = True) -> AnswerReader:
    """The answer in these bytes, given at once or in steps, and the end of the connection if it is needed."""
    reader = AnswerReader(wants, LIMIT)  # type: ignore[arg-type]
    step = step or max(len(said), 1)
    if not any(reader.feed(said[at : at + step]) for at in range(0, len(said), step)):
        assert ends, "more is needed"
        reader.end()
    return reader


# As aiohttp's client read them before this one, but where a comment says so.
TAKEN: dict[str, tuple[bytes, int, bytes]] = {
    "a length": (OK + HELLO, 200, b"hello"),
    "line feeds alone": ((OK + HELLO).replace(b"\r\n", b"\n"), 200, b"hello"),
    "a line feed at the end of the head": (OK + b"Content-Length: 5\r\n\nhello", 200, b"hello"),
    "a line feed in the head": (OK + b"Content-Length: 5\n\r\nhello", 200, b"hello"),
    "empty lines first": (b"\r\n\n\r\n" + OK + HELLO, 200, b"hello"),
    "HTTP/1.0": (b"HTTP/1.0 200 OK\r\n" + HELLO, 200, b"hello"),
    "HTTP/0.9 by its own words": (b"HTTP/0.9 200 OK\r\n" + HELLO, 200, b"hello"),
    "HTTP/2.0 by its own words": (b"HTTP/2.0 200 OK\r\n" + HELLO, 200, b"hello"),
    "no phrase": (b"HTTP/1.1 200\r\n" + HELLO, 200, b"hello"),
    "an empty phrase": (b"HTTP/1.1 200 \r\n" + HELLO, 200, b"hello"),
    "a phrase of any bytes": (b"HTTP/1.1 200 \xfc\0\x01\r\n" + HELLO, 200, b"hello"),
    "status 999": (b"HTTP/1.1 999 No\r\n" + HELLO, 999, b"hello"),
    "status 000": (b"HTTP/1.1 000 No\r\n" + HELLO, 0, b"hello"),
    "interim": (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: a\r\n\r\n" + OK + HELLO, 200, b"hello"),
    "interim to its limit": (b"HTTP/1.1 103 Hints\r\n\r\n" * MOST_INTERIM + OK + HELLO, 200, b"hello"),
    "another protocol": (b"HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nrest", 101, b""),
    "an offer of another protocol": (OK + b"Upgrade: h2,h2c\r\nConnection: Upgrade\r\n" + HELLO, 200, b"hello"),
    "204": (b"HTTP/1.1 204 No\r\n\r\n", 204, b""),
    "304 with a length": (b"HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\n", 304, b""),
    "304 in chunks": (b"HTTP/1.1 304 No\r\n" + CHUNKED, 304, b""),
    "nothing": (OK + b"Content-Length: 0\r\n\r\n", 200, b""),
    "up to the end": (OK + b"\r\nuntil", 200, b"until"),
    "up to the end, whatever it says": (OK + b"Connection: keep-alive\r\n\r\nuntil", 200, b"until"),
    "a length with spaces": (OK + b"Content-Length:    5   \r\n\r\nhello", 200, b"hello"),
    "a length with zeros": (OK + b"Content-Length: 0005\r\n\r\nhello", 200, b"hello"),
    "a length on the next line": (OK + b"Content-Length:\r\n 5\r\n\r\nhello", 200, b"hello"),
    "chunks": (OK + CHUNKED + b"5\r\nhello\r\n" + LAST, 200, b"hello"),
    "chunks in capitals": (OK + b"Transfer-Encoding: CHUNKED\r\n\r\n" + b"5\r\nhello\r\n" + LAST, 200, b"hello"),
    "chunks in HTTP/1.0": (b"HTTP/1.0 200 OK\r\n" + CHUNKED + b"5\r\nhello\r\n" + LAST, 200, b"hello"),
    "chunks, a space before the colon": (
        OK + b"Transfer-Encoding : chunked\r\n\r\n5\r\nhello\r\n" + LAST,
        200,
        b"hello",
    ),
    "chunks, said twice": (OK + b"Transfer-Encoding: chunked\r\n" + CHUNKED + b"5\r\nhello\r\n" + LAST, 200, b"hello"),
    "gzip in chunks": (OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n" + LAST, 200, b"hello"),
    "a coding that is not chunked": (OK + b"Transfer-Encoding: gzip\r\n\r\nhello", 200, b"hello"),
    "chunks with extensions": (OK + CHUNKED + b'5;a=b;c="d;e"\r\nhello\r\n' + LAST, 200, b"hello"),
    "chunks with spaces": (OK + CHUNKED + b"5  \r\nhello\r\n0 \r\n\r\n", 200, b"hello"),
    "chunks with zeros": (OK + CHUNKED + b"005\r\nhello\r\n000\r\n\r\n", 200, b"hello"),
    "chunks with trailers": (OK + CHUNKED + b"5\r\nhello\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n", 200, b"hello"),
    "no space in a header": (OK + b"X:a\r\n" + HELLO, 200, b"hello"),
    "empty headers": (OK + b"X:\r\nY: \r\n" + HELLO, 200, b"hello"),
    "control characters": (OK + b"X: a\x01\x7fb\r\n" + HELLO, 200, b"hello"),
    "folded headers": (OK + b"X: a\r\n b\r\n\tc\r\n" + HELLO, 200, b"hello"),
    "a fold at first": (OK + b" x: y\r\n" + HELLO, 200, b"hello"),
    "128 headers": (OK + b"".join(b"X%d: a\r\n" % number for number in range(127)) + HELLO, 200, b"hello"),
    # What follows was broken before, or now and then, by the way in which its bytes came.
    "1,000 headers": (OK + b"".join(b"X%d: a\r\n" % number for number in range(1_000)) + HELLO, 200, b"hello"),
    "another answer behind": (OK + HELLO + OK + b"Content-Length: 7\r\n\r\nplanted", 200, b"hello"),
}

BROKEN: dict[str, bytes] = {
    "SSH": b"SSH-2.0-OpenSSH_9.2p1\r\n",
    "HTML": b"<html>no head</html>",
    "TLS": b"\x15\x03\x01\0\2\2\x46",
    "ICY": b"ICY 200 OK\r\n" + HELLO,
    "small letters": b"http/1.1 200 OK\r\n" + HELLO,
    "a space first": b" " + OK + HELLO,
    "HTTP/2": b"HTTP/2 200 OK\r\n" + HELLO,
    "HTTP/3.0": b"HTTP/3.0 200 OK\r\n" + HELLO,
    "two spaces": b"HTTP/1.1  200 OK\r\n" + HELLO,
    "two digits": b"HTTP/1.1 20 OK\r\n" + HELLO,
    "four digits": b"HTTP/1.1 2000 OK\r\n" + HELLO,
    "carriage returns alone": (OK + HELLO).replace(b"\r\n", b"\r"),
    "two lengths": OK + b"Content-Length: 6\r\n" + HELLO,
    "the same length twice": OK + b"Content-Length: 5\r\n" + HELLO,
    "a list of lengths": OK + b"Content-Length: 5, 5\r\n\r\nhello",
    "a length below zero": OK + b"Content-Length: -5\r\n\r\nhello",
    "a length with a sign": OK + b"Content-Length: +5\r\n\r\nhello",
    "a length that is no number": OK + b"Content-Length: five\r\n\r\nhello",
    "no length at all": OK + b"Content-Length: \r\n\r\nhello",
    "a length of 100 bits": OK + b"Content-Length: 999999999999999999999999999999\r\n\r\nhello",
    "a length and chunks": OK + b"Content-Length: 5\r\n" + CHUNKED + b"5\r\nhello\r\n" + LAST,
    "chunks and a length": OK + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n5\r\nhello\r\n" + LAST,
    "a body that is short": OK + b"Content-Length: 6\r\n\r\nhello",
    "chunks that end early": OK + CHUNKED + b"5\r\nhello\r\n",
    "chunks that never begin": OK + CHUNKED,
    "chunks that end early, a space before the colon": OK + b"Transfer-Encoding : chunked\r\n\r\n5\r\nhello\r\n",
    "half a chunk": OK + CHUNKED + b"ff\r\nhello",
    "no end of chunks": OK + CHUNKED + b"5\r\nhello\r\n0\r\n",
    "a chunk that is long": OK + CHUNKED + b"3\r\nhello\r\n" + LAST,
    "a chunk of no size": OK + CHUNKED + b"\r\nhello\r\n" + LAST,
    "a chunk of a size below zero": OK + CHUNKED + b"-5\r\nhello\r\n" + LAST,
    "a chunk of a huge size": OK + CHUNKED + b"f" * 20 + b"\r\nhello",
    "a header that is none": OK + b"<!-- x -->\r\n" + HELLO,
    "a name with a space": OK + b"X Y: a\r\n" + HELLO,
    "a space before the colon": OK + b"X : a\r\n" + HELLO,
    "a header without a name": OK + b": a\r\n" + HELLO,
    "a carriage return in a header": OK + b"X: a\rb\r\n" + HELLO,
    "a null byte in a header": OK + b"X: a\0b\r\n" + HELLO,
    "a long header": OK + b"X: " + b"a" * HEAD_BYTES + b"\r\n" + HELLO,
    "a long head": OK + b"".join(b"X%d: %b\r\n" % (number, b"a" * 1_000) for number in range(70)) + HELLO,
    "a long phrase": b"HTTP/1.1 200 " + b"a" * HEAD_BYTES + b"\r\n" + HELLO,
    "empty lines without end": b"\r\n" * HEAD_BYTES,
    "interim beyond its limit": b"HTTP/1.1 103 Hints\r\n\r\n" * (MOST_INTERIM + 1) + OK + HELLO,
}


@pytest.mark.parametrize("step", [0, 1, 2, 3, 7])
@pytest.mark.parametrize(("said", "status", "body"), TAKEN.values(), ids=TAKEN)
def test_what_the_web_sends_is_taken_however_it_comes(said: bytes, status: int, body: bytes, step: int) -> None:
    answer = read(said, step=step)
    assert (answer.status, answer.body, answer.is_truncated) == (status, body, False)
    assert answer.received == len(body)


@pytest.mark.parametrize("step", [0, 1, 7])
@pytest.mark.parametrize("said", BROKEN.values(), ids=BROKEN)
def test_what_is_no_answer_is_broken_however_it_comes(said: bytes, step: int) -> None:
    with pytest.raises(BrokenAnswerError) as broken:
        read(said, step=step)
    assert not isinstance(broken.value, HungUpError)


@pytest.mark.parametrize("said", [b"", b"H", b"HTTP/1.1 ", OK, OK + b"X: a", b"HTTP/1.1 103 Hints\r\n\r\n"])
def test_an_end_before_the_end_of_the_head_is_a_server_that_hung_up(said: bytes) -> None:
    with pytest.raises(HungUpError):
        read(said, step=3)


@pytest.mark.parametrize("step", [0, 1, 5])
def test_the_head_is_kept_byte_for_byte(step: int) -> None:
    head = b"HTTP/1.1 200 F\xfcr dich\nX:a\r\nx-B: \t b \t\r\nFold: a\r\n  b\r\nContent-Length:5\r\n\r\n"
    early = b"HTTP/1.1 103 Hints\r\nLink: </a.css>\r\n\r\n"
    answer = read(early + head + b"hello", step=step)
    assert (answer.head, answer.body) == (head, b"hello")
    assert answer.headers["x"] == "a"
    assert answer.headers["x-b"] == "b"
    assert "link" not in answer.headers


def test_trailers_are_not_headers() -> None:
    answer = read(OK + CHUNKED + b"5\r\nhello\r\n0\r\nX-Robots-Tag: noindex\r\n\r\n")
    assert answer.headers == {"transfer-encoding": "chunked"}


BEHIND = {
    "bytes": OK + HELLO + b" world",
    "bytes after close": OK + b"Connection: close\r\n" + HELLO + b" world",
    "bytes after chunks": OK + CHUNKED + b"5\r\nhello\r\n" + LAST + b"5\r\n",
    "a body where none can be": b"HTTP/1.1 204 No\r\n" + HELLO,
    "a body that did not change": b"HTTP/1.1 304 No\r\n" + HELLO,
}


@pytest.mark.parametrize("said", BEHIND.values(), ids=BEHIND)
def test_an_answer_whose_length_is_a_lie_is_broken(said: bytes) -> None:
    with pytest.raises(BrokenAnswerError, match="status line"):
        read(said)
    assert not read(said, wants=unwanted).can_be_followed


# May the connection be used again?

FOLLOWED = {
    "a length": OK + HELLO,
    "chunks": OK + CHUNKED + b"5\r\nhello\r\n" + LAST,
    "chunks with trailers": OK + CHUNKED + b"5\r\nhello\r\n0\r\nX: 1\r\n\r\n",
    "no body": b"HTTP/1.1 304 No\r\n\r\n",
    "HTTP/1.0 that says so": b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + HELLO,
    "after hints": b"HTTP/1.1 103 Hints\r\n\r\n" + OK + HELLO,
}
NOT_FOLLOWED = {
    "close": OK + b"Connection: close\r\n" + HELLO,
    "close among others": OK + b"Connection: x, Close\r\n" + HELLO,
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\n" + HELLO,
    "up to the end": OK + b"\r\nuntil",
    "another protocol": b"HTTP/1.1 101 Go\r\n\r\n",
    "another answer behind": OK + HELLO + OK + HELLO,
    "more than the limit": OK + b"Content-Length: 1000001\r\n\r\n" + bytes(LIMIT + 1),
}


@pytest.mark.parametrize("said", FOLLOWED.values(), ids=FOLLOWED)
@pytest.mark.parametrize("wants", [wanted, unwanted])
def test_after_a_whole_answer_another_may_follow(said: bytes, wants: object) -> None:
    assert read(said, wants=wants, ends=False).can_be_followed


@pytest.mark.parametrize("said", NOT_FOLLOWED.values(), ids=NOT_FOLLOWED)
@pytest.mark.parametrize("wants", [wanted, unwanted])
def test_after_any_other_none_may(said: bytes, wants: object) -> None:
    assert not read(said, wants=wants).can_be_followed


# A body that nobody wants


@pytest.mark.parametrize("rest", [b"Content-Length: 70000\r\n\r\n", b"Content-Length: 70000\r\n\r\n" + bytes(100)])
def test_a_large_one_is_not_waited_for(rest: bytes) -> None:
    answer = read(OK + rest, wants=unwanted, ends=False)
    assert (answer.status, answer.body, answer.received, answer.can_be_followed) == (200, None, 0, False)


def test_one_without_a_length_is_read_for_a_while() -> None:
    reader = AnswerReader(unwanted, LIMIT)
    assert not reader.feed(OK + CHUNKED)
    assert reader.is_draining
    fed = next(number for number in range(100) if reader.feed(b"2000\r\n" + bytes(0x2000) + b"\r\n"))
    assert fed == 8
    assert (reader.body, reader.received, reader.can_be_followed) == (None, 9 * 0x2000, False)


def test_a_broken_one_changes_no_answer() -> None:
    answer = read(OK + CHUNKED + b"nonsense\r\n", wants=unwanted, ends=False)
    assert (answer.status, answer.body, answer.can_be_followed) == (200, None, False)


# Bounds


@pytest.mark.parametrize("trailer", [b"X: " + b"a" * 1_000, b"X: a\r\n" * 100], ids=["one", "many"])
def test_trailers_without_end_are_broken(trailer: bytes) -> None:
    reader = AnswerReader(wanted, LIMIT)
    reader.feed(OK + CHUNKED + b"5\r\nhello\r\n0\r\n" + trailer)
    more = trailer if trailer.endswith(b"\n") else b"a" * 1_000
    with pytest.raises(BrokenAnswerError, match="trailers"):
        any(reader.feed(more) for _ in range(1_000))


@pytest.mark.parametrize("start", [b"", b"5;"], ids=["size", "extension"])
def test_a_chunk_whose_first_line_does_not_end_takes_no_memory(start: bytes) -> None:
    """It takes the time that it is given."""
    reader = AnswerReader(wanted, LIMIT)
    reader.feed(OK + CHUNKED + start)
    zeros = b"0" * 10_000
    tracemalloc.start()
    try:
        assert not any(reader.feed(zeros) for _ in range(1_000))
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("before", [b"", b"HTTP/1.1 103 Hints\r\n\r\n"], ids=["at once", "after hints"])
@pytest.mark.parametrize(
    "head", [CHUNKED, b"Content-Length: 100000000\r\n\r\n", b"\r\n"], ids=["chunks", "length", "end"]
)
def test_a_body_without_end_is_cut(before: bytes, head: bytes) -> None:
    reader = AnswerReader(wanted, LIMIT)
    assert not reader.feed(before + OK + head)
    piece = b"2710\r\n" + bytes(10_000) + b"\r\n" if head == CHUNKED else bytes(10_000)
    assert next(number for number in range(1_000) if reader.feed(piece)) == LIMIT // 10_000
    assert (reader.body, reader.is_truncated, reader.can_be_followed) == (bytes(LIMIT), True, False)


def test_many_small_chunks_take_little_memory() -> None:
    piece = b"1\r\nx\r\n" * 20_000
    reader = AnswerReader(wanted, LIMIT)
    reader.feed(OK + CHUNKED)
    tracemalloc.start()
    try:
        for _ in range(20):
            assert not reader.feed(piece)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert reader.feed(LAST)
    assert reader.body == b"x" * 400_000
    assert peak < 3_000_000
