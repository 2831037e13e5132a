"""The pages that wait to be parsed: taken in batches for a while, given back, queued again."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from bailiwick.db.sql import array_of, by_index, in_order, queries
from bailiwick.model.content import ParseOutcome
from bailiwick.model.names import DomainName
from bailiwick.model.urls import PageUrl
from bailiwick.ports import BodyRef

SQL = queries("bailiwick.extract")
MOST_COUNTED = 100_000
_AGAIN = [ParseOutcome.FAULT.value, ParseOutcome.NO_BODY.value, ParseOutcome.POISON.value, ParseOutcome.TIMEOUT.value]
"""Outcomes that may be better next time: such pages are never done for good."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A page that waits to be parsed, held for a while. `token` names the body that it waited with."""

    domain_id: int
    path_hash: int
    token: bytes
    body_hash: bytes
    ref: BodyRef | None
    url: str
    content_type: str
    profile: str
    attempts: int
    is_forced: bool
    parser_mark: int = 0
    """Of the site parsers that are for its domain."""

    @property
    def key(self) -> tuple[int, int]:
        return (self.domain_id, self.path_hash)


@dataclass(frozen=True, slots=True)
class Taker:
    """Who takes, for how long, and of which jobs."""

    worker: str
    machine: str
    seconds: float
    jobs: Sequence[int] | None = None
    parser_marks: Mapping[str, int] = field(default_factory=dict)
    """Of site parsers, by host."""


def claim(conn: Connection, taker: Taker, *, limit: int) -> list[Claimed]:
    """The pages that waited longest; nobody else gets them until their time is over."""
    values = {
        "worker": taker.worker,
        "machine": taker.machine,
        "seconds": taker.seconds,
        "jobs": list(taker.jobs) if taker.jobs is not None else None,
        "limit": limit,
        "parser_marks": json.dumps(dict(taker.parser_marks)),
    }
    by_index(conn)
    in_order(conn)
    return [
        Claimed(
            domain_id=row.domain_id,
            path_hash=row.path_hash,
            token=row.token,
            body_hash=row.body_hash or row.token,
            ref=BodyRef(row.pack_id, row.pack_offset, row.pack_length) if row.pack_id is not None else None,
            url=PageUrl(DomainName(row.name), row.path).fetch_url(row.base_url),
            content_type=row.content_type,
            profile=row.profile,
            attempts=row.attempts,
            is_forced=row.is_forced,
            parser_mark=row.parser_mark,
        )
        for row in conn.exec_driver_sql(SQL["claim"], values)
    ]


def known_contents(
    conn: Connection, pages: Sequence[tuple[Claimed, int]], *, version: int
) -> dict[tuple[int, int], list[bytes]]:
    """The contents of these pages that need not be made again: (page, the mark of what would make them) in."""
    found: dict[tuple[int, int], list[bytes]] = {}
    wanted = [(page, mark) for page, mark in pages if not page.is_forced]
    values = {
        "domain_id": array_of(page.domain_id for page, _ in wanted),
        "path_hash": array_of(page.path_hash for page, _ in wanted),
        "mark": array_of(mark for _, mark in wanted),
        "version": version,
    }
    for row in conn.exec_driver_sql(SQL["known_contents"], values):
        found.setdefault((row.domain_id, row.path_hash), []).append(row.content_hash)
    return found


def give_back(conn: Connection, taker: Taker, pages: Iterable[Claimed], *, wait_seconds: float = 0.0) -> None:
    """These were not parsed: others may take them, after a while."""
    keys = [page.key for page in pages]
    values = {"domain_id": array_of(d for d, _ in keys), "path_hash": array_of(p for _, p in keys)}
    conn.exec_driver_sql(SQL["give_back"], values | {"worker": taker.worker, "seconds": wait_seconds})


def holders(conn: Connection, machine: str) -> list[str]:
    """The workers of this machine that hold pages."""
    return list(conn.exec_driver_sql(SQL["holders"], {"machine": machine}).scalars())


def free_dead(conn: Connection, workers: Collection[str]) -> int:
    """What these held is free at once."""
    return conn.exec_driver_sql(SQL["free_dead"], {"workers": list(workers)}).rowcount


def backlog(conn: Connection, jobs: Sequence[int] | None = None, *, most: int = MOST_COUNTED) -> int:
    """How many pages wait, counted up to a bound: whoever asks often asks for no more than he needs."""
    values = {"jobs": list(jobs) if jobs is not None else None, "most": most}
    return int(conn.exec_driver_sql(SQL["backlog"], values).scalar_one())


@dataclass(frozen=True, slots=True)
class Again:
    """Which pages are to be parsed again: `marks` are those of today's profiles, and of parsers by host."""

    version: int
    marks: Mapping[str, int]
    only_domains: Sequence[int] | None = None
    profiles: Sequence[str] | None = None
    force: bool = False
    parser_marks: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Requeued:
    """How far it is."""

    seen: int = 0
    added: int = 0
    after: tuple[int, int] = field(default=(-(2**63), -(2**63)))
    is_over: bool = False


def requeue(conn: Connection, again: Again, so_far: Requeued, *, limit: int = 5000) -> Requeued:
    """The next pages of stored bodies that wait for parsing now. Safe to repeat: what is done already stays done."""
    values = {
        "version": again.version,
        "again": _AGAIN,
        "marks": json.dumps(dict(again.marks)),
        "parser_marks": json.dumps(dict(again.parser_marks)),
        "only": list(again.only_domains) if again.only_domains is not None else None,
        "profiles": list(again.profiles) if again.profiles is not None else None,
        "force": again.force,
        "domain_id": so_far.after[0],
        "path_hash": so_far.after[1],
        "limit": limit,
    }
    row = conn.exec_driver_sql(SQL["requeue"], values).one()
    after = (row.domain_id, row.path_hash) if row.seen else so_far.after
    return Requeued(so_far.seen + row.seen, so_far.added + row.added, after, is_over=row.seen < limit)
