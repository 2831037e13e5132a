"""What a worker takes from the frontier, what it is told when there is nothing, and what others ask for."""

from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from sqlalchemy import Connection, text

from bailiwick.accounts.members import local_admin
from bailiwick.approve import service as approve
from bailiwick.crawl import requests
from bailiwick.crawl.desk import HOME_HASH, Desk
from bailiwick.crawl.facts import Outlook
from bailiwick.crawl.jobs import ALL_DEPTHS
from bailiwick.crawl.outcomes import Outcome
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Actor
from bailiwick.registry.leases import revoke
from bailiwick.registry.records import get_by_id
from bailiwick.registry.submit import request_page
from tests.crawl.desk_tools import (
    Held,
    balanced,
    batch,
    desk_of,
    fetched,
    flushed,
    hash_of,
    hold,
    job_of,
    limits,
    page_row,
    plant,
    rows,
    slice_of,
    value,
)
from tests.registry.tools import RULES, admit, released, shift_clock, sound


def paths_taken(desk: Desk, held: Held, most: int = 1000) -> list[str]:
    return [page.path for page in desk.take([(slice_of(held), most)])[held.id]]


def outlook_of(desk: Desk, held: Held) -> Outlook:
    return desk.outlook([slice_of(held)])[held.id]


def one(database: Database, depth: int = ALL_DEPTHS) -> tuple[Desk, Held]:
    with sound(database) as conn:
        job = job_of(conn, "job", "example.org", options=limits(max_depth=depth))
        [held] = hold(conn, "example.org", job_ids=[job.id])
    return desk_of(database), held


def test_pages_come_by_priority_then_depth_then_hash(database: Database) -> None:
    desk, held = one(database)
    wanted = []
    with database.begin() as conn:
        for priority, depth, n in product((10, 1, 5), (3, 0, 1), range(4)):
            path = f"/{priority}/{depth}/{n}"
            plant(conn, held.id, path, priority=priority, depth=depth)
            wanted.append((priority, depth, hash_of(path), path))
    order = [path for *_, path in sorted(wanted)]
    assert paths_taken(desk, held) == order
    assert paths_taken(desk, held, most=7) == order[:7]
    assert paths_taken(desk, held, most=15) == order[:15]


def test_each_domain_gives_its_own(database: Database) -> None:
    with sound(database) as conn:
        first, second, empty = hold(conn, "first.org", "second.org", "empty.org")
        plant(conn, first.id, "/a", "/b", "/c")
        plant(conn, second.id, "/x")
    desk = desk_of(database)
    found = desk.take([(slice_of(second), 5), (slice_of(first), 2), (slice_of(empty), 5)])
    assert {key: len(pages) for key, pages in found.items()} == {first.id: 2, second.id: 1, empty.id: 0}
    assert [page.path for page in found[second.id]] == ["/x"]


def test_a_taken_page_has_what_a_conditional_request_needs(database: Database) -> None:
    desk, held = one(database)
    facts: dict[str, Any] = {
        "state": "fetched", "depth": 2, "retries": 1, "etag": "e", "last_modified": "m", "body_hash": b"b",
        "text_hash": 7,
    }  # fmt: skip
    with database.begin() as conn:
        plant(conn, held.id, "/p", **facts)
    [page] = desk.take([(slice_of(held), 5)])[held.id]
    assert (page.path, page.path_hash) == ("/p", hash_of("/p"))
    assert {name: getattr(page, name) for name in facts} == facts


def test_deeper_pages_are_not_taken(database: Database) -> None:
    desk, held = one(database)
    with database.begin() as conn:
        for n in range(4):
            plant(conn, held.id, f"/waits/{n}", depth=n)
            plant(conn, held.id, f"/due/{n}", depth=n, state="fetched")
    for depth in range(4):
        limited = replace(held, run=replace(held.run, max_depth=depth))
        expected = {f"/{kind}/{n}" for kind in ("waits", "due") for n in range(depth + 1)}
        assert set(paths_taken(desk, limited)) == expected


