"""A duty: URLs that wait longer than the operator wants count as stale, and are marked so once a day."""

from dataclasses import dataclass

from bailiwick.accounts.members import system_actor
from bailiwick.base.review_sections import ReviewSettings
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Act, Subject, record
from bailiwick.review.queue import SQL

BATCH = 1000
_MOST_BATCHES = 10_000


@dataclass(frozen=True, slots=True)
class Counts:
    """How many were marked; None: no time is set after which they would be."""

    marked: int | None


def run_once(database: Database, settings: ReviewSettings, *, batch: int = BATCH) -> Counts:
    """Mark them, each batch in a transaction of its own. Again at once, there is nothing left to mark."""
    days = settings.auto_review_timeout_days
    if days is None:
        return Counts(None)
    marked = 0
    for _ in range(_MOST_BATCHES):
        with database.begin() as conn:
            done = conn.exec_driver_sql(SQL["mark_stale"], {"days": days, "limit": batch}).rowcount
            if done:
                act = Act("mark_stale", details={"entries": done, "after_days": days})
                record(conn, system_actor(conn), Subject("review_queue", "stale"), act)
        marked += done
        if done < batch:
            break
    return Counts(marked)
