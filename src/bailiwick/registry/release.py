"""The end of a lease: what came of it, when the domain is due again, and who takes its place."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import Connection, select

from bailiwick.base.errors import UsageError
from bailiwick.base.settings import CooldownSettings
from bailiwick.db.tables import domains
from bailiwick.ledger.events import Actor
from bailiwick.ledger.move import Fence, Move, move
from bailiwick.model.transitions import CRAWL
from bailiwick.registry.apply import SQL, requeue
from bailiwick.registry.leases import Lease, Rules, wake_parked
from bailiwick.registry.priority import weights


class BlockCode(StrEnum):
    """Why a domain cannot be crawled for a while; each has its cooldown setting."""

    LOGIN_WALL = "login_wall"
    RATE_LIMITED = "rate_limited"
    FORBIDDEN = "forbidden"
    ROBOTS_DENIED = "robots_denied"
    ERROR_LIMIT = "error_limit"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a slice came to: the crawl axis' new state; why, if it is blocked or unreachable."""

    crawl: str
    code: BlockCode | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        if (self.crawl in ("blocked", "unreachable")) != (self.code is not None and bool(self.reason)):
            raise UsageError(f"{self.crawl} and {self.code} ({self.reason!r}) do not go together")


def release(
    conn: Connection, lease: Lease, outcome: Outcome, rules: Rules, cooldowns: CooldownSettings, system: Actor
) -> bool:
    """End the lease in one transaction with all it means for the domain. False, and nothing done, if it is lost."""
    fence = {"domain_id": lease.domain_id, "lease_no": lease.lease_no, "worker": lease.worker}
    held = conn.exec_driver_sql(SQL["fence"], fence).one_or_none()
    if held is None:
        return False
    known = conn.execute(
        select(domains.c.crawl, domains.c.block_retries, domains.c.scrape_frequency_hours).where(
            domains.c.id == lease.domain_id
        )
    ).one()
    retries = known.block_retries + 1 if outcome.code else 0
    now = conn.exec_driver_sql("select bailiwick_now()").scalar_one()
    _move_to(conn, lease, known.crawl, outcome, system)
    conn.exec_driver_sql(
        SQL["settle"],
        {
            "domain_id": lease.domain_id,
            "next_crawl_after": _due(outcome, now, retries, known.scrape_frequency_hours, cooldowns),
            "block_reason": outcome.reason,
            "block_reason_code": outcome.code,
            "block_retries": retries,
        },
    )
    conn.exec_driver_sql(SQL["rescore"], {"domain_id": lease.domain_id, "weights": weights(rules.priority)})
    conn.exec_driver_sql(SQL["let_go"], {"domain_id": lease.domain_id})
    requeue(conn, [lease.domain_id])
    wake_parked(conn, [held.key_hash], rules)
    return True


def _due(
    outcome: Outcome, now: datetime, retries: int, frequency_hours: int | None, cooldowns: CooldownSettings
) -> datetime | None:
    """When the domain is due again. NULL is now, but never for a blocked one."""
    if outcome.code is not None:
        if retries > cooldowns.max_retries:
            return None  # a blocked domain that is never due: only a reset helps
        days: float = getattr(cooldowns, f"{outcome.code}_days")
        return now + timedelta(days=days)
    if outcome.crawl == "exhausted":
        return now + (timedelta(hours=frequency_hours) if frequency_hours else timedelta(days=cooldowns.exhausted_days))
    return None


_VERBS = {"active": "start", "exhausted": "exhaust", "blocked": "block", "unreachable": "lose"}


def _move_to(conn: Connection, lease: Lease, now: str, outcome: Outcome, system: Actor) -> None:
    """Walk the crawl axis to where it ended, by the permitted moves: what is not active has to start first."""
    path = [outcome.crawl] if now == "active" or (now, outcome.crawl) == ("pending", "unreachable") else ["active"]
    if path[-1] != outcome.crawl:
        path.append(outcome.crawl)
    for target in path:
        if target != now:
            fence = Fence(now, lease.lease_no, lease.worker)
            # With its reason in the same statement: the table refuses a blocked domain that has none.
            why = {"block_reason": outcome.reason, "block_reason_code": outcome.code} if target == outcome.crawl else {}
            changes = why if outcome.code else {}
            move(conn, Move(CRAWL, lease.domain_id, _VERBS[target], fence, outcome.reason, changes=changes), system)
            now = target
