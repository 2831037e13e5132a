"""Names to addresses, under the guard: for our client, and for the proxy that connects for others."""

import ipaddress
import socket

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from bailiwick.net.guard import Address, AddressRefusedError, Guard

_MOST_ADDRESSES = 16

Place = tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[str, int] | tuple[str, int, int, int]]
"""One address to connect to, in the form of `socket.getaddrinfo`."""


class GuardedResolver(AbstractResolver):
    """DNS, but for what the operator has pinned and what is an address already. `dns` is the system's if not given."""

    def __init__(self, guard: Guard, dns: AbstractResolver | None = None) -> None:
        self._guard = guard
        self._dns = dns or aiohttp.ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        known = self._guard.known_address(host, port) or _literal(host)
        if known is None:
            return await self._dns.resolve(host, port, family)
        kind = socket.AF_INET if known.version == 4 else socket.AF_INET6
        return [ResolveResult(hostname=host, host=str(known), port=port, family=kind, proto=0, flags=0)]

    async def places(self, host: str, port: int) -> list[Place]:
        """Where to connect to for this host and port: what the guard permits, in the order of the answer.

        AddressRefusedError if it permits none, OSError if there is no answer.
        """
        places = [_place(found["host"], port) for found in await self.resolve(host, port, socket.AF_UNSPEC)]
        if not places:
            raise OSError(f"{host} has no address")
        allowed = [place for place in places if self._guard.permits(ipaddress.ip_address(place[4][0]), host, port)]
        if not allowed:
            raise AddressRefusedError(f"{places[0][4][0]} is not a public address")
        return allowed[:_MOST_ADDRESSES]

    async def close(self) -> None:
        await self._dns.close()


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _place(address: str, port: int) -> Place:
    """The port is the one that was asked for, whatever the answer says."""
    if ":" in address:
        return socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port, 0, 0)
    return socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port)