def test_taking_changes_nothing(database: Database) -> None:
    desk, held = one(database)
    with database.begin() as conn:
        plant(conn, held.id, "/a", "/b")
    assert paths_taken(desk, held) == paths_taken(desk, held)
    with sound(database) as conn:
        assert value(conn, "select count(*) from pages where state = 'pending' and fetch_count = 0") == 2


def test_retries_wait_for_their_time(database: Database) -> None:
    desk, held = one(database)
    with database.begin() as conn:
        plant(conn, held.id, "/now", "/later")
    later = fetched("/later", Outcome.SERVER_ERROR, wait_seconds=300.0)
    flushed(database, batch(held, 1, later))
    assert paths_taken(desk, held) == ["/now"]
    shift_clock(database, "6 minutes")
    assert set(paths_taken(desk, held)) == {"/now", "/later"}
    [page] = [page for page in desk.take([(slice_of(held), 5)])[held.id] if page.path == "/later"]
    assert page.retries == 1


def test_pages_that_are_due_again_come_after_the_waiting_by_time(database: Database) -> None:
    desk, held = one(database)
    with database.begin() as conn:
        plant(conn, held.id, "/recent", state="fetched", wait="-1 hour", priority=1)
        plant(conn, held.id, "/long", state="fetched", wait="-2 days", priority=9)
        plant(conn, held.id, "/failed", state="failed", wait="-1 day")
        plant(conn, held.id, "/waits", priority=10)
        plant(conn, held.id, "/not-yet", state="fetched", wait="1 hour")
        plant(conn, held.id, "/never", state="failed")
        conn.execute(text("update pages set next_at = null where path = '/never'"))
    assert paths_taken(desk, held) == ["/waits", "/long", "/failed", "/recent"]
    shift_clock(database, "2 hours")
    assert paths_taken(desk, held)[-1] == "/not-yet"


def test_the_outlook_in_each_case(database: Database) -> None:
    desk, held = one(database, depth=2)
    nothing = Outlook(has_deeper=False, next_in_seconds=None)
    assert outlook_of(desk, held) == nothing
    with database.begin() as conn:
        plant(conn, held.id, "/done", state="fetched", wait="1 day")
        plant(conn, held.id, "/failed", state="failed", wait="1 day", depth=9)
    assert outlook_of(desk, held) == nothing, "what was fetched is nothing to wait for"
    with database.begin() as conn:
        plant(conn, held.id, "/deep", depth=3, priority=7)
    assert outlook_of(desk, held) == Outlook(has_deeper=True, next_in_seconds=None)
    with database.begin() as conn:
        plant(conn, held.id, "/retry", depth=2, wait="80 seconds", priority=10)
        plant(conn, held.id, "/later", depth=1, wait="500 seconds", priority=1)
        plant(conn, held.id, "/deep-retry", depth=3, wait="5 seconds")
    seen = outlook_of(desk, held)
    assert seen.has_deeper
    assert seen.next_in_seconds == pytest.approx(80, abs=15)
    with database.begin() as conn:
        conn.execute(text("delete from pages where path like '/deep%'"))
    assert not outlook_of(desk, held).has_deeper
    shift_clock(database, "2 minutes")
    late = outlook_of(desk, held).next_in_seconds
    assert late is not None
    assert late < 0, "due by now"


def test_the_outlook_is_of_each_domain(database: Database) -> None:
    with sound(database) as conn:
        first, second = hold(conn, "first.org", "second.org")
        plant(conn, first.id, "/deep", depth=50)
    desk = desk_of(database)
    seen = desk.outlook([slice_of(second), slice_of(first)])
    assert (seen[first.id].has_deeper, seen[second.id].has_deeper) == (True, False)


