"""The guarded forward proxy (DESIGN section 9): the way out for whatever is not our client.

A browser, a vendor's SDK, a WHOIS referral: they ask for a name, the proxy looks it up itself and connects to an
address that the guard has checked, and to no other. It listens on loopback only, to who knows its password.
"""

import asyncio
import base64
import hmac
import secrets
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from bailiwick.net.connecting import connected
from bailiwick.net.forward_exchange import exchange
from bailiwick.net.forward_heads import MessageError, RequestHead, parse_request
from bailiwick.net.forward_streams import LongHeadError, Meter, Stream, TooMuchError, tunnel
from bailiwick.net.guard import Address, AddressRefusedError, Guard, is_loopback, target
from bailiwick.net.resolver import Dns, GuardedResolver

_ADDRESS = "127.0.0.1"
_USERNAME = "bailiwick"
_WEB_PORTS = frozenset({80, 443})
_CLOSE_SECONDS = 0.8
_TELL_SECONDS = 1.0

Admit = Callable[[str, int], Awaitable[None]]
"""Awaited with host and port before each connection to a server: where the pace of hosts is kept."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one connection to the proxy may take, and how many there may be."""

    head_bytes: int = 65_536
    head_seconds: float = 10.0
    connect_seconds: float = 10.0
    idle_seconds: float = 60.0
    """Neither side says anything, or one does not take what is sent to it."""
    total_seconds: float = 600.0
    total_bytes: int = 100_000_000
    """Both ways together."""
    connections: int = 200


class _NotAllowedError(Exception):
    """The client has not said the password."""


class _SlowClientError(Exception):
    """The head of the request did not come in time."""


class _PortRefusedError(AddressRefusedError):
    """The proxy does not connect to this port."""


class _NoWayBack(Guard):
    """The operator's guard, and stricter: hostile pages speak through the proxy.

    Never to the proxy itself; to loopback only where `--resolve` names that very host and port, even if private
    networks are allowed.
    """

    def __init__(self, guard: Guard, own_port: int) -> None:
        super().__init__()
        self._guard = guard
        self._own_port = own_port

    def known_address(self, host: str, port: int) -> Address | None:
        return self._guard.known_address(host, port)

    def permits(self, address: Address, host: str, port: int) -> bool:
        if is_loopback(address) and (port == self._own_port or self.known_address(host, port) != address):
            return False
        return self._guard.permits(address, host, port)

    def open_socket(self, info: tuple[int, int, int, str, tuple[object, ...]]) -> socket.socket:
        self.check(info[4])
        return self._guard.open_socket(info)


async def _at_once(_host: str, _port: int) -> None:
    """Nobody has to wait."""


