"""What is going on right now, for those who watch: the workers' own figures, who holds what, what is due next."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, RowMapping, func, select

from bailiwick.db.tables import crawl_queue, domain_progress, domains, workers
from bailiwick.registry.apply import SQL

GONE_SECONDS = 30
_WORKERS = 100


@dataclass(frozen=True, slots=True)
class WorkerNow:
    """One worker and how it says it is going."""

    name: str
    machine: str
    pid: int
    started_at: datetime
    silent_seconds: float
    pages: int
    errors: int
    bytes_fetched: int
    rate: float
    open_domains: int
    waiting_pages: int
    outcomes: dict[str, int]

    @property
    def is_gone(self) -> bool:
        return self.silent_seconds > GONE_SECONDS


@dataclass(frozen=True, slots=True)
class DueNext:
    """A domain that sleeps, and until when."""

    name: str
    wakes_at: datetime


@dataclass(frozen=True, slots=True)
class Now:
    """All workers together, and each of them."""

    workers: Sequence[WorkerNow]
    due_next: Sequence[DueNext]

    @property
    def alive(self) -> list[WorkerNow]:
        return [worker for worker in self.workers if not worker.is_gone]

    @property
    def rate(self) -> float:
        return sum(worker.rate for worker in self.alive)

    @property
    def open_domains(self) -> int:
        return sum(worker.open_domains for worker in self.alive)

    @property
    def waiting_pages(self) -> int:
        return sum(worker.waiting_pages for worker in self.alive)

    @property
    def outcomes(self) -> list[tuple[str, int]]:
        total: Counter[str] = Counter()
        for worker in self.workers:
            total.update(worker.outcomes)
        return total.most_common()


def now(conn: Connection) -> Now:
    """As the workers last said."""
    silent = func.extract("epoch", func.bailiwick_now() - workers.c.seen_at)
    rows = conn.execute(
        select(workers, silent.label("silent")).order_by(workers.c.seen_at.desc(), workers.c.name).limit(_WORKERS)
    )
    due = conn.exec_driver_sql(SQL["due_next"], {"limit": 5})
    return Now([_worker(row._mapping) for row in rows], [DueNext(row.name, row.wake_at) for row in due])  # noqa: SLF001


def progress_of(conn: Connection, names: Collection[str]) -> Sequence[RowMapping]:
    """Where these domains are at this moment: their counters, their axes, who holds them."""
    query = (
        select(
            domains.c.name,
            domains.c.approval,
            domains.c.crawl,
            domains.c.block_reason,
            crawl_queue.c.worker,
            domain_progress,
        )
        .join(crawl_queue, crawl_queue.c.domain_id == domains.c.id)
        .outerjoin(domain_progress, domain_progress.c.domain_id == domains.c.id)
        .where(domains.c.name.in_(names))
    )
    return conn.execute(query).mappings().all()


def _worker(row: RowMapping) -> WorkerNow:
    told = row["figures"]
    return WorkerNow(
        name=row["name"],
        machine=row["machine"],
        pid=row["pid"],
        started_at=row["started_at"],
        silent_seconds=float(row["silent"]),
        pages=int(told.get("pages", 0)),
        errors=int(told.get("errors", 0)),
        bytes_fetched=int(told.get("bytes", 0)),
        rate=float(told.get("rate", 0)),
        open_domains=int(told.get("open", 0)),
        waiting_pages=int(told.get("waiting", 0)),
        outcomes={str(name): int(count) for name, count in told.get("outcomes", {}).items()},
    )
