"""What is asked and what is answered, as values. A page becomes an answer, and behaviours change that answer."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TypeAlias

HTML = "text/html; charset=utf-8"
NOT_PAGES = frozenset({"/robots.txt", "/favicon.ico"})
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
"""When every page of the local web was written; each change is a day later."""
SETTLED = 1_000_000_000
"""The number of a request after which no behaviour that counts requests changes its mind."""


@dataclass(frozen=True, slots=True)
class Origins:
    """Where the web is served: the port of each scheme, None for the default one (80, 443)."""

    http: int | None = None
    https: int | None = None

    def url(self, host: str, path: str = "/", *, scheme: str = "http") -> str:
        port = self.https if scheme == "https" else self.http
        return f"{scheme}://{host}{path}" if port is None else f"{scheme}://{host}:{port}{path}"


DEFAULT_PORTS = Origins()


@dataclass(frozen=True, slots=True)
class Request:
    """One request, as far as an answer may depend on it. Header names are in lower case."""

    host: str
    path: str
    scheme: str = "http"
    headers: Mapping[str, str] = field(default_factory=dict)
    number: int = SETTLED
    """The how-manieth request for this page it is, from 1 on."""
    origins: Origins = DEFAULT_PORTS

    def url(self, host: str | None = None, path: str | None = None, *, scheme: str | None = None) -> str:
        """An absolute URL on this web: of this request, except for what is given."""
        return self.origins.url(host or self.host, path or self.path, scheme=scheme or self.scheme)


@dataclass(frozen=True, slots=True)
class Page:
    """One page as its site knows it, before any behaviour. The path is canonical: what `PageUrl` makes of it."""

    path: str
    body: str | bytes
    status: int = 200
    content_type: str = HTML
    headers: Mapping[str, str] = field(default_factory=dict)
    modified: datetime = EPOCH


@dataclass(frozen=True, slots=True)
class Delivery:
    """How an answer goes out, where that is not at once and whole."""

    delay_seconds: float = 0.0
    until: Callable[[], bool] | None = None
    """Held back until this says yes."""
    body_seconds: float = 0.0
    chunked: bool = False
    cut_after_bytes: int | None = None
    """The connection is closed after so many bytes of the body that Content-Length promised."""
    endless: bool = False
    silent: bool = False
    """The connection is closed without an answer."""
    script: Callable[[], Iterable[bytes]] | None = None
    """What is written in place of head and body, piece by piece. It need not have an end."""
    piece_seconds: float = 0.0
    """From one piece of the script to the next."""
    lingers: bool = False
    """After the script the connection stays open, and nothing more is said."""
    resets: bool = False
    """The connection ends by a reset (TCP's RST)."""

    @property
    def whole(self) -> bool:
        return self.cut_after_bytes is None and not self.endless and not self.silent and self.script is None


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes out. A body of text is encoded at the very end, so that behaviours can add to it in any order."""

    status: int
    body: str | bytes = b""
    content_type: str = HTML
    headers: Mapping[str, str] = field(default_factory=dict)
    charset: str = "utf-8"
    coding: str | None = None
    """Content-Encoding: gzip, deflate, br or zstd."""
    modified: datetime = EPOCH
    delivery: Delivery | None = None

    @classmethod
    def of(cls, page: Page) -> "Answer":
        return cls(page.status, page.body, page.content_type, page.headers, modified=page.modified)

    @property
    def whole(self) -> bool:
        return self.delivery is None or self.delivery.whole

    def payload(self) -> bytes:
        """The bytes of the body on the wire."""
        if self.status == 304:
            return b""
        # A character that the charset has not got is written as HTML can write it in any.
        plain = (
            self.body if isinstance(self.body, bytes) else self.body.encode(self.charset, errors="xmlcharrefreplace")
        )
        return plain if self.coding is None else _compress(plain, self.coding)

    def head(self, length: int | None, *, keep_alive: bool) -> bytes:
        """Status line and headers; without a length the body is sent in chunks."""
        lines = [f"HTTP/1.1 {self.status} {_PHRASES.get(self.status, 'Status')}"]
        if self.status != 304:
            lines.append(f"Content-Type: {self.content_type}")
            lines.append("Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}")
            if self.coding is not None:
                lines.append(f"Content-Encoding: {self.coding}")
        lines.extend(f"{name}: {value}" for name, value in self.headers.items())
        lines.append("\r\n" if keep_alive else "Connection: close\r\n\r\n")
        return "\r\n".join(lines).encode("latin-1")


Behaviour: TypeAlias = Callable[[Request, Answer], Answer]
"""Makes another answer of an answer. It may be called for a request that nobody sent (`Site.reachable`)."""

_PHRASES = {status.value: status.phrase for status in HTTPStatus}


def short_answer(status: int, said: str, headers: Mapping[str, str] | None = None) -> Answer:
    """A small HTML page that says why there is no other."""
    body = f"<!doctype html><title>{status}</title><h1>{status}</h1><p>{said}</p>\n"
    return Answer(status, body, headers=headers or {})


def _compress(plain: bytes, coding: str) -> bytes:
    if coding == "br":
        import brotli

        return bytes(brotli.compress(plain, quality=4))
    if coding == "gzip":
        import gzip

        return gzip.compress(plain, compresslevel=5, mtime=0)
    if coding == "zstd":
        import zstandard

        return zstandard.ZstdCompressor().compress(plain)
    if coding == "deflate":  # RFC 9110 section 8.4.1.2: the zlib format
        import zlib

        return zlib.compress(plain)
    raise ValueError(f"no content coding {coding!r} here")
