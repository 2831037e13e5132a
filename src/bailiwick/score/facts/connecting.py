"""A guarded connection, plain or TLS: what is looked up here is what is connected to (P7)."""

import asyncio
import socket
import ssl
from typing import TypeAlias

from bailiwick.net.connecting import connected
from bailiwick.net.guard import AddressRefusedError, Guard, target
from bailiwick.net.resolver import Dns, GuardedResolver

_BUFFER_BYTES = 65_536
Streams: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Connector:
    """Opens connections to where the guard permits. `dns` answers in place of the system's resolver."""

    def __init__(self, guard: Guard, dns: Dns | None = None) -> None:
        self._guard = guard
        self._dns = dns
        self._resolver: GuardedResolver | None = None

    async def open(self, host: str, port: int, *, tls: ssl.SSLContext | None = None) -> Streams:
        """A connection; `transport.abort()` ends it. OSError or ValueError if there is none; limit the time."""
        host = host.strip("[]")
        target.set((host, port))
        if self._resolver is None:
            self._resolver = GuardedResolver(self._guard, self._dns)  # the system's wants a running loop
        reached = await connected(self._guard, await self._resolver.places(host, port))
        try:
            name = host if tls is not None else None
            return await asyncio.open_connection(sock=reached, ssl=tls, server_hostname=name, limit=_BUFFER_BYTES)
        except BaseException:
            reached.close()
            raise

    async def close(self) -> None:
        if self._resolver is not None:
            await self._resolver.close()


def failure_words(error: Exception, place: str, seconds: float) -> str:
    """Why there is no connection, in words. The first row that fits."""
    words = next((words for kind, words in _WORDS if isinstance(error, kind)), "{place} cannot be asked")
    return words.format(place=place, seconds=f"{seconds:g}")


_WORDS: tuple[tuple[type[Exception], str], ...] = (
    (AddressRefusedError, "{place} is refused: its address is not a public one"),
    (socket.gaierror, "{place} is not known: there is no such name"),
    (TimeoutError, "{place} did not answer in {seconds} s"),
    (ConnectionRefusedError, "nothing listens at {place}"),
    (ssl.SSLError, "{place} speaks no TLS that we understand"),
    (ConnectionError, "{place} closed the connection"),
    (OSError, "{place} cannot be reached"),
)
