"""What parsing came to, made true: once, whatever happens, and only for the body that was parsed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from bailiwick.db.engine import Database
from bailiwick.extract import queue
from bailiwick.extract.queue import Again, Requeued, requeue
from bailiwick.extract.version import EXTRACTOR_VERSION
from bailiwick.extract.writing import Result, write
from bailiwick.model.content import ParseOutcome
from tests.extract.tools import (
    IRRELEVANT,
    MARK,
    Shelved,
    article,
    count,
    found,
    parsed,
    rows,
    shelved,
    take,
    taker,
    unread,
)


@pytest.fixture
def pages(database: Database, tmp_path: Path) -> Iterator[Shelved]:
    found = shelved(database, tmp_path)
    yield found
    found.store.close()


def test_what_waits_is_taken_once(pages: Shelved) -> None:
    for n in range(10):
        pages.put(f"/{n}", b"x%d" % n)
    one, other = take(pages.database, "w1", 6), take(pages.database, "w2", 6)
    assert (len(one), len(other)) == (6, 4)
    assert not {page.key for page in one} & {page.key for page in other}
    assert take(pages.database, "w3") == []
    assert one[0].url.startswith("https://example.org/")


def test_the_time_of_a_batch_ends(pages: Shelved) -> None:
    pages.put("/a", b"x")
    assert len(take(pages.database, "w1", seconds=0)) == 1
    [again] = take(pages.database, "w2")
    assert again.attempts == 2
    with pages.database.begin() as conn:
        queue.give_back(conn, taker("w2"), [again])
    [third] = take(pages.database, "w3")
    assert third.attempts == 2, "what is given back was not tried"


def test_a_late_worker_does_no_harm(pages: Shelved) -> None:
    pages.put("/a", b"x")
    [mine] = take(pages.database, "w1", seconds=0)
    [theirs] = take(pages.database, "w2")
    for page in (theirs, mine):
        with pages.database.begin() as conn:
            write(conn, [Result(page, MARK, found("same"))])
    assert count(pages.database, "page_snapshots") == count(pages.database, "snapshot_history") == 1


def test_content_and_its_history(pages: Shelved) -> None:
    """A, B, A again: two contents, three lines of history, the last one leads back."""
    for body, words in ((b"1", "a"), (b"2", "b"), (b"3", "a")):
        pages.put("/a", body)
        written = parsed(pages.database, {"/a": found(words)})
        assert written.changed == 1
    with pages.database.read() as conn:
        snapshots = dict(rows(conn, "select id, text from page_snapshots"))  # type: ignore[arg-type]
        history = rows(conn, "select snapshot_id, previous_id from snapshot_history order by id")
    told = [(snapshots[now], before and snapshots[before]) for now, before in history]
    assert told == [("a", None), ("b", "a"), ("a", "b")]
    assert count(pages.database, "parse_queue") == 0


def test_known_content_is_only_seen_again(pages: Shelved) -> None:
    """P4: other bytes with the same content cause no snapshot, no history, no message."""
    pages.put("/a", b"1")
    parsed(pages.database, {"/a": found("a", items=[article("A")])})
    before = count(pages.database, "outbox")
    pages.put("/a", b"2")
    with pages.database.begin() as conn:
        conn.execute(text("update page_snapshots set first_seen_at = '2020-01-01', last_seen_at = '2020-01-01'"))
    written = parsed(pages.database, {"/a": found("a", relevance=None)})
    assert (written.changed, written.outcomes) == (0, {ParseOutcome.PARSED: 1})
    with pages.database.read() as conn:
        [(first, last)] = rows(
            conn, "select first_seen_at::date::text, last_seen_at > '2025-01-01' from page_snapshots"
        )
        [(body_hash,)] = rows(conn, "select s.body_hash = p.body_hash from page_snapshots s, page_parses p")
    assert (first, last, body_hash) == ("2020-01-01", True, True)
    assert count(pages.database, "outbox") == before
    assert count(pages.database, "items") == 1


def test_a_body_that_changed_meanwhile_waits_on(pages: Shelved) -> None:
    pages.put("/a", b"1")
    [page] = take(pages.database)
    pages.put("/a", b"2")
    with pages.database.begin() as conn:
        written = write(conn, [Result(page, MARK, found("old"))])
    assert (written.late, written.outcomes) == (1, {})
    assert count(pages.database, "page_snapshots") == count(pages.database, "page_parses") == 0
    assert len(take(pages.database)) == 1


def test_why_there_is_no_content_is_recorded(pages: Shelved) -> None:
    pages.put("/a", b"1")
    pages.put("/b", b"2")
    parsed(pages.database, {"/a": unread(ParseOutcome.POISON, "it kills the parser"), "/b": found("b")})
    with pages.database.read() as conn:
        told = rows(conn, "select outcome, error, snapshot_id is null from page_parses order by outcome")
    assert told == [("parsed", None, False), ("poison", "it kills the parser", True)]


def test_content_that_is_lost_and_comes_back(pages: Shelved) -> None:
    """The history goes on from what the page held before."""
    for body, result in ((b"1", found("a")), (b"2", unread(ParseOutcome.EMPTY)), (b"3", found("a", relevance=None))):
        pages.put("/a", body)
        parsed(pages.database, {"/a": result})
    assert count(pages.database, "snapshot_history") == 1
    with pages.database.read() as conn:
        assert rows(conn, "select outcome, snapshot_id is not null from page_parses") == [("parsed", True)]


def test_items_are_replaced_and_keep_their_ids(pages: Shelved) -> None:
    pages.put("/a", b"1")
    parsed(pages.database, {"/a": found("a", items=[article("One"), article("Two", 1)])})
    with pages.database.read() as conn:
        [(kept,)] = rows(conn, "select id from items where position = 0")
    pages.put("/a", b"1")
    parsed(pages.database, {"/a": found("a", items=[article("Other")])})
    with pages.database.read() as conn:
        assert rows(conn, "select id, data ->> 'headline' from items") == [(kept, "Other")]


def test_what_listeners_hear(pages: Shelved) -> None:
    for n, result in enumerate((found("a", items=[article("A")]), found("b", relevance=IRRELEVANT))):
        pages.put(f"/{n}", b"%d" % n)
        parsed(pages.database, {f"/{n}": result})
    pages.put("/2", b"2")
    parsed(pages.database, {"/2": unread(ParseOutcome.EMPTY)})
    with pages.database.read() as conn:
        told = rows(conn, "select topic, payload -> 'snapshot' <> 'null', payload -> 'items' from outbox order by id")
    assert told == [
        ("extraction_completed", True, 1),
        ("page_flagged", True, 1),
        ("extraction_completed", True, 0),
        ("extraction_completed", False, 0),
    ]


def test_only_what_is_out_of_date_waits_again(pages: Shelved) -> None:
    """By version, profile and outcome; by force all. Doing it again changes nothing."""
    for path in ("/done", "/old", "/other-profile", "/fault", "/empty"):
        pages.put(path, path.encode())
    fine = {path: found(path) for path in ("/done", "/old", "/other-profile")}
    parsed(pages.database, fine | {"/fault": unread(ParseOutcome.FAULT), "/empty": unread(ParseOutcome.EMPTY)})
    pages.put("/never", b"never", waits=False)
    with pages.database.begin() as conn:
        conn.execute(text("update page_parses set extractor_version = 0 where body_hash = sha256('/old')"))
        conn.execute(text("update page_parses set profile_mark = 1 where body_hash = sha256('/other-profile')"))
    again = Again(EXTRACTOR_VERSION, {"general": MARK})
    assert _requeued(pages, again) == {"/old", "/other-profile", "/fault", "/never"}
    assert _requeued(pages, again) == {"/old", "/other-profile", "/fault", "/never"}
    everything = {"/done", "/old", "/other-profile", "/fault", "/empty", "/never"}
    assert _requeued(pages, Again(EXTRACTOR_VERSION, {"general": MARK}, force=True)) == everything
    assert all(page.is_forced for page in take(pages.database))


def test_others_profiles_are_left_alone(pages: Shelved) -> None:
    pages.put("/a", b"1", waits=False)
    assert _requeued(pages, Again(EXTRACTOR_VERSION, {}, profiles=["funding"])) == set()
    assert _requeued(pages, Again(EXTRACTOR_VERSION, {}, only_domains=[10**9])) == set()
    assert _requeued(pages, Again(EXTRACTOR_VERSION, {}, [pages.domain_id], ["general"])) == {"/a"}


def _requeued(pages: Shelved, again: Again) -> set[object]:
    """The paths that wait afterwards; in the smallest steps."""
    so_far = Requeued()
    while not so_far.is_over:
        with pages.database.begin() as conn:
            so_far = requeue(conn, again, so_far, limit=1)
    with pages.database.read() as conn:
        return {path for (path,) in rows(conn, "select path from parse_queue join pages using (domain_id, path_hash)")}
