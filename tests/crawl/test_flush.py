"""The flush: exact rows, once, for leases that are still held, and nobody waits for anybody for ever."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection

from bailiwick.accounts.members import local_admin, system_actor
from bailiwick.approve import service as approve
from bailiwick.crawl.outcomes import MEANINGS, Effect, Outcome
from bailiwick.crawl.results import Flushed, PageResult
from bailiwick.db.engine import Database
from bailiwick.ports import BodyRef
from bailiwick.registry.leases import revoke
from bailiwick.registry.records import get_by_id
from tests.crawl.desk_tools import (
    PAGE_TABLES,
    Held,
    at_once,
    balanced,
    batch,
    body_of,
    contents,
    fetched,
    flushed,
    hash_of,
    hold,
    page_row,
    plant,
    rows,
    value,
)
from tests.registry.tools import RULES, admit, claimed, shift_clock, sound

BEFORE: dict[str, Any] = {
    "retries": 1, "last_status": 200, "last_outcome": "ok", "content_type": "text/plain", "etag": "old",
    "last_modified": "long ago", "body_hash": body_of("old"), "text_hash": 1, "is_noindex": False,
    "canonical": "/old", "fetch_count": 4, "change_count": 2, "pack_id": 9, "pack_offset": 8, "pack_length": 7,
    "last_error": "then",
}  # fmt: skip
NEWS: dict[str, Any] = {
    "etag": "new", "last_modified": "now", "content_type": "text/html", "is_noindex": True, "canonical": "/new",
    "body_hash": body_of("new"), "text_hash": 2, "ref": BodyRef(1, 2, 3), "error": "now",
}  # fmt: skip
BODY = ("content_type", "is_noindex", "canonical", "body_hash", "text_hash", "pack_id", "pack_offset", "pack_length")
NEW_BODY = ("text/html", True, "/new", body_of("new"), 2, 1, 2, 3)
OLD_BODY = ("text/plain", False, "/old", body_of("old"), 1, 9, 8, 7)


def one(database: Database, *paths: str) -> Held:
    with sound(database) as conn:
        [held] = hold(conn, "example.org")
        plant(conn, held.id, *(paths or ("/",)))
    return held


@dataclass(frozen=True)
class Case:
    """What becomes of a page that was fetched before."""

    outcome: Outcome
    status: int | None
    wait: float | None
    state: str | None
    """None: as before."""
    retries: int
    validators: tuple[str, str]
    body: tuple[object, ...]
    changes: int


CASES = (
    Case(Outcome.OK, 200, 3600.0, "fetched", 0, ("new", "now"), NEW_BODY, 3),
    Case(Outcome.UNCHANGED, 304, 3600.0, "fetched", 0, ("new", "now"), OLD_BODY, 2),
    Case(Outcome.SERVER_ERROR, 500, 20.0, None, 2, ("old", "long ago"), OLD_BODY, 2),
    Case(Outcome.NOT_FOUND, 404, None, "failed", 0, ("old", "long ago"), OLD_BODY, 2),
    Case(Outcome.TIMEOUT, None, 5.0, None, 2, ("old", "long ago"), OLD_BODY, 2),
)


@pytest.mark.parametrize("before", ["pending", "fetched", "failed"])
def test_each_effect_is_written_exactly(database: Database, before: str) -> None:
    paths = {case: f"/{case.outcome}" for case in CASES}
    with sound(database) as conn:
        [held] = hold(conn, "example.org")
        plant(conn, held.id, *paths.values(), state=before, depth=2, priority=3, last_changed_at="2020-01-01", **BEFORE)
        plant(conn, held.id, "/other")
        other = page_row(conn, held, "/other")
    page = {"depth": 2, "state": before, "retries": 1}
    results = [
        fetched(path, case.outcome, status=case.status, wait_seconds=case.wait, **page, **NEWS)
        for case, path in paths.items()
    ]
    assert flushed(database, batch(held, 1, *results)) == {held.id: Flushed(is_held=True)}
    with sound(database) as conn:
        for case, path in paths.items():
            _check(conn, page_row(conn, held, path), case, before)
        assert page_row(conn, held, "/other") == other
        balanced(conn)


def _check(conn: Connection, row: Any, case: Case, before: str) -> None:
    assert row.state == (case.state or before), row.path
    assert (row.retries, row.depth, row.priority, row.fetch_count) == (case.retries, 2, 3, 5), row.path
    assert (row.last_status, row.last_outcome, row.last_error) == (case.status, case.outcome, "now"), row.path
    assert (row.etag, row.last_modified) == case.validators, row.path
    assert tuple(row._mapping[name] for name in BODY) == case.body, row.path
    assert row.change_count == case.changes, row.path
    assert (row.last_changed_at.year == 2020) == (case.changes == 2), row.path
    now = value(conn, "select bailiwick_now()")
    assert timedelta() <= now - row.last_fetched_at < timedelta(seconds=10), row.path
    if case.wait is None:
        assert row.next_at is None, row.path
    else:
        left = row.next_at - now
        assert timedelta(seconds=case.wait - 10) < left <= timedelta(seconds=case.wait), row.path


def test_the_first_content_of_a_page_is_no_change(database: Database) -> None:
    held = one(database)
    flushed(database, batch(held, 1, fetched("/")))
    flushed(database, batch(held, 2, fetched("/", state="fetched", body_hash=body_of("two"))))
    with sound(database) as conn:
        row = page_row(conn, held, "/")
        assert (row.fetch_count, row.change_count) == (2, 1)


def test_counters_equal_the_log(database: Database) -> None:
    """Over several flushes with every outcome, pages that fail, recover, fail again and wait for a retry."""
    outcomes = list(Outcome)
    paths = [f"/{outcome}" for outcome in outcomes]
    with sound(database) as conn:
        [held, quiet] = hold(conn, "example.org", "quiet.org")
        plant(conn, held.id, *paths)
    first = [
        fetched(path, outcome, depth=n % 4, images=n, bytes_received=10 * n)
        for n, (path, outcome) in enumerate(zip(paths, outcomes, strict=True))
    ]
    flushed(database, batch(held, 1, *first, requests=40, refused=3, errors_in_row=5), batch(quiet, 1))
    with sound(database) as conn:
        balanced(conn)
        [row] = rows(conn, "select * from domain_progress where domain_id = :id", id=held.id)
        assert row.pages_crawled == len(outcomes)
        assert row.pages_waiting == sum(MEANINGS[outcome].effect is Effect.RETRY for outcome in outcomes)
        assert row.pages_failed == sum(MEANINGS[outcome].effect is Effect.FAILED for outcome in outcomes)
        assert row.total_error_count == sum(MEANINGS[outcome].is_error for outcome in outcomes)
        assert (row.crawl_depth_reached, row.consecutive_error_count) == (3, 5)
        assert (row.requests_made, row.pages_refused) == (40, 3)
        run = rows(conn, "select * from run_domains where domain_id = :id", id=held.id)[0]
        assert (run.pages_done, run.requests_done) == (len(outcomes), 40)
    states = {first_.page.path: _state_after(first_.effect) for first_ in first}
    second = [fetched(path, Outcome.OK, state=state) for path, state in states.items()]
    flushed(database, batch(held, 2, *second))
    with sound(database) as conn:
        balanced(conn)
        assert (
            value(conn, "select pages_waiting + pages_failed from domain_progress where domain_id = :id", id=held.id)
            == 0
        )
    flushed(database, batch(held, 3, *(fetched(path, Outcome.NOT_FOUND, state="fetched") for path in paths)))
    flushed(database, batch(held, 4, fetched(paths[0], Outcome.NOT_FOUND, state="failed")))
    with sound(database) as conn:
        balanced(conn)
        assert value(conn, "select pages_failed from domain_progress where domain_id = :id", id=held.id) == len(paths)


def _state_after(effect: Effect) -> str:
    return {Effect.RETRY: "pending", Effect.FAILED: "failed"}.get(effect, "fetched")


def test_the_log_has_a_row_a_fetch(database: Database) -> None:
    held = one(database, "/", "/b")
    facts = {"status": 503, "bytes_received": 11, "milliseconds": 22, "images": 33}
    result = fetched("/b", Outcome.UNAVAILABLE, **facts)
    result.at -= 100
    flushed(database, batch(held, 1, fetched("/"), result))
    with sound(database) as conn:
        [row] = rows(conn, "select *, bailiwick_now() - fetched_at as age from fetch_log where path_hash = :hash",
                     hash=hash_of("/b"))  # fmt: skip
        assert (row.domain_id, row.run_id, row.lease_no) == (held.id, held.run.run_id, held.lease.lease_no)
        assert (row.status, row.outcome, row.bytes, row.milliseconds, row.images_found) == (
            503,
            "unavailable",
            11,
            22,
            33,
        )
        assert timedelta(seconds=100) <= row.age < timedelta(seconds=130), (
            "when it was fetched, not when it was written"
        )


def test_links_are_counted_when_they_are_new(database: Database) -> None:
    held = one(database, "/")
    answers = flushed(database, batch(held, 1, fetched("/"), links=[("/a", 1), ("/b", 1), ("/", 1)]))
    assert answers[held.id].new_pages == 2
    answers = flushed(database, batch(held, 2, links=[("/b", 1), ("/c", 2)]))
    assert answers[held.id].new_pages == 1
    with sound(database) as conn:
        balanced(conn)
        found = rows(conn, "select path, state, depth, priority, referrer_hash, retries, next_at <= bailiwick_now() "
                           "from pages where path <> '/' order by path")  # fmt: skip
        assert [tuple(row) for row in found] == [
            (path, "pending", depth, 5, hash_of("/"), 0, True) for path, depth in (("/a", 1), ("/b", 1), ("/c", 2))
        ]


def test_a_shorter_way_counts_for_a_waiting_page_alone(database: Database) -> None:
    with sound(database) as conn:
        [held] = hold(conn, "example.org")
        for state in ("pending", "fetched", "failed"):
            plant(conn, held.id, f"/{state}", state=state, depth=5)
        plant(conn, held.id, "/near", depth=1)
    links = [("/pending", 2), ("/fetched", 2), ("/failed", 2), ("/near", 4)]
    assert flushed(database, batch(held, 1, links=links))[held.id].new_pages == 0
    with sound(database) as conn:
        depths = {row.path: row.depth for row in rows(conn, "select path, depth from pages")}
        assert depths == {"/pending": 2, "/fetched": 5, "/failed": 5, "/near": 1}
        balanced(conn)


def test_another_path_with_the_same_hash_is_left_alone(database: Database) -> None:
    held = one(database, "/")
    clash = batch(held, 1, fetched("/"))
    clash.links.append((hash_of("/a"), "/a", 5, 1))
    flushed(database, clash)
    again = batch(held, 2)
    again.links.append((hash_of("/a"), "/quite-another", 1, 1))
    assert flushed(database, again)[held.id].new_pages == 0
    with sound(database) as conn:
        assert [tuple(row) for row in rows(conn, "select path, depth from pages where path <> '/'")] == [("/a", 5)]
        balanced(conn)


def test_a_flush_that_is_repeated_changes_nothing(database: Database) -> None:
    """The COMMIT was lost on the way: the worker sends the same flush again."""
    held = one(database, "/", "/moved")
    with database.begin() as conn:
        admit(conn, "target.org")
    outlink = (5, "elsewhere.org", "/x", "text", hash_of("/"))
    moved = fetched("/moved", Outcome.REDIRECTED, offer=("target.org", "/t"))
    whole = batch(held, 1, fetched("/"), moved, links=[("/a", 1)], outlinks=[outlink])
    assert flushed(database, whole)[held.id] == Flushed(True, 1, 1)
    tables = (*PAGE_TABLES, "run_domains", "crawl_queue", "domains")
    with database.read() as conn:
        before = contents(conn, *tables)
    assert flushed(database, whole)[held.id] == Flushed(True, 0, 0)
    assert flushed(database, whole)[held.id] == Flushed(True, 0, 0)
    with sound(database) as conn:
        assert contents(conn, *tables) == before
        balanced(conn)
    assert flushed(database, batch(held, 2, links=[("/b", 1)]))[held.id] == Flushed(True, 1, 0)


def test_a_gap_in_flush_numbers_is_refused(database: Database) -> None:
    """Something was lost in between: what comes after it must not be counted, once or twice."""
    held = one(database, "/", "/b")
    with sound(database) as conn:
        [other] = hold(conn, "other.org")
        plant(conn, other.id, "/")
        before = rows(conn, "select * from domain_progress where domain_id = :id", id=held.id)
    for number, gap in enumerate((2, 2, 3, 7), start=1):
        late = batch(held, gap, fetched("/b"), links=[("/c", 1)])
        state = "pending" if number == 1 else "fetched"
        answers = flushed(database, late, batch(other, number, fetched("/", state=state)))
        assert (answers[held.id].is_held, answers[other.id].is_held) == (False, True)
    with sound(database) as conn:
        assert rows(conn, "select * from domain_progress where domain_id = :id", id=held.id) == before
        assert value(conn, "select flush_no from crawl_queue where domain_id = :id", id=held.id) == 0
        assert value(conn, "select count(*) from fetch_log where domain_id = :id", id=held.id) == 0
        balanced(conn)
    assert flushed(database, batch(held, 1, fetched("/")))[held.id].is_held


def test_a_flush_of_long_ago_is_refused(database: Database) -> None:
    held = one(database)
    for number in (1, 2):
        flushed(database, batch(held, number, fetched("/", state="fetched" if number == 2 else "pending")))
    assert not flushed(database, batch(held, 1, fetched("/")))[held.id].is_held
    with sound(database) as conn:
        assert value(conn, "select count(*) from fetch_log") == 2
        balanced(conn)


def _revoked(database: Database, held: Held) -> None:
    with sound(database) as conn:
        assert revoke(conn, get_by_id(conn, held.id), local_admin(conn), RULES, reason="stuck")


def _ran_out(database: Database, held: Held) -> None:
    with database.begin() as conn:
        conn.exec_driver_sql(f"update crawl_queue set wake_at = bailiwick_now() + interval '1 day' "
                             f"where domain_id <> {held.id} and worker is not null")  # fmt: skip
    shift_clock(database, "31 minutes")


def _taken_over(database: Database, held: Held) -> None:
    _ran_out(database, held)
    with sound(database) as conn:
        [lease] = claimed(conn, "w2", among=[held.id])
        assert lease.taken_over


def _released(database: Database, held: Held) -> None:
    from bailiwick.registry.release import Outcome as Released
    from tests.registry.tools import released

    with sound(database) as conn:
        assert released(conn, held.lease, Released("active"))


@pytest.mark.parametrize("lose", [_revoked, _ran_out, _taken_over, _released])
def test_a_domain_whose_lease_is_lost_drops_out_alone(
    database: Database, lose: Callable[[Database, Held], None]
) -> None:
    with sound(database) as conn:
        three = hold(conn, "first.org", "lost.org", "third.org")
        for held in three:
            plant(conn, held.id, "/")
    first, lost, third = three
    lose(database, lost)
    with database.read() as conn:
        before = rows(conn, "select p.* from domain_progress as p where domain_id = :id", id=lost.id)
        kept = rows(conn, "select * from crawl_queue where domain_id = :id", id=lost.id)
    outlinks = [(5, "elsewhere.org", "/x", None, hash_of("/"))]
    batches = [batch(held, 1, fetched("/"), links=[("/a", 1)], outlinks=outlinks) for held in (third, lost, first)]
    answers = flushed(database, *batches)
    assert answers == {first.id: Flushed(True, 1, 1), lost.id: Flushed(False), third.id: Flushed(True, 1, 1)}
    with sound(database) as conn:
        for table in ("fetch_log", "parse_queue", "outlinks"):
            assert {row.domain_id for row in rows(conn, f"select domain_id from {table}")} == {first.id, third.id}
        assert {row.subject_id for row in rows(conn, "select subject_id from outbox")} == {first.id, third.id}
        assert page_row(conn, lost, "/").fetch_count == 0
        assert rows(conn, "select p.* from domain_progress as p where domain_id = :id", id=lost.id) == before
        assert rows(conn, "select * from crawl_queue where domain_id = :id", id=lost.id) == kept
        balanced(conn)
    if lose is _taken_over:
        [heir] = _heirs(database, lost)
        assert flushed(database, batch(heir, 1, fetched("/")), worker="w2")[lost.id].is_held


def _heirs(database: Database, lost: Held) -> list[Held]:
    from bailiwick.crawl import runs
    from bailiwick.registry.leases import Lease

    with database.begin() as conn:
        lease = Lease(**{name: getattr(lost.lease, name) for name in Lease.__slots__} | {"lease_no": 2, "worker": "w2"})
        return [Held(lease, runs.assign(conn, [lease], None)[lost.id])]


def test_another_workers_name_is_no_lease(database: Database) -> None:
    held = one(database)
    assert not flushed(database, batch(held, 1, fetched("/")), worker="impostor")[held.id].is_held
    with database.read() as conn:
        assert rows(conn, "select * from fetch_log") == []


NASTY = {
    "/nul": "nul\x00in it",
    "/surrogate": "half \ud83d a pair \udc00",
    "/only-nul": "\x00",
    "/long": "x" * 10_000,
    "/fine": "caf\u00e9 \U0001f600",
    "/all-at-once": "\udcff\x00" * 3000,
}


def test_what_servers_say_is_stored_safely(database: Database) -> None:
    held = one(database, *NASTY)
    fields = ("error", "etag", "last_modified", "content_type", "canonical")
    results = [fetched(path, **dict.fromkeys(fields, said)) for path, said in NASTY.items()]
    outlinks = [(hash_of(path), "elsewhere.org", path, said, 1) for path, said in NASTY.items()]
    flushed(database, batch(held, 1, *results, outlinks=outlinks))
    with sound(database) as conn:
        anchors = {row.path: row.anchor for row in rows(conn, "select path, anchor from outlinks")}
        for path, said in NASTY.items():
            row = page_row(conn, held, path)
            clean = "".join("?" if "\ud800" <= char <= "\udfff" else char for char in said if char != "\x00")
            for stored in (row.last_error, row.etag, row.last_modified, row.content_type, row.canonical, anchors[path]):
                assert clean.startswith(stored)
                assert len(stored) == len(clean) if len(said) < 100 else 40 < len(stored) <= 2000
        balanced(conn)


def test_outlinks_are_kept_once(database: Database) -> None:
    held = one(database)
    first = [(1, "a.org", "/x", "one", 10), (2, "b.org", "/", None, 10)]
    assert flushed(database, batch(held, 1, fetched("/"), outlinks=first))[held.id].new_outlinks == 2
    second = [(1, "a.org", "/x", "two", 20), (3, "c.org", "/", "three", 20)]
    assert flushed(database, batch(held, 2, outlinks=second))[held.id].new_outlinks == 1
    with sound(database) as conn:
        kept = rows(conn, "select url_hash, target, path, anchor, from_hash from outlinks order by 1")
        assert [tuple(row) for row in kept] == [
            (1, "a.org", "/x", "one", 10), (2, "b.org", "/", None, 10), (3, "c.org", "/", "three", 20),
        ]  # fmt: skip
        balanced(conn)


def _waiting(conn: Connection) -> dict[int, bytes]:
    return {row.path_hash: bytes(row.body_hash) for row in rows(conn, "select * from parse_queue")}


def test_only_changed_indexable_html_waits_for_parsing(database: Database) -> None:
    plain = {"ref": None}
    results = {
        "/html": fetched("/html"),
        "/same": fetched("/same", Outcome.UNCHANGED, body_hash=body_of("same")),
        "/noindex": fetched("/noindex", is_noindex=True),
        "/pdf": fetched("/pdf", Outcome.OTHER_TYPE, content_type="application/pdf"),
        "/moved": fetched("/moved", Outcome.REDIRECTED, status=301),
        "/unstored": fetched("/unstored", **plain),
        "/gone": fetched("/gone", Outcome.NOT_FOUND, status=404),
        "/cut": fetched("/cut", Outcome.TRUNCATED, body_hash=body_of("c"), ref=BodyRef(1, 2, 3)),
    }
    held = one(database, *results)
    flushed(database, batch(held, 1, *results.values()))
    with sound(database) as conn:
        assert _waiting(conn) == {hash_of("/html"): body_of("/html"), hash_of("/cut"): body_of("c")}
        balanced(conn)


def test_a_later_body_replaces_what_waits_and_frees_it(database: Database) -> None:
    held = one(database, "/", "/b")
    flushed(database, batch(held, 1, fetched("/"), fetched("/b")))
    with database.begin() as conn:
        conn.exec_driver_sql(
            "update parse_queue set worker = 'p', claimed_until = bailiwick_now() + interval '1 hour', attempts = 3, "
            "queued_at = '2020-01-01'"
        )
    flushed(database, batch(held, 2, fetched("/", state="fetched", body_hash=body_of("new"))))
    with sound(database) as conn:
        assert _waiting(conn) == {hash_of("/"): body_of("new"), hash_of("/b"): body_of("/b")}
        by_path = {row.path_hash: row for row in rows(conn, "select * from parse_queue")}
        fresh, other = by_path[hash_of("/")], by_path[hash_of("/b")]
        assert (fresh.worker, fresh.claimed_until, fresh.attempts) == (None, None, 0)
        assert fresh.queued_at.year > 2020
        assert (other.worker, other.attempts, other.queued_at.year) == ("p", 3, 2020)
        balanced(conn)


def test_a_body_that_is_gone_does_not_wait_any_longer(database: Database) -> None:
    """What was queued before the page changed into something that is not parsed has no body any more."""
    held = one(database, "/hidden", "/moved", "/image", "/still")
    flushed(database, batch(held, 1, *(fetched(path) for path in ("/hidden", "/moved", "/image", "/still"))))
    later = [
        fetched("/hidden", state="fetched", is_noindex=True, body_hash=body_of("hidden")),
        fetched("/moved", Outcome.REDIRECTED, state="fetched", status=301),
        fetched("/image", Outcome.OTHER_TYPE, state="fetched", content_type="image/png"),
    ]
    flushed(database, batch(held, 2, *later))
    with sound(database) as conn:
        assert _waiting(conn) == {hash_of("/still"): body_of("/still")}
        balanced(conn)


def test_a_page_that_fails_later_is_still_parsed(database: Database) -> None:
    held = one(database, "/")
    flushed(database, batch(held, 1, fetched("/")))
    flushed(database, batch(held, 2, fetched("/", Outcome.NOT_FOUND, state="fetched", status=404)))
    with sound(database) as conn:
        assert _waiting(conn) == {hash_of("/"): body_of("/")}


def test_listeners_hear_of_changed_pages_alone(database: Database) -> None:
    results = [
        fetched("/new", body_hash=body_of("new")),
        fetched("/moved", Outcome.REDIRECTED, status=301),
        fetched("/same", Outcome.UNCHANGED, state="fetched", status=304),
        fetched("/gone", Outcome.NOT_FOUND, status=404),
        fetched("/later", Outcome.TIMEOUT, status=None),
    ]
    held = one(database, *(result.page.path for result in results))
    flushed(database, batch(held, 1, *results))
    with sound(database) as conn:
        told = rows(
            conn, "select topic, subject_kind, subject_id, payload from outbox order by payload ->> 'path' desc"
        )
        assert [tuple(row) for row in told] == [
            ("page_fetched", "page", held.id, {"path": "/new", "status": 200, "hash": body_of("new").hex()}),
            ("page_fetched", "page", held.id, {"path": "/moved", "status": 301, "hash": None}),
        ]


def test_redirects_are_offered_to_approved_domains_alone(database: Database) -> None:
    with sound(database) as conn:
        me = local_admin(conn)
        [held] = hold(conn, "example.org")
        good, suspended, scam = admit(conn, "good.org", "suspended.org", "scam.org")
        from bailiwick.model.names import DomainName
        from bailiwick.registry.submit import Submission, submit

        submit(conn, Submission(DomainName.parse("waiting.org")), me)
        approve.suspend(conn, suspended, me, reason="so")
        approve.blacklist(conn, scam, me, reason="so")
        targets = ("good.org", "suspended.org", "scam.org", "waiting.org", "unknown.org")
        paths = [f"/to/{target}" for target in targets]
        plant(conn, held.id, *paths, "/again", "/other")
    results = [fetched(p, Outcome.REDIRECTED, offer=(t, "/new")) for p, t in zip(paths, targets, strict=True)]
    results.append(fetched("/again", Outcome.REDIRECTED, offer=("good.org", "/new")))
    results.append(fetched("/other", Outcome.REDIRECTED, offer=("good.org", "/other")))
    flushed(database, batch(held, 1, *results))
    flushed(
        database, batch(held, 2, fetched("/again", Outcome.REDIRECTED, state="fetched", offer=("good.org", "/new")))
    )
    with sound(database) as conn:
        asked = rows(conn, "select domain_id, kind, path, priority, asked_by from page_requests order by path")
        by = system_actor(conn).id
        assert [tuple(row) for row in asked] == [(good.id, "redirect", path, 5, by) for path in ("/new", "/other")]


def test_the_origin_is_learned_and_kept(database: Database) -> None:
    with sound(database) as conn:
        first, second = hold(conn, "example.org", "other.org")
        plant(conn, first.id, "/")
        plant(conn, second.id, "/")
        versions = rows(conn, "select id, version from domains order by id")
    flushed(
        database,
        batch(second, 1, fetched("/", base_url="https://www.other.org")),
        batch(first, 1, fetched("/", base_url="http://example.org")),
    )
    flushed(database, batch(first, 2, fetched("/", state="fetched")))
    with sound(database) as conn:
        learned = {row.name: row.base_url for row in rows(conn, "select name, base_url from domains")}
        assert learned == {"example.org": "http://example.org", "other.org": "https://www.other.org"}
        assert rows(conn, "select id, version from domains order by id") == versions
    flushed(database, batch(first, 3, fetched("/", state="fetched", base_url="https://example.org")))
    with database.read() as conn:
        assert get_by_id(conn, first.id).base_url == "https://example.org"


def test_when_the_last_request_was_sent_is_known(database: Database) -> None:
    import time

    held = one(database)
    flushed(database, batch(held, 1, fetched("/"), last_sent=time.monotonic() - 50))
    flushed(database, batch(held, 2))
    with database.read() as conn:
        ago = value(conn, "select bailiwick_now() - last_request_at from domain_progress")
    assert timedelta(seconds=50) <= ago < timedelta(seconds=80), "a flush without a request leaves it"


def test_flushes_that_cross_never_wait_for_each_other_for_ever(database: Database) -> None:
    """Two workers, each with its own domains in the other's order, offer each other and third ones the same pages."""
    rounds = 12
    with sound(database) as conn:
        held = {"w1": hold(conn, "a.org", "c.org", "e.org"), "w2": hold(conn, "b.org", "d.org", "f.org", worker="w2")}
        admit(conn, "x.org", "y.org")
        for one_ in held["w1"] + held["w2"]:
            plant(conn, one_.id, "/")

    def work(worker: str, *, step: int, alone: int) -> None:
        for number in range(1, rounds + 1):
            shared = [f"/{number}/{n}" for n in range(50)][::step]
            ways = [(target, path) for path in shared for target in ("b.org", "a.org", "y.org", "x.org")[::step]]
            ways += [("x.org", f"/{worker}/{number}/{n}") for n in range(alone)]
            links = [(path, 1) for path in shared]
            batches = [
                batch(one_, number, *(_moved(way, number, one_) for way in ways[n::3]), links=links)
                for n, one_ in enumerate(held[worker])
            ]
            answers = flushed(database, *batches[::step], worker=worker)
            assert all(answer.is_held for answer in answers.values())

    # Different numbers of offers: sets and hash tables of another size have another order.
    assert at_once(lambda: work("w1", step=1, alone=0), lambda: work("w2", step=-1, alone=300)) == []
    with sound(database) as conn:
        assert value(conn, "select count(*) from crawl_queue where flush_no = :n", n=rounds) == 6
        assert value(conn, "select count(*) from page_requests") == rounds * (4 * 50 + 300)
        assert rows(conn, _PROGRESS_OF_LINKS) == []


_PROGRESS_OF_LINKS = """
select p.domain_id from domain_progress as p
where p.pages_discovered <> (select count(*) from pages where domain_id = p.domain_id)
"""


def _moved(way: tuple[str, str], number: int, held: Held) -> PageResult:
    base_url = f"https://{held.lease.name}/{number}"
    return fetched("/", Outcome.REDIRECTED, state="fetched", offer=way, base_url=base_url)
