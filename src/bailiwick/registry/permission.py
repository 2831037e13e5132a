"""Who may do what is no state move. Moves have their roles in `model.transitions`."""

from sqlalchemy import Connection, select

from bailiwick.base.errors import NotAllowedError, UsageError
from bailiwick.db.tables import members
from bailiwick.ledger.events import Actor
from bailiwick.model.states import Role

ADMINS = frozenset({Role.ADMIN, Role.SYSTEM})
DECIDERS = ADMINS | {Role.REVIEWER}
SUBMITTERS = DECIDERS | {Role.SUBMITTER}
"""Everybody but viewers, who change nothing (DESIGN section 9)."""


def require(actor: Actor, roles: frozenset[Role]) -> None:
    """Refuse an actor who has none of these roles, with NotAllowedError."""
    if actor.role not in roles:
        who = " or ".join(sorted(roles - {Role.SYSTEM}))
        raise NotAllowedError(f"{actor.name} ({actor.role}) may not do this", hint=f"this takes the role {who}")


def is_own_decision(conn: Connection, actor: Actor, submitted_by: int | None, what: str) -> bool:
    """Whether somebody decides about what they handed in themselves, which only a lone operator may.

    Two pairs of eyes, once there are two (DESIGN section 9): UsageError if somebody else has to decide.
    """
    if submitted_by != actor.id or actor.role not in DECIDERS:
        return False  # who may not decide at all is told so by the move
    if others_can_decide(conn, actor):
        raise UsageError(f"{actor.name} submitted {what}", hint="another reviewer or admin has to decide")
    return True


def others_can_decide(conn: Connection, actor: Actor) -> bool:
    """Whether there is somebody else to decide about what this member submitted."""
    other = select(members.c.id).where(
        members.c.state == "active", members.c.role.in_((Role.ADMIN, Role.REVIEWER)), members.c.id != actor.id
    )
    return conn.execute(other.limit(1)).first() is not None
