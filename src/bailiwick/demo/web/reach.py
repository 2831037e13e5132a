"""What a polite, complete crawler finds on a site: breadth first, by the answers that the site gives."""

import re
from collections import deque
from collections.abc import Iterator
from html import unescape
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from bailiwick.base.errors import NameRefusedError
from bailiwick.demo.web.answers import Answer, Request
from bailiwick.model.urls import PageUrl

if TYPE_CHECKING:
    from bailiwick.demo.web.sites import Site

Depths: TypeAlias = dict[str, int]
"""Path and query -> the fewest links from the home page."""

_HREF = re.compile(r"<a\b[^>]*?\bhref=\"([^\"]*)\"", re.IGNORECASE)
_MOST_ORIGINS = 4
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


def depths_of(site: "Site") -> Depths:
    """The depth of each page that is answered with a whole 200. A redirect's target is as deep as the redirect."""
    origin = _home_origin(site)
    depths: Depths = {}
    seen: set[str] = set()
    waiting = deque([("/", 0)])
    while waiting:
        path, depth = waiting.popleft()
        if path in seen:
            continue
        seen.add(path)
        plain = site.plain_targets(path)
        if plain is not None:
            depths[path] = depth
            waiting.extend((target, depth + 1) for target in plain if target not in seen)
            continue
        request = Request(path=path, host=origin[1], scheme=origin[0])
        answer = site.answer(request)
        target = _redirect_target(answer)
        if target is not None:
            # In front of what waits at this depth: the order of depths stays.
            waiting.extendleft((found, depth) for found in _within(site, request, [target]))
        elif answer.status == 200 and answer.whole:
            depths[path] = depth
            waiting.extend((found, depth + 1) for found in _within(site, request, links_in(answer)))
    return depths


def links_in(answer: Answer) -> list[str]:
    """The links of an answer, as written; none in what is not HTML."""
    if isinstance(answer.body, bytes) or not answer.content_type.startswith("text/html"):
        return []
    return [unescape(href) for href in _HREF.findall(answer.body)]


def _home_origin(site: "Site") -> tuple[str, str]:
    """(scheme, host) at which the site wants to be visited: where its home page's redirects to itself end."""
    scheme, host = "http" if "http" in site.schemes else "https", site.host
    for _ in range(_MOST_ORIGINS):
        request = Request(path="/", host=host, scheme=scheme)
        target = _redirect_target(site.answer(request))
        if target is None or list(_within(site, request, [target])) != ["/"]:
            break
        parts = urlsplit(target)
        scheme, host = parts.scheme or scheme, parts.netloc or host
    return scheme, host


def _redirect_target(answer: Answer) -> str | None:
    return answer.headers.get("Location") if answer.status in _REDIRECTS else None


def _within(site: "Site", request: Request, hrefs: list[str]) -> Iterator[str]:
    base = request.url()
    for href in hrefs:
        try:
            page = PageUrl.parse(href, base)
        except NameRefusedError:
            continue
        if page.domain.host == site.host:
            yield page.path
