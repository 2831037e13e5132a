"""Where a project lives: the directory that holds `.bailiwick/` and `bailiwick.toml`, looked for upward like git's."""

import os
from dataclasses import dataclass
from pathlib import Path

from bailiwick.base.errors import PlaceError

DATA_NAME = ".bailiwick"
FILE_NAME = "bailiwick.toml"


@dataclass(frozen=True, slots=True)
class Place:
    """One project's directory. It may not exist yet: only commands that write create it."""

    root: Path

    @property
    def data(self) -> Path:
        return self.root / DATA_NAME

    @property
    def settings_file(self) -> Path:
        return self.root / FILE_NAME

    @property
    def profiles(self) -> Path:
        """Where a user's own profiles lie. It need not exist."""
        return self.root / "profiles"

    @property
    def parsers(self) -> Path:
        """Where a user's own site parsers lie. It need not exist."""
        return self.root / "parsers"

    @property
    def exists(self) -> bool:
        return self.data.is_dir()

    def create(self) -> bool:
        """Make the data directory; says whether it is new. Safe to call again."""
        if self.exists:
            return False
        try:
            self.data.mkdir(mode=0o755, parents=True, exist_ok=True)
            (self.data / ".gitignore").write_text("*\n")
        except OSError as error:
            raise PlaceError(
                f"cannot create {self.data}: {error.strerror}",
                hint="run in a directory you may write to, or name one: bailiwick --home DIR …",
            ) from error
        return True


def find_place(start: Path, *, named: Path | None = None) -> Place:
    """The nearest directory, from `start` upward, with our data or our settings file; else `start` itself.

    `named` (the operator's own word) is taken as it is. A found one must belong to the user or to root: a
    stranger's file in a shared parent directory must not steer this user's commands.
    """
    if named is not None:
        root = named.expanduser().absolute()
        return Place(root.parent if root.name == DATA_NAME else root)
    start = start.absolute()
    for directory in (start, *start.parents):
        for marker in (directory / DATA_NAME, directory / FILE_NAME):
            if marker.exists():
                _refuse_strangers(marker)
                return Place(directory)
    return Place(start)


def _refuse_strangers(marker: Path) -> None:
    owner = marker.stat().st_uid
    if owner not in (os.geteuid(), 0):
        raise PlaceError(
            f"{marker} belongs to another user (uid {owner})",
            hint=f"if you trust it, name it: bailiwick --home {marker.parent} …",
        )