def test_home_pages_are_seeded_once(database: Database) -> None:
    with sound(database) as conn:
        admit(conn, "a.org", "b.org")
    desk = desk_of(database)
    opened = desk.claim(10, None)
    assert len(opened) == 2
    with sound(database) as conn:
        known = rows(conn, "select path, path_hash, depth, priority, state from pages")
        assert [tuple(row) for row in known] == [("/", HOME_HASH, 0, 1, "pending")] * 2
        balanced(conn)
        for one_ in opened:
            assert (one_.known.pages, one_.known.waiting) == (1, 1)
            assert released(conn, one_.lease, _active())
    assert len(desk.claim(10, None)) == 2
    with sound(database) as conn:
        assert value(conn, "select count(*) from pages") == 2
        balanced(conn)


def test_a_home_page_that_was_fetched_is_not_seeded_again(database: Database) -> None:
    with sound(database) as conn:
        [held] = hold(conn, "a.org")
        plant(conn, held.id, "/", state="fetched", depth=0, wait="1 day")
        assert released(conn, held.lease, _active())
    [opened] = desk_of(database).claim(10, None)
    assert (opened.known.pages, opened.known.waiting) == (1, 0)
    with sound(database) as conn:
        assert page_row(conn, held, "/").state == "fetched"
        balanced(conn)


def test_a_job_of_typed_pages_seeds_no_home(database: Database) -> None:
    with sound(database) as conn:
        job = job_of(conn, "typed", "a.org", options=limits(starts_at_home=False))
        ask(conn, "a.org", "/typed", actor=local_admin(conn))
    desk = desk_of(database)
    [opened] = desk.claim(10, [job.id])
    assert desk.drain([slice_of(Held(opened.lease, opened.run))]) == {opened.lease.domain_id}
    with sound(database) as conn:
        assert [row.path for row in rows(conn, "select path from pages")] == ["/typed"]
        balanced(conn)


def _active() -> Any:
    from bailiwick.registry.release import Outcome as Released

    return Released("active")


# What others ask for


def ask(conn: Connection, name: str, path: str, *, kind: str = "submitted", actor: Actor) -> None:
    [domain] = admit(conn, name)
    request_page(conn, domain, path, actor, kind=kind)


def wishes(conn: Connection) -> list[tuple[str, str]]:
    return [(row.kind, row.path) for row in rows(conn, "select kind, path from page_requests order by id")]


def test_new_pages_that_are_asked_for_are_start_pages(database: Database) -> None:
    desk, held = one(database, depth=0)
    kinds = ("submitted", "redirect", "evaluation")
    with sound(database) as conn:
        for kind in kinds:
            ask(conn, "example.org", f"/{kind}", kind=kind, actor=local_admin(conn))
    assert desk.drain([slice_of(held)]) == {held.id}
    assert set(paths_taken(desk, held)) == {f"/{kind}" for kind in kinds}
    with sound(database) as conn:
        for kind in kinds:
            row = page_row(conn, held, f"/{kind}")
            assert (row.state, row.depth, row.priority, row.path_hash) == ("pending", 0, 1, hash_of(f"/{kind}"))
        assert wishes(conn) == []
        balanced(conn)
    assert desk.drain([slice_of(held)]) == set()


def test_known_pages_that_are_asked_for_are_due_now(database: Database) -> None:
    desk, held = one(database, depth=0)
    states = ("pending", "fetched", "failed")
    with sound(database) as conn:
        for state in states:
            plant(conn, held.id, f"/{state}", state=state, depth=4, wait="1 day", retries=2, priority=7, fetch_count=3)
            plant(conn, held.id, f"/{state}/other", state=state, depth=4, wait="1 day")
            ask(conn, "example.org", f"/{state}", actor=local_admin(conn))
    assert paths_taken(desk, held) == []
    desk.drain([slice_of(held)])
    assert set(paths_taken(desk, held)) == {f"/{state}" for state in states}
    with sound(database) as conn:
        for state in states:
            row = page_row(conn, held, f"/{state}")
            assert (row.state, row.depth, row.priority, row.retries, row.fetch_count) == (state, 0, 1, 0, 3)
        balanced(conn)


