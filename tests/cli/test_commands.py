"""The commands, as a user runs them: one story in one directory, and what goes wrong."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from bailiwick.base.sections import DatabaseSettings
from bailiwick.db.embedded.server import EmbeddedServer
from bailiwick.db.revision import HEAD
from tests.cli.tools import PROGRAM, bailiwick, environment


def test_a_first_day(home: Path) -> None:
    fresh = bailiwick("status", cwd=home)
    assert (fresh.code, fresh.out) == (1, "")
    assert "error: no Bailiwick data here" in fresh.err
    assert "hint: bailiwick db upgrade" in fresh.err
    assert list(home.iterdir()) == [], "a command that reads makes nothing"

    made = bailiwick("db", "upgrade", cwd=home)
    assert (made.code, made.out) == (0, f"schema upgraded from revision 0 to {HEAD}\n")
    assert f"new data directory: {home}/.bailiwick" in made.err
    again = bailiwick("db", "upgrade", cwd=home)
    assert (again.code, again.out) == (0, f"schema up to date at revision {HEAD}\n")

    deep = home / "a" / "b"
    deep.mkdir(parents=True)
    [status] = bailiwick("status", "--json", cwd=deep).rows
    assert status["data"] == f"{home}/.bailiwick"
    assert status["database"].endswith("embedded")

    assert bailiwick("settings", "set", "outbox.keep_days", "20", "--reason", "why not", cwd=deep).code == 0
    rows = bailiwick("settings", "show", "--changed", "--json", cwd=home).rows
    [changed] = [row for row in rows if row["origin"] != "environment"]
    assert (changed["setting"], changed["value"], changed["origin"]) == ("outbox.keep_days", 20, "database")
    [past] = bailiwick("settings", "history", "outbox.keep_days", "--json", cwd=home).rows
    assert (past["did"], past["before"], past["after"], past["reason"]) == ("set", None, 20, "why not")
    events = bailiwick("events", "--json", cwd=home).rows
    assert [e["what"].split(":")[0] for e in events] == ["member", "setting"]
    assert bailiwick("events", "--of", "setting:outbox.keep_days", "--json", cwd=home).rows == events[1:]

    assert bailiwick("settings", "set", "outbox.keep_days", "--default", cwd=home).out.endswith("default again\n")
    assert (
        bailiwick("settings", "show", "outbox.keep_days", "--changed", cwd=home).err == "everything has its default\n"
    )


def test_events_follow_shows_what_happens_until_interrupted(home: Path) -> None:
    bailiwick("settings", "set", "outbox.keep_days", "20", cwd=home)
    with subprocess.Popen(
        [PROGRAM, "events", "--follow", "--json", "--limit", "1"],
        cwd=home,
        env=environment(PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as follower:
        assert follower.stdout is not None
        assert json.loads(follower.stdout.readline())["after"] == 20
        bailiwick("settings", "set", "outbox.keep_days", "21", cwd=home)
        bailiwick("settings", "set", "outbox.keep_days", "22", cwd=home)
        assert [json.loads(follower.stdout.readline())["after"] for _ in range(2)] == [21, 22]
        follower.send_signal(signal.SIGINT)
        assert follower.wait(10) == 130, follower.stderr and follower.stderr.read()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("no-such-command",), 2, "No such command 'no-such-command'"),
        (("settings", "show", "no.such"), 2, "unknown setting 'no.such'"),
        (("settings", "set", "outbox.keep_days"), 2, "give a value, or --default"),
        (("settings", "set", "outbox.keep_days", "x"), 2, "outbox.keep_days: Input should be a valid integer"),
        (("settings", "set", "log.level", "debug"), 2, "needed before the database is open"),
        (("settings", "history", "nope"), 2, "unknown setting 'nope'"),
        (("events", "--of", "x"), 2, "'x' names nothing"),
        (("events", "--limit", "0"), 2, "Invalid value for '--limit'"),
        (("db", "downgrade", "9999", "--yes"), 2, "this program knows revisions"),
        (("db", "restore", "no-file", "--yes"), 1, "there is no file no-file"),
        (("--as", "stranger", "settings", "set", "outbox.keep_days", "3"), 1, "there is no member 'stranger'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    shared_home: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    ran = bailiwick(*arguments, cwd=shared_home)
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err.splitlines()[0]
    assert ran.err.startswith("error: ")
    assert "Traceback" not in ran.err


@pytest.fixture(scope="module")
def shared_home(servers: object) -> object:
    with servers.home() as path:  # type: ignore[attr-defined]
        bailiwick("db", "upgrade", cwd=path)
        yield path


def test_a_server_that_is_missing_is_exit_code_5(tmp_path: Path) -> None:
    ran = bailiwick("status", cwd=tmp_path, BAILIWICK_DATABASE_URL="postgresql://u:hunter2@127.0.0.1:1/d")
    assert ran.code == 5
    assert "no connection to PostgreSQL at 127.0.0.1:1/d" in ran.err
    assert "hunter2" not in ran.err
    bad = bailiwick("status", cwd=tmp_path, BAILIWICK_DATABASE_URL="nonsense")
    assert (bad.code, "is not a PostgreSQL URL" in bad.err) == (2, True)


def test_a_reader_that_has_seen_enough_is_no_error(shared_home: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f'set -o pipefail; "{PROGRAM}" settings show --json | head -n 1'],
        cwd=shared_home, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_that_is_gone_is_no_error_either(shared_home: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [PROGRAM, "settings", "show"], cwd=shared_home, env=environment(), stdout=writer, stderr=subprocess.PIPE,
        text=True, check=False,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_downgrade_asks_first(home: Path) -> None:
    bailiwick("db", "upgrade", cwd=home)
    asked = bailiwick("db", "downgrade", "0", cwd=home, stdin="n\n")
    assert asked.code == 130
    assert "is lost" in asked.err
    assert bailiwick("db", "downgrade", "0", "--yes", cwd=home).out == f"schema taken back from revision {HEAD} to 0\n"
    assert bailiwick("db", "downgrade", "0", "--yes", cwd=home).code == 2


def test_doctor_finds_a_healthy_machine_healthy(home: Path) -> None:
    before = bailiwick("doctor", "--json", cwd=home)
    assert before.code == 0, before
    assert list(home.iterdir()) == [], "doctor leaves nothing behind"
    verdicts = {row["check"]: row["verdict"] for row in before.rows}
    assert verdicts["data directory"] == "warn"
    assert {verdicts[c] for c in ("python", "binaries", "database", "schema", "clock", "socket", "dns")} == {"ok"}
    bailiwick("db", "upgrade", cwd=home)
    after = {row["check"]: row["verdict"] for row in bailiwick("doctor", "--json", cwd=home).rows}
    assert after["data directory"] == after["disk"] == "ok"


def test_doctor_fails_on_what_is_broken_and_says_how_to_mend_it(home: Path) -> None:
    bailiwick("db", "upgrade", cwd=home)
    low = bailiwick("doctor", "--json", cwd=home, BAILIWICK_STORAGE_MIN_FREE_BYTES=str(10**18))
    assert low.code == 1
    [disk] = [row for row in low.rows if row["check"] == "disk"]
    assert (disk["verdict"], disk["fix"]) == ("fail", "make room: writing work pauses")
    gone = bailiwick("doctor", "--json", cwd=home, BAILIWICK_DATABASE_URL="postgresql://127.0.0.1:1/d")
    assert gone.code == 1
    assert {row["verdict"] for row in gone.rows if row["check"] == "database"} == {"fail"}
    offline = bailiwick(
        "doctor", "--json", cwd=home, BAILIWICK_DOCTOR_PROBE_HOST="no-such-host.invalid", BAILIWICK_TYPO="1"
    )
    assert offline.code == 0, "being offline is a warning"
    assert {row["check"] for row in offline.rows if row["verdict"] == "warn"} == {"dns", "settings"}


def test_the_tour_ends_by_itself_and_leaves_nothing(home: Path) -> None:
    ran = bailiwick("demo", cwd=home, patience=250, TMPDIR=str(home))
    assert ran.code == 0, ran
    assert "$ bailiwick doctor" in ran.out
    assert "$ bailiwick db backup tour.dump" in ran.out
    assert list(home.iterdir()) == []


def test_a_tour_in_a_directory_of_ones_own_leaves_it_there(home: Path) -> None:
    with subprocess.Popen(
        [PROGRAM, "demo", "--in", "tour"],
        cwd=home, env=environment(PYTHONUNBUFFERED="1"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True,
    ) as tour:  # fmt: skip
        assert tour.stdout is not None
        assert any("$ bailiwick doctor" in line for line in tour.stdout)
        os.killpg(tour.pid, signal.SIGINT)
        tour.communicate(timeout=60)
    assert tour.returncode == 130
    assert (home / "tour" / "seeds.txt").exists()


def test_an_idle_connection_outlives_the_servers_restart(home: Path) -> None:
    """A long-running process goes on after `db stop` and after kill -9 of the server."""
    bailiwick("settings", "set", "outbox.keep_days", "20", cwd=home)
    with subprocess.Popen(
        [PROGRAM, "events", "--follow", "--json", "--limit", "1"],
        cwd=home, env=environment(PYTHONUNBUFFERED="1"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as follower:  # fmt: skip
        assert follower.stdout is not None
        follower.stdout.readline()
        server = EmbeddedServer(home / ".bailiwick", DatabaseSettings())
        for value, mode in ((21, signal.SIGINT), (22, signal.SIGKILL)):
            server.stop(mode=mode)
            time.sleep(0.6)  # longer than one poll of the follower
            assert bailiwick("settings", "set", "outbox.keep_days", str(value), cwd=home).code == 0
            assert json.loads(follower.stdout.readline())["after"] == value
        os.kill(follower.pid, signal.SIGINT)
        assert follower.wait(10) == 130, follower.stderr and follower.stderr.read()
