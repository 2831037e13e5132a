"""Who may do what is no state move. Moves have their roles in `model.transitions`."""

from bailiwick.base.errors import NotAllowedError
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
