"""How long starting takes, beside the bare interpreter and PostgreSQL's own tools. `make bench-start`.

Prints medians in milliseconds and ratios; changes nothing outside a temporary directory.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import distribution, requires
from pathlib import Path

from packaging.requirements import Requirement

from bailiwick.base.sections import DatabaseSettings
from bailiwick.db.embedded.binaries import choose, reachable
from bailiwick.db.embedded.layout import SYSTEM_DIRECTORY
from bailiwick.db.embedded.server import EmbeddedServer
from bailiwick.db.embedded.users import server_user

PROGRAM = Path(sys.executable).with_name("bailiwick")
RUNS = 10


def main() -> None:
    directory = Path(tempfile.mkdtemp(prefix="bailiwick-bench-"))
    directory.chmod(0o755)
    try:
        figures = measure(directory)
    finally:
        EmbeddedServer(directory / ".bailiwick", DatabaseSettings()).stop()
        shutil.rmtree(directory, ignore_errors=True)
    print(f"{'what':44} {'median ms':>10}  {'samples ms'}")
    for what, samples in figures.items():
        print(f"{what:44} {statistics.median(samples):10.0f}  {' '.join(f'{s:.0f}' for s in samples)}")
    median = {what: statistics.median(samples) for what, samples in figures.items()}
    print(f"\n--help / bare interpreter: {median['bailiwick --help'] / median['python -c pass']:.1f}")
    print(f"status / bare psycopg query: {median['bailiwick status, server up'] / median['psycopg: select 1']:.1f}")
    print(
        f"new database / initdb + pg_ctl: {median['bailiwick db upgrade, new'] / median['initdb + pg_ctl start']:.1f}"
    )
    print(f"core install: {installed_bytes() / 1e6:.0f} MB")


def measure(directory: Path) -> dict[str, list[float]]:
    figures = {
        "python -c pass": timed(lambda: run(sys.executable, "-c", "pass")),
        "bailiwick --help": timed(lambda: run(PROGRAM, "--help")),
        "initdb + pg_ctl start": timed(raw_tools, runs=3),
        "bailiwick db upgrade, new": timed(lambda: fresh(directory), runs=3),
        "bailiwick status, server up": timed(lambda: run(PROGRAM, "status", cwd=directory)),
    }
    server = EmbeddedServer(directory / ".bailiwick", DatabaseSettings())
    query = f"import psycopg; psycopg.connect({server.conninfo()!r}).execute('select 1')"
    figures["psycopg: select 1"] = timed(lambda: run(sys.executable, "-W", "ignore", "-c", query))

    def from_stopped() -> None:
        run(PROGRAM, "status", cwd=directory)

    samples = []
    for _ in range(5):
        server.stop()
        samples += timed(from_stopped, runs=1)
    figures["bailiwick status, server stopped"] = samples
    return figures


def timed(work: Callable[[], None], *, runs: int = RUNS) -> list[float]:
    samples = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        samples.append((time.perf_counter() - start) * 1000)
    return samples


def fresh(directory: Path) -> None:
    EmbeddedServer(directory / ".bailiwick", DatabaseSettings()).stop()
    shutil.rmtree(directory / ".bailiwick", ignore_errors=True)
    run(PROGRAM, "db", "upgrade", cwd=directory)


def raw_tools() -> None:
    """The floor: the same binaries by hand."""
    user = server_user()
    binaries = reachable(choose(None), user, SYSTEM_DIRECTORY)
    scratch = Path(tempfile.mkdtemp(prefix="bwraw-"))
    user.own(scratch)
    data = scratch / "data"
    user.run([binaries.tool("initdb"), "-D", data, "--auth=trust", "--no-instructions"])
    options = f"-c listen_addresses='' -c unix_socket_directories='{scratch}'"
    started = user.run([binaries.tool("pg_ctl"), "-D", data, "-l", scratch / "log", "-o", options, "-w", "start"])
    user.run([binaries.tool("pg_ctl"), "-D", data, "-m", "immediate", "stop"])
    shutil.rmtree(scratch, ignore_errors=True)
    if started.returncode != 0:
        raise RuntimeError(started.stdout)


def run(*command: str | Path, cwd: Path | None = None) -> None:
    subprocess.run(list(map(str, command)), cwd=cwd, check=True, capture_output=True, timeout=120)


def installed_bytes() -> int:
    """What `pip install bailiwick` brings, without extras and without the interpreter."""
    seen: dict[str, int] = {}

    def add(name: str) -> None:
        key = name.lower().replace("_", "-")
        if key in seen:
            return
        files = [Path(str(distribution(name).locate_file(f))) for f in distribution(name).files or ()]
        seen[key] = sum(f.stat().st_size for f in files if f.is_file())
        for line in requires(name) or ():
            requirement = Requirement(line)
            wanted = [{"extra": extra} for extra in ("", "binary")] if name == "psycopg" else [{"extra": ""}]
            if requirement.marker is None or any(requirement.marker.evaluate(w) for w in wanted):
                add(requirement.name)

    add("bailiwick")
    return sum(seen.values())


if __name__ == "__main__":
    main()
