"""What the registry tells an evaluation: near copies and which was first, other pages, where links lead."""

from dataclasses import replace

from sqlalchemy import Connection, text

from bailiwick.accounts.members import local_admin
from bailiwick.db.engine import Database
from bailiwick.model.material import LinkCheck, Lookalike
from bailiwick.model.urls import PageUrl
from bailiwick.score import jobs, known
from bailiwick.score.jobs import ClaimedUrl

SIMHASH = -(2**62) + 12_345
SAME, OTHER = b"s" * 16, b"o" * 16


def claimed(conn: Connection, *urls: str) -> list[ClaimedUrl]:
    job = jobs.create(conn, "a job", "general", "mark", local_admin(conn))
    jobs.add_urls(conn, job, [(PageUrl.parse(url), url) for url in urls], local_admin(conn))
    return sorted(jobs.claim(conn, job.id, 100), key=lambda url: url.id)


def read(conn: Connection, url: ClaimedUrl, *, simhash: int, content_hash: bytes, days_ago: float) -> None:
    """A page that a crawl has fetched and parsed."""
    page = {"domain_id": url.domain_id, "path_hash": url.path_hash, "path": url.path}
    conn.execute(
        text("""insert into pages (domain_id, path_hash, path, state, last_status)
                values (:domain_id, :path_hash, :path, 'fetched', 200)"""),
        page,
    )
    kept = {**page, "simhash": simhash, "content_hash": content_hash, "days": days_ago}
    snapshot = conn.execute(
        text("""insert into page_snapshots (domain_id, path_hash, content_hash, body_hash, kind, title, text, words,
                    simhash, is_relevant, relevance, relevance_reason, relevance_source, extractor_version,
                    profile_mark, first_seen_at)
                values (:domain_id, :path_hash, :content_hash, :content_hash, 'html', 'A title', 'Some words', 2,
                    :simhash, true, 1, 'all', 'all', 1, 1, bailiwick_now() - make_interval(days => :days))
                returning id"""),
        {**kept, "days": int(days_ago)},
    ).scalar_one()
    conn.execute(
        text("""insert into page_parses (domain_id, path_hash, body_hash, outcome, snapshot_id, extractor_version,
                    profile, profile_mark)
                values (:domain_id, :path_hash, :content_hash, 'parsed', :snapshot, 1, 'general', 1)"""),
        {**kept, "snapshot": snapshot},
    )


def test_near_copies_elsewhere_and_who_was_first(database: Database) -> None:
    with database.begin() as conn:
        mine, old, new, far, own = claimed(
            conn, "https://a.example/1", "https://b.example/1", "https://c.example/1", "https://d.example/1",
            "https://a.example/2",
        )  # fmt: skip
        read(conn, mine, simhash=SIMHASH, content_hash=SAME, days_ago=5)
        read(conn, old, simhash=SIMHASH, content_hash=SAME, days_ago=9)
        read(conn, new, simhash=SIMHASH ^ (1 << 3 | 1 << 40 | 1 << 61), content_hash=OTHER, days_ago=2)
        read(conn, far, simhash=SIMHASH ^ 0b1111 << 20, content_hash=OTHER, days_ago=9)
        read(conn, own, simhash=SIMHASH, content_hash=SAME, days_ago=9)
        found, compared = known.lookalikes(conn, mine, simhash=SIMHASH, content_hash=SAME)
        unread, _ = known.lookalikes(conn, replace(mine, path_hash=0), simhash=SIMHASH, content_hash=SAME)
    assert found == (Lookalike("b.example/1", 1.0, True), Lookalike("c.example/1", 1 - 3 / 64, False))
    assert compared >= 5
    assert [one.is_older for one in unread] == [True, True]


def test_other_pages_of_the_domain(database: Database) -> None:
    with database.begin() as conn:
        one, other, _ = claimed(conn, "https://a.example/1", "https://a.example/2", "https://b.example/1")
        read(conn, one, simhash=1, content_hash=SAME, days_ago=1)
        read(conn, other, simhash=2, content_hash=OTHER, days_ago=1)
        [page] = known.site_pages(conn, one)
        stored = known.stored_page(conn, one)
    assert (page.url, page.title, page.text) == ("https://a.example/2", "A title", "Some words")
    assert stored is not None
    assert not stored.is_read  # its body was never stored


def test_where_links_lead_as_crawls_found_it(database: Database) -> None:
    urls = [f"https://a.example/{status}" for status in (200, 404, 403)]
    with database.begin() as conn:
        for url in claimed(conn, *urls):
            read(conn, url, simhash=url.id, content_hash=SAME, days_ago=1)
        conn.execute(text("update pages set last_status = substr(path, 2)::int"))
        links = [(url, PageUrl.parse(url)) for url in (*urls, "https://b.example/unknown")]
        found = known.known_links(conn, links)
    assert found == {
        urls[0]: LinkCheck(urls[0], False, "status 200"),
        urls[1]: LinkCheck(urls[1], True, "status 404"),
        urls[2]: LinkCheck(urls[2], None, "status 403"),
    }
