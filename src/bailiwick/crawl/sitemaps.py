"""Sitemaps and feeds in the crawl: read beside the pages, at the host's pace. What they name has depth 1."""

import asyncio
from dataclasses import dataclass

from bailiwick.base.errors import NameRefusedError
from bailiwick.crawl.addresses import own_url
from bailiwick.crawl.results import SitemapFound, SitemapRead
from bailiwick.crawl.slice import Slice
from bailiwick.crawl.tools import Tools
from bailiwick.crawl.visit import ask
from bailiwick.model.urls import PageUrl, hash_of
from bailiwick.net.sitemaps import EntryKind, SitemapReader
from bailiwick.ports import FetchAnswer

_PIECE = 1 << 8
"""Bytes read at a time: unpacked 256 KB at most, a fifth of a second. The loop belongs to other domains, too."""
_DEEPEST = 3
_MOST_TRIES = 3
_READ_AGAIN_SECONDS = 86_400.0
_TRY_AGAIN_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class SitemapDue:
    """One that is to be read, from an entry on."""

    url_hash: int
    url: str
    level: int
    entries_taken: int
    tries: int


async def read_sitemap(part: Slice, due: SitemapDue, tools: Tools) -> None:
    """Fetch one and put what it names into the slice, cursor and links together: the next flush makes both true."""
    if not _is_allowed(part, due.url, tools):
        part.read_sitemap(_failed(due, "robots.txt forbids it", for_good=True), [], [])
        return
    headers = tools.credentials.headers_for(part.lease.name, due.url)
    answer = await ask(part, due.url, tools, headers=headers, body=True)
    if answer is None:
        return
    if not isinstance(answer, FetchAnswer):
        part.read_sitemap(_failed(due, answer.message), [], [])
    elif answer.status != 200 or answer.body is None:
        for_good = 400 <= answer.status < 500 and answer.status != 429
        part.read_sitemap(_failed(due, f"status {answer.status}", for_good=for_good), [], [])
    else:
        await _take_in(part, due, answer.body, tools)


async def _take_in(part: Slice, due: SitemapDue, body: bytes, tools: Tools) -> None:
    reader = SitemapReader()
    reader.skip(due.entries_taken)
    paths: dict[str, None] = {}
    found: list[SitemapFound] = []
    for start in range(0, len(body), _PIECE):
        await asyncio.sleep(0)
        entries = reader.feed(body[start : start + _PIECE])
        if start + _PIECE >= len(body):
            entries += reader.close()
        for entry in entries:
            url = own_url(part.lease.name, due.url, entry.url)
            if url is None:
                continue
            if entry.kind is EntryKind.SITEMAP:
                if due.level < _DEEPEST:
                    found.append(SitemapFound(hash_of(url), url, due.level + 1))
            elif (path := _path(url, tools)) is not None:
                paths[path] = None
    error = "it is damaged; what could be read was taken" if reader.is_broken else None
    read = SitemapRead(due.url_hash, "read", 0 if error is None else reader.cursor, error, _READ_AGAIN_SECONDS)
    new, _ = part.admit(paths, 1, "")
    part.read_sitemap(read, new, found)


def _path(url: str, tools: Tools) -> str | None:
    try:
        return PageUrl.parse(url, rules=tools.rules).path
    except NameRefusedError:
        return None


def _is_allowed(part: Slice, url: str, tools: Tools) -> bool:
    verdict = part.robots.get(part.base_url or "")
    try:
        return verdict is None or verdict.robots.allows(PageUrl.parse(url, rules=tools.rules).path)
    except NameRefusedError:
        return False


def _failed(due: SitemapDue, why: str, *, for_good: bool = False) -> SitemapRead:
    state = "failed" if for_good or due.tries + 1 >= _MOST_TRIES else "pending"
    return SitemapRead(due.url_hash, state, due.entries_taken, why, _TRY_AGAIN_SECONDS)
