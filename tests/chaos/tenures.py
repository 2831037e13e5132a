"""Who held a domain, until when, and what ended it: kept by a trigger in the run's own database."""

from collections.abc import Iterable
from dataclasses import dataclass

import psutil

from bailiwick.registry.workers import WorkerName
from tests.e2e.tools import Land

SLACK_SECONDS = 0.001
"""The driver notes a kill before it kills, the database's clock is the same: only rounding lies between."""


_START_SECONDS = 0.02
"""Within so much, two moments at which a process started are one."""


@dataclass(frozen=True)
class Death:
    """That a process was killed. Its number alone would not do: a long run gets some of them twice."""

    pid: int
    started: float
    at: float
    """Seconds since 1970."""

    @classmethod
    def of(cls, pid: int, at: float) -> "Death":
        """Of a process that still lives."""
        return cls(pid, psutil.Process(pid).create_time() - psutil.boot_time(), at)

    def is_of(self, worker: str) -> bool:
        name = WorkerName.parse(worker)
        return name.pid == self.pid and abs(name.process_started - self.started) < _START_SECONDS


@dataclass(frozen=True)
class Overlap:
    """A lease that ended while its holder was alive and had time left."""

    domain: str
    lease_no: int
    worker: str
    at: float
    left_seconds: float
    flushes: int
    """How often its holder had written something."""


class TenureBook:
    """Every end of a lease, from now on. The trigger writes in the same transaction as the change itself."""

    def __init__(self, land: Land) -> None:
        self._land = land
        land.rows_done("""
            create table tenure_book (
                n bigserial, at timestamptz not null default clock_timestamp(), domain_id bigint not null,
                lease_no int not null, flush_no int not null, worker text not null, ran_until timestamptz not null,
                was_released boolean not null);
            create function note_tenure() returns trigger language plpgsql as $$
            begin
                insert into tenure_book (domain_id, lease_no, flush_no, worker, ran_until, was_released)
                values (old.domain_id, old.lease_no, old.flush_no, old.worker, old.wake_at,
                        new.worker is null and new.lease_no = old.lease_no and new.crashes = 0);
                return null;
            end $$;
            create trigger note_tenure after update on crawl_queue for each row
            when (old.worker is not null and (new.worker is distinct from old.worker or new.lease_no <> old.lease_no
                                              or new.wake_at < old.wake_at))
            execute function note_tenure()""")

    def overlaps(self, deaths: Iterable[Death]) -> list[Overlap]:
        """Leases that were taken from a living holder."""
        by_pid: dict[int, list[Death]] = {}
        for death in deaths:
            by_pid.setdefault(death.pid, []).append(death)

        def was_dead(worker: str, at: float) -> bool:
            killed = by_pid.get(pid_of(worker), [])
            return any(death.is_of(worker) and death.at <= at + SLACK_SECONDS for death in killed)

        rows = self._land.rows("""
            select d.name, t.lease_no, t.flush_no, t.worker, t.was_released, extract(epoch from t.at)::float8 as at,
                   extract(epoch from t.ran_until)::float8 as ran_until
            from tenure_book as t join domains as d on d.id = t.domain_id order by t.n""")
        return [
            Overlap(row.name, row.lease_no, row.worker, row.at, row.ran_until - row.at, row.flush_no)
            for row in rows
            if not row.was_released and row.ran_until > row.at + SLACK_SECONDS and not was_dead(row.worker, row.at)
        ]


def pid_of(worker: str) -> int:
    """The process that a worker's name names: machine/boot/pid/start."""
    return int(worker.split("/")[-2])
