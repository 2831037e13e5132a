"""Turns at an engine by the database: exactly the quota, never two closer than the rate allows."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import text

from bailiwick.base.discovery_sections import BraveSettings
from bailiwick.db.engine import Database
from bailiwick.discover.gates import Closed, DatabaseGate, Limits

FAST = Limits(per_minute=60_000, per_day=50, price=0.25)


@pytest.fixture
def gate(database: Database) -> DatabaseGate:
    return DatabaseGate(database)


def row(database: Database) -> tuple[int, float]:
    with database.read() as conn:
        calls, cost = conn.execute(text("select calls, cost from engine_gates where engine = 'brave'")).one()
    return calls, cost


def shift(database: Database, by: timedelta) -> None:
    """Set the database's clock."""
    with database.bare() as conn:
        conn.execute(
            text(
                "create or replace function bailiwick_now() returns timestamptz language sql stable parallel safe "
                f"return timestamptz '2026-05-05 12:00:00+00' + interval '{by.total_seconds()} seconds'"
            )
        )


def test_limits_are_those_of_the_settings() -> None:
    settings = BraveSettings(requests_per_minute=30, requests_per_day=7, price_per_request=0.005, max_retries=4)
    limits = Limits.of(settings)
    assert limits == Limits(30, 7, 0.005, 4)
    assert (limits.spacing_seconds, limits.longest_wait_seconds) == (2, 600)


def test_turns_are_a_spacing_apart(database: Database, gate: DatabaseGate) -> None:
    shift(database, timedelta())
    limits = Limits(per_minute=30, per_day=10)
    assert [gate.reserve("brave", limits) for _ in range(3)] == [0, 2, 4]
    assert gate.reserve("tavily", limits) == 0, "each engine has its own"
    shift(database, timedelta(seconds=5))
    assert gate.reserve("brave", limits) == pytest.approx(1)
    shift(database, timedelta(seconds=60))
    assert gate.reserve("brave", limits) == 0, "turns that nobody took are not saved up"
    assert gate.reserve("brave", limits) == 2


def test_the_quota_is_for_a_day_and_counted_with_its_cost(database: Database, gate: DatabaseGate) -> None:
    shift(database, timedelta())
    limits = Limits(per_minute=60_000, per_day=2, price=0.25)
    assert gate.reserve("brave", limits) == 0
    assert isinstance(gate.reserve("brave", limits), float)
    assert gate.reserve("brave", limits) is Closed.QUOTA
    assert row(database) == (2, 0.5)
    shift(database, timedelta(hours=11, minutes=59))
    assert gate.reserve("brave", limits) is Closed.QUOTA
    shift(database, timedelta(hours=12))
    assert gate.reserve("brave", limits) == 0, "midnight, UTC"
    assert row(database) == (1, 0.25)
    shift(database, timedelta(hours=11, minutes=59))
    assert isinstance(gate.reserve("brave", limits), float)
    assert gate.reserve("brave", limits) is Closed.QUOTA, "a clock that goes back opens no day again"


def test_a_quota_of_nothing_asks_nothing(database: Database, gate: DatabaseGate) -> None:
    assert gate.reserve("brave", Limits(per_day=0)) is Closed.QUOTA
    assert isinstance(gate.reserve("brave", Limits(per_day=5)), float)
    assert gate.reserve("brave", Limits(per_day=0)) is Closed.QUOTA
    assert row(database)[0] == 1


def test_a_hold_moves_everybody(database: Database, gate: DatabaseGate) -> None:
    shift(database, timedelta())
    limits = Limits(per_minute=60, per_day=10)
    gate.hold("brave", 5)  # of an engine that was never asked: nothing
    gate.reserve("brave", limits)
    gate.hold("brave", 30)
    gate.hold("brave", 10)
    assert gate.reserve("brave", limits) == 30
    gate.hold("brave", 700)
    assert gate.reserve("brave", limits) is Closed.BUSY
    assert row(database)[0] == 2, "no turn, no count"


def test_two_at_once_get_exactly_the_quota(database: Database, gate: DatabaseGate) -> None:
    with ThreadPoolExecutor(2) as pool:
        turns = list(pool.map(lambda _: gate.reserve("brave", FAST), range(100)))
    assert turns.count(Closed.QUOTA) == 50
    assert row(database) == (50, 12.5)


def test_turns_taken_at_once_are_apart(database: Database, gate: DatabaseGate) -> None:
    shift(database, timedelta())
    with ThreadPoolExecutor(4) as pool:
        turns = list(pool.map(lambda _: gate.reserve("brave", Limits(per_minute=60, per_day=100)), range(40)))
    assert sorted(turns) == pytest.approx(list(range(40)))
