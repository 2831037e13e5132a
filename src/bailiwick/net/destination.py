"""A URL as the client needs it: where to connect to, and how the request is spelled."""

import base64
import re
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv6Address
from typing import NamedTuple
from urllib.parse import unquote

_UNSENDABLE = re.compile(r"[\x00-\x20\x7f]")
_INJECTING = re.compile(r"[\r\n\0]")
_END_OF_AUTHORITY = re.compile(r"[/?#]")
_SERVER = re.compile(
    r"(?P<scheme>[Hh][Tt][Tt][Pp][Ss]?)://(?:(?P<user>[^/?#\\]*)@)?"
    r"(?:(?P<host>[^/?#\\@:\[\]]+)|\[(?P<ipv6>[^/?#\\@\[\]]+)\])(?::(?P<port>[0-9]{0,5}))?"
)
_PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """Whom a connection leads to. The host has no brackets."""

    scheme: str
    host: str
    port: int

    @property
    def is_literal(self) -> bool:
        """Whether the host is an address by its looks: then no name server is asked, and the guard has its say."""
        return ":" in self.host or self.host.replace(".", "").isdigit()

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Destination(NamedTuple):
    """What is asked for, and where."""

    origin: Origin
    authority: str
    """What the Host header says."""
    user: str
    """User and password as the URL has them."""
    path: str
    """With its query, spelled as given."""

    @classmethod
    def parse(cls, url: str) -> "Destination":
        """ValueError if it is no URL of the web, or one that cannot be written into a request."""
        if _UNSENDABLE.search(url):
            raise ValueError("white space in the URL")  # it would end the request line, or start a header
        end = _END_OF_AUTHORITY.search(url, len("https://"))
        server, rest = (url[: end.start()], url[end.start() :]) if end else (url, "")
        path = rest.partition("#")[0]
        return cls(*_read(server), path if path.startswith("/") else f"/{path}")

    def request(self, header_lines: str) -> bytes:
        """The bytes of a GET. ValueError (UnicodeError) for half of a character."""
        return f"GET {self.path} HTTP/1.1\r\nHost: {self.authority}\r\n{header_lines}\r\n".encode()

    @property
    def authorization(self) -> dict[str, str]:
        """The header that user and password in a URL mean (RFC 7617)."""
        if not self.user:
            return {}
        name, _, password = self.user.partition(":")
        pair = f"{unquote(name)}:{unquote(password)}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}


@lru_cache(maxsize=1_000)
def _read(server: str) -> tuple[Origin, str, str]:
    """Origin, authority and user of what stands before the path: the same for all pages of a host."""
    found = _SERVER.fullmatch(server)
    if found is None:
        raise ValueError("not an address of the web")
    scheme, user, host, ipv6, digits = found.groups()
    scheme = scheme.lower()
    port = int(digits) if digits else _PORTS[scheme]
    if port > 65_535:
        raise ValueError(f"no port {port}")
    if ipv6 is not None:
        host = str(ipv6)
        IPv6Address(host)
    authority = f"[{host}]" if ipv6 is not None else host.rstrip(".")
    if port != _PORTS[scheme]:
        authority = f"{authority}:{port}"
    return Origin(scheme, host, port), authority, user or ""


def header_lines(*parts: Mapping[str, str]) -> str:
    """Lines of a request's head; what comes later counts. ValueError for what would be more than one line."""
    headers = {name.lower(): f"{name}: {value}" for part in parts for name, value in part.items()}
    if any(_INJECTING.search(line) for line in headers.values()):
        raise ValueError("a header with a line end or a null byte in it")
    return "".join(f"{line}\r\n" for line in headers.values())
