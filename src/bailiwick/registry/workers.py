"""Workers: a name that says which process it is, so that a dead one on this machine is noticed at once."""

import os
import platform
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil
from pydantic import JsonValue
from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from bailiwick.db.tables import workers
from bailiwick.registry.apply import SQL


@dataclass(frozen=True, slots=True)
class WorkerName:
    """Machine, boot and process: no two workers share one, and whether its process is gone can be told."""

    machine: str
    boot: str
    pid: int
    process_started: float

    def __str__(self) -> str:
        return f"{self.machine}/{self.boot[:8]}/{self.pid}/{self.process_started:.2f}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """What `str` made of it; of the boot only the beginning is there."""
        machine, boot, pid, started = text.rsplit("/", 3)
        return cls(machine, boot, int(pid), float(started))

    @property
    def is_alive(self) -> bool:
        """Whether this process of this machine still runs. Only to be asked on the machine itself."""
        if not boot_id().startswith(self.boot):
            return False
        try:
            process = psutil.Process(self.pid)
            started, status = _started(process), process.status()
        except psutil.Error:
            return False
        return abs(started - self.process_started) < 0.02 and status != psutil.STATUS_ZOMBIE


def this_worker() -> WorkerName:
    """The name of the process that asks."""
    return WorkerName(machine_id(), boot_id(), os.getpid(), _started(psutil.Process()))


def _started(process: psutil.Process) -> float:
    """When it started, by a clock that nobody sets: psutil adds the time of boot, which moves with Linux' clock."""
    return process.create_time() - (psutil.boot_time() if psutil.LINUX else 0)


def machine_id() -> str:
    """Where a pid means the same process: host, the system's own id, pid namespace (containers share the others)."""
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/etc/machine-id").read_text().strip()[:8])
    with suppress(OSError):
        parts.append(str(Path("/proc/self/ns/pid").stat().st_ino))
    return "-".join(filter(None, parts))


def boot_id() -> str:
    """Another one after every boot: pids start again then."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return str(int(psutil.boot_time()))


def register(conn: Connection, worker: WorkerName) -> None:
    """Make the worker known, or say that it is still there."""
    row = {
        "name": str(worker),
        "machine": worker.machine,
        "boot": worker.boot,
        "pid": worker.pid,
        "process_started": worker.process_started,
    }
    conn.execute(
        insert(workers)
        .values(row)
        .on_conflict_do_update(index_elements=["name"], set_={"seen_at": func.bailiwick_now()})
    )


def tell(conn: Connection, worker: WorkerName, figures: JsonValue) -> None:
    """Say how it is going, for whoever watches."""
    told = {"figures": figures, "seen_at": func.bailiwick_now()}
    conn.execute(update(workers).where(workers.c.name == str(worker)).values(told))


def unregister(conn: Connection, worker: WorkerName) -> None:
    conn.execute(delete(workers).where(workers.c.name == str(worker)))


def are_others(conn: Connection, worker: WorkerName) -> bool:
    """Whether any other worker is known, here or elsewhere."""
    return conn.execute(select(workers.c.name).where(workers.c.name != str(worker)).limit(1)).first() is not None


def bury_the_dead(conn: Connection) -> int:
    """End the leases of this machine's workers whose process is gone; the next claim takes them over. How many?"""
    mine = conn.execute(select(workers).where(workers.c.machine == machine_id())).all()
    gone = [row.name for row in mine if not WorkerName(row.machine, row.boot, row.pid, row.process_started).is_alive]
    if not gone:
        return 0
    # Whoever else is at the same grave keeps it.
    dead = list(
        conn.execute(select(workers.c.name).where(workers.c.name.in_(gone)).with_for_update(skip_locked=True)).scalars()
    )
    conn.exec_driver_sql(SQL["expire_workers"], {"workers": dead})
    conn.execute(delete(workers).where(workers.c.name.in_(dead)))
    return len(dead)


def drop_strays(conn: Connection, worker: str, held: Collection[int]) -> None:
    """End the leases of this worker that it does not know of; the next claim takes them over, as after a crash."""
    conn.exec_driver_sql(SQL["expire_strays"], {"worker": worker, "held": list(held)})
