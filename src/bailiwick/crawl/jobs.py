"""Jobs: what a person asked for, and can pause, resume, cancel, delete. Pages belong to the domain, not to the job."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator
from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.sql import Select

from bailiwick.accounts.members import system_actor
from bailiwick.base.errors import ConflictError, NotFoundError, UsageError
from bailiwick.base.sections import CooldownSettings
from bailiwick.crawl.flush import SQL
from bailiwick.crawl.linkgate import link_rules
from bailiwick.crawl.outcomes import StopReason
from bailiwick.db.tables import job_domains, jobs, members, run_domains, runs
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.ledger.move import Move, Seen, move
from bailiwick.model.transitions import JOB
from bailiwick.registry.apply import lock_queue, requeue
from bailiwick.registry.permission import DECIDERS, require

ALL_DEPTHS = 1_000_000
MOST = 1_000_000_000_000
"""No budget is larger: 0 is no limit."""
STANDING = "standing"
EVALUATION = "evaluation"
"""Of URLs, not of domains: `score.jobs` knows its options and what it still wants."""
_NAMED = 3
_NAME_CHARS = 200
_BATCH = 5000


class JobOptions(BaseModel):
    """What a job asks for. None: as the domain's own configuration says."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    max_pages: Annotated[int, Field(ge=0, le=MOST)] | None = None
    """For each domain; 0 is no limit."""
    max_requests: Annotated[int, Field(ge=0, le=MOST)] | None = None
    max_depth: Annotated[int, Field(ge=0, le=ALL_DEPTHS)] | None = None
    delay_seconds: Annotated[float, Field(ge=0, le=86400)] | None = None
    scope: Literal["domain", "site"] = "domain"
    include: tuple[str, ...] = ()
    """Patterns: pages that match none of them are not fetched, but for start pages."""
    exclude: tuple[str, ...] = ()
    starts_at_home: bool = True
    """No: only pages that were typed are start pages."""

    @model_validator(mode="after")
    def _patterns_are_sound(self) -> Self:
        link_rules(self.include, self.exclude)
        return self

    @property
    def covers_domain(self) -> bool:
        """Whether a crawl that finds no more pages has seen the whole domain."""
        return self.starts_at_home and not self.include and not self.exclude

    def given(self) -> dict[str, JsonValue]:
        """What was asked for, without defaults: as it is stored."""
        return self.model_dump(mode="json", exclude_unset=True, exclude_none=True)


@dataclass(frozen=True, slots=True)
class Job:
    """One job, as people see it."""

    id: int
    name: str
    kind: str
    state: str
    priority: int
    options: JobOptions
    version: int
    created_by: str
    created_at: datetime

    @property
    def seen(self) -> Seen:
        return Seen(self.state, self.version)


def job_name(names: Sequence[str]) -> str:
    """A name for a job that nobody named: its first domains, and a mark of the others."""
    ordered = sorted(set(names))
    shown = ", ".join(ordered[:_NAMED])
    if len(ordered) <= _NAMED and len(shown) <= _NAME_CHARS:
        return shown
    mark = sha256("\n".join(ordered).encode()).hexdigest()[:6]
    more = f" and {len(ordered) - _NAMED:,} more" if len(ordered) > _NAMED else ""
    return f"{shown[:150]}{more} ({mark})"


def create(
    conn: Connection, name: str, domain_ids: Sequence[int], options: JobOptions, actor: Actor, *, priority: int = 5
) -> Job:
    """A new job with its first run. ConflictError if there is one by that name."""
    require(actor, DECIDERS)
    if not domain_ids:
        raise UsageError("a job needs at least one domain")
    if _is_number(name):
        raise UsageError(f"{name} is a job's number, not its name", hint="name it otherwise: --name NAME")
    lock_queue(conn, domain_ids)
    made = conn.execute(
        upsert(jobs)
        .values(
            name=name,
            state="running",
            priority=priority,
            options=options.given(),
            created_by=actor.id,
        )
        .on_conflict_do_nothing()
        .returning(jobs.c.id)
    ).scalar()
    if made is None:
        raise ConflictError(f"there is a job {name!r} already", hint="name it otherwise: --name NAME")
    details: JsonValue = {"domains": len(domain_ids), "options": options.given()}
    record(conn, actor, Subject("job", name, made), Act("create", after="running", details=details))
    conn.execute(insert(runs).values(job_id=made))
    want(conn, made, domain_ids)
    return get(conn, str(made))