class ForwardProxy:
    """Serves while its `async with` block runs.

    `server`, `username` and `password` are what a browser wants to know, `url` is all three in one. Ports besides 80
    and 443 are open if given as `ports` (WHOIS: 43), or by `--resolve` for its host.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        bounds: Bounds | None = None,
        ports: frozenset[int] = frozenset(),
        admit: Admit = _at_once,
        dns: Dns | None = None,
    ) -> None:
        self.port = 0
        self.username = _USERNAME
        self.password = secrets.token_urlsafe(32)
        self.requests = 0
        """Requests and tunnels that reached a server."""
        self.refused = 0
        self.bytes_carried = 0
        self._bounds = bounds or Bounds()
        self._ports = _WEB_PORTS | ports
        self._admit = admit
        self._operators_guard = guard
        self._dns = dns
        self._pass = base64.b64encode(f"{self.username}:{self.password}".encode())
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        limit = self._bounds.head_bytes
        self._listener = await asyncio.start_server(self._accepted, _ADDRESS, 0, limit=limit, start_serving=False)
        self.port = self._listener.sockets[0].getsockname()[1]
        self._guard = _NoWayBack(self._operators_guard, self.port)
        self._resolver = GuardedResolver(self._guard, self._dns)
        await self._listener.start_serving()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all connections, at once."""
        self._listener.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CLOSE_SECONDS)
        await self._resolver.close()

    @property
    def server(self) -> str:
        return f"http://{_ADDRESS}:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.username}:{self.password}@{_ADDRESS}:{self.port}"

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._tasks) >= self._bounds.connections or not self._listener.is_serving():
            writer.write(_own_answer("503 Service Unavailable", "There are too many connections."))
            writer.close()
            return
        task = asyncio.get_running_loop().create_task(self._serve(Stream(reader, writer)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, client: Stream) -> None:
        """One connection, one request. What goes wrong is told, if no answer is on its way yet."""
        try:
            try:
                async with asyncio.timeout(None) as patience:
                    await self._handle(client, self._meter(patience))
            except (OSError, MessageError, TooMuchError, _NotAllowedError, _SlowClientError) as error:
                if client.was_told:
                    client.reset()
                    return
                await _tell(client, error)
            await client.linger()
        finally:
            client.abort()

    def _meter(self, patience: asyncio.Timeout) -> Meter:
        bounds = self._bounds
        return Meter(
            patience, idle_seconds=bounds.idle_seconds, total_seconds=bounds.total_seconds,
            total_bytes=bounds.total_bytes, count=self._count,
        )  # fmt: skip

    def _count(self, size: int) -> None:
        self.bytes_carried += size

    async def _handle(self, client: Stream, meter: Meter) -> None:
        request = await self._request(client)
        try:
            server = await self._connect(request.host, request.port)
        except AddressRefusedError:
            self.refused += 1
            raise
        self.requests += 1
        meter.renew()
        try:
            if request.wants_tunnel:
                await client.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await tunnel(client, server, meter)
            else:
                await exchange(request, client, server, meter)
        finally:
            server.abort()

    async def _request(self, client: Stream) -> RequestHead:
        try:
            async with asyncio.timeout(self._bounds.head_seconds):
                request = parse_request(await client.read_head())
        except TimeoutError as error:
            raise _SlowClientError from error
        said = request.values("proxy-authorization")
        scheme, _, credentials = said[0].partition(" ") if len(said) == 1 else ("", "", "")
        # Compared in constant time: how long it takes must not tell how much of it is right.
        is_right = hmac.compare_digest(credentials.strip().encode("latin-1"), self._pass)
        if scheme.lower() != "basic" or not is_right:
            raise _NotAllowedError
        return request

    async def _connect(self, host: str, port: int) -> Stream:
        """A connection to an address that was checked: what is looked up here is what the socket connects to."""
        if port not in self._ports and self._guard.known_address(host, port) is None:
            raise _PortRefusedError
        target.set((host, port))
        async with asyncio.timeout(self._bounds.connect_seconds):
            places = await self._resolver.places(host, port)
        await self._admit(host, port)
        async with asyncio.timeout(self._bounds.connect_seconds):
            reached = await connected(self._guard, places)
            try:
                return Stream(*await asyncio.open_connection(sock=reached, limit=self._bounds.head_bytes))
            except BaseException:
                reached.close()
                raise


_ANSWERS: tuple[tuple[type[Exception], str, str], ...] = (
    (_NotAllowedError, "407 Proxy Authentication Required", "This proxy wants to know who asks."),
    (_SlowClientError, "408 Request Timeout", "The request did not come in time."),
    (LongHeadError, "431 Request Header Fields Too Large", "The head of the request is too long."),
    (MessageError, "400 Bad Request", "This is no request for a proxy."),
    (_PortRefusedError, "403 Forbidden", "This port is not open."),
    (AddressRefusedError, "403 Forbidden", "This address is refused."),
    (TooMuchError, "413 Content Too Large", "This is more than may be carried."),
    (TimeoutError, "504 Gateway Timeout", "The server did not answer in time."),
    (OSError, "502 Bad Gateway", "The server cannot be reached, or its answer is broken."),
)
"""What the client is told: the first row that fits. Nothing of what went wrong inside is shown."""


async def _tell(client: Stream, error: Exception) -> None:
    status, words = next((status, words) for kind, status, words in _ANSWERS if isinstance(error, kind))
    with suppress(OSError):
        async with asyncio.timeout(_TELL_SECONDS):
            await client.send(_own_answer(status, words))


def _own_answer(status: str, words: str) -> bytes:
    body = f"{words}\n"
    lines = [f"HTTP/1.1 {status}", "Content-Type: text/plain", f"Content-Length: {len(body)}", "Connection: close"]
    if status.startswith("407"):
        lines.append('Proxy-Authenticate: Basic realm="Bailiwick"')
    return "\r\n".join([*lines, "", body]).encode()
