"""One visit to one page: ask, understand the answer, keep the body, gather the links; out comes a PageResult."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import TypeAlias

from bailiwick.crawl.addresses import host_of, is_own, origin_of, own_url, redirect_target
from bailiwick.crawl.html import Parsed, header_says_noindex
from bailiwick.crawl.isolation import PoisonError, SlowPageError
from bailiwick.crawl.outcomes import HTML_TYPES, MEANINGS, Effect, Outcome, media_type, outcome_of
from bailiwick.crawl.results import PageResult, Taken, hash_of
from bailiwick.crawl.robots import verdict_for
from bailiwick.crawl.slice import Slice
from bailiwick.model.urls import LinkJoiner, UrlRules
from bailiwick.net.credentials import Credentials
from bailiwick.net.gates import Turn, retry_after
from bailiwick.net.robots import RobotsKind, RobotsVerdict
from bailiwick.ports import (
    BodyStore,
    FailureKind,
    FetchAnswer,
    Fetcher,
    FetchFailure,
    FetchRequest,
    StoredBody,
)

Parse: TypeAlias = Callable[[bytes, str, str], Awaitable[Parsed]]
_HOPS = 5
_OUTLINKS_A_PAGE = 500
_NO_ORIGIN = frozenset({Outcome.DNS_FAILURE, Outcome.CONNECT_FAILURE, Outcome.TLS_FAILURE, Outcome.TIMEOUT})


@dataclass(frozen=True, slots=True)
class Tools:
    """What a visit works with."""

    fetcher: Fetcher
    store: BodyStore
    joiner: LinkJoiner
    rules: UrlRules
    credentials: Credentials
    max_retries: int
    retry_backoff_seconds: float
    agent: str
    """Our name in robots.txt."""
    reserve: Callable[[str], Awaitable[float]]
    """Reserve a request to a host that nobody holds; how many seconds to wait for it?"""

    def unexpected(self, part: Slice, page: Taken, error: Exception) -> PageResult:
        """A fault of ours over one page counts against that page."""
        result = PageResult(page, Outcome.BROKEN, Effect.RETRY, error=f"unexpected {type(error).__name__}: {error}")
        _set_wait(part, page, self, result)
        return result


class _Asking:
    """The slice's word for one request: the turn is used up and the lease is looked at as it is written."""

    def __init__(self, part: Slice, turn: Turn) -> None:
        self._part, self._turn = part, turn

    def sending(self) -> bool:
        if not self._turn.is_open or not self._part.may_send():
            return False
        self._turn.sent()
        self._part.count_request()
        return True


async def visit(part: Slice, page: Taken, tools: Tools, parse: Parse) -> PageResult | None:
    """Fetch a page at its origin, learning that if it is unknown. None: nothing came of it.

    Then it is still waiting, or a rule forbids it, which the slice knows by now.
    """
    tried: FetchAnswer | FetchFailure | None = None
    for origin in [part.base_url] if part.base_url else origins(part.lease.name.name):
        verdict = await _permission(part, page, origin, tools)
        if verdict is None:
            return None
        tried = (
            verdict if isinstance(verdict, FetchFailure) else await _follow(part, page, f"{origin}{page.path}", tools)
        )
        if tried is None:
            return None
        if outcome_of(tried) not in _NO_ORIGIN or not part.may_request_more():
            break
    if tried is None:
        return None
    result = await _understood(part, page, tried, tools, parse)
    if part.base_url is None and isinstance(tried, FetchAnswer):
        result.base_url = _origin_of(part, tried)
    return result


async def _permission(part: Slice, page: Taken, origin: str, tools: Tools) -> RobotsVerdict | FetchFailure | None:
    """What robots.txt says about the page at this origin. None: it may not be fetched, and the slice knows why."""

    async def fetch(url: str) -> FetchAnswer | FetchFailure | None:
        return await ask(part, url, tools, headers=tools.credentials.headers_for(part.lease.name, url), body=True)

    verdict = await verdict_for(part, origin, fetch, tools.rules, tools.agent)
    if verdict is None or isinstance(verdict, FetchFailure):
        return verdict
    if verdict.kind is RobotsKind.CLOSED_FOR_NOW:
        part.closed_for_seconds = float(verdict.expires_seconds)
        return None
    if verdict.denies_domain:
        part.deny("its robots.txt forbids everything")
        return None
    if not verdict.robots.allows(page.path):
        part.refuse(page, "robots_denied", verdict.robots.rule_for(page.path) or "robots.txt")
        return None
    return verdict


