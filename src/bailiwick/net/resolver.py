"""Names to addresses, under the guard: for our client, and for the proxy that connects for others."""

import asyncio
import ipaddress
import socket
import time
from collections.abc import Sequence
from typing import Protocol, TypedDict

from bailiwick.net.guard import Address, AddressRefusedError, Guard

_MOST_ADDRESSES = 16
_MOST_NAMES = 10_000
"""More than the domains that are open at once: of fewer, each would be forgotten before it is asked for again."""

Place = tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[str, int] | tuple[str, int, int, int]]
"""One address to connect to, in the form of `socket.getaddrinfo`."""


class Found(TypedDict):
    """One address of a name, in the form that aiohttp's resolvers have, too."""

    hostname: str
    host: str
    port: int
    family: int
    proto: int
    flags: int


class Dns(Protocol):
    """Answers for names. aiohttp's resolvers do."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> "Sequence[Found]":
        """The addresses of a name. OSError (socket.gaierror) if there is no answer."""
        ...

    async def close(self) -> None: ...


class SystemDns:
    """The system's resolver, in threads."""

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> Sequence[Found]:
        found = await asyncio.get_running_loop().getaddrinfo(
            host, port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
        )
        return [_found(host, str(place[0]), port) for _, _, _, _, place in found]

    async def close(self) -> None:
        """There is nothing to close."""


class GuardedResolver:
    """DNS, but for what the operator has pinned and what is an address already. `dns` is the system's if not given."""

    def __init__(self, guard: Guard, dns: Dns | None = None) -> None:
        self._guard = guard
        self._dns: Dns = dns or SystemDns()

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> Sequence[Found]:
        known = self._guard.known_address(host, port) or _literal(host)
        if known is None:
            return await self._dns.resolve(host, port, family)
        return [_found(host, str(known), port)]

    async def places(self, host: str, port: int) -> list[Place]:
        """Where to connect to for this host and port: what the guard permits, in the order of the answer.

        AddressRefusedError if it permits none, OSError if there is no answer.
        """
        places = [place_at(found["host"], port) for found in await self.resolve(host, port, socket.AF_UNSPEC)]
        if not places:
            raise OSError(f"{host} has no address")
        allowed = [place for place in places if self._guard.permits(ipaddress.ip_address(place[4][0]), host, port)]
        if not allowed:
            raise AddressRefusedError(f"{places[0][4][0]} is not a public address")
        return allowed[:_MOST_ADDRESSES]

    async def close(self) -> None:
        await self._dns.close()


class RememberedNames:
    """What a resolver said, for so many seconds. Who asks for the same name at the same time waits for one answer."""

    def __init__(self, resolver: GuardedResolver, seconds: float) -> None:
        self._resolver, self._seconds = resolver, seconds
        self._known: dict[tuple[str, int], tuple[float, list[Place]]] = {}
        self._asking: dict[tuple[str, int], asyncio.Task[list[Place]]] = {}

    async def places(self, host: str, port: int) -> list[Place]:
        """As `GuardedResolver.places`; the list is the caller's own."""
        key = host.lower(), port
        said = self._known.get(key)
        if said is not None and time.monotonic() < said[0]:
            return list(said[1])
        asking = self._asking.get(key)
        if asking is None:
            asking = asyncio.get_running_loop().create_task(self._ask(host, port))
            self._asking[key] = asking
            asking.add_done_callback(self._forget_task)
        # Who gives up takes no answer from the others.
        return list(await asyncio.shield(asking))

    async def close(self) -> None:
        for asking in list(self._asking.values()):
            asking.cancel()
        await self._resolver.close()

    async def _ask(self, host: str, port: int) -> list[Place]:
        places = await self._resolver.places(host, port)
        if self._seconds > 0:
            self._known.pop((host.lower(), port), None)
            self._known[host.lower(), port] = time.monotonic() + self._seconds, places
            if len(self._known) > _MOST_NAMES:
                del self._known[next(iter(self._known))]
        return places

    def _forget_task(self, task: "asyncio.Task[list[Place]]") -> None:
        self._asking = {key: asking for key, asking in self._asking.items() if asking is not task}
        if not task.cancelled():
            task.exception()  # seen, also where nobody waits for it any more


def place_at(address: str, port: int) -> Place:
    """The port is the one that was asked for, whatever the answer says."""
    if ":" in address:
        return socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port, 0, 0)
    return socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port)


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _found(host: str, address: str, port: int) -> Found:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return Found(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
