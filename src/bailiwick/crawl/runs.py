"""Runs: one execution of a job, domain by domain, over as many slices as it takes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, cast, func, insert, select
from sqlalchemy.sql import Select

from bailiwick.crawl.flush import SQL
from bailiwick.crawl.jobs import STANDING, JobOptions
from bailiwick.crawl.outcomes import StopReason
from bailiwick.db.tables import domains, job_domains, jobs, run_domains, runs
from bailiwick.ledger.events import Actor
from bailiwick.ledger.move import Move, Seen, move
from bailiwick.model.transitions import JOB
from bailiwick.registry.apply import requeue
from bailiwick.registry.leases import Lease


@dataclass(frozen=True, slots=True)
class Assignment:
    """Which run a slice serves, and what is left of its budgets."""

    run_id: int
    job_id: int
    page_budget: int
    request_budget: int
    max_depth: int
    pages_done: int
    requests_done: int
    options: JobOptions


@dataclass(frozen=True, slots=True)
class Ending:
    """How a slice ended, for its run."""

    domain_id: int
    run_id: int
    reason: StopReason | None
    """None: its turn was over, and it goes on later."""


def assign(conn: Connection, leases: Sequence[Lease], job_ids: Sequence[int] | None) -> dict[int, Assignment]:
    """For each leased domain the most urgent job that wants it (of these alone, if given), else the standing job.

    An unfinished run is gone on with; a finished one starts anew.
    """
    if not leases:
        return {}
    by_id = {lease.domain_id: lease for lease in leases}
    rows = conn.exec_driver_sql(SQL["job_for"], {"ids": list(by_id), "jobs": list(job_ids) if job_ids else None})
    wanted: dict[int, tuple[int, JobOptions]] = {
        row.domain_id: (row.job_id, JobOptions.model_validate(row.options)) for row in rows
    }
    standing = conn.execute(select(jobs.c.id).where(jobs.c.kind == STANDING)).scalar_one()
    for domain_id in by_id:
        wanted.setdefault(domain_id, (standing, JobOptions()))
    run_of = _open_runs(conn, wanted)
    missing = [domain_id for domain_id in wanted if domain_id not in run_of]
    run_of |= _join(conn, missing, wanted, by_id)
    again = [domain_id for domain_id in missing if domain_id not in run_of]
    if again:
        for job_id in sorted({wanted[domain_id][0] for domain_id in again}):
            conn.execute(insert(runs).values(job_id=job_id))
        run_of |= _join(conn, again, wanted, by_id)
    return _serve(conn, run_of, wanted)


def _open_runs(conn: Connection, wanted: Mapping[int, tuple[int, JobOptions]]) -> dict[int, int]:
    asked = {"ids": list(wanted), "job_ids": [job_id for job_id, _ in wanted.values()]}
    return {row.domain_id: row.run_id for row in conn.exec_driver_sql(SQL["open_run_of"], asked)}


def _join(
    conn: Connection, ids: Sequence[int], wanted: Mapping[int, tuple[int, JobOptions]], leases: Mapping[int, Lease]
) -> dict[int, int]:
    if not ids:
        return {}
    options = [wanted[domain_id][1] for domain_id in ids]
    held = [leases[domain_id] for domain_id in ids]
    rows = conn.exec_driver_sql(
        SQL["join_run"],
        {
            "ids": list(ids),
            "job_ids": [wanted[domain_id][0] for domain_id in ids],
            "page_budget": [_given(o.max_pages, d.max_pages_per_run) for o, d in zip(options, held, strict=True)],
            "request_budget": [o.max_requests or 0 for o in options],
            "max_depth": [_given(o.max_depth, d.max_crawl_depth) for o, d in zip(options, held, strict=True)],
        },
    )
    return {row.domain_id: row.run_id for row in rows}


def _given(asked: int | None, own: int) -> int:
    return own if asked is None else asked


def _serve(
    conn: Connection, run_of: Mapping[int, int], wanted: Mapping[int, tuple[int, JobOptions]]
) -> dict[int, Assignment]:
    asked = {"ids": list(run_of), "run_ids": list(run_of.values())}
    conn.exec_driver_sql(SQL["serve_runs"], asked)
    return {
        row.domain_id: Assignment(
            run_id=row.run_id,
            job_id=row.job_id,
            page_budget=row.page_budget,
            request_budget=row.request_budget,
            max_depth=row.max_depth,
            pages_done=row.pages_done,
            requests_done=row.requests_done,
            options=wanted[row.domain_id][1],
        )
        for row in conn.exec_driver_sql(SQL["run_rows"], asked)
    }


def end(conn: Connection, endings: Sequence[Ending], system: Actor, *, rest_seconds: float) -> None:
    """Write down how slices ended, in the transaction that releases their leases (whose queue rows are locked)."""
    if not endings:
        return
    rows = conn.exec_driver_sql(
        SQL["end_runs"],
        {
            "ids": [ending.domain_id for ending in endings],
            "run_ids": [ending.run_id for ending in endings],
            "reasons": [ending.reason for ending in endings],
            "is_end": [ending.reason is not None and ending.reason.ends_run for ending in endings],
        },
    )
    touched = sorted(row.job_id for row in rows)
    over = [ending.domain_id for ending in endings if ending.reason is not None and ending.reason.ends_run]
    if over:
        conn.exec_driver_sql(SQL["wake_wanted"], {"ids": over})
        conn.exec_driver_sql(SQL["rehold"], {"ids": over})
        requeue(conn, over)
    going_on = [ending for ending in endings if ending.domain_id not in set(over)]
    if going_on:
        ids, run_ids = [e.domain_id for e in going_on], [e.run_id for e in going_on]
        asked = {"ids": ids, "run_ids": run_ids, "rest_seconds": rest_seconds}
        if conn.exec_driver_sql(SQL["rest_cancelled"], asked).rowcount:
            requeue(conn, ids)
    if touched:
        _finish(conn, touched, system)  # last: it locks what all workers of a job share


def _finish(conn: Connection, job_ids: Sequence[int], system: Actor) -> None:
    asked = {"job_ids": list(job_ids)}
    conn.exec_driver_sql(SQL["lock_jobs"], asked)
    for row in conn.exec_driver_sql(SQL["finished_jobs"], asked).all():
        move(conn, Move(JOB, row.id, "finish", Seen("running", row.version)), system)
    conn.exec_driver_sql(SQL["finish_runs"], asked)


@dataclass(frozen=True, slots=True)
class Run:
    """One run, summed up over its domains."""

    id: int
    job_id: int
    job: str
    started_at: datetime
    ended_at: datetime | None
    domains: int
    open_domains: int
    pages_done: int
    errors: int
    bytes_fetched: int


@dataclass(frozen=True, slots=True)
class RunDomain:
    """One domain's part in a run."""

    domain: str
    pages_done: int
    page_budget: int
    max_depth: int
    errors: int
    bytes_fetched: int
    stop_reason: str | None
    started_at: datetime
    ended_at: datetime | None