def test_a_page_that_is_asked_for_twice_is_one_page(database: Database) -> None:
    desk, held = one(database)
    with sound(database) as conn:
        me = local_admin(conn)
        for kind in ("submitted", "redirect", "evaluation"):
            ask(conn, "example.org", "/wish", kind=kind, actor=me)
        conn.execute(text("update page_requests set priority = 8 where kind = 'submitted'"))
    desk.drain([slice_of(held)])
    with sound(database) as conn:
        assert page_row(conn, held, "/wish").priority == 1
        assert wishes(conn) == []
        balanced(conn)


def test_wishes_for_several_domains_are_drained_at_once(database: Database) -> None:
    with sound(database) as conn:
        first, second, quiet = hold(conn, "first.org", "second.org", "quiet.org")
        me = local_admin(conn)
        ask(conn, "first.org", "/1", actor=me)
        ask(conn, "second.org", "/2", actor=me)
        ask(conn, "nobody-holds-it.org", "/3", actor=me)
    desk = desk_of(database)
    assert desk.drain([slice_of(held) for held in (first, second, quiet)]) == {first.id, second.id}
    with sound(database) as conn:
        assert {(row.domain_id, row.path) for row in rows(conn, "select * from pages")} == {
            (first.id, "/1"), (second.id, "/2"),
        }  # fmt: skip
        assert wishes(conn) == [("submitted", "/3")]
        balanced(conn)


def test_more_wishes_than_one_batch_are_drained_in_turn(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "_MOST", 3)
    desk, held = one(database)
    with sound(database) as conn:
        me = local_admin(conn)
        for n in range(8):
            ask(conn, "example.org", f"/{n}", actor=me)
    for left in (5, 2, 0):
        assert desk.drain([slice_of(held)]) == {held.id}
        with sound(database) as conn:
            assert len(wishes(conn)) == left
            balanced(conn)
    assert len(paths_taken(desk, held)) == 8


def test_image_requests_stay(database: Database) -> None:
    desk, held = one(database)
    with sound(database) as conn:
        ask(conn, "example.org", "/logo.png", kind="image", actor=local_admin(conn))
    assert desk.drain([slice_of(held)]) == set()
    with sound(database) as conn:
        assert wishes(conn) == [("image", "/logo.png")]
        assert rows(conn, "select * from pages") == []


@pytest.mark.parametrize("loss", ["revoked", "ran out", "another worker"])
def test_without_the_lease_nothing_is_drained(database: Database, loss: str) -> None:
    desk, held = one(database)
    with sound(database) as conn:
        [other] = hold(conn, "other.org")
        me = local_admin(conn)
        plant(conn, held.id, "/known", state="fetched", wait="1 day", last_fetched_at="2020-01-01")
        for path, kind in (("/wish", "submitted"), ("/", "recrawl")):
            ask(conn, "example.org", path, kind=kind, actor=me)
        ask(conn, "other.org", "/mine", actor=me)
        if loss == "revoked":
            assert revoke(conn, get_by_id(conn, held.id), me, RULES, reason=None)
        elif loss == "ran out":
            conn.execute(
                text("update crawl_queue set wake_at = bailiwick_now() where domain_id = :id"), {"id": held.id}
            )
    slices = [slice_of(held), slice_of(other)]
    if loss == "another worker":
        impostor = desk_of(database, "impostor")
        impostor.drain(slices)
    else:
        desk.drain(slices)
    with sound(database) as conn:
        asked = wishes(conn)
        assert asked[:2] == [("submitted", "/wish"), ("recrawl", "/")]
        assert [row.path for row in rows(conn, "select path from pages where domain_id = :id", id=held.id)] == [
            "/known"
        ]
        assert page_row(conn, held, "/known").next_at > value(conn, "select bailiwick_now()")
        if loss != "another worker":
            assert asked[2:] == []
            assert page_row(conn, other, "/mine").state == "pending"


