"""How the page of an evaluation is come by: stored, awaited from a crawl, or probed (P5); and what it needs besides."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from bailiwick.app import App
from bailiwick.base.errors import BailiwickError, ConflictError, NameRefusedError, NotAllowedError, NotFoundError
from bailiwick.crawl.single import Allowance, Errand, fetch_any
from bailiwick.ledger.events import Actor
from bailiwick.model.material import LinkCheck, SitePage
from bailiwick.model.urls import PageUrl, UrlRules
from bailiwick.net.agent import product, user_agent
from bailiwick.net.client import HttpFetcher
from bailiwick.net.guard import Guard
from bailiwick.ports import FailureKind, FetchAnswer, FetchFailure
from bailiwick.score import known
from bailiwick.score.jobs import ClaimedUrl, Settled
from bailiwick.score.known import StoredPage

PROBE_REQUESTS = 10
_LINK_SECONDS = 40.0
_LINKS_AT_ONCE = 10
_SOON_SECONDS = 2.0
_BUSY_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Got:
    """A page's body, and from where."""

    body: bytes
    content_type: str
    url: str
    body_hash: bytes | None = None
    is_stored: bool = False
    allowance: Allowance = field(default_factory=lambda: Allowance(0))
    """What is left of the probe, if it was one."""


class Ways:
    """Fetches for evaluations, in one event loop. Close it at the end."""

    def __init__(self, app: App, guard: Guard, actor: Actor, *, awaits_crawls: bool) -> None:
        self._app, self._actor, self._awaits_crawls = app, actor, awaits_crawls
        name = user_agent(app.settings.crawl)
        self._rules = UrlRules(allow_private=app.settings.names.allow_private)
        self._fetcher = HttpFetcher(app.settings.net, guard, user_agent=name)
        self._errand = Errand(app.database, self._fetcher, self._rules, product(name), self._who, purpose="probe")

    async def close(self) -> None:
        await self._fetcher.close()

    async def page(self, url: ClaimedUrl) -> Got | Settled:
        """The page's body, or what becomes of the URL without it."""
        if (refusal := url.refusal) is not None:
            return refusal
        stored = await asyncio.to_thread(self._stored, url)
        if stored is not None and stored.is_read and (got := await asyncio.to_thread(self._body, url, stored)):
            return got
        if url.approval == "approved" and self._awaits_crawls:
            return self._awaited(url, stored)
        return await self._probed(url)

    async def site_pages(self, url: ClaimedUrl) -> tuple[SitePage, ...]:
        """Other pages of the domain, as they were crawled."""
        return await asyncio.to_thread(self._site_pages, url)

    async def probed_pages(self, got: Got, likely: Sequence[str]) -> tuple[list[FetchAnswer], list[str]]:
        """Pages of the domain where rules may find something, with what is left of the probe; why some did not come."""
        found: list[FetchAnswer] = []
        unreached: list[str] = []
        for address in likely:
            answer = await self._asked(replace(self._errand, allowance=got.allowance), address)
            if isinstance(answer, FetchAnswer) and 200 <= answer.status < 300:
                found.append(answer)
            else:
                unreached.append(answer if isinstance(answer, str) else f"{address}: {_says(answer)}")
        return found, unreached

    async def link_checks(self, url: ClaimedUrl, links: Sequence[str]) -> tuple[LinkCheck, ...]:
        """Where links lead: as crawls found it, else by one polite request each, elsewhere only."""
        pages = [(link, page) for link in links if (page := self._page(link)) is not None]
        answers = await asyncio.to_thread(self._known_links, pages)
        foreign = [link for link, page in pages if link not in answers and page.domain.name != url.name]
        places = asyncio.Semaphore(_LINKS_AT_ONCE)
        checks = await asyncio.gather(*(self._check(link, places) for link in foreign))
        return (*answers.values(), *checks)

    async def _check(self, link: str, places: asyncio.Semaphore) -> LinkCheck:
        try:
            async with places, asyncio.timeout(_LINK_SECONDS):
                answer = await self._asked(replace(self._errand, wants_body=False), link)
        except TimeoutError:
            return LinkCheck(link, None, "no answer in time")
        if isinstance(answer, FetchAnswer):
            return known.link_check(link, answer.status)
        if isinstance(answer, FetchFailure):
            return LinkCheck(link, True if answer.kind is FailureKind.DNS else None, answer.message)
        return LinkCheck(link, None, answer)

    async def _asked(self, errand: Errand, address: str) -> FetchAnswer | FetchFailure | str:
        """An answer, or in words why nothing was asked."""
        try:
            return await fetch_any(errand, address)
        except BailiwickError as error:
            return error.message

    def _awaited(self, url: ClaimedUrl, stored: StoredPage | None) -> Settled:
        """Whoever holds the domain's lease fetches it first of all; until then the URL waits."""
        if stored is not None and url.asked_seconds is not None and (why := _failure(stored)) is not None:
            return Settled(url.id, "unreachable", why)
        waited = url.asked_seconds or 0.0
        if waited > self._app.settings.score.page_wait_seconds:
            return Settled(url.id, "unreachable", f"no crawl has fetched it in {waited:.0f} seconds")
        return Settled(
            url.id, "waiting", "its page is awaited from the crawl of its domain", is_asked=True,
            again_seconds=min(_SOON_SECONDS + waited / 4, _BUSY_SECONDS),
        )  # fmt: skip

    async def _probed(self, url: ClaimedUrl) -> Got | Settled:
        allowance = Allowance(PROBE_REQUESTS)
        try:
            answer = await fetch_any(replace(self._errand, allowance=allowance), url.url)
        except ConflictError as error:
            return Settled(url.id, "waiting", error.message, again_seconds=_BUSY_SECONDS)
        except NotAllowedError as error:
            return Settled(url.id, "refused", error.message)
        except (NotFoundError, NameRefusedError) as error:
            return self.failed(url, error.message)
        if isinstance(answer, FetchFailure) or not 200 <= answer.status < 300:
            return self.failed(url, _says(answer))
        return Got(answer.body or b"", answer.headers.get("content-type", ""), answer.url, allowance=allowance)

    def failed(self, url: ClaimedUrl, why: str) -> Settled:
        """Tried so often it is given up, before that it is tried again later."""
        is_last = url.tries + 1 >= self._app.settings.score.max_tries
        if is_last:
            return Settled(url.id, "unreachable", why, has_failed=True)
        return Settled(url.id, "waiting", why, has_failed=True, again_seconds=_BUSY_SECONDS * 3**url.tries)

    def _who(self, _conn: Connection) -> Actor:
        return self._actor

    def _page(self, link: str) -> PageUrl | None:
        try:
            return PageUrl.parse(link, rules=self._rules)
        except NameRefusedError:
            return None

    def _stored(self, url: ClaimedUrl) -> StoredPage | None:
        with self._app.database.read() as conn:
            return known.stored_page(conn, url)

    def _site_pages(self, url: ClaimedUrl) -> tuple[SitePage, ...]:
        with self._app.database.read() as conn:
            return known.site_pages(conn, url)

    def _known_links(self, links: Sequence[tuple[str, PageUrl]]) -> dict[str, LinkCheck]:
        with self._app.database.read() as conn:
            return known.known_links(conn, links)

    def _body(self, url: ClaimedUrl, stored: StoredPage) -> Got | None:
        """None where the body is gone or damaged: then the page is fetched anew."""
        if stored.ref is None:
            return None
        try:
            kept = self._app.body_store.get(stored.ref)
        except BailiwickError:
            return None
        base = (url.base_url or f"https://{url.name}").rstrip("/")
        return Got(kept.body, stored.content_type, base + url.path, stored.body_hash, is_stored=True)


def _failure(stored: StoredPage) -> str | None:
    """Why the crawl did not get it; None: it has not tried yet, or tries again."""
    if stored.state == "pending" or stored.outcome is None:
        return None
    if stored.is_read:
        return None
    return f"the crawl of its domain says: {stored.outcome.replace('_', ' ')}" + (
        f" ({stored.error})" if stored.error else ""
    )


def _says(answer: FetchAnswer | FetchFailure) -> str:
    return answer.message if isinstance(answer, FetchFailure) else f"it answered with status {answer.status}"
