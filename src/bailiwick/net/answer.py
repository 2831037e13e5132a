"""The bytes of one answer, read as they come: nothing here waits, and nothing here grows without bound.

llhttp (by httptools) does the reading, with the leniencies that the web needs; what it does not bound is bounded here.
"""

import re
from collections.abc import Callable
from functools import lru_cache

import httptools

from bailiwick.net.decoding import Decoder, decoder

HEAD_BYTES = 65_536
"""The longest head, and so its longest line; trailers may not be longer, either."""
MOST_INTERIM = 20
DRAINED_BYTES = 65_536
"""A body that nobody wants is read up to here, so that the connection can be kept."""

_BLANK_LINE = re.compile(rb"\n\r?\n")
_REPEATED = {"content-encoding": ", ", "x-robots-tag": "\n"}
"""Headers that may come more than once, and how they are joined; of any other the last one counts."""
_SWITCHING = 101


class BrokenAnswerError(Exception):
    """This is no HTTP, or it ended early, or its head is without end."""


class HungUpError(BrokenAnswerError):
    """The connection ended before there was an answer."""


class AnswerReader:
    """Reads one answer. `feed` until it says that all is there, or `end` once nothing more comes.

    `wants_body` is asked as soon as the head is there. What is wanted is decoded on the way, and cut at `limit` bytes
    on the wire or decoded.
    """

    def __init__(self, wants_body: Callable[[int, str], bool], limit: int) -> None:
        self._wants_body, self._limit = wants_body, limit
        self._buffer = b""
        self._parsed = 0
        self._fields: list[tuple[bytes, bytes]] = []
        self._is_head_complete = self._is_complete = self._is_surplus = False
        self._interim = 0
        self._is_wanted = False
        self._decoder: Decoder | None = None
        self._pieces: list[bytes] = []
        self._body: list[bytes] = []
        self._whole: int | None = None
        self._length = 0
        self._is_in_chunk = False
        self._trailer_bytes = 0
        self.on_body = self._pieces.append
        self._parser = _lenient_parser(self)

        self.head = b""
        self.status = 0
        self.headers: dict[str, str] = {}
        self.received = 0
        """Bytes of the body as they came in."""
        self.is_truncated = False
        self.is_draining = False
        """Whether there is an answer by now, and only a body that nobody wants is still to come."""
        self.can_be_followed = False
        """Whether the connection may carry another request: only after a whole answer that says so, with no surplus."""

    # What httptools calls, besides `on_body`

    def on_message_begin(self) -> None:
        self._is_surplus = self._is_complete

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._is_head_complete:
            self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        self._is_head_complete = True

    def on_message_complete(self) -> None:
        if not self._is_complete:
            self._is_complete = True
            self._whole = len(self._pieces)
            self.can_be_followed = self._parser.should_keep_alive()

    def on_chunk_header(self) -> None:
        self._is_in_chunk = True

    def on_chunk_complete(self) -> None:
        self._is_in_chunk = False

    # What the connection calls

    @property
    def body(self) -> bytes | None:
        """None: not wanted."""
        if not self._is_wanted:
            return None
        whole = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        return whole[: self._limit]

    def feed(self, data: bytes) -> bool:
        """Take what came in; True: no more is needed. BrokenAnswerError, CodingError."""
        rest = data if self.head else self._feed_head(data)
        if rest is None:
            return False
        try:
            return self._feed_body(rest)
        except BrokenAnswerError:
            if self._is_wanted:
                raise
            self.can_be_followed = False
            return True  # nothing is lost

    def close(self) -> None:
        """Let go of the parser, which holds on to its reader: no body has to wait for the garbage collector."""
        del self._parser, self.on_body

    def end(self) -> None:
        """The connection has ended. HungUpError if there is no answer yet, BrokenAnswerError if it is not whole."""
        self.can_be_followed = False
        if not self.head:
            raise HungUpError("the server hung up")
        if not self._is_wanted:
            return
        if self._last_coding() == "chunked":
            raise BrokenAnswerError("Response payload is not completed: it ends before its last chunk")
        if "transfer-encoding" not in self.headers and "content-length" in self.headers:
            promised = self.headers["content-length"]
            raise BrokenAnswerError(f"Response payload is not completed: {self.received} of {promised[:40]} bytes")
        self._close_body()

    # The head

    def _feed_head(self, data: bytes) -> "memoryview | None":
        """What is left behind the head; None while the head is not whole."""
        self._buffer = buffer = self._buffer + data if self._buffer else data
        start = 0
        while end := self._next_blank_line(start):
            self._parse(memoryview(buffer)[self._parsed : end])
            self._parsed = end
            if self._is_head_complete:
                if end - start > HEAD_BYTES:
                    break
                if self._understand(buffer[start:end].lstrip(b"\r\n")):
                    self._buffer = b""
                    return memoryview(buffer)[end:]
                start = end
        if len(buffer) - start > HEAD_BYTES:
            raise BrokenAnswerError(f"the head of the answer is longer than {HEAD_BYTES} bytes")
        self._parse(memoryview(buffer)[self._parsed :])
        if self._is_head_complete:
            raise BrokenAnswerError("the head of the answer has no end")
        self._buffer, self._parsed = buffer[start:], len(buffer) - start
        return None

    def _next_blank_line(self, start: int) -> int:
        """Where the next blank line ends that was not parsed yet; 0: there is none. Empty lines may come first."""
        blank = _BLANK_LINE.search(self._buffer, max(start, self._parsed - 2))
        if blank and blank.end() <= self._parsed:
            blank = _BLANK_LINE.search(self._buffer, self._parsed - 1)
        return blank.end() if blank else 0

    def _understand(self, head: bytes) -> bool:
        """Take in a whole head; False if it is an interim one, and another is to follow."""
        self.status = status = self._parser.get_status_code()
        if 100 <= status < 200 and status != _SWITCHING:
            self._interim += 1
            if self._interim > MOST_INTERIM:
                raise BrokenAnswerError("interim answers without end")
            self._fields.clear()
            self._is_head_complete = self._is_complete = False
            self._whole = None
            return False
        if b"\0" in head and any(b"\0" in value for _, value in self._fields):
            raise BrokenAnswerError("a header has a null byte in it")  # no database takes it
        self.head = head
        self.headers = _headers(self._fields)
        self._is_wanted = self._wants_body(status, self.headers.get("content-type", ""))
        self.is_draining = not self._is_wanted
        if self._is_wanted:
            self._decoder = decoder(self.headers.get("content-encoding", ""))
        return True

    def _is_not_for_us(self) -> bool:
        """Whether what follows is another protocol, or a body that nobody wants and that is large."""
        if self._is_wanted or self._is_complete:
            return self.status == _SWITCHING
        return int(self.headers.get("content-length", "0")) > DRAINED_BYTES

    def _last_coding(self) -> str:
        return self.headers.get("transfer-encoding", "").rpartition(",")[2].strip().lower()

    # The body

    def _feed_body(self, data: "bytes | memoryview") -> bool:
        if self._is_not_for_us():
            self.can_be_followed = False
            return True
        if data:
            self._parse(data)
        if pieces := self._pieces[: self._whole]:  # what stands behind a whole answer is no part of it
            self._take(pieces[0] if len(pieces) == 1 else b"".join(pieces))
            self._pieces.clear()
        elif self._is_in_chunk:
            self._trailer_bytes += len(data)
            if self._trailer_bytes > HEAD_BYTES:
                raise BrokenAnswerError(f"the trailers of the answer are longer than {HEAD_BYTES} bytes")
        if not self.is_truncated and self._is_complete:
            self._close_body()
            self.can_be_followed = self.can_be_followed and not self._is_surplus
            return True
        if self.is_truncated or (not self._is_wanted and self.received > DRAINED_BYTES):
            self.can_be_followed = False
            return True
        return False

    def _take(self, piece: bytes) -> None:
        self.received += len(piece)
        if not self._is_wanted:
            return
        if self._decoder is not None:
            piece = self._decoder.feed(piece, self._limit - self._length + 1)
        self._body.append(piece)
        self._length += len(piece)
        self.is_truncated = self._length > self._limit or self.received > self._limit

    def _close_body(self) -> None:
        """All of it has come; of a coding that breaks off the part before that is kept."""
        self.is_truncated = self._decoder is not None and not self._decoder.is_complete

    def _parse(self, data: "bytes | memoryview") -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass
        except httptools.HttpParserError as error:
            if self._is_complete and self._parser.get_status_code() == _SWITCHING:
                return
            what = "no status line behind the answer" if self._is_complete else "the answer is no HTTP"
            raise BrokenAnswerError(f"{what}: {error}") from error


def _lenient_parser(reader: AnswerReader) -> httptools.HttpResponseParser:
    parser = httptools.HttpResponseParser(reader)
    parser.set_dangerous_leniencies(
        lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
    )
    return parser


def _headers(fields: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers by their lower-case names, as text."""
    headers: dict[str, str] = {}
    for field, value in fields:
        name = _name(field)
        try:
            text = value.decode().strip(" \t")
        except UnicodeDecodeError:
            text = value.decode("latin-1").strip(" \t")
        if name in _REPEATED and name in headers:
            text = f"{headers[name]}{_REPEATED[name]}{text}"
        headers[name] = text
    return headers


@lru_cache(maxsize=500)
def _name(field: bytes) -> str:
    return field.decode("latin-1").strip().lower()  # "Content-Length :" is read as if there was no space
