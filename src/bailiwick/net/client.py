"""Our HTTP client: aiohttp under the guard, with every wait and every size bounded."""

import asyncio
import re
import socket
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from functools import partial

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_parser import RawResponseMessage
from aiohttp.streams import StreamReader
from yarl import URL

from bailiwick.base.errors import SettingsError
from bailiwick.base.sections import NetSettings
from bailiwick.net.decoding import ACCEPTED, CodingError, decoder
from bailiwick.net.guard import AddressRefusedError, Guard, target
from bailiwick.net.resolver import GuardedResolver
from bailiwick.ports import FailureKind, FetchAnswer, FetchFailure, FetchRequest, SendTurn

_sender: ContextVar[SendTurn | None] = ContextVar("sender", default=None)
_HEADER_BYTES = 65_536
_DNS_SECONDS = 300
_DRAINED_BYTES = 65_536
_DRAIN_SECONDS = 5.0
_MOST_INTERIM = 20
_UNSENDABLE = re.compile(r"[\x00-\x20\x7f]")
_REPEATED = {"content-encoding": ", ", "x-robots-tag": "\n"}
"""Headers that may come more than once, and how they are joined; of any other the last one counts."""


class _NotSentError(Exception):
    """The sender's permission had ended when the request was about to be written."""


class _NameServerError(Exception):
    """DNS gave no answer, which says nothing about the name."""


class _AskingRequest(aiohttp.ClientRequest):
    """A request that asks its sender right before it is written: the one place that every request passes."""

    async def send(self, conn: "aiohttp.connector.Connection") -> aiohttp.ClientResponse:
        sender = _sender.get()
        if sender is not None and not sender.sending():
            raise _NotSentError
        return await super().send(conn)


class _Protocol(ResponseHandler):
    """Hangs up on interim answers (1xx) without end: aiohttp waits through any number, and lets nobody else run."""

    _interim = 0

    def feed_data(self, data: "tuple[RawResponseMessage, StreamReader]", size: int = 0) -> None:
        self._interim = self._interim + 1 if data[0].code < 200 else 0
        if self._interim <= _MOST_INTERIM:
            super().feed_data(data, size)
        elif self.transport is not None:
            self.set_exception(aiohttp.ClientPayloadError("interim answers without end"))
            self.transport.close()


class HttpFetcher:
    """The default `Fetcher`. Made inside a running loop; close it. `dns` answers in place of the system's resolver."""

    def __init__(
        self, settings: NetSettings, guard: Guard, *, user_agent: str, dns: AbstractResolver | None = None
    ) -> None:
        self._settings = settings
        connector = aiohttp.TCPConnector(
            limit=0,
            resolver=GuardedResolver(guard, dns),
            socket_factory=guard.open_socket,
            ssl=trust(settings),
            ttl_dns_cache=_DNS_SECONDS,
            # Less than the idle limit: aiohttp may leave the timer of a large body running on a connection it keeps.
            keepalive_timeout=min(15.0, settings.idle_timeout_seconds / 2),
        )
        # There is no other way in.
        connector._factory = partial(_Protocol, loop=asyncio.get_running_loop())  # type: ignore[assignment]  # noqa: SLF001
        self._session = aiohttp.ClientSession(
            connector=connector,
            request_class=_AskingRequest,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            headers={"User-Agent": user_agent, "Accept-Encoding": ACCEPTED, "Accept": "text/html,*/*;q=0.5"},
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=settings.connect_timeout_seconds, sock_read=settings.idle_timeout_seconds
            ),
            max_line_size=_HEADER_BYTES,
            max_field_size=_HEADER_BYTES,
            read_bufsize=1 << 17,
        )

    async def fetch(self, request: FetchRequest) -> FetchAnswer | FetchFailure:
        started = time.monotonic()
        try:
            if _UNSENDABLE.search(request.url):
                raise ValueError("white space in the URL")  # it would end the request line, or start a header
            url = URL(request.url, encoded=True)
            if url.scheme not in ("http", "https") or not url.raw_host:
                raise ValueError("not an address of the web")
            target.set((url.raw_host or "", url.port or 0))
            _sender.set(request.turn)
            async with asyncio.timeout(self._settings.total_timeout_seconds):
                return await self._get(request, url, started)
        except (aiohttp.ClientError, OSError, TimeoutError, CodingError, ValueError, _NotSentError) as error:
            kind, message = _failure(error)
            return FetchFailure(request.url, kind, message, _ms(started))

    async def close(self) -> None:
        await self._session.close()

    async def _get(self, request: FetchRequest, url: URL, started: float) -> FetchAnswer:
        response = await self._session.get(url, headers=request.headers, allow_redirects=False)
        try:
            headers = _headers(response)
            body, received, truncated = None, 0, False
            if request.wants_body(response.status, headers.get("content-type", "")):
                body, received, truncated = await self._read(response, headers)
            elif 0 <= (response.content_length or 0) <= _DRAINED_BYTES:
                received = await _drain(response)
            if truncated or not response.content.at_eof():
                response.close()  # what is left is not worth reading
            return FetchAnswer(
                request.url, response.status, _head(response), headers, body, truncated, received, _ms(started)
            )
        except BaseException:
            response.close()
            raise
        finally:
            response.release()

    async def _next(self, response: aiohttp.ClientResponse) -> bytes:
        """The next bytes; none at the end. Timed by ourselves: a broken chunk stops aiohttp's own timer."""
        content = response.content
        if (piece := content.read_nowait()) or content.at_eof():
            return piece
        async with asyncio.timeout(self._settings.idle_timeout_seconds):
            return await content.readany()

    async def _read(self, response: aiohttp.ClientResponse, headers: Mapping[str, str]) -> tuple[bytes, int, bool]:
        """(body without its coding, bytes that came in, whether the limit cut it or its coding breaks off)."""
        limit = self._settings.max_body_bytes
        coded = decoder(headers.get("content-encoding", ""))
        pieces: list[bytes] = []
        length = received = 0
        while piece := await self._next(response):
            received += len(piece)
            plain = coded.feed(piece, limit - length + 1) if coded else piece
            pieces.append(plain)
            length += len(plain)
            if length > limit or received > limit:
                return b"".join(pieces)[:limit], received, True
        return b"".join(pieces), received, coded is not None and not coded.is_complete


