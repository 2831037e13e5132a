"""What becomes of single pages: outcomes, redirects, charsets, codings, conditional requests. One crawl, many pages."""

from typing import Any

import pytest

from bailiwick.demo.web import behaviours as b
from bailiwick.demo.web.sites import Site, Web
from tests.e2e.conftest import MakeLand
from tests.e2e.tools import Land

HOST, OTHER = "odd.test", "other.test"
FAST = {
    "BAILIWICK_CRAWL_RETRY_BACKOFF_SECONDS": "0.1",
    "BAILIWICK_NET_TOTAL_TIMEOUT_SECONDS": "3",
    "BAILIWICK_NET_IDLE_TIMEOUT_SECONDS": "1",
    "BAILIWICK_NET_MAX_BODY_BYTES": "200000",
    "BAILIWICK_CRAWL_MAX_DOMAIN_ERRORS": "1000",
}
ODD: dict[str, tuple[b.Behaviour, str, str]] = {
    # path: (behaviour, outcome, state)
    "/gone": (b.status(404), "not_found", "failed"),
    "/gone-for-good": (b.status(410), "not_found", "failed"),
    "/forbidden": (b.status(403), "forbidden", "failed"),
    "/login": (b.status(401), "login", "failed"),
    "/teapot": (b.status(418), "client_error", "failed"),
    "/broken-server": (b.status(500), "server_error", "failed"),
    "/unavailable": (b.for_first(1, b.status(503)), "ok", "fetched"),
    "/slow-down": (b.for_first(1, b.too_many_requests("0")), "ok", "fetched"),
    "/silent": (b.dropped(), "broken", "failed"),
    "/silent-once": (b.for_first(1, b.dropped()), "ok", "fetched"),
    "/cut": (b.truncated(50), "broken", "failed"),
    "/endless": (b.endless(), "truncated", "fetched"),
    "/bomb": (b.gzip_bomb(50_000_000), "truncated", "fetched"),
    "/late": (b.delayed(5), "timeout", "failed"),
    "/pdf": (b.content("application/pdf", b"%PDF-1.7 nothing"), "ok", "fetched"),
    "/png": (b.content("image/png", b"\x89PNG"), "other_type", "fetched"),
    "/data.json": (b.content("application/json", b"{}"), "other_type", "fetched"),
    "/gzip": (b.encoded("gzip"), "ok", "fetched"),
    "/deflate": (b.encoded("deflate"), "ok", "fetched"),
    "/br": (b.encoded("br"), "ok", "fetched"),
    "/chunked": (b.chunked(), "ok", "fetched"),
    "/noindex": (b.noindex_meta(), "ok", "fetched"),
    "/noindex-header": (b.noindex_header(), "ok", "fetched"),
    "/moved": (b.redirect("/gzip"), "redirected", "fetched"),
    "/moved-new": (b.redirect("/only-by-redirect"), "redirected", "fetched"),
    "/moved-away": (b.redirect("/", host=OTHER), "redirected", "fetched"),
    "/loop": (b.redirect("/loop"), "redirect_loop", "failed"),
    "/nowhere": (b.redirect("mailto:me@example.org"), "redirected", "fetched"),
    "/charset-header": (b.in_charset("shift_jis", "日本語", told_by="header"), "ok", "fetched"),
    "/charset-meta": (b.in_charset("windows-1252", "naïve café", told_by="meta"), "ok", "fetched"),
    "/charset-bom": (b.in_charset("utf-16le", "привет", told_by="bom"), "ok", "fetched"),
}


def odd_web() -> Web:
    web = Web.generate(1, hosts=[HOST, OTHER], pages_per_host=3)
    site = web[HOST]
    template = site.page("/")
    assert template is not None
    from dataclasses import replace

    for path, (behaviour, _, _) in ODD.items():
        site.add(replace(template, path=path))
        site.behave(path, behaviour)
    site.add(replace(template, path="/only-by-redirect"))
    site.behave("/", b.linking(*ODD))
    return web


