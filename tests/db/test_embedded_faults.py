"""What goes wrong: the faults of the wheel's own wrapper, one by one, and failures that a user must understand."""

import fcntl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.db.embedded_tools import Project, end, eventually, needs_root, opened, sketched, wait_for_end

KILOBYTE, MEGABYTE = 1024, 1024 * 1024


@pytest.fixture
def project(home: Path) -> Iterator[Project]:
    with opened(home) as prepared:
        yield prepared


# The wrapper's faults


def test_a_recovery_longer_than_any_limit_is_waited_for_and_a_stuck_one_is_not(project: Project) -> None:
    """The wrapper gives up after 10 seconds, whatever the server does."""
    project.put(1)
    with project.connect() as conn:
        rows = _write_much_log(conn)
    project.kill_server()

    project.settings["database_stall_seconds"] = 1
    stuck = project.begin("status")
    recovery = _startup_process(project)
    with _suspended(recovery):
        wait_for_end(stuck).refused("no progress for 1 seconds", "server.log", code=5)

        project.settings["database_stall_seconds"] = stall_seconds = 2
        patient = project.begin("status")
        assert patient.stderr is not None
        patient.stderr.readline()  # it waits
    ended = wait_for_end(patient)
    assert ended.code == 0, ended
    # One message a second: it has waited for longer than stall_seconds.
    assert ended.err.count("recovering after a crash: redo in progress") > stall_seconds
    assert project.server.layout.log.read_text().count("FATAL") < 20  # waiting is not asking all the time
    assert project.got() == [1]
    with project.connect() as conn:
        assert conn.execute("select count(*) from heavy").fetchone() == (rows,)


def _write_much_log(conn: "psycopg.Connection[tuple[object, ...]]") -> int:
    """Random index entries, to be replayed with next to no memory: slow in proportion to this machine's speed."""
    conn.execute("alter system set shared_buffers = '128kB'")
    conn.execute("create table heavy (a int, b int, c int)")
    conn.execute("create index on heavy (a); create index on heavy (b); create index on heavy (c)")
    began, rows = time.monotonic(), 0
    while time.monotonic() - began < 2.5:
        conn.execute(
            "insert into heavy select random() * 1e9, random() * 1e9, random() * 1e9 from generate_series(1, 20000)"
        )
        rows += 20_000
    return rows


def _startup_process(project: Project) -> psutil.Process:
    found: list[psutil.Process] = []

    def look() -> bool:
        found[:] = [p for p in project.processes() if "startup recovering" in "".join(p.cmdline())]
        return bool(found)

    eventually(look, "recovery has begun")
    return found[0]


@contextmanager
def _suspended(process: psutil.Process) -> Iterator[None]:
    process.suspend()
    try:
        yield
    finally:
        process.resume()


def test_a_pid_that_was_used_again_is_not_taken_for_the_server(project: Project) -> None:
    project.put(1)
    layout = project.server.layout
    socket = layout.server_socket()
    main = project.pid()
    project.kill_server()
    stranger = subprocess.Popen(["sleep", "600"], cwd=layout.data, **project.server.user.switch())
    try:
        for file in (layout.data / "postmaster.pid", socket / ".s.PGSQL.5432.lock"):
            lines = file.read_text().splitlines()
            assert lines[0] == str(main)
            lines[0], lines[2] = str(stranger.pid), str(int(psutil.Process(stranger.pid).create_time()))
            file.write_text("\n".join(lines) + "\n")
        assert project.facts()["pid"] is None
        ended = project.run("status")
        assert ended.code == 0, ended
        assert project.pid() not in (None, stranger.pid)
        assert project.got() == [1]
        project.ok("db", "stop")
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_copy_of_a_project_has_a_server_of_its_own(project: Project, home: Path) -> None:
    """A copied pid file names a live server, and even the right kind of server, but another's."""
    project.put(1)
    main = project.pid()
    copied = home / "copy"
    copied.mkdir()
    subprocess.run(["cp", "-a", project.data_root, copied], check=True)
    with Project(copied) as copy:
        assert str(copy.facts()["state"]).startswith("stopped")
        assert copy.ok("db", "stop") == "it was not running\n"
        assert project.pid() == main
        copy.put(2)
        assert copy.pid() not in (None, main)
        assert copy.got() == [1, 2]
    assert project.pid() == main
    assert project.got() == [1]


def test_the_lock_is_the_data_directorys_own(project: Project, home: Path) -> None:
    """The wrapper has one lock for all users of the machine."""
    project.server.layout.lock.touch()
    with project.server.layout.lock.open() as lock, opened(home / "other") as other:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = project.begin("status")
        ended = other.run("status")
        assert ended.code == 0, ended
        assert waiting.stderr is not None
        assert "waiting for another process" in waiting.stderr.readline()
        assert waiting.poll() is None
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert wait_for_end(waiting).code == 0


# Interrupted


