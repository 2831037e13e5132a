"""Gates of hosts without a lease: one for all names and ports of a host, and in step with the host's own domain."""

import threading
import time
from math import inf
from typing import Any

import pytest
from sqlalchemy import text

from bailiwick.crawl.desk import Desk, reserve
from bailiwick.crawl.facts import Ending
from bailiwick.crawl.flush import flush
from bailiwick.crawl.outcomes import StopReason
from bailiwick.db.engine import Database
from bailiwick.registry.release import Outcome
from tests.crawl.desk_tools import batch, desk_of, hold, plant, slice_of
from tests.registry.tools import admit, claimed, released

EACH = 4.0
"""Two seconds, and two more in which the request may still be written."""


def about(seconds: float) -> Any:
    """Less than half a step off: a test may be held up."""
    return pytest.approx(seconds, abs=1.9)


@pytest.fixture
def desk(database: Database) -> Desk:
    return desk_of(database)


def test_each_reservation_comes_after_the_one_before(database: Database) -> None:
    assert reserve(database, "other.test") == about(0)
    assert reserve(database, "www.other.test:8080") == about(EACH)
    assert reserve(database, "Other.test:81") == about(2 * EACH)
    assert reserve(database, "more.test") == about(0)


def test_reservations_of_many_at_once_are_apart(database: Database) -> None:
    waits: list[float] = []
    threads = [threading.Thread(target=lambda: waits.append(reserve(database, "other.test"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(waits) == [about(n * EACH) for n in range(8)]


def test_a_host_that_somebody_holds_cannot_be_reserved_by_any_port(database: Database) -> None:
    with database.begin() as conn:
        [held] = hold(conn, "own.test:8080")
        admit(conn, "sub.own.test")
    assert reserve(database, "own.test:8080") == inf
    assert reserve(database, "www.own.test:9090") == inf
    assert reserve(database, "own.test") == inf
    assert reserve(database, "sub.own.test") == about(0)
    with database.begin() as conn:
        released(conn, held.lease, Outcome("active"))
    assert reserve(database, "own.test") < 10


def test_who_claims_a_host_after_a_reservation_waits_for_it(database: Database, desk: Desk) -> None:
    reserve(database, "own.test")
    reserve(database, "own.test")
    with database.begin() as conn:
        admit(conn, "own.test:8080", "free.test")
    opened = {one.lease.name.host: one.known.held_seconds for one in desk.claim(5, None)}
    assert opened == {"own.test": about(2 * EACH), "free.test": 0.0}


def test_what_is_known_of_the_hosts_own_pace_counts(database: Database) -> None:
    with database.begin() as conn:
        [held, paused, fresh] = hold(conn, "own.test", "paused.test", "slow.test")
        for one in (held, paused, fresh):
            plant(conn, one.id, "/")
            released(conn, one.lease, Outcome("active"))
        conn.execute(text("update domains set crawl_delay_seconds = 30"))
        conn.execute(
            text(
                "update domain_progress set last_request_at = bailiwick_now() - interval '10 s' where domain_id = :id"
            ),
            {"id": held.id},
        )
        conn.execute(
            text("insert into domain_memory (domain_id, not_before) values (:id, bailiwick_now() + interval '1 hour')"),
            {"id": paused.id},
        )
    assert reserve(database, "own.test") == about(20)
    assert reserve(database, "own.test") == about(20 + 32)
    assert reserve(database, "paused.test") == about(3600)
    assert reserve(database, "slow.test") == about(0)


def test_after_a_crash_a_full_delay_is_waited(database: Database) -> None:
    with database.begin() as conn:
        [held] = hold(conn, "own.test")
        conn.execute(text("update crawl_queue set wake_at = bailiwick_now()"))
    assert reserve(database, "own.test") == inf  # nobody has found out yet
    with database.begin() as conn:
        claimed(conn, "w2", 0, among=[])
    assert held.lease.crawl_delay_seconds == 2
    assert reserve(database, "own.test") == about(2)


def test_a_flush_that_waited_for_a_lock_dates_no_request_back(database: Database) -> None:
    """The last request was a moment ago, however long the transaction has been open."""
    with database.begin() as conn:
        [held] = hold(conn, "own.test")
        plant(conn, held.id, "/")
    with database.begin() as conn:
        conn.execute(text("select pg_sleep(1)"))
        sent = time.monotonic()
        flush(conn, [batch(held, 1, last_sent=sent)], worker=held.worker, system_id=1)
    with database.read() as conn:
        ago = conn.execute(text("select extract(epoch from clock_timestamp() - last_request_at) from domain_progress"))
        assert float(ago.scalar_one()) <= time.monotonic() - sent


def test_ports_of_one_host_are_leased_one_after_another(database: Database, desk: Desk) -> None:
    names = ["own.test:8080", "own.test:8081", "own.test", "sub.own.test"]
    with database.begin() as conn:
        admit(conn, *names)
    first = desk.claim(10, None)
    hosts = sorted(opened.lease.name.host for opened in first)
    assert hosts == ["own.test", "sub.own.test"]
    assert desk.claim(10, None) == []
    with database.begin() as conn:
        for opened in first:
            released(conn, opened.lease, Outcome("exhausted"))
    second = desk.claim(10, None)
    assert [opened.lease.name.host for opened in second] == ["own.test"]


def test_what_was_sent_to_one_port_counts_for_the_others(database: Database, desk: Desk) -> None:
    with database.begin() as conn:
        [plain, port] = hold(conn, "own.test"), hold(conn, "other.test:8080")
        conn.execute(text("update domain_progress set last_request_at = bailiwick_now()"))
    for [held] in (plain, port):
        part = slice_of(held)
        part.pace.raise_delay(100)
        desk.release([(part, Ending(StopReason.SHUTDOWN))])
    with database.begin() as conn:
        admit(conn, "own.test:8080", "other.test")
        conn.execute(
            text("update crawl_queue set ready_key = null where domain_id <= :n"), {"n": port[0].lease.domain_id}
        )
    known = {opened.lease.name.name: opened.known for opened in desk.claim(10, None)}
    assert known["own.test:8080"].sent_seconds_ago == about(0)
    assert known["other.test"].held_seconds == pytest.approx(100, abs=5)
