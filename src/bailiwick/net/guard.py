"""The guard: no request of ours reaches an address inside (DESIGN P7), unless the operator allowed it.

Addresses are checked where they are connected to, after DNS: the socket factory sees every one of them, IP literals
too. What `--resolve` names is permitted for exactly its host and port.
"""

import ipaddress
import re
import socket
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Self, TypeAlias

from bailiwick.base.errors import UsageError

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_GLOBAL_IPV6 = ipaddress.ip_network("2000::/3")
_ALSO_INSIDE = tuple(
    ipaddress.ip_network(network)
    for network in (
        "168.63.129.16/32",  # Azure's host, a metadata address that looks public
        "192.0.0.0/24",  # Oracle's metadata is there; this and the next two are not in Python 3.11's tables
        "192.88.99.0/24",
        "3fff::/20",
        "2001::/23",  # Teredo and other protocols' own; which of them Python counts as global changes with its version
    )
)
_HINT = "as in curl: --resolve HOST:PORT:ADDRESS, for example www.example.org:443:127.0.0.1; * is any host"
_RULE = re.compile(r"(?P<host>\*|[^:\s\[\]]+|\[[0-9a-fA-F:.]+\]):(?P<port>[0-9]{1,5}):(?P<address>.+)")

_ISATAP = (0x0000_5EFE, 0x0200_5EFE)
"""What stands before the IPv4 address in an interface identifier of RFC 5214."""

target: ContextVar[tuple[str, int] | None] = ContextVar("target", default=None)
"""Host and port of the request that this task makes: connections are opened on its behalf."""


class AddressRefusedError(OSError):
    """This address must not be connected to."""


@dataclass(frozen=True, slots=True)
class Resolve:
    """One `--resolve`: this host and port are at this address."""

    host: str
    port: int
    address: Address

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `HOST:PORT:ADDRESS`; raises UsageError."""
        found = _RULE.fullmatch(text.strip())
        try:
            if found is None:
                raise ValueError("not HOST:PORT:ADDRESS")
            address = ipaddress.ip_address(found["address"].strip("[]"))
            port = int(found["port"])
            if not 1 <= port <= 65_535:
                raise ValueError(f"no port {port}")
            host = _as_requested(found["host"])
        except ValueError as error:
            raise UsageError(f"--resolve {text!r}: {error}", hint=_HINT) from error
        return cls(host, port, address)

    def covers(self, host: str, port: int) -> bool:
        return self.port == port and self.host in ("*", host.lower())


def _as_requested(host: str) -> str:
    """A host as requests spell it: no brackets, no last dot, punycode."""
    host = host.strip("[]").rstrip(".").lower()
    if host.isascii():
        return host
    from ada_url import URL

    return str(URL(f"http://{host}/").hostname)


class Guard:
    """Says where requests may go."""

    def __init__(self, *, allow_private: bool = False, resolves: tuple[Resolve, ...] = ()) -> None:
        self._allow_private = allow_private
        self._resolves = resolves

    def known_address(self, host: str, port: int) -> Address | None:
        """Where the operator says that this host and port are. A rule for the very host comes before `*`."""
        covering = [rule for rule in self._resolves if rule.covers(host, port)]
        return min(covering, key=lambda rule: rule.host == "*").address if covering else None

    def permits(self, address: Address, host: str, port: int) -> bool:
        return self._allow_private or is_public(address) or self.known_address(host, port) == address

    def check(self, place: "tuple[object, ...]") -> None:
        """Raise AddressRefusedError unless this task's request may go to this address and port."""
        try:
            address = ipaddress.ip_address(str(place[0]))
        except ValueError as error:
            raise AddressRefusedError(f"{str(place[0])[:80]!r} is not an address") from error
        host, _ = target.get() or ("", 0)
        if not self.permits(address, host, int(str(place[1]))):
            raise AddressRefusedError(f"{address} is not a public address")

    def open_socket(self, info: "tuple[int, int, int, str, tuple[object, ...]]") -> socket.socket:
        """The socket factory: refuses before anything is sent to the address."""
        family, kind, protocol, _, place = info
        self.check(place)
        return socket.socket(family, kind, protocol)


def is_public(address: Address) -> bool:
    """Whether an address is one of the open internet; an IPv4 address inside an IPv6 one counts as itself."""
    inner = _embedded(address)
    if inner is not None:
        return is_public(inner)
    if isinstance(address, ipaddress.IPv6Address) and (address not in _GLOBAL_IPV6 or _tunnels_inside(address)):
        return False
    return address.is_global and not address.is_multicast and not any(address in inside for inside in _ALSO_INSIDE)


def is_loopback(address: Address) -> bool:
    """Whether it leads to this very machine, in whatever spelling; connecting to the unspecified address does."""
    meant = _embedded(address) or address
    return meant.is_loopback or meant.is_unspecified


def _embedded(address: Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that is meant: mapped, 6to4, NAT64, or the old compatible form."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address.ipv4_mapped or address.sixtofour:
        return address.ipv4_mapped or address.sixtofour
    if address in _NAT64 or (int(address) >> 32 == 0 and int(address) > 1):
        return _last_32_bits(address)
    return None


def _tunnels_inside(address: ipaddress.IPv6Address) -> bool:
    """ISATAP: a machine with such a tunnel sends this to the IPv4 address at its end, whatever the prefix."""
    return (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP and not is_public(_last_32_bits(address))


def _last_32_bits(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
