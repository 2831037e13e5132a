"""Pages looked at in child processes: what comes back, and what a page can do to its child but not to us."""

import asyncio
from collections.abc import Awaitable, Callable

from bailiwick.base.sections import ParseSettings
from bailiwick.model.material import SiteMaterial, SitePage
from bailiwick.model.scoring import ScorePolicy
from bailiwick.pipeline.look_pool import LookPool, Unseen
from bailiwick.pipeline.looking import Assessed, Look, Seen, site_values

URL = "https://a.example/story"
HTML = "text/html; charset=utf-8"
PAGE = (
    b"<!doctype html><html lang=en><title>Ships</title><nav><a href=/contact>Contact us</a></nav><article>"
    + b"<p>The harbour has seen many ships, and each of them left a story behind.</p>" * 40
)


def run(work: Callable[[LookPool], Awaitable[None]], **settings: float) -> None:
    async def inside() -> None:
        pool = LookPool(1, ParseSettings(**settings))  # type: ignore[arg-type]
        try:
            await work(pool)
        finally:
            await pool.close()

    asyncio.run(inside())


def test_first_and_second_look() -> None:
    async def work(pool: LookPool) -> None:
        seen = await pool.see(Look(url=URL, content_type=HTML), PAGE)
        assert isinstance(seen, Seen)
        assert (seen.is_empty, seen.title, seen.likely_pages) == (False, "Ships", ("https://a.example/contact",))
        site = SiteMaterial(pages=(SitePage("https://a.example/contact", "Contact us"),))
        look = Look(url=URL, content_type=HTML, policy=ScorePolicy(), site=site_values(site))
        found = await pool.assess(look, PAGE)
        assert isinstance(found, Assessed)
        assert found.layer2.guest_post_red_flags.contact_page.detected
        assert found.layer3 is not None
        assert found.vector is not None
        assert found == await pool.assess(look, PAGE)

    run(work)


def test_nothing_to_look_at_is_no_score() -> None:
    async def work(pool: LookPool) -> None:
        for body, kind in ((b"", HTML), (b"\x89PNG\r\n\x1a\n" + bytes(64), "image/png")):
            seen = await pool.see(Look(url=URL, content_type=kind), body)
            assert isinstance(seen, Seen)
            assert seen.is_empty
            found = await pool.assess(Look(url=URL, content_type=kind, policy=ScorePolicy()), body)
            assert isinstance(found, Assessed)
            assert found.layer3 is None

    run(work)


def test_a_page_that_takes_too_long_costs_its_child_alone() -> None:
    """Ten megabytes in a hundredth of a second: no child can. Each is asked of a new one, since the last one died."""

    async def work(pool: LookPool) -> None:
        for _ in range(2):
            slow = await pool.see(Look(url=URL, content_type=HTML), b"<div><a href=/x>word " * 500_000)
            assert isinstance(slow, Unseen)

    run(work, page_seconds=0.01)
