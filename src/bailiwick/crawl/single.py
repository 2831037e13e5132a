"""One page outside of any lease (P5, exceptions *person* and *probe*): gates, robots.txt and the guard hold for it.

Never of a domain that was rejected, suspended or blacklisted. Each such fetch is an event.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from math import isinf

from sqlalchemy import Connection

from bailiwick.base.errors import ConflictError, NotAllowedError, NotFoundError
from bailiwick.crawl.addresses import host_of, origin_of, redirect_target
from bailiwick.crawl.desk import reserve
from bailiwick.crawl.kept_robots import keep_robots, known_robots
from bailiwick.crawl.robots import read_robots
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.model.urls import PageUrl, UrlRules
from bailiwick.net.gates import RESERVED_SECONDS, Pace, Turn
from bailiwick.net.robots import RobotsKind, RobotsVerdict
from bailiwick.ports import FetchAnswer, Fetcher, FetchFailure, FetchRequest
from bailiwick.registry.explain import explain_refusal
from bailiwick.registry.records import find

_HOPS = 5
_LONGEST_WAIT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Errand:
    """What such a fetch needs."""

    database: Database
    fetcher: Fetcher
    rules: UrlRules
    agent: str
    """Our name in robots.txt."""
    actor: Callable[[Connection], Actor]
    purpose: str = "person"
    """Which exception of P5 it is."""
    allowance: "Allowance | None" = None
    """None: no more requests than redirects are followed."""
    wants_body: bool = True


@dataclass
class Allowance:
    """How many requests an errand may still send, robots.txt included."""

    requests: int

    def spend(self, url: str) -> None:
        if self.requests <= 0:
            raise NotAllowedError(f"{url} is not asked for: all requests of this probe are used up")
        self.requests -= 1


async def fetch_single(errand: Errand, given: str) -> FetchAnswer:
    """The page that was named, redirects followed. NotAllowedError, ConflictError or NotFoundError say why not."""
    answer = await fetch_any(errand, given)
    if isinstance(answer, FetchFailure):
        raise NotFoundError(f"{answer.url} cannot be fetched: {answer.message}")
    if not 200 <= answer.status < 300:
        raise NotFoundError(f"{answer.url} answered with status {answer.status}")
    return answer


async def fetch_any(errand: Errand, given: str) -> FetchAnswer | FetchFailure:
    """Like `fetch_single`, whatever the last answer is, if one came at all."""
    page = PageUrl.parse(given, rules=errand.rules)
    url = await asyncio.to_thread(_address, errand, page, given)
    for _ in range(_HOPS + 1):
        answer = await _permitted(errand, page, url)
        if isinstance(answer, FetchFailure) or not 300 <= answer.status < 400:
            break
        target = redirect_target(answer, errand.rules)
        if target is None:
            break
        url, page = target
        await asyncio.to_thread(_address, errand, page, url)
    return answer


def _address(errand: Errand, page: PageUrl, given: str) -> str:
    """Where to ask for it, if it may be asked for at all; noted in the trail."""
    with errand.database.begin() as conn:
        domain = find(conn, page.domain)
        if domain is not None and domain.is_refused:
            stands = explain_refusal(domain)
            raise NotAllowedError(f"nothing is fetched from {domain.name}: {stands.says}", hint=stands.change)
        subject = Subject("domain", page.domain.name, domain.id if domain else None)
        record(conn, errand.actor(conn), subject, Act("fetch", details={"path": page.path, "as": errand.purpose}))
    if "://" in given:
        return f"{origin_of(given)}{page.path}"
    return page.fetch_url(domain.base_url if domain else None)


async def _permitted(errand: Errand, page: PageUrl, url: str) -> FetchAnswer | FetchFailure:
    origin = origin_of(url)
    known = await asyncio.to_thread(known_robots, errand.database, origin, errand.agent)
    verdict = known or await _read_robots(errand, origin)
    if isinstance(verdict, FetchFailure):
        return verdict
    if not verdict.robots.allows(page.path):
        rule = verdict.robots.rule_for(page.path) or verdict.reason
        closed = verdict.kind is RobotsKind.CLOSED_FOR_NOW
        raise NotAllowedError(verdict.reason if closed else f"the robots.txt of {origin} forbids it: {rule}")
    # From now on: its robots.txt may have been asked for just now, after a long wait for its gate.
    await asyncio.sleep(min(verdict.robots.crawl_delay_seconds or 0.0, _LONGEST_WAIT_SECONDS))
    return await _ask(errand, url, is_whole=errand.wants_body)


async def _read_robots(errand: Errand, origin: str) -> RobotsVerdict | FetchFailure:
    """Read now, and kept for whoever comes next."""
    answer = await read_robots(f"{origin}/robots.txt", lambda url: _ask(errand, url), errand.rules)
    if answer is None:
        raise NotFoundError(f"{origin} cannot be reached: nothing could be sent")
    if isinstance(answer, FetchFailure):
        return answer
    return await asyncio.to_thread(keep_robots, errand.database, origin, answer, errand.agent)


async def _ask(errand: Errand, url: str, *, is_whole: bool = True) -> FetchAnswer | FetchFailure:
    """One request at a moment that is reserved for it."""
    if errand.allowance is not None:
        errand.allowance.spend(url)
    host = host_of(url)
    wait = await asyncio.to_thread(reserve, errand.database, host)
    if isinf(wait):
        raise ConflictError(f"{host} is being crawled right now", hint="try again when its slice is over")
    if wait > _LONGEST_WAIT_SECONDS:
        raise ConflictError(f"{host} may be asked again in {wait:.0f} seconds", hint="try again then")
    turn = await Pace(0.0, first_after_seconds=wait).turn(good_for_seconds=RESERVED_SECONDS)
    try:
        wants = (lambda _status, _type: True) if is_whole else (lambda _status, _type: False)
        return await errand.fetcher.fetch(FetchRequest(url, _Asking(turn), wants_body=wants))
    finally:
        turn.give_up(tried=True)


@dataclass(frozen=True, slots=True)
class _Asking:
    """The word for one request: its moment is good for a while, and once."""

    turn: Turn

    def sending(self) -> bool:
        if not self.turn.is_open:
            return False
        self.turn.sent()
        return True
