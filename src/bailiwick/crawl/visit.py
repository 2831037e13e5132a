"""One visit to one page: its origin, robots.txt, the request at the host's pace; out comes a PageResult."""

from datetime import UTC, datetime
from math import isinf

from bailiwick.crawl.addresses import host_of, is_own, origin_of, redirect_target
from bailiwick.crawl.outcomes import DOCUMENT_TYPES, HTML_TYPES, Outcome, media_type, outcome_of
from bailiwick.crawl.reading import understood
from bailiwick.crawl.results import PageResult, Taken
from bailiwick.crawl.robots import verdict_for
from bailiwick.crawl.slice import Slice
from bailiwick.crawl.tools import Parse, Tools
from bailiwick.crawl.traps.rules import SAYS
from bailiwick.net.gates import RESERVED_SECONDS, Pace, Turn, retry_after
from bailiwick.net.robots import RobotsKind, RobotsVerdict
from bailiwick.ports import FailureKind, FetchAnswer, FetchFailure, FetchRequest

_HOPS = 5
_BUSY_SECONDS = 60.0
"""Another worker is at the host that a robots.txt leads to: so long until the domain is looked at again."""
_NO_ORIGIN = frozenset({Outcome.DNS_FAILURE, Outcome.CONNECT_FAILURE, Outcome.TLS_FAILURE, Outcome.TIMEOUT})


class Asking:
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
    if page.depth > 0 and (rule := part.gate.excludes(page.path)) is not None:  # start pages were asked for
        part.refuse(page, rule, SAYS[rule])
        return None
    tried: FetchAnswer | FetchFailure | None = None
    for origin in [part.base_url] if part.base_url else origins(part.lease.name.name):
        verdict = await _permission(part, page, origin, tools)
        if verdict is None:
            return None
        found = (
            verdict if isinstance(verdict, FetchFailure) else await _follow(part, page, f"{origin}{page.path}", tools)
        )
        if found is None:
            return None
        if tried is None or isinstance(found, FetchAnswer) or outcome_of(tried) is Outcome.DNS_FAILURE:
            tried = found  # of failures the first one counts, unless it only says that this name has no address
        if outcome_of(found) not in _NO_ORIGIN or not part.may_request_more():
            break
    if tried is None:
        return None
    result = await understood(part, page, tried, tools, parse)
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
    if verdict.robots.allows(page.path):
        return verdict
    if verdict.denies_domain:
        part.deny("its robots.txt forbids everything")
    else:
        part.refuse(page, "robots_denied", verdict.robots.rule_for(page.path) or "robots.txt")
    return None


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
    """One request at the host's pace. None if it was not sent: the lease is at its end, or the host is another's."""
    wants = _wants_any if body else _wants_body
    for _ in range(2):  # twice: a connection that was kept open may be closed as we reach for it
        turn = await _turn(part, url, tools)
        if turn is None:
            return None
        tried = False
        try:
            if not part.may_send():
                return None
            tried = True
            part.on_wire += 1
            answer = await tools.fetcher.fetch(FetchRequest(url, Asking(part, turn), headers, wants))
        finally:
            part.on_wire -= tried
            if turn.is_open and tried:
                part.count_request()  # it reached for the host in vain
            turn.give_up(tried=tried)
        if isinstance(answer, FetchAnswer) and answer.status in (429, 503) and is_own(part.lease.name, url):
            said = answer.headers
            part.turned_down(retry_after(said.get("retry-after"), datetime.now(UTC), said.get("date")))
        if not (isinstance(answer, FetchFailure) and answer.kind is FailureKind.NOT_SENT):
            return answer
    # It was sent both times, and the client was refused a third one of its own accord.
    hung_up = FetchFailure(url, FailureKind.BROKEN, "the server hung up", answer.milliseconds)
    return hung_up if part.may_send() else None


async def _turn(part: Slice, url: str, tools: Tools) -> Turn | None:
    """The turn of a host: by the slice's own pace or, elsewhere, at a reserved moment. None: not now."""
    if is_own(part.lease.name, url):
        return await part.pace.turn()
    wait = await tools.reserve(host_of(url))
    if isinf(wait):
        part.closed_for_seconds = _BUSY_SECONDS
        return None
    return await Pace(0.0, first_after_seconds=wait).turn(good_for_seconds=RESERVED_SECONDS)


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
    return 200 <= status < 300 and (not content_type or media_type(content_type) in HTML_TYPES | DOCUMENT_TYPES)


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
