"""Which RDAP servers know a name: the list of IANA (RFC 9224), kept in the database and in memory."""

import asyncio
import json
import time
from collections.abc import Mapping
from typing import TypeAlias, cast

from pydantic import JsonValue

from bailiwick.db.engine import Database
from bailiwick.score.facts.kept import Kept, keep, kept
from bailiwick.score.facts.known import Untold, plain
from bailiwick.score.facts.once import Once
from bailiwick.score.facts.web import RegistryWeb

_KIND = "rdap_servers"
_KEPT_SECONDS = 7 * 86_400.0
_MOST_SUFFIXES = 20_000
_MOST_URLS = 4

Servers: TypeAlias = Mapping[str, tuple[str, ...]]
"""Base URLs by the end of names."""


class RdapServers:
    """The list. Read from the web once a week, by whoever needs it first."""

    def __init__(self, database: Database, web: RegistryWeb, url: str, *, failure_seconds: float) -> None:
        self._database, self._web, self._url = database, web, url
        self._failure_seconds = failure_seconds
        self._once: Once[Servers | Untold] = Once()
        self._servers: Servers | Untold = Untold("not read yet")
        self._good_until = float("-inf")

    async def of(self, name: str) -> tuple[str, ...] | Untold:
        """Where to ask about a name; the longest end of it that the list has counts. Empty: nowhere."""
        if time.monotonic() >= self._good_until:
            self._servers = await self._once.ask(self._url, self._load)
        return self._servers if isinstance(self._servers, Untold) else _longest(self._servers, name)

    async def close(self) -> None:
        await self._once.close()

    async def _load(self) -> Servers | Untold:
        known = await asyncio.to_thread(self._known)
        if known is None or known.seconds_left <= 0:
            known = await self._renewed(known)
            if known is None:
                return Untold("the list of RDAP servers is asked for too much at the moment", is_passing=True)
        self._good_until = time.monotonic() + known.seconds_left
        return Untold(known.why) if known.why is not None else _servers(known.facts)

    async def _renewed(self, old: Kept | None) -> Kept | None:
        """A new list; if there is none, the old one for some hours more. None: ask again."""
        read = await self._fetched()
        if isinstance(read, Untold) and read.is_passing:
            return None
        if not isinstance(read, Untold):
            new = Kept({end: list(urls) for end, urls in read.items()}, None, _KEPT_SECONDS)
        elif old is not None and old.facts is not None:
            new = Kept(old.facts, None, self._failure_seconds)
        else:
            new = Kept(None, f"no list of RDAP servers: {read.why}", self._failure_seconds)
        await asyncio.to_thread(self._keep, new)
        return new

    async def _fetched(self) -> Servers | Untold:
        received = await self._web.get(self._url)
        if isinstance(received, Untold):
            return received
        return read_servers(received.body)

    def _known(self) -> Kept | None:
        with self._database.read() as conn:
            return kept(conn, _KIND, self._url)

    def _keep(self, found: Kept) -> None:
        with self._database.begin() as conn:
            keep(conn, _KIND, self._url, found, source=self._url)


def read_servers(body: bytes) -> Servers | Untold:
    """The list out of IANA's JSON: `services` holds pairs of ends and URLs."""
    try:
        read: object = json.loads(body)
    except (ValueError, RecursionError):
        return Untold("it is no JSON")
    services = read.get("services") if isinstance(read, dict) else None
    servers: dict[str, tuple[str, ...]] = {}
    for service in services if isinstance(services, list) else ():
        ends, urls = service if isinstance(service, list) and len(service) == 2 else ((), ())
        if isinstance(ends, list) and isinstance(urls, list) and len(servers) < _MOST_SUFFIXES:
            bases = _bases(urls)
            servers.update({end.lower(): bases for end in ends if isinstance(end, str) and plain(end) and bases})
    return servers or Untold("it names no servers")


def _bases(urls: list[object]) -> tuple[str, ...]:
    """Secure ones first."""
    texts = [url for url in urls if isinstance(url, str) and plain(url, 500) == url]
    found = [url for url in texts if url.startswith(("https://", "http://"))]
    return tuple(sorted(found, key=lambda url: not url.startswith("https:")))[:_MOST_URLS]


def _servers(facts: JsonValue) -> Servers:
    return {end: tuple(urls) for end, urls in cast("dict[str, list[str]]", facts).items()}


def _longest(servers: Servers, name: str) -> tuple[str, ...]:
    labels = name.split(".")
    ends = (".".join(labels[n:]) for n in range(1, len(labels)))
    return next((servers[end] for end in ends if end in servers), ())
