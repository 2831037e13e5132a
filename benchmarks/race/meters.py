"""What a program costs: CPU, memory and time of all its processes, and of its database server. Linux only.

*CPU of a client* is what `wait4` says of the process that was started: user and system time of it and of every
descendant that was waited for. Our parent waits for its engine, and the engine for its parser child, so nothing is
left out; Scrapy and Crawlee are one process each.

*CPU of a database server* is that of its main process, of its children that live, and of those that have ended (the
main process has waited for them: `children_user`, `children_system`); and of the small process that watches over it.
It is read before and after, each time behind a CHECKPOINT, so that no writing is put off beyond the measurement.

*Memory* is the peak of the sum of PSS over the client's processes, looked at ten times a second: pages that a parent
and its child share count once.
"""

import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg

from bailiwick.base.sections import DatabaseSettings
from bailiwick.db.embedded.layout import find_layout
from bailiwick.db.embedded.processes import postmaster_pid
from bailiwick.db.embedded.server import EmbeddedServer

_LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Cores:
    """Where the client runs, and where everything else does."""

    client: int
    other: int

    def __str__(self) -> str:
        return f"client on core {self.client}, web server on core {self.other}"


def choose_cores() -> Cores:
    """The first and the last that this process may use; it goes to the last one itself, out of the client's way."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) == 1:
        print("only one core: client and web server share it")
    os.sched_setaffinity(0, {allowed[-1]})
    return Cores(allowed[0], allowed[-1])


@dataclass(frozen=True, slots=True)
class Spent:
    """What one command cost, and when it began by the monotonic clock."""

    started: float
    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int
    code: int


def run_measured(command: Sequence[str | Path], *, core: int, cwd: Path, env: Mapping[str, str], output: Path) -> Spent:
    """Run a command to its end on one core; what it says goes to a file."""
    with output.open("wb") as file:
        started = time.monotonic()
        process = start_pinned(command, core=core, cwd=cwd, env=env, output=file.fileno())
    peak = 0
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        peak = max(peak, sum(memory_of(process.pid)))
        time.sleep(_LOOK_SECONDS)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - started
    return Spent(started, seconds, usage.ru_utime + usage.ru_stime, peak, process.returncode)


def start_pinned(
    command: Sequence[str | Path], *, core: int, cwd: Path, env: Mapping[str, str], output: int
) -> subprocess.Popen[bytes]:
    """A process on this core, and all that it starts."""
    with on_core(core):
        return subprocess.Popen(
            list(map(str, command)), cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT,
        )  # fmt: skip


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """This process and what it starts meanwhile."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def memory_of(pid: int) -> tuple[int, int]:
    """Bytes of a process, and of its descendants; 0 for one that is gone."""
    try:
        told = Path(f"/proc/{pid}/smaps_rollup").read_text()
        # Read here, because psutil would look at every process of the machine to find the children of one.
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0, 0
    mine = sum(int(line.split()[1]) * 1024 for line in told.splitlines() if line.startswith("Pss:"))
    return mine, sum(sum(memory_of(int(child))) for child in children)


class DatabaseMeter:
    """The embedded server of one project."""

    def __init__(self, home: Path) -> None:
        self._data_root = home / ".bailiwick"
        self._server = EmbeddedServer(self._data_root, DatabaseSettings())

    def pin(self, core: int) -> None:
        """All its processes; those that come are forked by these."""
        for process in self._processes():
            with suppress(psutil.Error):
                process.cpu_affinity([core])

    def cpu_seconds(self) -> float:
        with self.connect() as conn:
            conn.execute("checkpoint")
        main, *others = self._processes()
        times = main.cpu_times()
        total = sum(times[:2]) + times.children_user + times.children_system
        for process in others:
            with suppress(psutil.Error):
                total += sum(process.cpu_times()[:2])
        return total

    def connect(self) -> "psycopg.Connection[tuple[object, ...]]":
        return psycopg.connect(self._server.conninfo(), autocommit=True)

    def _processes(self) -> list[psutil.Process]:
        """The main process first, then its children and the watchdog."""
        pid = postmaster_pid(find_layout(self._data_root))
        if pid is None:
            raise RuntimeError("the embedded server does not run")
        main = psutil.Process(pid)
        return [main, *main.children(recursive=True), *self._watchdogs()]

    def _watchdogs(self) -> list[psutil.Process]:
        found = psutil.process_iter(["cmdline"])
        mark = ["bailiwick.db.embedded.watchdog", str(self._data_root)]
        return [process for process in found if (process.info["cmdline"] or [])[-2:] == mark]
