"""Turns at registries by the database's clock: a delay apart, over all processes, and not without end."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import text

from bailiwick.db.engine import Database
from bailiwick.score.facts.turns import gate_of, reserve


def shift(database: Database, by: timedelta) -> None:
    """Set the database's clock."""
    with database.bare() as conn:
        conn.execute(
            text(
                "create or replace function bailiwick_now() returns timestamptz language sql stable parallel safe "
                f"return timestamptz '2026-05-05 12:00:00+00' + interval '{by.total_seconds()} seconds'"
            )
        )


def turn(database: Database, host: str = "rdap.test", *, longest: float = 10) -> float | None:
    with database.begin() as conn:
        return reserve(conn, host, delay_seconds=2, longest_seconds=longest)


def test_turns_are_a_delay_apart(database: Database) -> None:
    shift(database, timedelta())
    assert [turn(database) for _ in range(3)] == [0, 2, 4]
    assert turn(database, "whois.test") == 0, "each registry has its own"
    shift(database, timedelta(seconds=60))
    assert [turn(database) for _ in range(2)] == [0, 2], "turns that nobody took are not saved up"


def test_a_turn_that_is_too_far_off_is_not_reserved(database: Database) -> None:
    shift(database, timedelta())
    assert [turn(database, longest=3) for _ in range(4)] == [0, 2, None, None]
    shift(database, timedelta(seconds=2))
    assert turn(database, longest=3) == 2


def test_a_clock_that_is_set_back_makes_nobody_wait_longer(database: Database) -> None:
    shift(database, timedelta(days=10))
    assert turn(database) == 0
    shift(database, timedelta())
    assert turn(database) == 2


def test_no_two_get_the_same_turn(database: Database) -> None:
    shift(database, timedelta())
    with ThreadPoolExecutor(6) as pool:
        turns = list(pool.map(lambda _: turn(database, longest=100), range(12)))
    assert sorted(turns) == [2.0 * n for n in range(12)]


@pytest.mark.parametrize(
    ("host", "gate"),
    [
        ("RDAP.Example.com", "registry:rdap.example.com"),
        ("www.nic.test", "registry:nic.test"),
        ("10.0.0.1", "registry:10.0.0.1"),
        ("no host", "registry:no host"),
    ],
)
def test_one_gate_a_host(host: str, gate: str) -> None:
    assert gate_of(host) == gate
