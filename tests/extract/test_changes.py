"""What changed, as people read it."""

from pathlib import Path

from bailiwick.db.engine import Database
from bailiwick.extract import changes
from bailiwick.extract.changes import DiffLine, Wanted, diff_lines
from tests.crawl.desk_tools import hash_of
from tests.extract.tools import IRRELEVANT, found, parsed, shelved


def test_a_sentence_that_changed_stands_beside_its_neighbours() -> None:
    old = "We fund bridges. Apply by May 1. Grants go up to 500 euros. Write to us.\n\nOur office is open."
    new = "We fund bridges. Apply by June 15. Grants go up to 500 euros. Write to us.\n\nOur office is closed."
    assert list(diff_lines(old, new)) == [
        DiffLine(" ", "We fund bridges."),
        DiffLine("-", "Apply by May 1."),
        DiffLine("+", "Apply by June 15."),
        DiffLine(" ", "Grants go up to 500 euros."),
        DiffLine(" ", "Write to us."),
        DiffLine("-", "Our office is open."),
        DiffLine("+", "Our office is closed."),
    ]


def test_what_lies_between_is_left_out() -> None:
    same = " ".join(f"Sentence {n}." for n in range(50))
    shown = list(diff_lines(f"First. {same} Last.", f"Premier. {same} Ultimate."))
    assert [line.sign for line in shown] == ["-", "+", " ", "…", " ", "-", "+"]


def test_the_newest_change_comes_first(database: Database, tmp_path: Path) -> None:
    pages = shelved(database, tmp_path)
    for body, path, result in (
        (b"1", "/a", found("a one")),
        (b"2", "/b", found("b one")),
        (b"3", "/a", found("a two")),
        (b"4", "/b", found("b two", relevance=IRRELEVANT)),
    ):
        pages.put(path, body)
        parsed(database, {path: result})
    with database.read() as conn:
        everything = changes.latest(conn, Wanted(), limit=10)
        assert [change.path for change in everything] == ["/b", "/a"], "a first content is no change"
        assert [c.path for c in changes.latest(conn, Wanted(), limit=10, before=everything[0].id)] == ["/a"]
        assert [c.path for c in changes.latest(conn, Wanted(only_relevant=True), limit=10)] == ["/a"]
        assert changes.latest(conn, Wanted(domain_id=pages.domain_id + 1), limit=10) == []
        [now, first] = changes.versions(conn, pages.domain_id, hash_of("/a"), limit=10)
        assert (now.previous_id, first.previous_id) == (first.snapshot_id, None)
        shown = changes.difference(conn, first.snapshot_id, now.snapshot_id)
    assert [line.sign for line in shown] == ["-", "+", "-", "+"], "title and text"
