"""The index follows the outbox: nothing is missed, nothing stays that is gone, and a lost place means a new index."""

import threading
import time
from collections.abc import Callable

import pytest
from sqlalchemy import text

from bailiwick.backends.index_postgres import PostgresSearchIndex
from bailiwick.db.engine import Database
from bailiwick.ledger import outbox
from bailiwick.ledger.outbox import Message
from bailiwick.model.search import SearchQuery
from bailiwick.query import feed
from bailiwick.query.feed import Counts, rebuild, run_once
from tests.query.content_tools import Made, domain, parsed
from tests.registry.tools import shift_clock


@pytest.fixture
def index(database: Database) -> PostgresSearchIndex:
    made = PostgresSearchIndex(database)
    assert run_once(database, made) == Counts(is_rebuilt=True), "a new reader builds, here of nothing"
    return made


@pytest.fixture
def found(index: PostgresSearchIndex) -> Callable[[str], set[str]]:
    return lambda words: {hit.url.removeprefix("https://") for hit in index.search(SearchQuery(words, limit=1000)).hits}


def put(database: Database, name: str, path: str, made: Made | None, *, tell: bool = True) -> int:
    with database.begin() as conn:
        domain_id = domain(conn, name)
        parsed(conn, domain_id, path, made, tell=tell)
    return domain_id


def moved(database: Database, domain_id: int) -> None:
    with database.begin() as conn:
        outbox.put(conn, [Message("domain_content_moved", "domain", domain_id, {})])


def rows(database: Database) -> int:
    with database.read() as conn:
        return int(conn.execute(text("select count(*) from search_documents")).scalar_one())


def test_pages_come_change_and_go(
    database: Database, index: PostgresSearchIndex, found: Callable[[str], set[str]]
) -> None:
    for number in range(5):
        put(database, "a.org", f"/{number}", Made("a heron", items=[("article", {"headline": "Heron!"})]))
    assert run_once(database, index) == Counts(messages=5, pages=5)
    assert rows(database) == 10
    put(database, "a.org", "/0", Made("a stork"))
    put(database, "a.org", "/1", None)
    assert "a.org/0" not in found("heron"), "what was replaced is not shown, even before the index knows"
    assert run_once(database, index) == Counts(messages=2, pages=2)
    assert found("heron") == {"a.org/2", "a.org/3", "a.org/4"}
    assert found("stork") == {"a.org/0"}
    assert run_once(database, index) == Counts()
    assert rows(database) == 7


def test_it_reads_in_bounded_steps(
    database: Database, index: PostgresSearchIndex, found: Callable[[str], set[str]]
) -> None:
    for number in range(7):
        put(database, "a.org", f"/{number}", Made("heron"))
    assert [run_once(database, index, limit=3).is_more_left for _ in range(3)] == [True, True, False]
    assert len(found("heron")) == 7


def test_other_messages_are_passed_over(database: Database, index: PostgresSearchIndex) -> None:
    with database.begin() as conn:
        odd = [{"path_hash": "x"}, [], None, {"path_hash": 3}]
        outbox.put(conn, [Message("extraction_completed", "page", 1, payload) for payload in odd])
        outbox.put(conn, [Message("page_flagged", "page", None, {}), Message("extraction_completed", "page", None, {})])
    assert run_once(database, index) == Counts(messages=6, pages=1)


