"""robots.txt in the crawl: read once an origin, at the host's pace, before anything else is asked of it."""

from collections.abc import Awaitable, Callable

from bailiwick.crawl.addresses import is_own, redirect_target
from bailiwick.crawl.results import RobotsRead, SitemapFound
from bailiwick.crawl.slice import Slice
from bailiwick.model.urls import UrlRules, hash_of
from bailiwick.net.robots import MAX_BYTES, RobotsVerdict, decide
from bailiwick.ports import FetchAnswer, FetchFailure

Ask = Callable[[str], Awaitable[FetchAnswer | FetchFailure | None]]
"""One request to this URL, through the gate of its host; None if it could not be sent."""
_HOPS = 5


async def verdict_for(
    part: Slice, origin: str, ask: Ask, rules: UrlRules, agent: str
) -> RobotsVerdict | FetchFailure | None:
    """What this origin's robots.txt says: as it is known, or read now. A failure where nothing answers at all."""
    known = part.robots.get(origin)
    if known is not None:
        return known
    answer = await read_robots(f"{origin}/robots.txt", ask, rules)
    if answer is None or isinstance(answer, FetchFailure):
        return answer
    body = (answer.body or b"")[:MAX_BYTES] if 200 <= answer.status < 300 else None
    verdict = decide(answer.status, body, agent)
    text = body.decode("utf-8", "replace") if body is not None else None
    read = RobotsRead(origin, verdict.kind, answer.status, text, verdict.reason, verdict.expires_seconds)
    part.learned_robots(read, verdict)
    part.pace.raise_delay(verdict.robots.crawl_delay_seconds)
    for url in verdict.robots.sitemaps:
        if is_own(part.lease.name, url):  # its lease covers no other hosts
            part.found_sitemap(SitemapFound(hash_of(url), url, 0))
    return verdict


async def read_robots(url: str, ask: Ask, rules: UrlRules) -> FetchAnswer | FetchFailure | None:
    """Redirects are followed, five at most, wherever they lead: each hop at the pace of its host."""
    for _ in range(_HOPS + 1):
        answer = await ask(url)
        if not isinstance(answer, FetchAnswer) or not 300 <= answer.status < 400:
            return answer
        target = redirect_target(answer, rules)
        if target is None:
            return answer
        url = target[0]
    return answer
