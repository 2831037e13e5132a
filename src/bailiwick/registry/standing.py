"""The standing axis as judging moves it: specification 001's counters, rules and back-off."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import Connection, func

from bailiwick.base.errors import UsageError
from bailiwick.ledger.events import Actor
from bailiwick.ledger.move import Move
from bailiwick.model.transitions import STANDING
from bailiwick.registry.apply import apply
from bailiwick.registry.records import Domain, get

HIGH = 0.6
"""A candidate of at least this confidence is of high quality (001)."""
LOW_FOR_GOOD = 3
"""That many low ones and no high one make a domain low quality (001)."""
BACK_OFF = (timedelta(hours=1), timedelta(hours=4), timedelta(days=1), timedelta(weeks=1))


def standing_after_lift(standing: str) -> str:
    """Where a domain that is blacklisted now returns to: a judging that was under way is not taken up where it was."""
    return "discovered" if standing == "processing" else standing


def start(conn: Connection, domain: Domain, system: Actor) -> Domain:
    """Judging begins (again)."""
    verb = {"processing_failed": "retry", "no_funds_this_year": "new_year"}.get(domain.standing, "process")
    changes = {"processing_count": domain.row["processing_count"] + 1}
    apply(conn, Move(STANDING, domain.id, verb, domain.standing_seen, changes=changes), system)
    return get(conn, domain.name)


def finish(conn: Connection, domain: Domain, confidences: Sequence[float], system: Actor) -> Domain:
    """Judging ended with these candidates' confidences."""
    if any(not 0 <= confidence <= 1 for confidence in confidences):
        raise UsageError("a confidence is a number from 0 to 1")
    high = domain.row["high_quality_candidate_count"] + sum(c >= HIGH for c in confidences)
    low = domain.row["low_quality_candidate_count"] + sum(c < HIGH for c in confidences)
    verb = "rate_high" if high else "rate_low" if low >= LOW_FOR_GOOD else "leave_open"
    known = domain.row["best_confidence_score"]
    changes = {
        "high_quality_candidate_count": high,
        "low_quality_candidate_count": low,
        "best_confidence_score": max((*confidences, *([known] if known is not None else [])), default=None),
        "last_processed_at": func.bailiwick_now(),
        **dict.fromkeys(("failure_reason", "failed_at", "retry_after")),
        "failure_count": 0,
    }
    apply(conn, Move(STANDING, domain.id, verb, domain.standing_seen, changes=changes), system)
    return get(conn, domain.name)


def fail(conn: Connection, domain: Domain, reason: str, system: Actor) -> Domain:
    """Judging failed for a technical reason: again after 1 hour, 4 hours, 1 day, then every week."""
    failures = domain.row["failure_count"] + 1
    pause = BACK_OFF[min(failures, len(BACK_OFF)) - 1]
    changes = {
        "failure_reason": reason,
        "failure_count": failures,
        "failed_at": func.bailiwick_now(),
        "retry_after": func.bailiwick_now() + pause,
        "last_processed_at": func.bailiwick_now(),
    }
    apply(conn, Move(STANDING, domain.id, "fail", domain.standing_seen, reason, changes=changes), system)
    return get(conn, domain.name)
