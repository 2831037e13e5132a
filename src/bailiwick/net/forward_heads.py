"""Heads of HTTP/1 messages at the forward proxy: read strictly (RFC 9112), written anew. No I/O.

What could be understood in two ways is refused: a proxy that guesses can be made to carry a request nobody checked.
"""

import ipaddress
import re
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

Headers: TypeAlias = tuple[tuple[str, str], ...]

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_STATUS = re.compile(r"HTTP/1\.[01] ([1-9][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?")
_TARGET = re.compile(r"http://(?P<authority>[^/?#\\@]+)(?P<path>[/?][\x21-\x7e]*)?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:\[(?P<literal>[0-9A-Fa-f:.]+)\]|(?P<name>[0-9A-Za-z._-]+))(?::(?P<port>[0-9]{1,5}))?")
_LONGEST_NAME = 253
_LENGTH = re.compile(r"[0-9]{1,15}")
_HOP_BY_HOP = frozenset(
    {
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    }
)  # fmt: skip
"""RFC 9110 section 7.6.1, with what only a proxy is told."""


class MessageError(Exception):
    """This is no message that can be passed on."""


class Unmeasured(Enum):
    """Where a body ends, if its length is not told before."""

    CHUNKED = "chunked"
    UNTIL_CLOSE = "until close"


Framing: TypeAlias = int | Unmeasured


@dataclass(frozen=True, slots=True)
class RequestHead:
    """What a client wants: a tunnel, or (with a path) one request passed on."""

    method: str
    host: str
    """In lower case, without brackets and last dot."""
    port: int
    path: str | None
    version: str
    headers: Headers
    body: Framing

    @property
    def wants_tunnel(self) -> bool:
        return self.path is None

    @property
    def waits_for_permission(self) -> bool:
        """Whether the client keeps its body back until it is told to go on (RFC 9110 section 10.1.1)."""
        return self.version == "HTTP/1.1" and self.body != 0 and "100-continue" in _values(self.headers, "expect")

    def values(self, name: str) -> list[str]:
        return [value for field, value in self.headers if field.lower() == name]

    def passed_on(self) -> bytes:
        """The request as the server gets it: the host that was checked, and nothing that was said to the proxy."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        lines = [
            f"{self.method} {self.path} {self.version}",
            f"Host: {host if self.port == 80 else f'{host}:{self.port}'}",
        ]
        lines += _end_to_end(self.headers, also={"host", "expect"})
        return _written(lines, chunked=self.body is Unmeasured.CHUNKED)


@dataclass(frozen=True, slots=True)
class AnswerHead:
    """What a server says before the body."""

    status_line: str
    status: int
    headers: Headers
    body: Framing

    @property
    def is_interim(self) -> bool:
        return self.status < 200

    def passed_on(self) -> bytes:
        chunked = self.body is Unmeasured.CHUNKED
        lines = [self.status_line, *_end_to_end(self.headers, also={"content-length"} if chunked else set())]
        return _written(lines, chunked=chunked, is_last=not self.is_interim)


def parse_request(raw: bytes) -> RequestHead:
    """The head in these bytes, with the empty line at its end; raises MessageError."""
    first, headers = _parse(raw)
    words = first.split(" ")
    if len(words) != 3 or not _TOKEN.fullmatch(words[0]) or words[2] not in ("HTTP/1.0", "HTTP/1.1"):
        raise MessageError("This is no request line.")
    method, target, version = words
    if method == "CONNECT":
        host, port = _place(target, default_port=None)
        return RequestHead(method, host, port, None, version, headers, 0)
    found = _TARGET.fullmatch(target)
    if found is None:
        raise MessageError("The request needs an absolute http URL.")
    host, port = _place(found["authority"], default_port=80)
    path = found["path"] or ("*" if method == "OPTIONS" else "/")
    path = f"/{path}" if path.startswith("?") else path
    return RequestHead(method, host, port, path, version, headers, _request_body(headers, version))


def parse_answer(raw: bytes, method: str) -> AnswerHead:
    """The head of the answer to a request with this method; raises MessageError."""
    first, headers = _parse(raw)
    found = _STATUS.fullmatch(first)
    if found is None:
        raise MessageError("This is no status line.")
    status = int(found[1])
    if status == 101:
        raise MessageError("Nobody asked for another protocol.")
    return AnswerHead(first, status, headers, _answer_body(headers, status, method))


def _parse(raw: bytes) -> tuple[str, Headers]:
    first, *lines = raw.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    headers = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise MessageError("There is a line that is no header.")
        headers.append((name, value.strip(" \t")))
    return first, tuple(headers)


def _place(authority: str, *, default_port: int | None) -> tuple[str, int]:
    """Host and port. No credentials, no zone of an interface, nothing percent-encoded."""
    found = _AUTHORITY.fullmatch(authority)
    port = default_port if found is None or found["port"] is None else int(found["port"])
    if found is None or port is None or not 1 <= port <= 65_535:
        raise MessageError("The request needs a host and a port.")
    if found["literal"] is not None:
        try:
            return str(ipaddress.IPv6Address(found["literal"])), port
        except ValueError as error:
            raise MessageError("What stands in brackets is no address.") from error
    name = found["name"].lower().removesuffix(".")
    if not name or len(name) > _LONGEST_NAME or ".." in name or name.startswith("."):
        raise MessageError("This is no host name.")
    return name, port


def _request_body(headers: Headers, version: str) -> Framing:
    codings, lengths = _values(headers, "transfer-encoding"), _values(headers, "content-length")
    if codings and (codings != ["chunked"] or lengths or version == "HTTP/1.0"):
        raise MessageError("It is not clear where the body ends.")
    return Unmeasured.CHUNKED if codings else _length(lengths, missing=0)


def _answer_body(headers: Headers, status: int, method: str) -> Framing:
    if method == "HEAD" or status < 200 or status in (204, 304):
        return 0
    codings = _values(headers, "transfer-encoding")
    if codings:
        if codings != ["chunked"]:
            raise MessageError("It is not clear where the body ends.")
        return Unmeasured.CHUNKED
    return _length(_values(headers, "content-length"), missing=Unmeasured.UNTIL_CLOSE)


def _length(lengths: list[str], *, missing: Framing) -> Framing:
    if not lengths:
        return missing
    if len(lengths) > 1 or not _LENGTH.fullmatch(lengths[0]):
        raise MessageError("It is not clear how long the body is.")
    return int(lengths[0])


def _values(headers: Headers, name: str) -> list[str]:
    return [value.lower() for field, value in headers if field.lower() == name]


def _end_to_end(headers: Headers, *, also: set[str]) -> list[str]:
    """The headers that are for the other end: not those of this hop, nor what `Connection` names."""
    named = {word.strip() for value in _values(headers, "connection") for word in value.split(",")}
    dropped = (_HOP_BY_HOP | named - {"content-length"}) | also
    return [f"{name}: {value}" for name, value in headers if name.lower() not in dropped]


def _written(lines: list[str], *, chunked: bool, is_last: bool = True) -> bytes:
    lines += ["Transfer-Encoding: chunked"] * chunked + ["Connection: close"] * is_last
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