def ensure(
    conn: Connection, name: str, domain_ids: Sequence[int], options: JobOptions, actor: Actor, *, priority: int = 1
) -> Job:
    """The job by this name, wanting these domains now: made, gone on with, or (if it had ended) begun anew.

    An unfinished run keeps its count; options that are given replace its limits.
    """
    require(actor, DECIDERS)
    lock_queue(conn, domain_ids)
    known = find(conn, name)
    if known is None:
        try:
            return create(conn, name, domain_ids, options, actor, priority=priority)
        except ConflictError:
            known = get(conn, name)  # somebody else was a moment faster
    merged = JobOptions.model_validate(known.options.given() | options.given())
    if known.state in ("finished", "cancelled"):
        move(conn, Move(JOB, known.id, "restart", known.seen, changes={"options": options.given()}), actor)
        conn.execute(update(job_domains).where(job_domains.c.job_id == known.id).values(is_open=False))
        conn.execute(insert(runs).values(job_id=known.id))
    elif merged != known.options:
        changes = {"options": merged.given(), "version": jobs.c.version + 1}
        conn.execute(update(jobs).where(jobs.c.id == known.id).values(changes))
        act = Act("change", before=known.options.given(), after=merged.given())
        record(conn, actor, Subject("job", known.name, known.id), act)
        _replace_limits(conn, known.id, options)
    want(conn, known.id, domain_ids)
    return get(conn, str(known.id))


def pause(conn: Connection, job: Job, actor: Actor, *, reason: str | None = None) -> Job:
    """Nobody works for it until it is resumed; whoever does stops with the next flush. What was fetched stays."""
    ids = _hold_domains(conn, job)
    move(conn, Move(JOB, job.id, "pause", job.seen, reason), actor)
    _feel(conn, ids)
    conn.exec_driver_sql(SQL["ask_lease_holders"], {"job_id": job.id, "wanted": "pause", "ids": ids})
    return get(conn, str(job.id))


def resume(conn: Connection, job: Job, actor: Actor, *, reason: str | None = None) -> Job:
    """Go on with it. If its last domain ended before the pause was heard of, it is finished."""
    ids = _hold_domains(conn, job)
    moved = move(conn, Move(JOB, job.id, "resume", job.seen, reason), actor)
    _feel(conn, ids)
    if not ids and job.kind != EVALUATION:
        move(conn, Move(JOB, job.id, "finish", Seen("running", moved.version)), system_actor(conn))
        conn.exec_driver_sql(SQL["finish_runs"], {"job_ids": [job.id]})
    return get(conn, str(job.id))


def cancel(conn: Connection, job: Job, actor: Actor, cooldowns: CooldownSettings, *, reason: str | None = None) -> Job:
    """It ends now. What was fetched stays; domains that nobody else wants rest as after a full crawl."""
    ids = _hold_domains(conn, job)
    move(conn, Move(JOB, job.id, "cancel", job.seen, reason), actor)
    conn.execute(update(job_domains).where(job_domains.c.job_id == job.id).values(is_open=False))
    mine = select(runs.c.id).where(runs.c.job_id == job.id)
    over = {"ended_at": func.bailiwick_now()}
    conn.execute(
        update(run_domains)
        .where(run_domains.c.run_id.in_(mine), run_domains.c.ended_at.is_(None))
        .values(stop_reason=StopReason.CANCELLED, **over)
    )
    conn.execute(update(runs).where(runs.c.job_id == job.id, runs.c.ended_at.is_(None)).values(**over))
    conn.exec_driver_sql(SQL["put_to_rest"], {"ids": ids, "rest_seconds": cooldowns.exhausted_days * 86400})
    _feel(conn, ids)
    conn.exec_driver_sql(SQL["ask_lease_holders"], {"job_id": job.id, "wanted": "stop", "ids": ids})
    return get(conn, str(job.id))


def remove(conn: Connection, job: Job, actor: Actor, *, reason: str | None = None, details: JsonValue = None) -> None:
    """Forget a job that has ended, with its runs. Pages, bodies and the log of fetches stay.

    Of an evaluation its URLs go with it, and their places in the review queue: `details` tells of them.
    """
    require(actor, DECIDERS)
    if job.kind == STANDING or job.state not in ("finished", "cancelled"):
        raise ConflictError(f"job {job.name} is {job.state}", hint=f"bailiwick job cancel {job.id}")
    record(
        conn, actor, Subject("job", job.name, job.id), Act("delete", before=job.state, reason=reason, details=details)
    )
    conn.execute(delete(jobs).where(jobs.c.id == job.id))


