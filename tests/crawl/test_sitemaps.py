"""Sitemaps in the crawl: whatever they are, the loop stays open to other domains."""

import asyncio
import gzip

import uvloop

from bailiwick.base.sections import NetSettings
from bailiwick.crawl import sitemaps
from bailiwick.crawl.sitemaps import SitemapDue
from bailiwick.crawl.slice import Slice
from bailiwick.crawl.tools import Tools
from bailiwick.model.names import DomainName
from bailiwick.model.urls import DEFAULT_RULES, LinkJoiner
from bailiwick.net.client import HttpFetcher
from bailiwick.net.credentials import Credentials
from bailiwick.net.guard import Guard
from tests.crawl.desk_tools import NoStore, slice_without_database

A = DomainName.parse("a.test")
HOME = "http://a.test"


def a_slice() -> Slice:
    return slice_without_database(A, base_url=HOME)


def tools_with(fetcher: HttpFetcher) -> Tools:
    async def reserve(_: str) -> float:
        return 0.0

    joiner = LinkJoiner(DEFAULT_RULES)
    return Tools(fetcher, NoStore(), joiner, DEFAULT_RULES, Credentials(), 0, 0, "Bailiwick", reserve)


def test_a_packed_sitemap_leaves_the_loop_to_others() -> None:
    """Some thousand bytes that are six megabytes of nothing: others have their turn again and again meanwhile."""
    packed = gzip.compress(b'<?xml version="1.0"?><urlset>' + b"<url/>" * 1_000_000)
    assert len(packed) < 20_000
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async def story() -> None:
        fetcher = HttpFetcher(NetSettings(), Guard(), user_agent="x")
        part, beside = a_slice(), asyncio.create_task(others())
        await sitemaps._take_in(part, SitemapDue(1, f"{HOME}/sitemap.xml", 0, 0, 0), packed, tools_with(fetcher))
        beside.cancel()
        await fetcher.close()
        assert [read.state for read in part.take_batch().sitemaps_read] == ["read"]

    uvloop.run(story())
    assert turns >= len(packed) // 256
