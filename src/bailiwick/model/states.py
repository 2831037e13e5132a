"""Roles and the shape of a state machine."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from bailiwick.base.errors import IllegalMoveError


class Role(StrEnum):
    """What a member may do. SYSTEM is nobody's: it marks policies, workers and duties."""

    SUBMITTER = "submitter"
    VIEWER = "viewer"
    REVIEWER = "reviewer"
    ADMIN = "admin"
    SYSTEM = "system"


BIRTH = ""
"""The state before the first one."""


@dataclass(frozen=True, slots=True)
class Transition:
    """One permitted move: from a state, by a verb, to a state, by these roles, perhaps only with a reason."""

    source: str
    verb: str
    target: str
    who: frozenset[Role]
    needs_reason: bool = False


@dataclass(frozen=True, slots=True)
class Machine:
    """A state machine: the table and column that hold it, its states, and every permitted move."""

    name: str
    table: str
    column: str
    question: str
    transitions: tuple[Transition, ...]

    @property
    def states(self) -> tuple[str, ...]:
        """All states, in the order in which the moves first reach them."""
        seen = dict.fromkeys(t.target for t in self.transitions)
        return tuple(seen)

    def moves(self, source: str, role: Role | None = None) -> Iterator[Transition]:
        """What can be done from here (by this role)."""
        for transition in self.transitions:
            if transition.source == source and (role is None or role in transition.who):
                yield transition

    def transition(self, source: str, verb: str, *, to: str | None = None) -> Transition:
        """The one move that this verb means here. `to` decides where a verb has several ends."""
        found = [t for t in self.moves(source) if t.verb == verb and to in (None, t.target)]
        if len(found) == 1:
            return found[0]
        if found:
            ends = ", ".join(t.target for t in found)
            raise IllegalMoveError(f"{verb} from {source} needs a target: {ends}")
        verbs = ", ".join(dict.fromkeys(t.verb for t in self.moves(source))) or "nothing"
        raise IllegalMoveError(
            f"{self.name} {source or 'of what is new'} cannot {verb}" + (f" to {to}" if to else ""),
            hint=f"possible from here: {verbs}",
        )