def listing(
    conn: Connection, *, job_id: int | None = None, run_id: int | None = None, limit: int = 50,
    before_id: int | None = None,
) -> list[Run]:  # fmt: skip
    """Runs, the newest first, a page at a time."""
    page = select(runs).order_by(runs.c.id.desc()).limit(limit)
    for column, value in ((runs.c.job_id, job_id), (runs.c.id, run_id)):
        if value is not None:
            page = page.where(column == value)
    if before_id is not None:
        page = page.where(runs.c.id < before_id)
    return [Run(*row) for row in conn.execute(_summed(page))]  # type: ignore[call-arg, arg-type]


def _summed(page: "Select[tuple[object, ...]]") -> "Select[tuple[object, ...]]":
    shown = page.subquery()
    return (
        select(
            shown.c.id, shown.c.job_id, jobs.c.name, shown.c.started_at, shown.c.ended_at,
            func.count(run_domains.c.domain_id),
            func.count(run_domains.c.domain_id).filter(run_domains.c.ended_at.is_(None)),
            _sum(run_domains.c.pages_done),
            _sum(run_domains.c.error_count),
            _sum(run_domains.c.bytes_fetched),
        )
        .join(jobs, jobs.c.id == shown.c.job_id)
        .outerjoin(run_domains, run_domains.c.run_id == shown.c.id)
        .group_by(shown.c.id, shown.c.job_id, jobs.c.name, shown.c.started_at, shown.c.ended_at)
        .order_by(shown.c.id.desc())
    )  # fmt: skip


def _sum(column: "ColumnElement[Any]") -> "ColumnElement[int]":
    """As a whole number: PostgreSQL sums bigint into numeric."""
    return cast(func.coalesce(func.sum(column), 0), BigInteger)


def domains_of(conn: Connection, run_ids: Iterable[int], *, limit: int = 50, after: str = "") -> list[RunDomain]:
    """The domains of runs, by name, a page at a time."""
    query = (
        select(
            domains.c.name, run_domains.c.pages_done, run_domains.c.page_budget, run_domains.c.max_depth,
            run_domains.c.error_count, run_domains.c.bytes_fetched, run_domains.c.stop_reason,
            run_domains.c.started_at, run_domains.c.ended_at,
        )
        .join(domains, domains.c.id == run_domains.c.domain_id)
        .where(run_domains.c.run_id.in_(list(run_ids)), domains.c.name > after)
        .order_by(domains.c.name)
        .limit(limit)
    )  # fmt: skip
    return [RunDomain(*row) for row in conn.execute(query)]


@dataclass(frozen=True, slots=True)
class PastRun:
    """What one run came to on one domain."""

    run_id: int
    job: str
    pages_done: int
    stop_reason: str | None
    started_at: datetime
    ended_at: datetime | None


def of_domain(conn: Connection, domain_id: int, *, limit: int = 50, before_id: int | None = None) -> list[PastRun]:
    """The runs of a domain, the newest first, a page at a time."""
    query = (
        select(
            run_domains.c.run_id, jobs.c.name, run_domains.c.pages_done, run_domains.c.stop_reason,
            run_domains.c.started_at, run_domains.c.ended_at,
        )
        .join(runs, runs.c.id == run_domains.c.run_id)
        .join(jobs, jobs.c.id == runs.c.job_id)
        .where(run_domains.c.domain_id == domain_id)
        .order_by(run_domains.c.run_id.desc())
        .limit(limit)
    )  # fmt: skip
    if before_id is not None:
        query = query.where(run_domains.c.run_id < before_id)
    return [PastRun(*row) for row in conn.execute(query)]


@dataclass(frozen=True, slots=True)
class Counts:
    """How far a job is."""

    domains: int
    open_domains: int
    pages_done: int


def counts(conn: Connection, job_id: int) -> Counts:
    """A job's domains, those it still wants, and the pages of its newest run."""
    wanted = conn.execute(
        select(func.count(), func.count().filter(job_domains.c.is_open)).where(job_domains.c.job_id == job_id)
    ).one()
    newest = select(func.max(runs.c.id)).where(runs.c.job_id == job_id).scalar_subquery()
    pages = conn.execute(
        select(func.coalesce(func.sum(run_domains.c.pages_done), 0)).where(run_domains.c.run_id == newest)
    ).scalar_one()
    return Counts(wanted[0], wanted[1], int(pages))
