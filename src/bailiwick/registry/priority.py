"""Priority by specification 002 section 6.2, in 100 steps. The formula is the SQL function `domain_score`."""

import json
from dataclasses import dataclass

from sqlalchemy import Connection

from bailiwick.base.sections import PrioritySettings
from bailiwick.registry.apply import SQL

BATCH = 5000


@dataclass(frozen=True, slots=True)
class Counts:
    """What one batch did; `last_id` is where the next one goes on."""

    looked_at: int
    changed: int
    last_id: int


def weights(settings: PrioritySettings) -> str:
    """The settings as the SQL functions take them."""
    return json.dumps(settings.model_dump())


def run_once(conn: Connection, settings: PrioritySettings, *, after: int = 0, batch: int = BATCH) -> Counts | None:
    """Score one batch of domains anew, in id order; None behind the last. It and claims never wait for each other."""
    row = conn.exec_driver_sql(
        SQL["reprioritize"], {"after": after, "limit": batch, "weights": weights(settings)}
    ).one()
    last_id, looked_at, changed = row
    return Counts(looked_at, changed, last_id) if last_id is not None else None