@pytest.fixture(scope="module")
def crawled(request: pytest.FixtureRequest, servers: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One crawl for all assertions."""
    from bailiwick.demo.web.running import serve

    with serve(odd_web()) as running, servers.cloned("pg18") as url:
        land = Land(tmp_path_factory.mktemp("odd"), running, url)
        land.crawl(land.name(OTHER))
        land.crawl(land.name(HOST), **FAST)
        yield land


def page(land: Land, path: str) -> Any:
    sql = "select p.* from pages p join domains d on d.id = p.domain_id where d.name = :name and p.path = :path"
    [row] = land.rows(sql, name=land.name(HOST), path=path)
    return row


@pytest.mark.parametrize("path", ODD)
def test_each_page_has_its_outcome(crawled: Land, path: str) -> None:
    row = page(crawled, path)
    assert (row.last_outcome, row.state) == ODD[path][1:], row.last_error


def test_retries_are_counted_and_used_up(crawled: Land) -> None:
    assert page(crawled, "/broken-server").fetch_count == 4
    assert page(crawled, "/forbidden").fetch_count == 1
    assert page(crawled, "/unavailable").fetch_count == 2


def test_the_books_agree(crawled: Land) -> None:
    crawled.check()


def test_what_holds_no_text_is_recorded_without_a_body(crawled: Land) -> None:
    for path, kind in (("/png", "image/png"), ("/data.json", "application/json")):
        row = page(crawled, path)
        assert row.content_type.startswith(kind)
        assert row.pack_id is None


def test_noindex_pages_are_followed_and_stored_but_not_parsed(crawled: Land) -> None:
    for path in ("/noindex", "/noindex-header"):
        row = page(crawled, path)
        assert row.is_noindex
        assert row.pack_id is not None
    waiting = {row.path_hash for row in crawled.rows("select path_hash from parse_queue")}
    assert page(crawled, "/noindex").path_hash not in waiting
    assert page(crawled, "/noindex-header").path_hash not in waiting
    assert page(crawled, "/gzip").path_hash in waiting
    assert page(crawled, "/pdf").path_hash in waiting
    assert page(crawled, "/png").path_hash not in waiting


def test_bodies_are_stored_decoded_with_their_head(crawled: Land) -> None:
    from bailiwick.app import App
    from bailiwick.ports import BodyRef

    row = page(crawled, "/br")
    with crawled.app() as app:
        assert isinstance(app, App)
        stored = app.body_store.get(BodyRef(row.pack_id, row.pack_offset, row.pack_length))
    assert stored.head.startswith(b"HTTP/1.1 200 ")
    assert b"content-encoding: br" in stored.head.lower()
    assert b"<html" in stored.body[:200].lower()


def test_a_redirect_within_the_domain_keeps_the_depth(crawled: Land) -> None:
    assert page(crawled, "/moved-new").depth == 1
    target = page(crawled, "/only-by-redirect")
    assert (target.depth, target.last_outcome) == (1, "ok")


def test_a_redirect_out_of_the_domain_is_offered_to_its_own(crawled: Land) -> None:
    """It is approved, so it gets the wish; nobody fetched anything there on behalf of this domain."""
    wishes = crawled.rows("select d.name, r.kind, r.path from page_requests r join domains d on d.id = r.domain_id")
    assert [tuple(row) for row in wishes] == [(crawled.name(OTHER), "redirect", "/")]


def test_links_that_lead_away_are_kept_with_their_text(crawled: Land) -> None:
    rows = crawled.rows(
        "select o.target, o.anchor from outlinks o join domains d on d.id = o.domain_id where d.name = :name",
        name=crawled.name(HOST),
    )
    assert crawled.name(OTHER) in {row.target for row in rows}
    assert any(row.anchor for row in rows)


def test_conditional_requests_and_the_cheap_text_hash(land_of: MakeLand) -> None:
    """304, same bytes, same text: no body, no parse row, no message; a real change has all three."""
    web = Web.generate(2, hosts=[HOST], pages_per_host=12)
    site = web[HOST]
    paths = sorted(site.reachable())
    by_etag, by_bytes, by_text, changed = paths[1:5]
    site.behave(by_etag, b.validators())
    land = land_of(web)
    land.crawl(land.name(HOST), "--depth", "all")
    before = {row.path: row for row in land.rows("select * from pages")}
    told = land.value("select count(*) from outbox")
    land.rows_done("delete from parse_queue")
    site.change(by_text, visible=False)
    site.change(changed)
    land.run("domain", "recrawl", land.name(HOST))
    land.crawl_due()
    after = {row.path: row for row in land.rows("select * from pages")}
    assert {row.fetch_count for row in after.values()} == {2}
    assert after[by_etag].last_status == 304
    assert [path for path in paths if after[path].last_outcome == "ok"] == [changed]
    for path in (by_etag, by_bytes, by_text):
        assert after[path].last_outcome == "unchanged"
        assert (after[path].pack_offset, after[path].body_hash) == (before[path].pack_offset, before[path].body_hash)
        assert after[path].next_at > before[path].next_at
    assert after[changed].body_hash != before[changed].body_hash
    assert [row.path_hash for row in land.rows("select path_hash from parse_queue")] == [after[changed].path_hash]
    assert land.value("select count(*) from outbox") == told + 1
    land.check()


def test_the_origin_is_learned_and_kept(land_of: MakeLand) -> None:
    """The apex sends to www: one page, fetched there; nothing is known twice."""
    web = Web([Site(HOST, Web.generate(4, hosts=[HOST], pages_per_host=8)[HOST].tree, www=True)])
    web[HOST].behave_everywhere(b.at_origin(www=True))
    land = land_of(web)
    land.crawl(land.name(HOST), "--depth", "all")
    assert land.value("select base_url from domains") == f"http://www.{land.name(HOST)}"
    assert land.value("select count(*) from pages where last_status = 200") == 8
    land.check()
