"""What people can do to a domain now: the moves of its axes by the tables, and the deeds that move no state."""

from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection, func, select

from bailiwick.approve import service
from bailiwick.base.errors import ConflictError, UsageError
from bailiwick.ledger.events import Actor
from bailiwick.model.states import Machine, Role
from bailiwick.model.transitions import APPROVAL, CRAWL, STANDING
from bailiwick.registry.permission import DECIDERS, SUBMITTERS
from bailiwick.registry.records import Domain
from bailiwick.registry.submit import Submission, submit


class Deed(Protocol):
    """What is done to a domain, in an actor's name. Errors: those of `approve.service`."""

    def __call__(self, conn: Connection, domain: Domain, actor: Actor, *, reason: str | None) -> Domain: ...


@dataclass(frozen=True, slots=True)
class Verb:
    """One thing that can be done: its word in the tables, on a button and on the command line, and the doing."""

    name: str
    label: str
    command: str
    do: Deed
    needs_reason: bool = False
    wants_reason: bool = False
    is_grave: bool = False
    """Takes something away: not to be done by a slip."""


def axes(domain: Domain) -> tuple[tuple[Machine, str], ...]:
    """The three machines, and where this domain is in each."""
    return (APPROVAL, domain.approval), (STANDING, domain.standing), (CRAWL, domain.crawl)


def moves(domain: Domain, machine: Machine, state: str, role: Role) -> list[Verb]:
    """What moves this axis from here, for this role, in the order of the table."""
    names = dict.fromkeys(move.verb for move in machine.moves(state, role))
    # Only an approved domain is crawled, whatever its crawl axis says.
    is_listed = domain.standing == "blacklisted"
    is_idle = machine is CRAWL and (domain.approval != "approved" or is_listed)
    if is_listed:  # the blacklist answers a submission before the approval does
        names.pop("resubmit", None)
    return [] if is_idle else [VERBS[name] for name in names if name in VERBS]


def deeds(domain: Domain, role: Role) -> list[Verb]:
    """What this role can do to it besides."""
    is_open = domain.approval == "approved" and domain.standing != "blacklisted"
    is_resting = domain.refusal in ("cooling_down", "retries_used_up")  # only a reset helps
    found: list[str] = []
    if is_open and not is_resting and domain.crawl != "exhausted" and role in SUBMITTERS:
        found.append("recrawl")
    if role in DECIDERS:
        if domain.is_trusted:
            found.append("distrust")
        elif domain.approval in ("approved", "pending_review"):
            found.append("trust")
        found.append("note")
    return [VERBS[name] for name in found]


def possible(domain: Domain, role: Role) -> dict[str, Verb]:
    """All of it, by name."""
    moved = [verb for machine, state in axes(domain) for verb in moves(domain, machine, state, role)]
    return {verb.name: verb for verb in (*moved, *deeds(domain, role))}


def _resubmit(conn: Connection, domain: Domain, actor: Actor, *, reason: str | None) -> Domain:
    if not (reason or "").strip():
        raise UsageError("submitting it again needs a reason", hint="say what has changed")
    done = submit(conn, Submission(domain.name, context=reason), actor)
    if done.domain.approval != "pending_review":
        raise ConflictError(f"{domain.name} is {done.domain.approval}")
    return done.domain


def _mark_no_funds(conn: Connection, domain: Domain, actor: Actor, *, reason: str | None) -> Domain:
    year = int(conn.execute(select(func.date_part("year", func.bailiwick_now()))).scalar_one())
    return service.mark_no_funds(conn, domain, actor, year=year, reason=reason)


def _trust(conn: Connection, domain: Domain, actor: Actor, *, reason: str | None) -> Domain:
    return service.set_trust(conn, domain, actor, trusted=True, reason=reason)


def _distrust(conn: Connection, domain: Domain, actor: Actor, *, reason: str | None) -> Domain:
    return service.set_trust(conn, domain, actor, trusted=False, reason=reason)


def _note(conn: Connection, domain: Domain, actor: Actor, *, reason: str | None) -> Domain:
    return service.note(conn, domain, actor, text=reason or "")


# Verbs of workers and of merging are nobody's to choose.
VERBS: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb("approve", "Approve", "approve {name}", service.approve),
        Verb("reject", "Reject", 'reject {name} --reason "…"', service.reject, needs_reason=True, is_grave=True),
        Verb("suspend", "Suspend", 'suspend {name} --reason "…"', service.suspend, needs_reason=True, is_grave=True),
        Verb("resume", "Resume", "resume {name}", service.resume),
        Verb("resubmit", "Submit again", 'submit {name} --context "…"', _resubmit, needs_reason=True),
        Verb("mark_no_funds", "No funds this year", "no-funds {name}", _mark_no_funds, wants_reason=True),
        Verb(
            "blacklist",
            "Blacklist",
            'blacklist {name} --reason "…"',
            service.blacklist,
            needs_reason=True,
            is_grave=True,
        ),
        Verb("lift", "Lift blacklist", "blacklist {name} --lift", service.lift_blacklist, wants_reason=True),
        Verb("refresh", "Re-crawl", "recrawl {name}", service.recrawl),
        Verb("reset", "Reset and re-crawl", "reset {name}", service.reset),
        Verb("recrawl", "Re-crawl", "recrawl {name}", service.recrawl),
        Verb("trust", "Trust", "trust {name}", _trust, wants_reason=True),
        Verb("distrust", "Trust no longer", "trust {name} --off", _distrust, wants_reason=True),
        Verb("note", "Add note", 'note {name} "…"', _note, needs_reason=True),
    )
}
