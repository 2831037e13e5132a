"""How site parsers do, kept in the database: outcomes by page, counts by version, an alert when one breaks."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from bailiwick.db.engine import Database
from bailiwick.extract.content import ContentLimits
from bailiwick.extract.parsers import listing
from bailiwick.extract.parsers.facts import ParserOrder
from bailiwick.extract.parsers.stats import judge
from bailiwick.extract.parsers.survey import survey
from bailiwick.extract.pool import ExtractionPool, PoolLimits
from bailiwick.extract.queue import Again, Requeued, Taker, requeue
from bailiwick.extract.stage import ParseProgress, ParseStage, Work
from bailiwick.extract.version import EXTRACTOR_VERSION
from bailiwick.model.profile_files import load_profile
from tests.extract.parser_files import GOOD, page, returning, write
from tests.extract.tools import Shelved, rows, shelved, taker
from tests.servers import TestServers

MARKS = {"general": load_profile("general", None).mark}


@pytest.fixture
def database(servers: TestServers) -> Iterator[Database]:
    from tests.extract.test_stage import _settings

    with servers.cloned("pg18") as url, Database(Path("/nowhere"), _settings(url)) as opened:
        yield opened


@pytest.fixture
def shop(database: Database, tmp_path: Path) -> Iterator[Shelved]:
    found = shelved(database, tmp_path, "shop.example:8080")
    yield found
    found.store.close()


def parse(shop: Shelved, folder: Path) -> ParseProgress:
    found, plain = survey(folder), taker()
    order = ParserOrder(found.sources, frozenset(found.hosts), 2.0)

    async def run() -> ParseProgress:
        pool = ExtractionPool(2, None, PoolLimits(ContentLimits(), 20, 2_000_000_000), order)
        who = Taker(plain.worker, plain.machine, plain.seconds, parser_marks=found.marks)
        return await ParseStage(Work(shop.database, shop.store, pool, who, lambda: MARKS, 10)).run()

    return asyncio.run(run())


def stale(shop: Shelved, folder: Path) -> int:
    with shop.database.begin() as conn:
        again = Again(EXTRACTOR_VERSION, MARKS, parser_marks=survey(folder).marks)
        return requeue(conn, again, Requeued()).added


def stats(shop: Shelved) -> list[tuple[object, ...]]:
    with shop.database.read() as conn:
        return rows(conn, "select parser, version, tried, succeeded from parser_stats order by 1, 2")


def events(shop: Shelved) -> list[tuple[object, ...]]:
    with shop.database.read() as conn:
        return rows(
            conn,
            "select verb, m.name, before, after, details ->> 'parser' from events e join members m on m.id = actor_id"
            " where verb like 'parser_%' order by e.id",
        )


def test_outcomes_are_kept_by_page_and_counted_by_version(shop: Shelved, tmp_path: Path) -> None:
    folder = write(tmp_path / "parsers", shop=GOOD)
    for n in range(3):
        shop.put(f"/dp/{n}", page(f"Stool {n}"))
    shop.put("/dp/bad", page("").replace(b"productTitle", b"title"))
    shop.put("/about", page("About us"))
    assert parse(shop, folder).pages == 5
    assert stats(shop) == [("shop.ShelfPage", 3, 4, 3)]
    with shop.database.read() as conn:
        made = rows(
            conn, "select extractor, extractor_version, count(*) from items where kind = 'product' group by 1, 2"
        )
        assert made == [("shop.ShelfPage", 3, 3)]
        [failed] = listing.failures(conn, None, limit=10, after=listing.FIRST_FAILURE)
        [rate] = listing.rates_by_domain(conn, shop.domain_id, limit=10, after=listing.FIRST_RATE)
        assert listing.failures(conn, None, limit=10, after=failed.key) == []
        assert listing.rates_by_domain(conn, None, limit=10, after=rate.key) == []
    assert (failed.path, failed.outcome, failed.why) == ("/dp/bad", "refused", "name: Field required")
    assert (rate.domain, rate.rate.tried, rate.rate.share) == ("shop.example:8080", 4, 0.75)


def test_pages_are_stale_when_their_parser_comes_changes_or_goes(shop: Shelved, tmp_path: Path) -> None:
    folder = tmp_path / "parsers"
    other = shelved(shop.database, tmp_path, "other.example")
    for n in range(3):
        shop.put(f"/dp/{n}", page(f"Stool {n}"))
    other.put("/dp/1", page("Elsewhere"))
    other.store.close()
    parse(shop, folder)
    assert stale(shop, folder) == 0
    write(folder, shop=GOOD)
    assert stale(shop, folder) == 3
    parse(shop, folder)
    assert (stale(shop, folder), stats(shop)) == (0, [("shop.ShelfPage", 3, 3, 3)])
    write(folder, shop=GOOD.replace("parser_version = 3", "parser_version = 4"))
    assert stale(shop, folder) == 3
    parse(shop, folder)
    assert stats(shop) == [("shop.ShelfPage", 3, 3, 3), ("shop.ShelfPage", 4, 3, 3)]
    (folder / "shop.py").unlink()
    assert stale(shop, folder) == 3
    parse(shop, folder)
    with shop.database.read() as conn:
        assert rows(conn, "select count(*) from parser_tries") == [(0,)]
        assert rows(conn, "select count(*) from items where extractor = 'shop.ShelfPage'") == [(0,)]


@pytest.mark.parametrize(
    ("name", "hosts", "concerned"),
    [
        ("shop.example", ["shop.example"], ["shop.example"]),
        ("a.shop.example:81", ["shop.example", "", "b.shop.example"], ["shop.example", ""]),
        ("myshop.example", ["shop.example", "example"], ["example"]),
        ("other.org", ["shop.example"], []),
        ("127.0.0.1:80", ["127.0.0.1"], ["127.0.0.1"]),
    ],
)
def test_whom_a_parser_concerns(database: Database, name: str, hosts: list[str], concerned: list[str]) -> None:
    """The same for the database, that finds stale pages, and for the child, that loads parsers on use."""
    import json

    marks = {host: 2**n for n, host in enumerate(hosts)}
    with database.read() as conn:
        mark = conn.execute(text("select bailiwick_parser_mark(:n, :m)"), {"n": name, "m": json.dumps(marks)}).scalar()
    assert mark == sum(marks[host] for host in concerned)
    assert ParserOrder(hosts=frozenset(hosts)).covers(f"http://{name}/") == bool(concerned)


def test_an_alert_when_the_rate_halves_and_a_word_when_it_is_back(shop: Shelved, tmp_path: Path) -> None:
    """The site changes its pages: the parser fails on them. Told once; and once when it works again."""
    folder = write(tmp_path / "parsers", shop=GOOD)

    def crawl(count: int, *, start: int, good: bool) -> None:
        for n in range(start, start + count):
            shop.put(f"/dp/{n}", page(f"Stool {n}") if good else page(f"Stool {n}").replace(b"productTitle", b"title"))
        parse(shop, folder)

    crawl(60, start=0, good=True)
    assert events(shop) == []
    crawl(10, start=100, good=False)
    assert events(shop) == []  # 10 of the newest 35
    crawl(15, start=200, good=False)
    assert events(shop) == [("parser_degraded", "system", 1.0, pytest.approx(0.4, abs=0.1), "shop.ShelfPage")]
    crawl(20, start=300, good=False)
    assert len(events(shop)) == 1
    with shop.database.read() as conn:
        told = rows(conn, "select topic, subject_id, payload ->> 'parser' from outbox where topic like 'parser_%'")
        [rate] = listing.rates_by_domain(conn, None, limit=1, after=listing.FIRST_RATE)
    assert told == [("parser_degraded", shop.domain_id, "shop.ShelfPage")]
    assert rate.rate.is_fallen
    write(folder, shop=GOOD.replace("parser_version = 3", "parser_version = 4"))
    crawl(40, start=400, good=True)
    assert [event[:2] for event in events(shop)] == [("parser_degraded", "system"), ("parser_recovered", "system")]


def test_a_new_version_that_breaks_is_found_out(shop: Shelved, tmp_path: Path) -> None:
    folder = write(tmp_path / "parsers", shop=returning('return {"name": "A"}'))
    for n in range(40):
        shop.put(f"/{n}", page(f"Stool {n}"))
    parse(shop, folder)
    write(folder, shop=returning("return None").replace("parser_kind =", "parser_version = 2\n    parser_kind ="))
    assert stale(shop, folder) == 40
    parse(shop, folder)
    assert [event[0] for event in events(shop)] == ["parser_degraded"]
    assert stats(shop) == [("shop.Page", 1, 40, 40), ("shop.Page", 2, 40, 0)]


@pytest.mark.parametrize(
    ("recent", "fell_from", "verb"),
    [
        ("", None, None),
        ("1" * 20 + "0" * 19, None, None),  # 19 of each at most
        ("1" * 20 + "0" * 20, None, "parser_degraded"),
        ("1" * 20 + "0" * 10 + "1" * 10, None, "parser_degraded"),  # half is enough
        ("1" * 20 + "0" * 9 + "1" * 11, None, None),
        ("1" * 200 + "0" * 25 + "1" * 25, None, "parser_degraded"),
        ("1" * 200 + "0" * 24 + "1" * 26, None, None),
        ("0" * 250, None, None),  # it was never better
        ("10" * 100 + "1000" * 12 + "00", None, "parser_degraded"),
        ("0" * 250, 1.0, None),
        ("0" * 200 + "0" * 13 + "1" * 37, 1.0, None),
        ("0" * 200 + "0" * 12 + "1" * 38, 1.0, "parser_recovered"),
    ],
)  # fmt: skip
def test_when_something_is_told(recent: str, fell_from: float | None, verb: str | None) -> None:
    verdict = judge(recent, fell_from)
    assert (verdict and verdict.verb) == verb
