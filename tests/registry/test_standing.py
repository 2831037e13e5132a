"""Judging's counters, rules and back-off. Specification 001."""

from datetime import timedelta

import pytest

from bailiwick.accounts.members import system_actor
from bailiwick.base.errors import UsageError
from bailiwick.db.engine import Database
from bailiwick.registry import standing
from tests.registry.tools import admit, sound


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
        system = system_actor(conn)
        [domain] = admit(conn, "example.org")
        for confidences in rounds:
            domain = standing.start(conn, domain, system)
            assert domain.standing == "processing"
            domain = standing.finish(conn, domain, confidences, system)
        assert domain.standing == state
        row = domain.row
        assert (row["high_quality_candidate_count"], row["low_quality_candidate_count"]) == counts
        best = max((c for r in rounds for c in r), default=None)
        assert (row["best_confidence_score"], row["processing_count"]) == (best, len(rounds))


def test_failures_back_off_1h_4h_1d_1w_and_success_forgets_them(database: Database) -> None:
    with sound(database) as conn:
        system = system_actor(conn)
        [domain] = admit(conn, "example.org")
        pauses = []
        for _ in range(5):
            domain = standing.start(conn, domain, system)
            domain = standing.fail(conn, domain, "time-out", system)
            pauses.append(domain.row["retry_after"] - domain.row["failed_at"])
        hours = timedelta(hours=1)
        assert pauses == [hours, 4 * hours, 24 * hours, 168 * hours, 168 * hours]
        domain = standing.finish(conn, standing.start(conn, domain, system), [0.7], system)
        assert (domain.row["failure_count"], domain.row["failure_reason"]) == (0, None)
        with pytest.raises(UsageError):
            standing.finish(conn, standing.start(conn, domain, system), [1.1], system)