def test_a_moved_domain_is_indexed_anew(
    database: Database, index: PostgresSearchIndex, found: Callable[[str], set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "CHUNK", 3)
    for number in range(8):
        a = put(database, "a.org", f"/{number}", Made("heron"))
    b = put(database, "b.org", "/", Made("heron"))
    assert not run_once(database, index).is_more_left
    with database.begin() as conn:
        for table in ("pages", "page_parses", "page_snapshots"):
            conn.execute(
                text(f"update {table} set domain_id = :b where domain_id = :a and path_hash > 0"), {"a": a, "b": b}
            )
            conn.execute(text(f"delete from {table} where domain_id = :a"), {"a": a})
    put(database, "c.org", "/", Made("heron"))
    moved(database, a)
    moved(database, b)
    put(database, "c.org", "/2", Made("heron"))
    while run_once(database, index).is_more_left:
        pass
    left = found("heron")
    assert {"b.org/", "c.org/", "c.org/2"} < left
    assert not [url for url in left if url.startswith("a.org")]
    assert rows(database) == len(left)


def test_a_lost_index_is_made_again(
    database: Database, index: PostgresSearchIndex, found: Callable[[str], set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "CHUNK", 4)
    for number in range(11):
        put(database, "a.org", f"/{number}", Made("heron"))
    put(database, "a.org", "/gone", Made("heron"))
    run_once(database, index)
    put(database, "a.org", "/gone", None, tell=False)
    with database.begin() as conn:
        conn.execute(text("delete from search_documents where path_hash > 0"))
    done: list[int] = []
    assert rebuild(database, index, say_done=done.append) == Counts(pages=12, is_rebuilt=True)
    assert done == [4, 8, 12, 12]
    assert found("heron") == {f"a.org/{number}" for number in range(11)}
    assert rows(database) == 11


def test_what_comes_during_a_rebuild_is_not_lost(
    database: Database, index: PostgresSearchIndex, found: Callable[[str], set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "CHUNK", 1)
    for number in range(3):
        put(database, "b.org", f"/{number}", Made("heron"))
    came: list[int] = []

    def meanwhile(done: int) -> None:
        if not came:
            came.append(put(database, "b.org", "/new", Made("heron")))
            put(database, "b.org", "/0", None)

    rebuild(database, index, say_done=meanwhile)
    run_once(database, index)
    assert found("heron") == {"b.org/1", "b.org/2", "b.org/new"}


def test_a_reader_that_fell_behind_builds_anew(
    database: Database, index: PostgresSearchIndex, found: Callable[[str], set[str]]
) -> None:
    put(database, "a.org", "/", Made("heron"))
    with database.begin() as conn:
        conn.execute(text("delete from outbox"))
    assert run_once(database, index) == Counts(), "not noticed yet: it is young"
    shift_clock(database, "15 days")
    assert run_once(database, index) == Counts(pages=1, is_rebuilt=True)
    assert found("heron") == {"a.org/"}
    assert run_once(database, index) == Counts()


def test_another_dictionary_is_another_index(database: Database, index: PostgresSearchIndex) -> None:
    put(database, "a.org", "/", Made("Förderungen und Zuschüsse"))
    run_once(database, index)
    german = PostgresSearchIndex(database, language="german")
    assert run_once(database, german).is_rebuilt
    assert len(german.search(SearchQuery("Förderung")).hits) == 1
    assert run_once(database, index).is_rebuilt, "and back again"
    assert index.search(SearchQuery("Förderung")).hits == ()


def test_two_feeders_at_once_do_no_harm(
    database: Database, index: PostgresSearchIndex, found: Callable[[str], set[str]]
) -> None:
    for number in range(40):
        put(database, "a.org", f"/{number}", Made("heron"))
    counts: list[Counts] = []

    def work() -> None:
        for _ in range(2_000):  # who finds the reader busy comes again, until nothing is left
            counts.append(done := run_once(database, index, limit=2))
            if not done.is_busy and not done.is_more_left:
                return
            time.sleep(0.01 if done.is_busy else 0)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found("heron")) == 40
    assert sum(count.messages for count in counts) == 40


def test_two_builders_at_once_are_one(database: Database, index: PostgresSearchIndex) -> None:
    put(database, "a.org", "/", Made("heron"))
    inside: list[Counts] = []
    rebuild(database, index, say_done=lambda _: inside.append(rebuild(database, index)))
    assert inside == [Counts(is_busy=True)]
    rebuild(database, index, say_done=lambda _: inside.append(rebuild(database, index, force=True)))
    assert inside[1:] == [Counts(pages=1, is_rebuilt=True)]


def test_a_failure_leaves_index_and_place_as_they_were(
    database: Database, index: PostgresSearchIndex, found: Callable[[str], set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(database, "a.org", "/", Made("heron"))
    with monkeypatch.context() as patched:
        patched.setattr(feed, "_move", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run_once(database, index)
    assert rows(database) == 0
    assert run_once(database, index).messages == 1
    assert found("heron") == {"a.org/"}
