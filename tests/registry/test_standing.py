"""Judging's counters, rules and back-off. Specification 001."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection, text

from bailiwick.accounts.members import system_actor
from bailiwick.base.errors import UsageError
from bailiwick.db.engine import Database
from bailiwick.registry import standing
from bailiwick.registry.records import Domain, get
from bailiwick.registry.standing import Closed, Rated
from tests.registry.tools import admit, sound

FRESH = timedelta(days=30)


def judged(conn: Connection, domain: Domain, confidences: Sequence[float]) -> Domain:
    """One round of judging, as a session does it with the usual threshold."""
    system = system_actor(conn)
    standing.start(conn, [domain.id], system, reason="a session")
    assert get(conn, domain.name).standing == "processing"
    high = sum(confidence >= 0.6 for confidence in confidences)
    rated = Rated(domain.id, high, len(confidences) - high, max(confidences, default=None))
    standing.finish(conn, [rated], system, low_quality_after=3, reason="a session")
    return get(conn, domain.name)


@pytest.mark.parametrize(
    ("rounds", "state", "counts"),
    [
        ([[0.9]], "processed_high_quality", (1, 0)),
        ([[0.6]], "processed_high_quality", (1, 0)),
        ([[0.59]], "discovered", (0, 1)),
        ([[0.1, 0.2]], "discovered", (0, 2)),
        ([[0.1, 0.2, 0.3]], "processed_low_quality", (0, 3)),
        ([[0.1], [0.2], [0.3]], "processed_low_quality", (0, 3)),
        ([[0.1, 0.2, 0.3], [0.8]], "processed_high_quality", (1, 3)),
        ([[0.8], [0.1, 0.1, 0.1]], "processed_high_quality", (1, 3)),
        ([[]], "discovered", (0, 0)),
    ],
)
def test_quality_by_candidates(
    database: Database, rounds: list[list[float]], state: str, counts: tuple[int, int]
) -> None:
    with sound(database) as conn:
        [domain] = admit(conn, "example.org")
        for confidences in rounds:
            domain = judged(conn, domain, confidences)
        assert domain.standing == state
        row = domain.row
        assert (row["high_quality_candidate_count"], row["low_quality_candidate_count"]) == counts
        best = max((c for r in rounds for c in r), default=None)
        assert (row["best_confidence_score"], row["processing_count"]) == (best, len(rounds))


def test_many_domains_move_each_to_its_own_end_with_an_event_each(database: Database) -> None:
    with sound(database) as conn:
        system = system_actor(conn)
        high, low, open_, other = admit(conn, "high.example", "low.example", "open.example", "other.example")
        ids = [high.id, low.id, open_.id]
        standing.start(conn, ids, system, reason="a session")
        rated = [Rated(high.id, 1, 5, 0.9), Rated(low.id, 0, 3, 0.2), Rated(open_.id, 0, 1, 0.3)]
        standing.finish(conn, rated, system, low_quality_after=3, reason="a session")
        assert [get(conn, domain.name).standing for domain in (high, low, open_, other)] == [
            "processed_high_quality", "processed_low_quality", "discovered", "discovered",
        ]  # fmt: skip
        verbs = conn.execute(text("select subject_name, verb from events where machine = 'standing' order by id")).all()
        assert sorted(map(tuple, verbs)) == [
            ("high.example", "process"), ("high.example", "rate_high"), ("low.example", "process"),
            ("low.example", "rate_low"), ("open.example", "leave_open"), ("open.example", "process"),
        ]  # fmt: skip


def test_failures_back_off_1h_4h_1d_1w_and_success_forgets_them(database: Database) -> None:
    with sound(database) as conn:
        system = system_actor(conn)
        [domain] = admit(conn, "example.org")
        pauses = []
        for _ in range(5):
            standing.start(conn, [domain.id], system, reason="a session")
            standing.fail(conn, {domain.id: "time-out"}, system)
            domain = get(conn, domain.name)
            assert domain.standing == "processing_failed"
            pauses.append(domain.row["retry_after"] - domain.row["failed_at"])
        hours = timedelta(hours=1)
        assert pauses == [hours, 4 * hours, 24 * hours, 168 * hours, 168 * hours]
        domain = judged(conn, domain, [0.7])
        assert (domain.row["failure_count"], domain.row["failure_reason"]) == (0, None)


def test_a_confidence_beyond_1_is_refused() -> None:
    with pytest.raises(UsageError):
        Rated(1, 1, 0, 1.1)


NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({}, None),
        ({"standing": "blacklisted", "last_processed_at": NOW - 99 * FRESH}, Closed.BLACKLISTED),
        ({"approval": "rejected"}, Closed.DECIDED),
        ({"approval": "suspended"}, Closed.DECIDED),
        ({"last_processed_at": NOW - FRESH + timedelta(minutes=1)}, Closed.FRESH),
        ({"last_processed_at": NOW - FRESH - timedelta(minutes=1)}, None),
        ({"standing": "no_funds_this_year", "no_funds_year": 2026}, Closed.NO_FUNDS),
        ({"standing": "no_funds_this_year", "no_funds_year": 2027}, Closed.NO_FUNDS),
        ({"standing": "no_funds_this_year", "no_funds_year": 2025, "last_processed_at": NOW}, None),
        ({"standing": "processing_failed", "retry_after": NOW + timedelta(seconds=1)}, Closed.FAILED),
        ({"standing": "processing_failed", "retry_after": NOW, "last_processed_at": NOW}, None),
        ({"standing": "processing", "last_processed_at": None}, Closed.FRESH),
    ],
)
def test_which_domains_are_passed_over(row: dict[str, object], expected: Closed | None) -> None:
    usual = {"standing": "discovered", "approval": "pending_review", "last_processed_at": None, "no_funds_year": None}
    assert standing.closed({**usual, "retry_after": None, **row}, NOW, fresh=FRESH) is expected  # type: ignore[arg-type]
