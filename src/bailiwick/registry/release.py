"""The end of leases: what came of them, when the domains are due again, and who takes their place."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import Connection, Row

from bailiwick.base.errors import UsageError
from bailiwick.base.sections import CooldownSettings
from bailiwick.ledger.events import Actor
from bailiwick.ledger.move import Fence, Move, move, move_many
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
    """What a slice came to: the crawl axis' new state; why, if it is blocked or unreachable.

    A partly crawled domain is due again at once, after `pause_seconds`, or (`rests`) when a fully crawled one would be.
    """

    crawl: str
    code: BlockCode | None = None
    reason: str | None = None
    pause_seconds: float = 0
    rests: bool = False

    def __post_init__(self) -> None:
        if (self.crawl in ("blocked", "unreachable")) != (self.code is not None and bool(self.reason)):
            raise UsageError(f"{self.crawl} and {self.code} ({self.reason!r}) do not go together")


Release = tuple[Lease, Outcome]


def release(
    conn: Connection, lease: Lease, outcome: Outcome, rules: Rules, cooldowns: CooldownSettings, system: Actor
) -> bool:
    """End one lease: see `release_all`. False, and nothing done, if it is lost."""
    return bool(release_all(conn, [(lease, outcome)], rules, cooldowns, system))


def release_all(
    conn: Connection, releases: Sequence[Release], rules: Rules, cooldowns: CooldownSettings, system: Actor
) -> set[int]:
    """End leases of one worker in one transaction with all it means for their domains. Which were still held?"""
    if not releases:
        return set()
    held = _lock(conn, [lease for lease, _ in releases])
    known = {row.id: row for row in conn.exec_driver_sql(SQL["known"], {"ids": list(held)})}
    mine = [(lease, outcome) for lease, outcome in releases if lease.domain_id in held]
    if not mine:
        return set()
    now = conn.exec_driver_sql("select bailiwick_now()").scalar_one()
    _move_all(conn, mine, known, system)
    _settle(conn, mine, known, now, cooldowns)
    ids = sorted(held)
    conn.exec_driver_sql(SQL["rescore"], {"ids": ids, "weights": weights(rules.priority)})
    conn.exec_driver_sql(SQL["let_go"], {"ids": ids})
    requeue(conn, ids)
    wake_parked(conn, sorted(set(held.values())), rules)
    return set(held)


def _lock(conn: Connection, leases: Sequence[Lease]) -> dict[int, int]:
    """Domain and key of the leases that are still ours, their queue rows locked in id order."""
    rows = conn.exec_driver_sql(
        SQL["fence"],
        {
            "ids": [lease.domain_id for lease in leases],
            "lease_nos": [lease.lease_no for lease in leases],
            "worker": leases[0].worker,
        },
    )
    return {row.domain_id: row.key_hash for row in rows}


def _settle(
    conn: Connection,
    releases: Sequence[Release],
    known: "dict[int, Row[tuple[object, ...]]]",
    now: datetime,
    cooldowns: CooldownSettings,
) -> None:
    retries = [known[lease.domain_id].block_retries + 1 if outcome.code else 0 for lease, outcome in releases]
    conn.exec_driver_sql(
        SQL["settle"],
        {
            "ids": [lease.domain_id for lease, _ in releases],
            "next_crawl_after": [
                _due(outcome, now, tried, known[lease.domain_id].scrape_frequency_hours, cooldowns)
                for (lease, outcome), tried in zip(releases, retries, strict=True)
            ],
            "reasons": [outcome.reason for _, outcome in releases],
            "codes": [outcome.code for _, outcome in releases],
            "retries": retries,
        },
    )


def _due(
    outcome: Outcome, now: datetime, retries: int, frequency_hours: int | None, cooldowns: CooldownSettings
) -> datetime | None:
    """When the domain is due again. NULL is now, but never for a blocked one."""
    if outcome.code is not None:
        if retries > cooldowns.max_retries:
            return None  # a blocked domain that is never due: only a reset helps
        days: float = getattr(cooldowns, f"{outcome.code}_days")
        return now + timedelta(days=days)
    if outcome.crawl == "exhausted" or outcome.rests:
        return now + (timedelta(hours=frequency_hours) if frequency_hours else timedelta(days=cooldowns.exhausted_days))
    return now + timedelta(seconds=outcome.pause_seconds) if outcome.pause_seconds else None


_VERBS = {"active": "start", "exhausted": "exhaust", "blocked": "block", "unreachable": "lose"}


def _move_all(
    conn: Connection, releases: Sequence[Release], known: "dict[int, Row[tuple[object, ...]]]", system: Actor
) -> None:
    """Walk the crawl axes to where they ended, by the permitted moves: what is not active has to start first.

    The queue rows are locked and their leases checked: nobody else moves these domains meanwhile.
    """
    states = {lease.domain_id: str(known[lease.domain_id].crawl) for lease, _ in releases}
    starting: dict[str, list[int]] = defaultdict(list)
    for lease, outcome in releases:
        state = states[lease.domain_id]
        if state != "active" and (state, outcome.crawl) != ("pending", "unreachable"):
            starting[state].append(lease.domain_id)
            states[lease.domain_id] = "active"
    for state, ids in starting.items():
        move_many(conn, CRAWL, ids, state, "start", actor=system, reason="a slice ended")
    done = [lease.domain_id for lease, outcome in releases if outcome.crawl == "exhausted"]
    if done:
        move_many(conn, CRAWL, done, "active", "exhaust", actor=system, reason="all known pages are fetched")
    for lease, outcome in releases:
        if outcome.code is not None:
            _stop(conn, lease, states[lease.domain_id], outcome, system)


def _stop(conn: Connection, lease: Lease, state: str, outcome: Outcome, system: Actor) -> None:
    # With its reason in the same statement: the table refuses a blocked domain that has none.
    why = {"block_reason": outcome.reason, "block_reason_code": outcome.code}
    fence = Fence(state, lease.lease_no, lease.worker)
    move(conn, Move(CRAWL, lease.domain_id, _VERBS[outcome.crawl], fence, outcome.reason, changes=why), system)
