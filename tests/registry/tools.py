"""What registry tests share."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, text

from bailiwick.accounts.members import system_actor
from bailiwick.base.sections import CooldownSettings, LeaseSettings, PrioritySettings
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Actor
from bailiwick.model.names import DomainName
from bailiwick.registry.apply import SQL
from bailiwick.registry.leases import Lease, Rules, Wish, claim
from bailiwick.registry.records import Domain
from bailiwick.registry.release import Outcome, release
from bailiwick.registry.submit import Submission, submit

RULES = Rules(LeaseSettings(), PrioritySettings())
COOLDOWNS = CooldownSettings()


def admit(conn: Connection, *names: str, actor: Actor | None = None) -> list[Domain]:
    """Approved domains by these names."""
    who = actor or system_actor(conn)
    return [submit(conn, Submission(DomainName.parse(name), admit=True), who).domain for name in names]


def claimed(conn: Connection, worker: str = "w1", limit: int = 10, **wish: object) -> list[Lease]:
    return claim(conn, Wish(worker, limit, **wish), RULES, system_actor(conn))  # type: ignore[arg-type]


def released(conn: Connection, lease: Lease, outcome: Outcome) -> bool:
    return release(conn, lease, outcome, RULES, COOLDOWNS, system_actor(conn))


def faults(conn: Connection) -> list[object]:
    """Rows of the queue that disagree with the one rule: always empty."""
    return list(conn.exec_driver_sql(SQL["queue_faults"], {"limit": 100}).all())


def shift_clock(database: Database, shift: str) -> None:
    """Move the database's clock: `1 hour`, `-2 days`."""
    with database.bare() as conn:
        conn.execute(
            text(
                "create or replace function bailiwick_now() returns timestamptz language sql stable parallel safe "
                f"return now() + interval '{shift}'"
            )
        )


@contextmanager
def sound(database: Database) -> Iterator[Connection]:
    """A transaction after which the queue must still agree with the rule."""
    with database.begin() as conn:
        yield conn
        assert faults(conn) == []