def find(conn: Connection, named: str) -> Job | None:
    """A job by its number or its name."""
    row = conn.execute(_select().where(jobs.c.name == named)).one_or_none()
    if row is None and _is_number(named) and len(named) < 19:
        row = conn.execute(_select().where(jobs.c.id == int(named))).one_or_none()
    return _job(row._asdict()) if row is not None else None


def domain_ids(conn: Connection, job_ids: Sequence[int]) -> tuple[int, ...]:
    """All domains that these jobs want or wanted."""
    wanted = select(job_domains.c.domain_id).where(job_domains.c.job_id.in_(job_ids)).distinct()
    return tuple(sorted(conn.execute(wanted).scalars()))


def _is_number(named: str) -> bool:
    return named.isascii() and named.isdigit()


def get(conn: Connection, named: str) -> Job:
    found = find(conn, named)
    if found is None:
        raise NotFoundError(f"there is no job {named!r}", hint="bailiwick job list shows them")
    return found


def listing(conn: Connection, *, state: str | None = None, limit: int = 50, before_id: int | None = None) -> list[Job]:
    """Jobs, the newest first, a page at a time."""
    query = _select().order_by(jobs.c.id.desc()).limit(limit)
    if state is not None:
        query = query.where(jobs.c.state == state)
    if before_id is not None:
        query = query.where(jobs.c.id < before_id)
    return [_job(row._asdict()) for row in conn.execute(query)]


def _select() -> "Select[tuple[object, ...]]":
    return select(jobs, members.c.name.label("creator")).join(members, members.c.id == jobs.c.created_by)


def _job(row: dict[str, object]) -> Job:
    return Job(
        id=int(str(row["id"])),
        name=str(row["name"]),
        kind=str(row["kind"]),
        state=str(row["state"]),
        priority=int(str(row["priority"])),
        options=JobOptions() if row["kind"] == EVALUATION else JobOptions.model_validate(row["options"]),
        version=int(str(row["version"])),
        created_by=str(row["creator"]),
        created_at=row["created_at"],  # type: ignore[arg-type]
    )


def want(conn: Connection, job_id: int, domain_ids: Sequence[int]) -> None:
    """Let a job want these domains; the caller holds their queue rows."""
    # Who pauses or ends it at this moment goes first, or waits: then each sees what the other one did.
    conn.execute(select(jobs.c.id).where(jobs.c.id == job_id).with_for_update(read=True))
    for start in range(0, len(domain_ids), _BATCH):
        rows = [{"job_id": job_id, "domain_id": domain_id} for domain_id in domain_ids[start : start + _BATCH]]
        conn.execute(
            upsert(job_domains)
            .values(rows)
            .on_conflict_do_update(index_elements=["job_id", "domain_id"], set_={"is_open": True})
        )
    conn.exec_driver_sql(SQL["wake_resting"], {"ids": list(domain_ids)})
    _feel(conn, domain_ids)


def _replace_limits(conn: Connection, job_id: int, options: JobOptions) -> None:
    given = {
        "page_budget": options.max_pages,
        "request_budget": options.max_requests,
        "max_depth": options.max_depth,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    if changes:
        mine = select(runs.c.id).where(runs.c.job_id == job_id)
        conn.execute(
            update(run_domains)
            .where(run_domains.c.run_id.in_(mine), run_domains.c.ended_at.is_(None))
            .values(**changes)
        )


def _hold_domains(conn: Connection, job: Job) -> list[int]:
    """The domains that it still wants, their queue rows locked (queue first, then the job: the order of a release)."""
    if job.kind == STANDING:
        raise ConflictError(
            "the standing job serves what is due; it cannot be stopped",
            hint="bailiwick domain suspend NAME stops a domain",
        )
    ids = _open_domains(conn, job)
    lock_queue(conn, ids)
    conn.execute(select(jobs.c.id).where(jobs.c.id == job.id).with_for_update(key_share=True))
    if not ids >= _open_domains(conn, job):
        raise ConflictError(f"job {job.name} has got further domains meanwhile", hint="try again")
    return sorted(ids)


def _open_domains(conn: Connection, job: Job) -> set[int]:
    wanted = select(job_domains.c.domain_id).where(job_domains.c.job_id == job.id, job_domains.c.is_open)
    return set(conn.execute(wanted).scalars())


def _feel(conn: Connection, ids: Sequence[int]) -> None:
    """Let the domains' places in the queue agree with what jobs want of them."""
    conn.exec_driver_sql(SQL["rehold"], {"ids": list(ids)})
    requeue(conn, ids)
