"""Candidates for people: lists, one with all that is known of it, and what a reviewer may do with it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import JsonValue
from sqlalchemy import Connection, Row, and_, func, insert, or_, select
from sqlalchemy.sql import Select

from bailiwick.base.errors import ConflictError, NotFoundError
from bailiwick.db.tables import candidates, discovery_sessions, domains, labels, members, pages
from bailiwick.discover.keeping import SQL
from bailiwick.ledger.deliveries import tell_member
from bailiwick.ledger.events import Actor
from bailiwick.ledger.move import Move, Seen, move
from bailiwick.model.transitions import CANDIDATE
from bailiwick.registry.permission import is_own_decision

Cursor = tuple[float, int]
"""Confidence and id to go on after."""


@dataclass(frozen=True, slots=True)
class Which:
    """Which candidates; what is None does not matter."""

    state: str | None = None
    session_id: int | None = None
    domain_id: int | None = None
    least: float | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate, and how far its domain and its page are."""

    id: int
    session_id: int | None
    submitted_by: int | None
    """Who started the session that found it."""
    domain: str
    domain_id: int
    approval: str
    url: str
    path: str
    path_hash: int
    title: str
    snippet: str
    engine: str
    query: str
    position: int
    found_by: list[Mapping[str, JsonValue]]
    profile: str
    confidence: float
    threshold: float
    judge_scores: list[Mapping[str, JsonValue]]
    reasoning: str
    organization_name: str | None
    program_name: str | None
    state: str
    assignee: str | None
    assigned_to: int | None
    reviewer: str | None
    reviewed_at: datetime | None
    review_notes: str | None
    crawled_at: datetime | None
    facts: Mapping[str, JsonValue] | None
    page_outcome: str | None
    """What came of the last try to fetch its page."""
    found_at: datetime
    version: int


def ranked(conn: Connection, which: Which, *, limit: int, after: Cursor | None = None) -> list[Candidate]:
    """The best first, a page at a time."""
    query = _candidates().order_by(candidates.c.confidence.desc(), candidates.c.id).limit(limit)
    if which.state is not None:
        query = query.where(candidates.c.state == which.state)
    if which.session_id is not None:
        query = query.where(candidates.c.session_id == which.session_id)
    if which.domain_id is not None:
        query = query.where(candidates.c.domain_id == which.domain_id)
    if which.least is not None:
        query = query.where(candidates.c.confidence >= which.least)
    if after is not None:
        confidence, last = after
        same = and_(candidates.c.confidence == confidence, candidates.c.id > last)
        query = query.where(or_(candidates.c.confidence < confidence, same))
    return [_candidate(row) for row in conn.execute(query)]


def get(conn: Connection, candidate_id: int) -> Candidate:
    """One candidate, or NotFoundError."""
    row = conn.execute(_candidates().where(candidates.c.id == candidate_id)).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no candidate {candidate_id}", hint="bailiwick candidate list")
    return _candidate(row)


def assign(conn: Connection, candidate: Candidate, actor: Actor) -> Candidate:
    """Take a candidate for review. Of two who do so at once, one is told that the other was first.

    UsageError if the actor's own session found it and somebody else can decide.
    """
    _is_own(conn, candidate, actor)
    changes = {"assigned_to": actor.id, "assigned_at": func.bailiwick_now()}
    return _moved(conn, candidate, "assign", actor, changes=changes)


def release(conn: Connection, candidate: Candidate, actor: Actor, *, reason: str | None = None) -> Candidate:
    """Give it back to the others."""
    return _moved(conn, candidate, "release", actor, reason=reason, changes=_UNASSIGNED)


def approve(conn: Connection, candidate: Candidate, actor: Actor, *, notes: str | None) -> Candidate:
    """A source for the knowledge base: its funding programmes and contacts count as verified from now on."""
    return _decide(conn, candidate, "approve", actor, notes)


def reject(conn: Connection, candidate: Candidate, actor: Actor, *, notes: str) -> Candidate:
    return _decide(conn, candidate, "reject", actor, notes)


