"""Leases: who may send requests to a domain, for how long, and how that ends. DESIGN section 5."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from bailiwick.base.sections import LeaseSettings, PrioritySettings
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.ledger.move import move_many
from bailiwick.model.names import DomainName
from bailiwick.model.transitions import CRAWL
from bailiwick.registry.apply import SQL, requeue
from bailiwick.registry.permission import DECIDERS, require
from bailiwick.registry.priority import weights
from bailiwick.registry.records import Domain

_PROMOTE_LIMIT = 2000
_ROUNDS = 4
_KEYS_LOOKED_AT = 4


@dataclass(frozen=True, slots=True)
class Lease:
    """A worker's exclusive right to one domain, and what it needs to know to use it."""

    domain_id: int
    name: DomainName
    lease_no: int
    worker: str
    expires_at: datetime
    crashes: int
    base_url: str | None
    crawl: str
    profile: str
    max_crawl_depth: int
    crawl_delay_seconds: float
    max_concurrent_requests: int
    max_pages_per_run: int

    @property
    def taken_over(self) -> bool:
        """The lease before was not released: the first request waits one full delay."""
        return self.crashes > 0


@dataclass(frozen=True, slots=True)
class Wish:
    """What a claimer asks for: up to `limit` domains, of these alone if `among` is given."""

    worker: str
    limit: int
    among: Sequence[int] | None = None
    floor: int = 0
    """The smallest ready key worth looking at: what the last claim saw (DESIGN notes on index clean-up)."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that claims and releases follow."""

    lease: LeaseSettings
    priority: PrioritySettings


def claim(conn: Connection, wish: Wish, rules: Rules, system: Actor) -> list[Lease]:
    """Up to `limit` domains that are due, each leased to this worker alone. Never waits for another claimer."""
    promote(conn, rules, system)
    leases: list[Lease] = []
    if wish.among is not None:
        plan = [("pick_among", wish.limit)]
    else:
        fresh = math.ceil(wish.limit * rules.lease.new_share)
        plan = [("pick_new", fresh), ("pick_known", wish.limit), ("pick_new", wish.limit)]
    for query, most in plan:
        leases += _claim_from(conn, query, min(most, wish.limit - len(leases)), wish, rules)
    return leases


def _claim_from(conn: Connection, query: str, most: int, wish: Wish, rules: Rules) -> list[Lease]:
    """Lease from one list. Candidates that turn out to be refused or parked are made up for by more, a few times."""
    leases: list[Lease] = []
    for _ in range(_ROUNDS):
        if len(leases) >= most:
            break
        picked = _pick(conn, query, wish, most - len(leases))
        if not picked:
            break
        leases += _take(conn, picked, wish.worker, rules)
    return leases


def promote(conn: Connection, rules: Rules, system: Actor) -> int:
    """Make due domains and leases that ran out ready again, a bounded number at a time. Returns how many."""
    due = conn.exec_driver_sql(SQL["promote"], {"limit": _PROMOTE_LIMIT, "weights": weights(rules.priority)}).all()
    for state, verb in (("blocked", "retry"), ("unreachable", "retry"), ("exhausted", "refresh")):
        cooled = [row.domain_id for row in due if row.refusal is None and row.crawl == state]
        if cooled:
            move_many(conn, CRAWL, cooled, state, verb, actor=system, reason="its time has come")
    _fill_room(conn, {row.key_hash for row in due if row.was_leased}, rules)
    return len(due)


def _fill_room(conn: Connection, freed: set[int], rules: Rules) -> None:
    """Wake parked domains of freed keys and of a few others with room. A key that is busy waits for a later claim."""
    per_key = rules.lease.per_shared_key
    roomy = conn.exec_driver_sql(SQL["roomy_keys"], {"keys": _KEYS_LOOKED_AT, "per_key": per_key})
    keys = freed | {row.key_hash for row in roomy}
    if keys and (mine := _try_keys(conn, keys)):
        conn.exec_driver_sql(SQL["wake_parked"], {"keys": list(mine), "per_key": per_key})


