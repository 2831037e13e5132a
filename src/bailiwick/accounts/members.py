"""The actor of every event. The command line acts as a local admin made from the operating system's user."""

import getpass
import re

from sqlalchemy import Connection, select
from sqlalchemy.dialects.postgresql import insert

from bailiwick.base.errors import ConflictError, NotFoundError, UsageError
from bailiwick.db.tables import members
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.model.states import Role

SYSTEM_NAME = "system"


def member_name(text: str) -> str:
    """A member's name as it is kept: lower case, without surrounding space."""
    name = text.strip().lower()
    # It stands in addresses (/members/NAME/role), and in lists where names must not look like others by tricks.
    if not re.fullmatch(r"[^\s/]{1,100}", name) or name in (".", "..") or not name.isprintable():
        raise UsageError(f"{text!r} is no member name", hint="1 to 100 visible characters without spaces and slashes")
    return name


def system_actor(conn: Connection) -> Actor:
    """The system itself: policies, workers, duties."""
    return find(conn, SYSTEM_NAME)


def local_admin(conn: Connection) -> Actor:
    """The member of the operating system's user; made on first use, with an event of its own making."""
    user = member_name(_os_user())
    known = _of_user(conn, user)
    if known is None:
        name = "local-system" if user == SYSTEM_NAME else user
        # A member by that name that somebody invited is somebody else's word for the same person, but not his login.
        made = _insert(conn, name, user) or _insert(conn, f"{name}-local", user)
        if made is not None:
            why = "first use of the command line by this user"
            record(conn, system_actor(conn), Subject("member", *made), Act("join", after="active", reason=why))
        known = _of_user(conn, user)
    if known is None:
        raise ConflictError(f"there are other members called {user} and {user}-local", hint="bailiwick --as NAME …")
    return find(conn, known)


def _of_user(conn: Connection, user: str) -> str | None:
    name: str | None = conn.execute(select(members.c.name).where(members.c.os_user == user)).scalar()
    return name


def _insert(conn: Connection, name: str, user: str) -> tuple[str, int] | None:
    added = conn.execute(
        insert(members)
        .values(name=name, role=Role.ADMIN, state="active", os_user=user)
        .on_conflict_do_nothing()
        .returning(members.c.id)
    ).scalar()
    return (name, added) if added is not None else None


def find(conn: Connection, name: str) -> Actor:
    """An active member by name."""
    row = conn.execute(select(members).where(members.c.name == member_name(name))).one_or_none()
    if row is None:
        raise NotFoundError(
            f"there is no member {name!r}", hint="bailiwick member list shows them; without --as you act as yourself"
        )
    if row.state != "active":
        raise UsageError(f"member {row.name} is {row.state}", hint="an admin can enable it again")
    return Actor(row.id, row.name, Role(row.role))


def _os_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a uid without a name (only possible with a database elsewhere)
        import os

        return f"uid-{os.geteuid()}"