_UNASSIGNED = dict.fromkeys(("assigned_to", "assigned_at"))


def _decide(conn: Connection, candidate: Candidate, verb: str, actor: Actor, notes: str | None) -> Candidate:
    """By whom it is assigned to alone. The decision is a label for what learns from people."""
    if candidate.assigned_to is not None and candidate.assigned_to != actor.id:
        raise ConflictError(
            f"candidate {candidate.id} is in review by {candidate.assignee}",
            hint=f"ask them, or take it back first: bailiwick candidate release {candidate.id}",
        )
    is_own = _is_own(conn, candidate, actor)
    details: dict[str, JsonValue] = {}
    if verb == "approve":
        details["verified_items"] = _verify(conn, candidate)
        details |= {"self_approved": True} if is_own else {}
    changes = {"reviewed_by": actor.id, "reviewed_at": func.bailiwick_now(), "review_notes": notes}
    decided = _moved(conn, candidate, verb, actor, reason=notes, changes=changes, details=details or None)
    conn.execute(
        insert(labels).values(
            task="candidate",
            subject=decided.url,
            profile=decided.profile,
            is_wanted=verb == "approve",
            reason=notes,
            decided_by=actor.id,
            material={
                "title": decided.title,
                "snippet": decided.snippet,
                "confidence": decided.confidence,
                "judge_scores": [dict(score) for score in decided.judge_scores],
            },
        )
    )
    _tell(conn, decided, notes)
    return decided


def _is_own(conn: Connection, candidate: Candidate, actor: Actor) -> bool:
    name = f"candidate {candidate.id} ({candidate.domain}{candidate.path})"
    return is_own_decision(conn, actor, candidate.submitted_by, name)


def _verify(conn: Connection, candidate: Candidate) -> int:
    """Mark what it gives as seen by a person. Says how many items these are."""
    asked = {"domain_id": candidate.domain_id, "path_hash": candidate.path_hash}
    return conn.exec_driver_sql(SQL["verify_items"], asked).rowcount


def _tell(conn: Connection, decided: Candidate, notes: str | None) -> None:
    """Who started the session that found it, if they left an address."""
    session = discovery_sessions.c
    starter = conn.execute(select(session.started_by).where(session.id == decided.session_id)).scalar()
    if starter is not None:
        title = f"Candidate {decided.id} ({decided.domain}) is {decided.state}"
        tell_member(conn, starter, title, "\n".join(filter(None, (decided.url, notes))))


def _moved(
    conn: Connection,
    candidate: Candidate,
    verb: str,
    actor: Actor,
    *,
    changes: Mapping[str, object],
    reason: str | None = None,
    details: JsonValue = None,
) -> Candidate:
    seen = Seen(candidate.state, candidate.version)
    move(conn, Move(CANDIDATE, candidate.id, verb, seen, reason, changes=changes, details=details), actor)
    return get(conn, candidate.id)


def _candidates() -> "Select[Any]":
    assignee, reviewer = members.alias(), members.alias()
    same_page = (pages.c.domain_id == candidates.c.domain_id, pages.c.path_hash == candidates.c.path_hash)
    return (
        select(
            candidates,
            discovery_sessions.c.started_by.label("submitted_by"),
            domains.c.name.label("domain"),
            domains.c.approval,
            assignee.c.name.label("assignee"),
            reviewer.c.name.label("reviewer"),
            pages.c.last_outcome.label("page_outcome"),
        )
        .join(domains, domains.c.id == candidates.c.domain_id)
        .outerjoin(discovery_sessions, discovery_sessions.c.id == candidates.c.session_id)
        .outerjoin(assignee, assignee.c.id == candidates.c.assigned_to)
        .outerjoin(reviewer, reviewer.c.id == candidates.c.reviewed_by)
        .outerjoin(pages, and_(*same_page))
    )


def _candidate(row: Row[Any]) -> Candidate:
    values = row._mapping  # noqa: SLF001 - SQLAlchemy's public name for it
    return Candidate(**{name: values[name] for name in Candidate.__slots__})
