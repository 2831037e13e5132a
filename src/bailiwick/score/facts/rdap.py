"""Asks RDAP about a registration: the registry, and its registrar where the registry knows no registrants."""

import asyncio
from dataclasses import replace

from bailiwick.score.facts.known import Registration, Untold
from bailiwick.score.facts.rdap_reading import RdapAnswer, read_rdap
from bailiwick.score.facts.rdap_servers import RdapServers
from bailiwick.score.facts.web import Received, RegistryWeb

_MISSING = {
    "registered_on": "the registry tells no date of registration",
    "expires_on": "the registry tells no date of expiry",
    "registrar": "the registry names no registrar",
    "is_private": "the registry says nothing about the registrant",
}


class Rdap:
    """Asks the servers of the list."""

    def __init__(self, web: RegistryWeb, servers: RdapServers) -> None:
        self._web, self._servers = web, servers

    async def ask(self, name: str) -> Registration | Untold:
        """What the first server that tells something says."""
        bases = await self._servers.of(name)
        if isinstance(bases, Untold):
            return bases
        last = Untold(f"no RDAP server is known for .{name.rpartition('.')[2]}")
        for base in bases:
            answer = await self._told(f"{base.rstrip('/')}/domain/{name}", name)
            if not isinstance(answer, Untold):
                return await self._completed(*answer, name)
            last = answer
        return last

    async def _told(self, url: str, name: str) -> tuple[str, RdapAnswer] | Untold:
        """(host, answer)."""
        received = await self._web.get(url)
        if isinstance(received, Untold):
            return received
        read = await asyncio.to_thread(_read, received, name)
        return Untold(f"{received.host}: {read.why}") if isinstance(read, Untold) else (received.host, read)

    async def _completed(self, host: str, answer: RdapAnswer, name: str) -> Registration:
        """With what the registrar says of the registrant. Dates are the registry's alone."""
        registrar, private = answer.registrar, answer.is_private
        why_not, is_partial = dict(_MISSING), False
        if private is None and answer.related is not None and self._web.may_follow(answer.related):
            told = await self._told(answer.related, name)
            if isinstance(told, Untold):
                why_not["is_private"], is_partial = f"the registrar: {told.why}", True
            else:
                registrar, private = registrar or told[1].registrar, told[1].is_private
        made = Registration(answer.registered_on, answer.expires_on, registrar, private, "rdap", {}, host, is_partial)
        return replace(made, why_not={key: why for key, why in why_not.items() if getattr(made, key) is None})


def _read(received: Received, name: str) -> RdapAnswer | Untold:
    return read_rdap(received.body, name)