def renew(conn: Connection, leases: Sequence[Lease], rules: Rules) -> dict[int, datetime]:
    """Extend the leases that are still ours; the answer names them with their new end. The others are lost."""
    if not leases:
        return {}
    rows = conn.exec_driver_sql(
        SQL["renew"],
        {
            "ids": [lease.domain_id for lease in leases],
            "lease_nos": [lease.lease_no for lease in leases],
            "worker": leases[0].worker,
            "seconds": rules.lease.seconds,
        },
    )
    return {row.domain_id: row.wake_at for row in rows}


def wanted(conn: Connection, leases: Sequence[Lease]) -> dict[int, str]:
    """What is wanted of the domains we hold: run, pause or stop; a domain that we no longer hold is missing."""
    held = {lease.domain_id: lease.lease_no for lease in leases}
    rows = conn.exec_driver_sql(SQL["wanted"], {"ids": list(held)})
    return {row.domain_id: row.wanted for row in rows if held[row.domain_id] == row.lease_no}


def revoke(conn: Connection, domain: Domain, actor: Actor, rules: Rules, *, reason: str | None) -> bool:
    """End a domain's lease from outside; its holder's results are refused from now on. Says whether there was one."""
    require(actor, DECIDERS)
    rows = conn.exec_driver_sql(SQL["revoke"], {"ids": [domain.id]}).all()
    if not rows:
        return False
    record(conn, actor, Subject("domain", domain.name.name, domain.id), Act("release_lease", reason=reason))
    requeue(conn, [domain.id])
    wake_parked(conn, [row.key_hash for row in rows], rules)
    return True


def _pick(conn: Connection, query: str, wish: Wish, limit: int) -> list[tuple[int, int]]:
    """Lock candidates that nobody else is looking at, and the right to count their keys."""
    rows = conn.exec_driver_sql(
        SQL[query], {"limit": limit, "floor": wish.floor, "among": list(wish.among or ())}
    ).all()
    if not rows:
        return []
    mine = _try_keys(conn, {row.key_hash for row in rows})
    return [(row.domain_id, row.key_hash) for row in rows if row.key_hash in mine]


def _try_keys(conn: Connection, keys: set[int]) -> set[int]:
    return {row.key_hash for row in conn.exec_driver_sql(SQL["try_keys"], {"keys": list(keys)})}


def _take(conn: Connection, picked: list[tuple[int, int]], worker: str, rules: Rules) -> list[Lease]:
    rows = conn.exec_driver_sql(
        SQL["take"],
        {
            "ids": [domain_id for domain_id, _ in picked],
            "keys": [key for _, key in picked],
            "per_key": rules.lease.per_shared_key,
            "seconds": rules.lease.seconds,
            "worker": worker,
        },
    )
    return [
        Lease(
            domain_id=row.domain_id,
            name=DomainName(row.name),
            lease_no=row.lease_no,
            worker=worker,
            expires_at=row.wake_at,
            crashes=row.crashes,
            base_url=row.base_url,
            crawl=row.crawl,
            profile=row.profile,
            max_crawl_depth=row.max_crawl_depth,
            crawl_delay_seconds=row.crawl_delay_seconds,
            max_concurrent_requests=row.max_concurrent_requests,
            max_pages_per_run=row.max_pages_per_run,
        )
        for row in rows
    ]


def wake_parked(conn: Connection, keys: Sequence[int], rules: Rules) -> None:
    """Under the keys' locks, so that no claimer parks a domain unseen at the same moment."""
    conn.exec_driver_sql(SQL["lock_keys"], {"keys": list(keys)})
    conn.exec_driver_sql(SQL["wake_parked"], {"keys": list(keys), "per_key": rules.lease.per_shared_key})


def lock_key(conn: Connection, shared_key: str) -> None:
    """Until the transaction ends, nobody claims a domain with this key."""
    conn.exec_driver_sql(SQL["lock_key"], {"shared_key": shared_key})