# Recrawl


def test_a_recrawl_makes_every_known_page_due_in_batches(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "_RECRAWL_BATCH", 4)
    desk, held = one(database)
    old = {"last_fetched_at": "2020-01-01", "depth": 2}
    with sound(database) as conn:
        [other] = hold(conn, "other.org")
        plant(conn, held.id, *(f"/f{n}" for n in range(7)), state="fetched", wait="1 day", retries=1, **old)
        plant(conn, held.id, "/failed", state="failed", wait="1 day", **old)
        plant(conn, held.id, "/given-up", state="failed", **old)
        plant(conn, held.id, "/waits", depth=1, wait="1 hour")
        plant(conn, other.id, "/not-asked", state="fetched", wait="1 day", **old)
        conn.execute(text("update pages set next_at = null where path = '/given-up'"))
        approve.recrawl(conn, get_by_id(conn, held.id), local_admin(conn))
        conn.execute(text("update page_requests set path = '/x'"))
    assert paths_taken(desk, held) == []
    calls: list[bool] = []
    admit_ = requests.admit
    monkeypatch.setattr(requests, "admit", lambda *a: calls.append(admit_(*a)) or calls[-1])
    assert desk.drain([slice_of(held), slice_of(other)]) == {held.id}
    assert calls == [True, True, False], "9 pages in batches of 4"
    assert len(paths_taken(desk, held)) == 9
    assert paths_taken(desk, other) == []
    with sound(database) as conn:
        assert wishes(conn) == []
        states = rows(
            conn, "select path, state, retries, depth from pages where domain_id = :id order by path", id=held.id
        )
        assert [tuple(row) for row in states] == [
            *((f"/f{n}", "fetched", 0, 2) for n in range(7)),
            ("/failed", "failed", 0, 2), ("/given-up", "failed", 0, 2), ("/waits", "pending", 0, 1),
        ]  # fmt: skip
        balanced(conn)


def test_a_recrawl_leaves_what_was_fetched_after_it_was_asked_for(database: Database) -> None:
    desk, held = one(database)
    with sound(database) as conn:
        plant(conn, held.id, "/old", state="fetched", wait="1 day", last_fetched_at="2020-01-01")
        plant(conn, held.id, "/new", state="fetched", wait="1 day", last_fetched_at="2099-01-01")
        ask(conn, "example.org", "/", kind="recrawl", actor=local_admin(conn))
    desk.drain([slice_of(held)])
    assert paths_taken(desk, held) == ["/old"]


def test_a_recrawl_that_is_interrupted_goes_on(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash after the first batch: the wish is still there for the next one."""
    monkeypatch.setattr(requests, "_RECRAWL_BATCH", 2)
    desk, held = one(database)
    with sound(database) as conn:
        plant(conn, held.id, *(f"/{n}" for n in range(5)), state="fetched", wait="1 day", last_fetched_at="2020-01-01")
        ask(conn, "example.org", "/", kind="recrawl", actor=local_admin(conn))
    with database.begin() as conn:
        assert requests.admit(conn, requests.waiting(conn, [held.id]), [held.lease], held.worker)
    with sound(database) as conn:
        assert wishes(conn) == [("recrawl", "/")]
    assert len(paths_taken(desk, held)) == 2
    desk.drain([slice_of(held)])
    assert len(paths_taken(desk, held)) == 5


def test_due_by_the_database_clock(database: Database) -> None:
    """What was written is due by the clock that tests shift, not by this machine's."""
    desk, held = one(database)
    shift_clock(database, "-3 days")
    with database.begin() as conn:
        plant(conn, held.id, "/p", wait="1 day")
        assert page_row(conn, held, "/p").next_at < value(conn, "select now()") - timedelta(days=1)
    assert paths_taken(desk, held) == []
    shift_clock(database, "-1 day")
    assert paths_taken(desk, held) == ["/p"]
