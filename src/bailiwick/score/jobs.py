"""Evaluation jobs: batches of URLs that a person asked for, claimed and settled one by one. Nothing here commits."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from bailiwick.accounts.members import system_actor
from bailiwick.base.errors import ConflictError, NotFoundError
from bailiwick.db.sql import queries
from bailiwick.db.tables import jobs
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.ledger.move import Move, Seen, move
from bailiwick.model.transitions import JOB
from bailiwick.model.urls import PageUrl, hash_of
from bailiwick.registry.apply import SQL as REGISTRY_SQL
from bailiwick.registry.permission import SUBMITTERS, require
from bailiwick.registry.workers import WorkerName, this_worker

SQL = queries("bailiwick.score")
KIND = "evaluation"
CLAIM_SECONDS = 600.0
"""Longer than a URL may take. A process of this machine that is gone gives its claims up at once."""
_NAME_CHARS = 200


@dataclass(frozen=True, slots=True)
class EvaluationJob:
    """One batch, as the pipeline needs it."""

    id: int
    name: str
    state: str
    version: int
    profile: str
    created_by: int
    is_filled: bool

    @property
    def seen(self) -> Seen:
        return Seen(self.state, self.version)


@dataclass(frozen=True, slots=True)
class JobCounts:
    """How far a job is."""

    waiting: int = 0
    evaluated: int = 0
    refused: int = 0
    unreachable: int = 0

    @property
    def settled(self) -> dict[str, int]:
        """What became of those that no longer wait."""
        return {"evaluated": self.evaluated, "refused": self.refused, "unreachable": self.unreachable}

    @property
    def total(self) -> int:
        return self.waiting + sum(self.settled.values())


@dataclass(frozen=True, slots=True)
class ClaimedUrl:
    """A URL that is ours to evaluate for a while."""

    id: int
    job_id: int
    domain_id: int
    url: str
    path: str
    path_hash: int
    tries: int
    name: str
    base_url: str | None
    approval: str
    standing: str
    asked_seconds: float | None
    """How long its page has been awaited from a crawl."""

    @property
    def refusal(self) -> "Settled | None":
        """What becomes of it if its domain was turned away, which the query `claim_urls` knows, too."""
        is_blacklisted = self.standing == "blacklisted"
        if not is_blacklisted and self.approval not in ("rejected", "suspended"):
            return None
        state = "blacklisted" if is_blacklisted else self.approval
        return Settled(self.id, "refused", f"the domain is {state}: nothing is fetched from it")


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a claimed URL that was not evaluated. `waiting`: again later."""

    url_id: int
    state: str
    why: str | None = None
    has_failed: bool = False
    again_seconds: float = 0.0
    is_asked: bool = False


class OrderMark:
    """What tells an order from another: the same URLs for the same profile, in whatever order. Flat in memory."""

    def __init__(self, profile: str) -> None:
        self._profile, self._sum, self.urls = profile, 0, 0

    def add(self, url: str) -> None:
        self._sum = (self._sum + int.from_bytes(sha256(url.encode()).digest()[:16])) % 2**128
        self.urls += 1

    def __str__(self) -> str:
        return sha256(f"{self._profile}\n{self.urls}\n{self._sum}".encode()).hexdigest()[:16]


def open_job(conn: Connection, mark: str) -> EvaluationJob | None:
    """The job of this very order that has not ended yet."""
    order = jobs.c.options["order"].astext
    row = conn.execute(
        select(jobs).where(jobs.c.kind == KIND, jobs.c.state.in_(("running", "paused")), order == mark).limit(1)
    ).one_or_none()
    return _job(row) if row is not None else None


def create(conn: Connection, name: str, profile: str, mark: str, actor: Actor) -> EvaluationJob:
    """A new job without URLs yet. A name that is taken gets a number."""
    require(actor, SUBMITTERS)
    called = _free_name(conn, name[: _NAME_CHARS - 12])
    made = conn.execute(
        insert(jobs)
        .values(
            name=called,
            kind=KIND,
            state="running",
            created_by=actor.id,
            options={"profile": profile, "order": mark, "is_filled": False},
        )
        .returning(jobs)
    ).one()
    act = Act("create", after="running", details={"kind": KIND, "profile": profile})
    record(conn, actor, Subject("job", called, made.id), act)
    return _job(made)


def get(conn: Connection, job_id: int) -> EvaluationJob:
    row = conn.execute(select(jobs).where(jobs.c.id == job_id, jobs.c.kind == KIND)).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no evaluation job {job_id}", hint="bailiwick job list shows them")
    return _job(row)


def unfinished(conn: Connection, *, limit: int) -> list[EvaluationJob]:
    """Jobs that run, the oldest first."""
    query = select(jobs).where(jobs.c.kind == KIND, jobs.c.state == "running").order_by(jobs.c.id).limit(limit)
    return [_job(row) for row in conn.execute(query)]