async def _drain(response: aiohttp.ClientResponse) -> int:
    """Read the rest of a small body that nobody wants, so that the connection can be kept. No loss if it fails."""
    received = 0
    with suppress(aiohttp.ClientError, OSError, TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while not response.content.at_eof() and received <= _DRAINED_BYTES:
                received += len(await response.content.readany())
    return received


def trust(settings: NetSettings) -> ssl.SSLContext | bool:
    """What certificates are checked against; True is aiohttp's own, which it has read by now."""
    if settings.extra_ca_file is None:
        return True
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(settings.extra_ca_file)
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(
            f"net.extra_ca_file {settings.extra_ca_file}: {error}", hint="it has to be a PEM file with certificates"
        ) from error
    return context


def _head(response: aiohttp.ClientResponse) -> bytes:
    version = response.version
    line = f"HTTP/{version.major}.{version.minor} " if version else "HTTP/1.1 "
    first = f"{line}{response.status} {response.reason or ''}\r\n".encode("utf-8", "surrogateescape")
    return first + b"".join(b"%b: %b\r\n" % pair for pair in response.raw_headers) + b"\r\n"


def _headers(response: aiohttp.ClientResponse) -> dict[str, str]:
    """The headers by their lower-case names."""
    headers: dict[str, str] = {}
    for field, value in response.headers.items():
        name = field.lower()
        before = f"{headers[name]}{_REPEATED[name]}" if name in _REPEATED and name in headers else ""
        headers[name] = before + _text(value)
    return headers


def _text(value: str) -> str:
    """A header's value as text that the database takes: what is not UTF-8 (aiohttp escapes it) is read as Latin-1."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogateescape").decode("latin-1")
    return value


_KINDS: tuple[tuple[type[BaseException], FailureKind, str], ...] = (
    (_NotSentError, FailureKind.NOT_SENT, "not sent"),
    (AddressRefusedError, FailureKind.REFUSED, "the address is refused"),
    (_NameServerError, FailureKind.TIMEOUT, "the name server did not answer"),
    (aiohttp.ClientConnectorDNSError, FailureKind.DNS, "the name is not known"),
    (aiohttp.ClientSSLError, FailureKind.TLS, "no secure connection"),
    (ssl.SSLError, FailureKind.TLS, "no secure connection"),
    (TimeoutError, FailureKind.TIMEOUT, "no answer in time"),
    (aiohttp.ClientConnectorError, FailureKind.CONNECT, "no connection"),
    (CodingError, FailureKind.ENCODING, "the body cannot be decoded"),
    (BaseException, FailureKind.BROKEN, "the answer is broken"),
)
"""Which way a fetch failed: the first row that fits."""


def _failure(error: BaseException) -> tuple[FailureKind, str]:
    inner = getattr(error, "os_error", None) or error.__cause__
    if isinstance(inner, AddressRefusedError):
        error = inner
    elif isinstance(inner, socket.gaierror) and inner.errno == socket.EAI_AGAIN:
        error = _NameServerError(str(inner))
    kind, words = next((kind, words) for what, kind, words in _KINDS if isinstance(error, what))
    return kind, _said(error) or words


def _said(error: BaseException) -> str:
    text = ""
    with suppress(Exception):  # some of aiohttp's errors fail to print themselves
        text = str(error)
    return " ".join(text.replace("\0", " ").split())[:300].encode("utf-8", "replace").decode()


def _ms(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
