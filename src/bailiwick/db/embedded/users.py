"""Who runs the server: the user who runs the command, or, for root, an unprivileged user (PostgreSQL refuses root).

Data that is there already belongs to whoever runs its server: root in another user's project is that user's guest.
"""

import os
import pwd
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bailiwick.base.errors import PlaceError, ServerMissingError

_CANDIDATES = ("bailiwick", "postgres", "nobody")


@dataclass(frozen=True, slots=True)
class ServerUser:
    """The system user of the server processes; `switched` when the command itself runs as root."""

    name: str
    uid: int
    gid: int
    switched: bool

    def run(self, command: Sequence[str | Path], **options: object) -> "subprocess.CompletedProcess[str]":
        """Run a program of PostgreSQL as this user, with its output as text. `cwd` must be reachable for it."""
        done: subprocess.CompletedProcess[str] = subprocess.run(  # type: ignore[call-overload]
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            env=environment(),
            **self.switch(),
            **{"cwd": "/", **options},
        )
        done.stdout += ending_signal(done.returncode)
        return done

    def switch(self) -> dict[str, object]:
        """Arguments for subprocess that change to this user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.switched else {}

    def can_reach(self, path: Path) -> bool:
        """Whether the kernel lets this user through to a path (directories above it included)."""
        if not self.switched:
            return os.access(path, os.X_OK)
        return self.run(["/bin/sh", "-c", 'test -x "$1"', "sh", path]).returncode == 0

    def own(self, path: Path) -> None:
        if self.switched:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def environment() -> dict[str, str]:
    """A small environment of our own: PG* variables and locales of the caller must not steer the server."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}


def ending_signal(code: int) -> str:
    """What to add to the output of a program that a signal ended: by itself it has said nothing."""
    return f"\nended by a signal: {signal.strsignal(-code)}" if code < 0 else ""


def server_user(named: str | None = None, *, owner: int = 0) -> ServerUser:
    """Decide who runs the server; `owner` is the uid that the data belongs to. A clear error where nobody can."""
    uid = os.geteuid()
    if uid != 0:
        return ServerUser(client_user(), uid, os.getegid(), switched=False)
    if owner != 0:
        return _owning_user(owner, named)
    for name in (named,) if named else _CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return ServerUser(name, entry.pw_uid, entry.pw_gid, switched=True)
    raise ServerMissingError(
        f"PostgreSQL does not run as root, and there is no user {named or ' or '.join(_CANDIDATES)} to run it as",
        hint="make one (useradd --system bailiwick), or set [database] url",
    )


def client_user() -> str:
    """The name of the user who runs this command, as the server will see it on the socket."""
    return _entry(os.geteuid()).pw_name


def _owning_user(owner: int, named: str | None) -> ServerUser:
    entry = _entry(owner)
    if named and named != entry.pw_name:
        raise PlaceError(
            f"the data belongs to user {entry.pw_name}, and [database] server_user is {named}",
            hint=f"stop the server and give it the data (chown -R {named}), or unset server_user",
        )
    return ServerUser(entry.pw_name, owner, entry.pw_gid, switched=True)


def _entry(uid: int) -> pwd.struct_passwd:
    try:
        return pwd.getpwuid(uid)
    except KeyError:
        raise ServerMissingError(
            f"user id {uid} has no name on this machine, and PostgreSQL needs one",
            hint="add the user to /etc/passwd (containers: run as a user of the image), or set [database] url",
        ) from None