def add_urls(conn: Connection, job: EvaluationJob, pages: Sequence[tuple[PageUrl, str]], actor: Actor) -> int:
    """Take URLs (page and address as given) into the job; how many are new to it.

    Domains that nobody knew become known, and wait in no queue: that is for who proposes them.
    """
    names = sorted({page.domain for page, _ in pages}, key=lambda name: name.name)
    conn.exec_driver_sql(
        REGISTRY_SQL["add_found"],
        {
            "name": [name.name for name in names],
            "site": [name.site for name in names],
            "shared_key": [name.shared_key for name in names],
            "proposed": [False] * len(names),
            "admitted": [False] * len(names),
            "actor": actor.id,
            "context": f"evaluated by job {job.id}",
            "profile": job.profile,
            "source": f"evaluate:{job.id}",
            "session_id": None,
        },
    )
    return conn.exec_driver_sql(
        SQL["add_urls"],
        {
            "job_id": job.id,
            "name": [page.domain.name for page, _ in pages],
            "url": [url for _, url in pages],
            "path": [page.path for page, _ in pages],
            "path_hash": [hash_of(page.path) for page, _ in pages],
        },
    ).rowcount


def filled(conn: Connection, job: EvaluationJob) -> None:
    """All its URLs are in it: from now on it is finished when none of them waits."""
    options = jobs.c.options.op("||")(func.jsonb_build_object("is_filled", True))
    conn.execute(update(jobs).where(jobs.c.id == job.id).values(options=options))


def claim(conn: Connection, job_id: int, limit: int, *, refused_only: bool = False) -> list[ClaimedUrl]:
    """The next URLs, for this process alone for a while; if so wished, only of domains that were turned away."""
    holders = conn.exec_driver_sql(SQL["holders"], {"job_id": job_id}).scalars()
    rows = conn.exec_driver_sql(
        SQL["claim_urls"],
        {
            "job_id": job_id,
            "limit": limit,
            "refused_only": refused_only,
            "worker": str(this_worker()),
            "seconds": CLAIM_SECONDS,
            "dead": [holder for holder in holders if _is_gone(holder)],
        },
    )
    return [ClaimedUrl(**row._asdict()) for row in rows]


def settle(conn: Connection, settled: Sequence[Settled]) -> None:
    """Write what became of claimed URLs, and give them back."""
    conn.exec_driver_sql(
        SQL["settle_urls"],
        {
            "worker": str(this_worker()),
            "id": [one.url_id for one in settled],
            "state": [one.state for one in settled],
            "why": [one.why[:1000] if one.why else None for one in settled],
            "failed": [one.has_failed for one in settled],
            "again_seconds": [one.again_seconds for one in settled],
            "is_asked": [one.is_asked for one in settled],
        },
    )


def give_back(conn: Connection) -> None:
    """Let go of everything that this process has claimed."""
    conn.exec_driver_sql(SQL["give_back"], {"worker": str(this_worker())})


def counts(conn: Connection, job_id: int) -> JobCounts:
    rows = conn.exec_driver_sql(SQL["job_counts"], {"job_id": job_id})
    return JobCounts(**{row.state: row.urls for row in rows})


def next_in(conn: Connection, job_id: int) -> float | None:
    """Seconds until something of the job can be done; None: nothing waits."""
    seconds: float | None = conn.exec_driver_sql(SQL["next_in"], {"job_id": job_id}).scalar()
    return None if seconds is None else max(seconds, 0.0)


def finish(conn: Connection, job_id: int) -> bool:
    """End a job of which nothing waits any more. Says whether it has ended now."""
    job = get(conn, job_id)
    if job.state != "running" or not job.is_filled or counts(conn, job_id).waiting:
        return False
    try:
        move(conn, Move(JOB, job.id, "finish", job.seen), system_actor(conn))
    except ConflictError:  # somebody else was faster, or paused it just now
        return False
    return True


def awaited_domains(conn: Connection, job_id: int, *, limit: int) -> dict[int, int]:
    """Approved domains whose pages are awaited from a crawl, and how many pages of each."""
    rows = conn.exec_driver_sql(SQL["awaited_domains"], {"job_id": job_id, "limit": limit})
    return {row.domain_id: row.urls for row in rows}


def _is_gone(holder: str) -> bool:
    me = this_worker()
    other = WorkerName.parse(holder)
    return other.machine == me.machine and not other.is_alive


def _free_name(conn: Connection, name: str) -> str:
    """The name, or the first of "name (2)", "name (3)" … that is free."""
    taken = conn.execute(select(func.count()).select_from(jobs).where(jobs.c.name.startswith(name, autoescape=True)))
    if not taken.scalar_one():
        return name
    number = 2
    while conn.execute(select(jobs.c.id).where(jobs.c.name == f"{name} ({number})")).scalar() is not None:
        number += 1
    is_free = conn.execute(select(jobs.c.id).where(jobs.c.name == name)).scalar() is None
    return name if is_free else f"{name} ({number})"


def _job(row: Row[Any]) -> EvaluationJob:
    known = row._mapping  # noqa: SLF001 - SQLAlchemy's public name for it
    options = known["options"]
    return EvaluationJob(
        id=known["id"],
        name=known["name"],
        state=known["state"],
        version=known["version"],
        profile=str(options.get("profile", "general")),
        created_by=known["created_by"],
        is_filled=bool(options.get("is_filled")),
    )
