"""Finds out what is known of a domain: remembered, asked once at a time, in turn at each registry."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from bailiwick.base.review_sections import ScoreSettings
from bailiwick.db.engine import Database
from bailiwick.model.names import DomainName
from bailiwick.net.agent import user_agent
from bailiwick.net.guard import Guard
from bailiwick.net.resolver import Dns
from bailiwick.score.facts.assessing import effective_tld
from bailiwick.score.facts.certificates import look_at_certificate, trusted
from bailiwick.score.facts.connecting import Connector
from bailiwick.score.facts.kept import Kept, begin, give_up, keep, kept
from bailiwick.score.facts.known import Certificate, DomainFacts, Registration, Untold
from bailiwick.score.facts.once import Once
from bailiwick.score.facts.rdap import Rdap
from bailiwick.score.facts.rdap_servers import RdapServers
from bailiwick.score.facts.turns import Turns
from bailiwick.score.facts.web import RegistryWeb
from bailiwick.score.facts.whois import Whois

Fact = TypeVar("Fact", Registration, Certificate)

NO_EXTRA = 'registries are asked with the extra "score": pip install "bailiwick[score]"'
_ADAPTERS: dict[str, TypeAdapter[Any]] = {
    "registration": TypeAdapter(Registration),
    "certificate": TypeAdapter(Certificate),
}
_DAY, _HOUR = 86_400.0, 3_600.0
_ASKING_SECONDS = 180.0
"""Longer than asking takes, waiting for turns included; what a process died over is asked again after this."""
_LOOK_SECONDS = 0.5
# RFC 2606, 6761, 6762, 7686, 9476 and ICANN's `internal`.
_RESERVED = frozenset({"test", "example", "invalid", "localhost", "local", "onion", "alt", "internal"})


class FactFinder:
    """The facts of domains. One a process, used by many tasks of one loop; close it.

    `trust` is what sites' certificates are checked against (the system's authorities and `net.extra_ca_file`);
    `dns` answers in place of the system's resolver.
    """

    def __init__(
        self,
        database: Database,
        guard: Guard,
        settings: ScoreSettings,
        *,
        trust: ssl.SSLContext | None = None,
        dns: Dns | None = None,
    ) -> None:
        self._database, self._settings = database, settings
        self._trust = trust or trusted(database.settings.net.extra_ca_file)
        self._seconds = settings.registry_timeout_seconds
        turns = Turns(database, delay_seconds=settings.registry_delay_seconds)
        agent = user_agent(database.settings.crawl)
        self._connector = Connector(guard, dns)
        self._web = RegistryWeb(database.settings.net, guard, turns, seconds=self._seconds, agent=agent, dns=dns)
        self._servers = RdapServers(
            database, self._web, settings.rdap_bootstrap_url, failure_seconds=settings.failure_hours * _HOUR
        )
        self._rdap = Rdap(self._web, self._servers)
        self._whois = Whois(self._connector, guard, turns, server=settings.whois_server, seconds=self._seconds)
        self._registrations: Once[Registration | Untold] = Once()
        self._certificates: Once[Certificate | Untold] = Once()

    async def facts(self, name: DomainName, base_url: str | None = None) -> DomainFacts:
        """What is known of a domain and, where it is known, of the server at its base URL.

        Never raises for what servers do; errors of the database are raised.
        """
        registration, certificate = await asyncio.gather(self._registration(name), self._certificate(name, base_url))
        return DomainFacts(
            registration=registration if isinstance(registration, Registration) else None,
            registration_why=registration.why if isinstance(registration, Untold) else "",
            certificate=certificate if isinstance(certificate, Certificate) else None,
            certificate_why=certificate.why if isinstance(certificate, Untold) else "",
        )

    async def close(self) -> None:
        """End what is under way."""
        for asked in (self._registrations, self._certificates, self._servers, self._web, self._connector):
            await asked.close()

    async def _registration(self, name: DomainName) -> Registration | Untold:
        if (why := self._unregistered(name)) is not None:
            return Untold(why)
        subject = name.shared_key
        return await self._registrations.ask(
            subject, lambda: self._believed("registration", subject, lambda: self._ask_registry(subject))
        )

    async def _certificate(self, name: DomainName, base_url: str | None) -> Certificate | Untold:
        place = _place(name, base_url)
        if isinstance(place, Untold):
            return place
        host, port = place
        subject = f"{host}:{port}"
        return await self._certificates.ask(
            subject,
            lambda: self._believed(
                "certificate",
                subject,
                lambda: look_at_certificate(self._connector, host, port, trust=self._trust, seconds=self._seconds),
            ),
        )

    async def _ask_registry(self, name: str) -> Registration | Untold:
        """RDAP first; WHOIS where that tells no date."""
        if not await asyncio.to_thread(_has_extra):
            return Untold(NO_EXTRA, is_passing=True)
        rdap = await self._rdap.ask(name)
        if isinstance(rdap, Registration) and rdap.registered_on is not None:
            return rdap
        whois = await self._whois.ask(name)
        if isinstance(rdap, Untold) and isinstance(whois, Untold):
            return Untold(f"RDAP: {rdap.why}; WHOIS: {whois.why}", rdap.is_passing or whois.is_passing)
        if isinstance(whois, Registration) and (isinstance(rdap, Untold) or whois.registered_on is not None):
            return whois
        return rdap

    async def _believed(self, kind: str, subject: str, ask: Callable[[], Awaitable[Fact | Untold]]) -> Fact | Untold:
        """What was found out before, as long as it is believed; else what is found out now, by one of all processes."""
        while (known := await self._look(kind, subject)) is not None:
            if known.is_asked:
                await asyncio.sleep(_LOOK_SECONDS)
            elif known.why is not None:
                return Untold(known.why)
            else:
                fact: Fact = _ADAPTERS[kind].validate_python(known.facts)
                return fact
        found: Fact | Untold = Untold("", is_passing=True)
        try:
            found = await ask()
        finally:
            if isinstance(found, Untold) and found.is_passing:
                self._give_up(kind, subject)
        if not (isinstance(found, Untold) and found.is_passing):
            await asyncio.to_thread(self._keep, kind, subject, found)
        return found

    async def _look(self, kind: str, subject: str) -> Kept | None:
        """`_known_or_begun` in a thread, which goes on when the task is cancelled: what it begins then is given up."""
        looking = asyncio.create_task(asyncio.to_thread(self._known_or_begun, kind, subject))
        try:
            return await asyncio.shield(looking)
        except asyncio.CancelledError:
            if await looking is None:
                self._give_up(kind, subject)
            raise

    def _known_or_begun(self, kind: str, subject: str) -> Kept | None:
        """What is believed, or that another process asks just now. None: it is ours to ask."""
        with self._database.read() as conn:
            known = kept(conn, kind, subject)
        if known is not None and known.seconds_left > 0:
            return known
        with self._database.begin() as conn:
            if begin(conn, kind, subject, seconds=_ASKING_SECONDS):
                return None
            return kept(conn, kind, subject) or Kept(None, None, 0.0, is_asked=True)

    def _give_up(self, kind: str, subject: str) -> None:
        """Also when cancelled: else others would wait for an answer that nobody brings."""
        with self._database.begin() as conn:
            give_up(conn, kind, subject)

    def _keep(self, kind: str, subject: str, found: Registration | Certificate | Untold) -> None:
        if isinstance(found, Untold):
            row, source = Kept(None, found.why, self._settings.failure_hours * _HOUR), "none"
        else:
            row = Kept(_ADAPTERS[kind].dump_python(found, mode="json"), None, self._believed_seconds(found))
            source = found.source if isinstance(found, Registration) else "tls"
        with self._database.begin() as conn:
            keep(conn, kind, subject, row, source=source)

    def _believed_seconds(self, found: Registration | Certificate) -> float:
        settings = self._settings
        if isinstance(found, Certificate):
            return settings.certificate_days * _DAY
        days = settings.registration_days * _DAY
        return min(days, settings.failure_hours * _HOUR) if found.is_partial else days

    def _unregistered(self, name: DomainName) -> str | None:
        """Why no registry knows such a name; None: one may."""
        if name.is_address:
            return "IP addresses have no registration"
        if "." not in name.host:
            return "a name of one word has no registration"
        if effective_tld(name) == name.host:
            return f"{name.host} is a public suffix: names are registered under it"
        end = name.host.rpartition(".")[2]
        if end in _RESERVED and not _has_own_registry(self._settings):
            return f"nobody can register names under .{end}"
        return None


def _has_own_registry(settings: ScoreSettings) -> bool:
    """Whether the operator named another registry than the public ones, which may know reserved names."""
    fields = ScoreSettings.model_fields
    return any(getattr(settings, name) != fields[name].default for name in ("rdap_bootstrap_url", "whois_server"))


def _place(name: DomainName, base_url: str | None) -> tuple[str, int] | Untold:
    """Where the site's certificate is shown."""
    host = name.host.strip("[]")
    if base_url is None:
        return host, name.port or 443
    try:
        parts = urlsplit(base_url)
        there, port = parts.hostname or host, parts.port
    except ValueError:
        return host, name.port or 443
    if parts.scheme == "https":
        return there, port or 443
    if port in (None, 80):
        return there, 443
    return Untold(f"the site is served over http, at port {port}")


def _has_extra() -> bool:
    try:
        import asyncwhois  # noqa: F401
        import whodap  # noqa: F401
    except ImportError:
        return False
    return True
