"""The server's processes, known by where they work: a pid can be used again, and a pid file can be copied."""

import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from bailiwick.db.embedded.layout import Layout


def postmaster_pid(layout: Layout) -> int | None:
    """The server's main process, if the pid file names a live process that really is it."""
    try:
        process = psutil.Process(int((layout.data / "postmaster.pid").read_text().splitlines()[0]))
        ours = _works_in(process, layout.data)
    except (OSError, ValueError, IndexError, psutil.Error):
        return None
    return process.pid if ours else None


def says_starting(layout: Layout) -> bool:
    """Whether the main process says that it is not ready yet. To ask the server itself adds to its log every time."""
    try:
        return (layout.data / "postmaster.pid").read_text().splitlines()[7].strip() == "starting"
    except (OSError, IndexError):
        return False


def server_processes(layout: Layout) -> list[psutil.Process]:
    """Every process of the server that this user may look at."""
    return list(_working_in(layout.data))


def end_leftovers(layout: Layout) -> None:
    """End what keeps `running` taken and will never be our server. Only for who holds `lock`, and finds no server.

    - backends without a main process: they notice it only when their query is done, which may take hours. They can
      neither harm the data nor save it: recovery from the log follows;
    - pg_upgrade and its servers, when the command that ran it was killed: nobody will use what it makes.
    """
    if postmaster_pid(layout) is None:
        _end_orphans(server_processes(layout))
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.name() == "pg_upgrade" and any(w.startswith(str(layout.directory)) for w in process.cmdline()):
                process.kill()
    for data in layout.directory.glob("data*"):
        for process in _working_in(data):
            with suppress(psutil.Error):
                if "-b" in process.cmdline():  # «binary upgrade»: no server of ours has it
                    process.send_signal(signal.SIGINT)


def _end_orphans(found: list[psutil.Process]) -> None:
    pids = {process.pid for process in found}
    for process in found:
        with suppress(psutil.Error):
            # Children have a title («postgres: io worker 0»); a main process that is just starting has none.
            titled = "".join(process.cmdline()[:1]).startswith("postgres: ")
            if titled and process.ppid() not in pids:
                process.kill()


def _working_in(data: Path) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if _works_in(process, data):
                yield process


def _works_in(process: psutil.Process, data: Path) -> bool:
    if "postgres" not in process.name() or process.status() == psutil.STATUS_ZOMBIE:
        return False
    try:
        return process.cwd() == str(data.resolve())
    except psutil.AccessDenied:
        # Root without all its powers, as in a container: the main process at least can be told by its arguments.
        return str(data) in process.cmdline()
