"""The links of our own crawls as a search engine."""

import asyncio

import pytest
from sqlalchemy import Connection, text

from bailiwick.accounts.members import local_admin
from bailiwick.approve import service as approve
from bailiwick.backends.engine_links import LinksEngine
from bailiwick.db.engine import Database
from bailiwick.model.urls import hash_of
from bailiwick.ports import EngineAnswer, EngineOutcome, EngineQuestion
from tests.query.content_tools import Made, domain, parsed
from tests.registry.tools import admit

TEXT = "We like to read. Clubs may apply for grants of the Oak Trust until March. The library is open on Monday."


def link(conn: Connection, source: str, page: str, target: str, path: str, anchor: str | None) -> None:
    conn.execute(
        text("insert into outlinks (domain_id, url_hash, target, path, anchor, from_hash)"
             " values (:d, :u, :t, :p, :a, :f)"),
        {"d": domain(conn, source), "u": hash_of(f"//{target}{path}"), "t": target, "p": path, "a": anchor,
         "f": hash_of(page)},
    )  # fmt: skip


@pytest.fixture
def engine(database: Database) -> LinksEngine:
    with database.begin() as conn:
        for source in ("library.example", "museum.example"):
            parsed(conn, domain(conn, source), "/", Made(TEXT, title=f"News of {source}"))
            link(conn, source, "/", "oak.example", "/grants", "grants of the Oak Trust")
        link(conn, "library.example", "/", "elm.example", "/", None)
        link(conn, "library.example", "/gone", "ash.example", "/community-grants", "Ash")
        link(conn, "library.example", "/", "known.example", "/grants", "their grants")
        link(conn, "library.example", "/", "spam.example", "/grants", "free grants")
        admit(conn, "known.example")
        approve.blacklist(conn, admit(conn, "spam.example")[0], local_admin(conn), reason="spam")
    return LinksEngine(database)


def ask(engine: LinksEngine, query: str, **more: int) -> EngineAnswer:
    answer = asyncio.run(engine.ask(EngineQuestion(query, **more)))
    assert answer.outcome is EngineOutcome.ANSWERED
    return answer


def test_links_that_name_a_word_of_the_query_with_the_text_around_them(engine: LinksEngine) -> None:
    hits = ask(engine, "community grant of a trust").hits
    assert [hit.url for hit in hits] == ["https://oak.example/grants", "https://ash.example/community-grants"]
    assert (hits[0].title, hits[0].snippet) == ("grants of the Oak Trust", TEXT)
    # Its page was not parsed: there is no text around it.
    assert (hits[1].title, hits[1].snippet) == ("Ash", "")


def test_without_a_query_all_links_page_by_page(engine: LinksEngine) -> None:
    first = ask(engine, "", count=2)
    second = ask(engine, "", count=2, page=2)
    assert (first.has_more, second.has_more) == (True, False)
    urls = [hit.url for hit in (*first.hits, *second.hits)]
    assert urls == ["https://oak.example/grants", "https://ash.example/community-grants", "https://elm.example/"]
    # A link without a text is told by the page where it stands.
    assert second.hits[0].title == "News of library.example"


@pytest.mark.parametrize("query", ["\\", "(((", "a{1,", "'; drop table outlinks --", "\x00", "%", "ürün грант"])
def test_any_text_is_a_query(engine: LinksEngine, query: str) -> None:
    ask(engine, query)
    assert len(ask(engine, "grants").hits) == 2
