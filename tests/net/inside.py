"""What tests of the guard need: something on loopback to protect, and an internet and a name server of our own.

Nothing leaves this machine: whatever the guard lets out to a public address is sent to a server on loopback instead.
"""

import asyncio
import base64
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from bailiwick.net.forward import ForwardProxy
from bailiwick.net.guard import Guard, is_public

PUBLIC, ALSO_PUBLIC = "93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"
NO_SUCH_NAME: list[str] = []


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


HAS_IPV6 = _has_ipv6()
INSIDE = ("127.0.0.1", "::1", "::ffff:127.0.0.1")
REACHABLE = INSIDE if HAS_IPV6 else INSIDE[:1]
"""Where a canary can be hit at all on this machine. That the others are refused is asserted all the same."""


def bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


class Canary:
    """Listens on loopback, with one port for all its addresses, and must never be connected to."""

    def __init__(self) -> None:
        self._listeners = [socket.create_server(("127.0.0.1", 0))]
        self.port = self._listeners[0].getsockname()[1]
        if HAS_IPV6:
            self._listeners.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        for listener in self._listeners:
            listener.setblocking(False)

    def hits(self) -> int:
        """How many connections were made since this was asked last; the kernel has counted them, nobody has to wait."""
        return sum(_accepted(listener) for listener in self._listeners)

    def close(self) -> None:
        for listener in self._listeners:
            listener.close()


def _accepted(listener: socket.socket) -> int:
    count = 0
    while True:
        try:
            listener.accept()[0].close()
        except BlockingIOError:
            return count
        count += 1


@contextmanager
def canary() -> Iterator[Canary]:
    made = Canary()
    try:
        yield made
    finally:
        made.close()


class Names(AbstractResolver):
    """A name server in the attacker's hands: its answers one after the other, the last one for good."""

    def __init__(self, answers: dict[str, list[list[str]]] | None = None, *, others: list[str] = NO_SUCH_NAME) -> None:
        self._answers = answers or {}
        self._others = others
        self.asked: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        self.asked.append(host)
        found = self._found(host)
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, f"no {host}")
        return [
            ResolveResult(
                hostname=host, host=address, port=port, proto=0, flags=0,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
            )
            for address in found
        ]  # fmt: skip

    def _found(self, host: str) -> list[str]:
        try:
            return [socket.inet_ntoa(socket.inet_aton(host))]  # as the system's resolver reads 127.1 and 0x7f000001
        except (OSError, UnicodeEncodeError):
            pass
        known = self._answers.get(host.rstrip("."))
        if known is None:
            return self._others
        return known.pop(0) if len(known) > 1 else known[0]

    async def close(self) -> None:
        """There is nothing to close."""


class FencedGuard(Guard):
    """The guard as it is, and a fence behind it. Notes what was let through, and what was connected to."""

    def __init__(self, *, internet: int = 9, **how: Any) -> None:
        super().__init__(**how)
        self.let_through: list[str] = []
        self.connected: list[str] = []
        self._internet = internet

    def open_socket(self, info: Any) -> socket.socket:
        super().open_socket(info).close()
        self.let_through.append(info[4][0])
        return _FencedSocket(self, info[0])

    def reach(self, place: Any) -> Any:
        """Where a connection to this place goes really."""
        self.connected.append(place[0])
        if not is_public(ip_address(place[0])):
            return place
        return ("::ffff:127.0.0.1" if ":" in place[0] else "127.0.0.1", self._internet)


class _FencedSocket(socket.socket):
    def __init__(self, fence: FencedGuard, family: int) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self._fence = fence

    def connect(self, place: Any) -> None:
        super().connect(self._fence.reach(place))


async def said(proxy: ForwardProxy, request: bytes, *, seconds: float = 10) -> bytes:
    """What the proxy answers to these bytes, up to its hanging up."""
    async with asyncio.timeout(seconds):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        try:
            writer.write(request)
            return await reader.read()
        finally:
            writer.transport.abort()


def with_password(proxy: ForwardProxy, first_line: str, *headers: str, body: bytes = b"") -> bytes:
    credentials = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
    lines = [f"{first_line} HTTP/1.1", f"Proxy-Authorization: Basic {credentials}", *headers, "", ""]
    return "\r\n".join(lines).encode("utf-8") + body


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0
