"""Answers of registries over HTTP: guarded, in their turn, bounded, with a few redirects."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urljoin, urlsplit

from bailiwick.base.sections import NetSettings
from bailiwick.net.client import HttpFetcher
from bailiwick.net.gates import retry_after
from bailiwick.net.guard import Guard
from bailiwick.net.resolver import Dns
from bailiwick.ports import FailureKind, FetchAnswer, FetchFailure, FetchRequest
from bailiwick.score.facts.known import Untold
from bailiwick.score.facts.turns import Turns

MAX_BODY_BYTES = 1_000_000
MAX_REDIRECTS = 3
_WEB_PORTS = {"http": 80, "https": 443}
_ACCEPT = "application/rdap+json, application/json;q=0.9"
_HOST = re.compile(r"[A-Za-z0-9._:-]{1,253}")
_FAILURES = {
    FailureKind.REFUSED: "{host} is refused: its address is not a public one",
    FailureKind.DNS: "{host} is not known: there is no such name",
    FailureKind.TIMEOUT: "{host} did not answer in {seconds:g} s",
    FailureKind.TLS: "there is no secure connection to {host}",
    FailureKind.CONNECT: "{host} cannot be reached",
}


@dataclass(frozen=True, slots=True)
class Received:
    """A body, and the host that it came from."""

    host: str
    body: bytes


class _Now:
    """The turn was waited for: the request may be written."""

    def sending(self) -> bool:
        return True


class RegistryWeb:
    """Asks registries. Made at any time, used inside one running loop; close it."""

    def __init__(
        self, net: NetSettings, guard: Guard, turns: Turns, *, seconds: float, agent: str, dns: Dns | None
    ) -> None:
        self._net = net.model_copy(
            update={
                "total_timeout_seconds": seconds,
                "connect_timeout_seconds": min(net.connect_timeout_seconds, seconds),
                "idle_timeout_seconds": min(net.idle_timeout_seconds, seconds),
                "max_body_bytes": MAX_BODY_BYTES,
            }
        )
        self._guard, self._turns, self._agent, self._dns = guard, turns, agent, dns
        self._fetcher: HttpFetcher | None = None

    async def get(self, url: str) -> Received | Untold:
        """What is there, at most three redirects away."""
        seen = {url}
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._ask(url)
            if isinstance(answer, Untold):
                return answer
            host = urlsplit(url).hostname or ""
            if answer.status not in (301, 302, 303, 307, 308):
                return _received(host, answer)
            there = urljoin(url, answer.headers.get("location", ""))
            if (why := self._refusal(url, there)) is not None:
                return Untold(f"{host} {why}")
            if there in seen:
                return Untold(f"{host} redirects in a circle")
            seen.add(there)
            url = there
        return Untold(f"more than {MAX_REDIRECTS} redirects")

    async def close(self) -> None:
        if self._fetcher is not None:
            await self._fetcher.close()

    def may_follow(self, url: str) -> bool:
        """Whether an address that a registry named is one of the web; other ports are the operator's to open."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            return False
        default = _WEB_PORTS.get(parts.scheme)
        if default is None or not _HOST.fullmatch(host) or parts.username is not None:
            return False
        return port in (None, 80, 443) or self._guard.known_address(host, port) is not None

    def _refusal(self, url: str, there: str) -> str | None:
        if not self.may_follow(there):
            return "redirects to an address that is not followed"
        if url.startswith("https:") and there.startswith("http:"):
            return "redirects from https to http"
        return None

    async def _ask(self, url: str) -> FetchAnswer | Untold:
        host = _host(url)
        if host is None:
            return Untold("the registry's address is no address of the web")
        if not await self._turns.wait(host):
            return Untold(f"{host} is asked too much at the moment", is_passing=True)
        if self._fetcher is None:
            self._fetcher = HttpFetcher(self._net, self._guard, user_agent=self._agent, dns=self._dns)
        answer = await self._fetcher.fetch(FetchRequest(url, _Now(), {"Accept": _ACCEPT}))
        if isinstance(answer, FetchFailure):
            words = _FAILURES.get(answer.kind, "the answer of {host} is broken")
            return Untold(words.format(host=host, seconds=self._net.total_timeout_seconds))
        if answer.status in (429, 503):
            pause = retry_after(answer.headers.get("retry-after"), datetime.now(UTC), answer.headers.get("date"))
            await self._turns.hold(host, pause)
        return answer


def _host(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        return parts.hostname if parts.scheme in _WEB_PORTS else None
    except ValueError:
        return None


def _received(host: str, answer: FetchAnswer) -> Received | Untold:
    if answer.status == 404:
        return Untold(f"{host} knows no such domain (404)")
    if answer.status == 429:
        return Untold(f"{host} asks us to wait (429)")
    if answer.status != 200:
        return Untold(f"{host} answered {answer.status}")
    if answer.is_truncated:
        return Untold(f"the answer of {host} is cut off or longer than {MAX_BODY_BYTES:,} bytes")
    return Received(host, answer.body or b"")