def origins(name: str) -> list[str]:
    """Where a domain may be at home: https before http, the apex (which may send us to www) before www."""
    return [f"{scheme}://{host}" for host in (name, f"www.{name}") for scheme in ("https", "http")]


async def _follow(part: Slice, page: Taken, url: str, tools: Tools) -> FetchAnswer | FetchFailure | None:
    """Ask for the page; a redirect to the very same page (another scheme, www) is followed, any other is an answer."""
    asked = {url}
    while True:
        answer = await ask(part, url, tools, headers=_headers(part, page, url, tools))
        if answer is None or isinstance(answer, FetchFailure) or not _is_redirect(answer):
            return answer
        target = redirect_target(answer, tools.rules)
        if target is None or (target[1].domain, target[1].path) != (part.lease.name, page.path):
            return answer
        url = target[0]
        if url in asked or len(asked) >= _HOPS:
            return answer
        if not part.may_request_more():
            return None
        allowed = await _permission(part, page, origin_of(url), tools)
        if allowed is None or isinstance(allowed, FetchFailure):
            return allowed
        asked.add(url)


async def ask(
    part: Slice, url: str, tools: Tools, *, headers: dict[str, str], body: bool = False
) -> FetchAnswer | FetchFailure | None:
    """One request at the host's pace. None if it was not sent: the lease is at its end.

    A host that is not the domain's own is asked in the name of whoever reserves it first.
    """
    wants = _wants_any if body else _wants_body
    if not is_own(part.lease.name, url):
        await asyncio.sleep(await tools.reserve(host_of(url)))
    for _ in range(2):  # twice: a connection that was kept open may be closed as we reach for it
        turn = await part.pace.turn()
        tried = False
        try:
            if not part.may_send():
                return None
            tried = True
            part.on_wire += 1
            answer = await tools.fetcher.fetch(FetchRequest(url, _Asking(part, turn), headers, wants))
        finally:
            part.on_wire -= tried
            if turn.is_open and tried:
                part.count_request()  # it reached for the host in vain
            turn.give_up(tried=tried)
        if not (isinstance(answer, FetchFailure) and answer.kind is FailureKind.NOT_SENT):
            return answer
    # It was sent both times, and the client was refused a third one of its own accord.
    hung_up = FetchFailure(url, FailureKind.BROKEN, "the server hung up", answer.milliseconds)
    return hung_up if part.may_send() else None


def _wants_any(_status: int, _content_type: str) -> bool:
    return True


def _headers(part: Slice, page: Taken, url: str, tools: Tools) -> dict[str, str]:
    headers = tools.credentials.headers_for(part.lease.name, url)
    if page.body_hash is not None:
        if page.etag:
            headers["If-None-Match"] = page.etag
        if page.last_modified:
            headers["If-Modified-Since"] = page.last_modified
    return headers


def _wants_body(status: int, content_type: str) -> bool:
    return 200 <= status < 300 and (not content_type or media_type(content_type) in HTML_TYPES)


async def _understood(
    part: Slice, page: Taken, answer: FetchAnswer | FetchFailure, tools: Tools, parse: Parse
) -> PageResult:
    outcome = outcome_of(answer)
    if outcome is Outcome.UNCHANGED and page.body_hash is None:
        outcome = Outcome.CLIENT_ERROR  # a 304 to a question that was not asked
    result = PageResult(page, outcome, MEANINGS[outcome].effect, milliseconds=answer.milliseconds)
    if isinstance(answer, FetchFailure):
        result.error = answer.message
    else:
        result.status = answer.status
        result.bytes_received = answer.bytes_received
        result.content_type = answer.headers.get("content-type")
        result.etag = answer.headers.get("etag") or (page.etag if answer.status == 304 else None)
        result.last_modified = answer.headers.get("last-modified") or (
            page.last_modified if answer.status == 304 else None
        )
        result.retry_after_seconds = retry_after(answer.headers.get("retry-after"), datetime.now(UTC))
        if outcome is Outcome.REDIRECTED:
            _redirected(part, page, answer, tools.rules, result)
        elif answer.body is not None:
            await _read(part, page, answer, tools, parse, result)
    _set_wait(part, page, tools, result)
    return result


def _set_wait(part: Slice, page: Taken, tools: Tools, result: PageResult) -> None:
    """When the page may be fetched again; retries that are used up make it failed."""
    if result.effect is Effect.RETRY:
        if page.retries >= tools.max_retries:
            result.effect = Effect.FAILED
        else:
            result.wait_seconds = tools.retry_backoff_seconds * 4**page.retries
    elif result.effect in (Effect.CHANGED, Effect.SAME):
        result.wait_seconds = part.known.revisit_seconds


