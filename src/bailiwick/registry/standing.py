"""The standing axis as judging moves it, for many domains at once: specification 001's counters, rules and back-off."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import Connection, RowMapping, any_, func, select, update

from bailiwick.base.errors import IllegalMoveError, UsageError
from bailiwick.db.tables import domains
from bailiwick.ledger.events import Actor
from bailiwick.ledger.move import array_of, move_many
from bailiwick.model.transitions import STANDING
from bailiwick.registry.apply import SQL, lock_queue, requeue

BACK_OFF = (timedelta(hours=1), timedelta(hours=4), timedelta(days=1), timedelta(weeks=1))
_BEGINNINGS = (
    ("discovered", "process"),
    ("processed_high_quality", "process"),
    ("processed_low_quality", "process"),
    ("processing_failed", "retry"),
    ("no_funds_this_year", "new_year"),
)


class Closed(StrEnum):
    """Why a known domain is not judged now."""

    BLACKLISTED = "blacklisted"
    DECIDED = "decided"
    """People rejected or suspended it."""
    NO_FUNDS = "no_funds"
    """Until the new year."""
    FAILED = "failed"
    """Until its next try."""
    FRESH = "fresh"
    """It was judged not long ago."""


@dataclass(frozen=True, slots=True)
class Rated:
    """What judging found of one domain: how many high and low candidates, and the best confidence."""

    domain_id: int
    high: int
    low: int
    best: float | None

    def __post_init__(self) -> None:
        if self.best is not None and not 0 <= self.best <= 1:
            raise UsageError("a confidence is a number from 0 to 1")


def standing_after_lift(standing: str) -> str:
    """Where a domain that is blacklisted now returns to: a judging that was under way is not taken up where it was."""
    return "discovered" if standing == "processing" else standing


def closed(domain: RowMapping, now: datetime, *, fresh: timedelta) -> Closed | None:
    """Whether a domain's results are to be passed over, by its row, and why."""
    standing, processed = domain["standing"], domain["last_processed_at"]
    if standing == "blacklisted":
        return Closed.BLACKLISTED
    if domain["approval"] in ("rejected", "suspended"):
        return Closed.DECIDED
    if standing == "no_funds_this_year":
        return Closed.NO_FUNDS if domain["no_funds_year"] >= now.year else None
    if standing == "processing":  # never seen from outside: judging is one transaction
        return Closed.FRESH
    if standing == "processing_failed":
        return Closed.FAILED if domain["retry_after"] is not None and domain["retry_after"] > now else None
    return Closed.FRESH if processed is not None and processed > now - fresh else None


def start(conn: Connection, ids: Collection[int], system: Actor, *, reason: str) -> None:
    """Judging begins (again) for these. IllegalMoveError if one of them cannot be judged now: see `closed`."""
    listed = sorted(set(ids))
    lock_queue(conn, listed)
    moved = [move_many(conn, STANDING, listed, begin, verb, actor=system, reason=reason) for begin, verb in _BEGINNINGS]
    _all_moved(sum(moved), listed, "process")
    counted = {"processing_count": domains.c.processing_count + 1}
    conn.execute(update(domains).where(domains.c.id == any_(array_of(listed))).values(counted))
    requeue(conn, listed)


def finish(conn: Connection, rated: Sequence[Rated], system: Actor, *, low_quality_after: int, reason: str) -> None:
    """Judging ended for these: a high candidate makes a domain high quality, enough low ones alone make it low."""
    ids = sorted(one.domain_id for one in rated)
    lock_queue(conn, ids)
    columns = {
        "ids": [one.domain_id for one in rated],
        "high": [one.high for one in rated],
        "low": [one.low for one in rated],
        "best": [one.best for one in rated],
    }
    verbs: dict[str, list[int]] = {"rate_high": [], "rate_low": [], "leave_open": []}
    for domain_id, high, low in conn.exec_driver_sql(SQL["rate"], columns):
        verbs["rate_high" if high else "rate_low" if low >= low_quality_after else "leave_open"].append(domain_id)
    for verb, concerned in verbs.items():
        move_many(conn, STANDING, concerned, "processing", verb, actor=system, reason=reason)
    _all_moved(sum(map(len, verbs.values())), ids, "be rated")
    requeue(conn, ids)


def fail(conn: Connection, reasons: Mapping[int, str], system: Actor) -> None:
    """Judging failed for a technical reason: again after 1 hour, 4 hours, 1 day, then every week."""
    ids = sorted(reasons)
    lock_queue(conn, ids)
    query = select(domains.c.id, domains.c.failure_count).where(domains.c.id == any_(array_of(ids)))
    for domain_id, before in conn.execute(query).all():
        failures = before + 1
        pause = BACK_OFF[min(failures, len(BACK_OFF)) - 1]
        changes = {
            "failure_reason": reasons[domain_id],
            "failure_count": failures,
            "failed_at": func.bailiwick_now(),
            "retry_after": func.bailiwick_now() + pause,
            "last_processed_at": func.bailiwick_now(),
        }
        conn.execute(update(domains).where(domains.c.id == domain_id).values(changes))
        why = reasons[domain_id]
        _all_moved(
            move_many(conn, STANDING, [domain_id], "processing", "fail", actor=system, reason=why), [domain_id], "fail"
        )
    requeue(conn, ids)


def _all_moved(moved: int, ids: Collection[int], verb: str) -> None:
    """The caller holds them: who has not moved was not where the verb begins."""
    if moved != len(ids):
        raise IllegalMoveError(f"{len(ids) - moved} of {len(ids)} domains cannot {verb} from where they stand")
