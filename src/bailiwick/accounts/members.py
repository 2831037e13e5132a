"""The actor of every event. The command line acts as a local admin made from the operating system's user."""

import getpass
import re

from sqlalchemy import Connection, select
from sqlalchemy.dialects.postgresql import insert

from bailiwick.base.errors import NotFoundError, UsageError
from bailiwick.db.tables import members
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.model.states import Role

SYSTEM_NAME = "system"


def member_name(text: str) -> str:
    """A member's name as it is kept: lower case, without surrounding space."""
    name = text.strip().lower()
    if not re.fullmatch(r"[^\s\x00-\x1f]{1,100}", name):
        raise UsageError(f"{text!r} is no member name", hint="1 to 100 characters without spaces")
    return name


def system_actor(conn: Connection) -> Actor:
    """The system itself: policies, workers, duties."""
    return find(conn, SYSTEM_NAME)


def local_admin(conn: Connection) -> Actor:
    """The member of the operating system's user; made on first use, with an event of its own making."""
    name = member_name(_os_user())
    if name == SYSTEM_NAME:
        name = "local-system"
    added = conn.execute(
        insert(members)
        .values(name=name, role=Role.ADMIN, state="active")
        .on_conflict_do_nothing()
        .returning(members.c.id)
    ).scalar()
    if added is not None:
        why = "first use of the command line by this user"
        record(conn, system_actor(conn), Subject("member", name, added), Act("join", after="active", reason=why))
    return find(conn, name)


def find(conn: Connection, name: str) -> Actor:
    """An active member by name."""
    row = conn.execute(select(members).where(members.c.name == member_name(name))).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no member {name!r}", hint="bailiwick without --as acts as you")
    if row.state != "active":
        raise UsageError(f"member {row.name} is {row.state}", hint="an admin can enable it again")
    return Actor(row.id, row.name, Role(row.role))


def _os_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a uid without a name (only possible with a database elsewhere)
        import os

        return f"uid-{os.geteuid()}"