async def _read(part: Slice, page: Taken, answer: FetchAnswer, tools: Tools, parse: Parse, result: PageResult) -> None:
    """The body: nothing new, new bytes with the same text, or new content."""
    body = answer.body or b""
    result.body_hash = sha256(body).digest()
    if result.body_hash == page.body_hash:
        result.outcome, result.effect = Outcome.UNCHANGED, Effect.SAME
        return
    result.is_html = True
    try:
        parsed = await parse(body, answer.headers.get("content-type", ""), part.lease.name.host)
    except SlowPageError as error:
        result.outcome, result.effect, result.error = Outcome.TIMEOUT, Effect.RETRY, str(error)
        return
    except PoisonError as error:
        result.outcome, result.effect, result.error = Outcome.POISON, Effect.FAILED, str(error)
        return
    result.text_hash = parsed.text_hash
    result.images = parsed.images
    result.is_noindex = parsed.is_noindex or header_says_noindex(answer.headers.get("x-robots-tag", ""))
    result.canonical = parsed.canonical
    _gather(part, page, answer.url, parsed, tools, result)
    result.feeds = [url for href in parsed.feeds if (url := own_url(part.lease.name, answer.url, href)) is not None]
    if page.body_hash is not None and parsed.text_hash == page.text_hash:
        result.outcome, result.effect = Outcome.UNCHANGED, Effect.SAME
        return
    result.ref = tools.store.put(StoredBody(part.lease.domain_id, page.path_hash, answer.head, body))


def _gather(part: Slice, page: Taken, url: str, parsed: Parsed, tools: Tools, result: PageResult) -> None:
    """Links into the domain become pages, one level deeper; links out of it are kept with their text."""
    name, depth = part.lease.name.name, page.depth + 1
    base = _base(url, parsed.base_href)
    out: list[tuple[str, str]] = []
    for domain, path in tools.joiner.page_urls(base, parsed.hrefs):
        if domain != name:
            out.append((domain, path))
        elif not part.is_seen(path, depth):
            result.links.append((hash_of(path), path, depth))
    if out:
        texts = _texts(base, parsed, tools.joiner)
        for domain, path in out[:_OUTLINKS_A_PAGE]:
            if not part.is_seen(f"//{domain}{path}", 0):
                result.outlinks.append((hash_of(f"//{domain}{path}"), domain, path, texts.get((domain, path))))


def _texts(base: str, parsed: Parsed, joiner: LinkJoiner) -> dict[tuple[str, str], str]:
    return {
        found[0]: text for href, text in parsed.anchors.items() if text and (found := joiner.page_urls(base, [href]))
    }


def _base(url: str, base_href: str | None) -> str:
    if not base_href:
        return url
    from ada_url import join_url

    try:
        joined = join_url(url, base_href)
    except ValueError:
        return url
    return joined if joined.startswith(("https://", "http://")) else url


def _redirected(part: Slice, page: Taken, answer: FetchAnswer, rules: UrlRules, result: PageResult) -> None:
    """A target in the domain is known from here on, at the same depth; one outside is offered to its own domain."""
    target = redirect_target(answer, rules)
    location = answer.headers.get("location", "")
    if target is None:
        result.error = f"leads nowhere: {location[:200]}"
        return
    where = target[1]
    if where.domain != part.lease.name:
        result.offer = (where.domain.name, where.path)
        result.outlinks.append((hash_of(f"//{where}"), where.domain.name, where.path, None))
        result.error = f"to {str(where)[:300]}"
    elif where.path == page.path:
        result.outcome, result.effect = Outcome.REDIRECT_LOOP, Effect.FAILED
        result.error = f"leads to itself: {location[:200]}"
    else:
        result.links.append((hash_of(where.path), where.path, page.depth))
        result.error = f"to {where.path[:300]}"


def _is_redirect(answer: FetchAnswer) -> bool:
    return outcome_of(answer) is Outcome.REDIRECTED


def _origin_of(part: Slice, answer: FetchAnswer) -> str | None:
    """The origin that answered for the domain; a redirect to another one of the same domain names that."""
    url = answer.url
    if _is_redirect(answer):
        target = redirect_target(answer)
        if target is not None and target[1].domain == part.lease.name:
            url = target[0]
    return origin_of(url)