@pytest.mark.parametrize("whole", [False, True], ids=["client only", "initdb too"])
def test_an_interrupted_initdb_leaves_nothing_that_breaks_the_next_start(home: Path, whole: bool) -> None:
    with Project(home) as project:
        command = project.begin("db", "upgrade")
        eventually(lambda: list(home.glob(".bailiwick/pg/data.*.part/PG_VERSION")), "initdb is at work")
        orphans = psutil.Process(command.pid).children(recursive=True)
        command.kill()
        assert not project.server.layout.initialised
        if whole:
            end(orphans)
        ended = project.run("db", "upgrade")
        assert ended.code == 0, ended
        assert list(home.glob(".bailiwick/pg/*.part")) == []
        assert not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in orphans)


def test_a_start_interrupted_before_its_last_step_is_finished_by_the_next(project: Project) -> None:
    project.server.ensure_running()
    with project.connect("postgres") as conn:
        conn.execute("drop database bailiwick with (force)")  # as if killed before it was made
    ended = project.run("status")
    assert ended.code == 0, ended
    assert "schema brought from revision 0" in ended.err


# What a user must understand


def test_a_full_disk_while_the_data_directory_is_made(home: Path) -> None:
    with Project(home) as project:
        for limit in (20 * KILOBYTE, 2 * MEGABYTE):  # initdb itself is killed, and a program that it runs
            project.run("db", "upgrade", file_limit=limit).refused("could not grow", "make room", code=5)
            assert [path.name for path in home.glob(".bailiwick/pg/data*")] == []
        project.ok("db", "upgrade")


def test_a_full_disk_while_the_server_starts_and_while_it_runs(project: Project) -> None:
    project.put(1)
    project.server.stop()
    project.run("status", file_limit=512 * KILOBYTE).refused("did not start", "could not grow", "make room", code=5)
    assert project.processes() == []
    assert project.run("status", file_limit=17 * MEGABYTE).code == 0
    _fill_events(project)
    ended = project.run("settings", "set", "storage.min_free_percent", "3")
    ended.refused("File too large", "ulimit -f", code=1)
    assert project.got() == [1]  # reading goes on
    project.server.stop()
    project.put(2)
    assert project.got() == [1, 2]


def _fill_events(project: Project) -> None:
    query = (
        "insert into events (actor_id, subject_kind, subject_name, verb, reason)"
        " select id, 'filling', 'x', 'put', repeat('x', %s) from members, generate_series(1, %s) where name = 'system'"
    )
    with project.connect() as conn:
        conn.execute("set synchronous_commit = off")
        for length, count in ((1500, 500), (1500, 1), (500, 1), (100, 1), (1, 1)):
            _repeat_until_full(conn, query, [length, count])


def _repeat_until_full(conn: "psycopg.Connection[tuple[object, ...]]", query: str, values: list[int]) -> None:
    for _ in range(10_000):
        try:
            conn.execute(query.encode(), values)
        except psycopg.errors.InternalError_:  # File too large
            return
    pytest.fail("it never became full")


@needs_root
def test_no_permission_to_write_here(home: Path) -> None:
    with Project(home, user="games") as project:
        project.run("db", "upgrade").refused("cannot create", "Permission denied", code=1)


@needs_root
@pytest.mark.parametrize("closed", [".bailiwick", ".bailiwick/pg"])
def test_no_permission_to_look_into_the_data_directory(home: Path, closed: str) -> None:
    with sketched(home):
        (home / closed).chmod(0o700)
        stranger = Project(home, user="games")
        for command in (["status"], ["db", "stop"]):
            stranger.run(*command).refused("Permission denied", code=1)


def test_data_of_a_newer_postgresql(home: Path) -> None:
    with sketched(home, version=b"19\n") as project:
        project.run("status").refused("PostgreSQL 19", "newer than every PostgreSQL found here", "install", code=5)
        assert "none for this data" in str(project.facts()["binaries"])
        assert [path.name for path in project.data.iterdir()] == ["PG_VERSION"]


def test_a_damaged_version_file(home: Path) -> None:
    with sketched(home, version=b"\x00\xff") as project:
        project.run("status").refused("PG_VERSION", "restore a backup", code=1)


@needs_root
def test_a_user_without_a_name(home: Path) -> None:
    home.chmod(0o777)
    with Project(home, user="54321") as project:
        project.run("db", "upgrade").refused("user id 54321 has no name", "/etc/passwd", code=5)


def test_binaries_that_are_not_there(home: Path) -> None:
    with sketched(home) as project:
        project.settings["database_binaries"] = home
        project.run("status").refused("no PostgreSQL 15 or later in", code=5)


def test_a_server_that_is_full_says_so_at_once(project: Project) -> None:
    """It is no server that starts slowly: nobody is to wait for `stall_seconds`."""
    project.server.ensure_running()
    with project.connect("postgres") as conn:
        conn.execute("alter system set max_connections = 6")
    project.server.stop()
    project.server.ensure_running()
    taken = [project.connect("postgres") for _ in range(6)]
    ended = project.run("status")
    for conn in taken:
        conn.close()
    ended.refused("too many clients", code=5)
    assert ended.seconds < 20
    assert project.got() == []
