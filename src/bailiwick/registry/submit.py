"""A domain or URL comes in: it is new, known, trusted or refused, and the answer says so. Specification 000."""

from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue
from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.postgresql import insert

from bailiwick.base.errors import UsageError
from bailiwick.db.tables import crawl_queue, domains, page_requests
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.ledger.move import Move
from bailiwick.model.names import DomainName
from bailiwick.model.states import Role
from bailiwick.model.transitions import APPROVAL
from bailiwick.model.urls import PageUrl
from bailiwick.registry import trust
from bailiwick.registry.apply import apply, edit, lock_queue, requeue
from bailiwick.registry.permission import SUBMITTERS, require
from bailiwick.registry.records import Domain, SubmitterType, find, get, get_by_id

DEEP = 4
"""From this depth on a crawl can be slow (000)."""


class Answer(StrEnum):
    """What came of a submission."""

    SUBMITTED = "submitted"
    ADMITTED = "admitted"
    RESUBMITTED = "resubmitted"
    ALREADY_APPROVED = "already_approved"
    ALREADY_PENDING = "already_pending"
    REJECTED = "rejected"
    SUSPENDED = "suspended"
    BLACKLISTED = "blacklisted"


@dataclass(frozen=True, slots=True)
class Submission:
    """What somebody hands in. `admit` is an admin's word that no review is needed."""

    name: DomainName
    context: str | None = None
    max_crawl_depth: int = 3
    profile: str = "general"
    source: str | None = None
    admit: bool = False
    anonymous: bool = False
    receipt: str | None = None
    """What a stranger was given in return, kept with the event."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """The answer, the record as it is now, and what the submitter should know."""

    answer: Answer
    domain: Domain
    warnings: tuple[str, ...] = ()


def submit(conn: Connection, what: Submission, actor: Actor) -> Submitted:
    """Take a submission. A known domain's state never changes by it, but for a rejected one that comes with context."""
    require(actor, SUBMITTERS)
    if not 0 <= what.max_crawl_depth <= 1000:
        raise UsageError("the depth is a number from 0 to 1,000", hint="0 is the home page only, 2 or 3 is usual")
    known = find(conn, what.name)
    if known is None:
        created = _create(conn, what, actor)
        if created is not None:
            return created
        known = get(conn, what.name)  # somebody else was a moment faster
    return _answer_for(conn, known, what, actor)


def suggest(conn: Connection, name: DomainName, actor: Actor, *, context: str | None, receipt: str) -> None:
    """A stranger's word: a new domain waits for review (or a trust rule admits it), a known one only gets an event."""
    what = Submission(name, context=context, anonymous=True, receipt=receipt)
    if find(conn, name) is None and _create(conn, what, actor) is not None:
        return
    known = get(conn, name)
    if known.approval == "pending_review" and not known.row["is_proposed"]:
        known = propose(conn, known, actor, context=context)
    act = Act("suggest", reason=context, details={"receipt": receipt})
    record(conn, actor, Subject("domain", known.name.name, known.id), act)


def propose(conn: Connection, domain: Domain, actor: Actor, *, context: str | None) -> Domain:
    """A person is to decide about a domain that so far was only known."""
    changes = {"is_proposed": True, **({"submission_context": context} if context else {})}
    edit(conn, domain, changes, Act("propose", reason=context), actor)
    return get(conn, domain.name)


def submit_url(conn: Connection, url: PageUrl, actor: Actor, *, contact: str | None = None) -> Domain | None:
    """Ask for one page. None if its domain is unknown: then the domain has to be submitted first.

    The wish is kept with the domain; of an approved one it is crawled with the next slice, of any other once approved.
    """
    require(actor, SUBMITTERS)
    domain = find(conn, url.domain)
    if domain is None:
        return None
    lock_queue(conn, [domain.id])
    domain = get_by_id(conn, domain.id)
    request_page(conn, domain, url.path, actor, contact=contact)
    if domain.approval == "approved" and domain.refusal == "not_due":
        act = Act("wake", reason="a page was asked for")
        edit(conn, domain, {"next_crawl_after": func.bailiwick_now()}, act, actor)
    return domain


def request_page(
    conn: Connection, domain: Domain, path: str, actor: Actor, *, kind: str = "submitted", contact: str | None = None
) -> None:
    """Keep a wish for a page, for whoever holds the domain's lease; asked twice it is one wish.

    The caller holds the domain's queue row: the wish's foreign key locks the domain, and the queue comes first.
    """
    conn.execute(
        insert(page_requests)
        .values(domain_id=domain.id, kind=kind, path=path, priority=1, asked_by=actor.id, contact=contact)
        .on_conflict_do_nothing()
    )


def submitter_type(actor: Actor, *, anonymous: bool = False) -> SubmitterType:
    """Specification 000's three kinds, by role."""
    if actor.role is Role.SYSTEM and not anonymous:
        return "system"
    return "admin" if actor.role in (Role.ADMIN, Role.REVIEWER) and not anonymous else "public_user"


def _create(conn: Connection, what: Submission, actor: Actor) -> Submitted | None:
    rule = trust.rule_for(conn, what.name)
    admitted = what.admit or rule is not None
    if what.admit:
        _refuse_unless_admin(actor)
    verb, state = ("admit", "approved") if admitted else ("submit", "pending_review")
    added = conn.execute(
        insert(domains)
        .values(
            name=what.name.name,
            site=what.name.site,
            shared_key=what.name.shared_key,
            approval=state,
            submitted_by=actor.id,
            submitter_type=submitter_type(actor, anonymous=what.anonymous),
            submission_context=what.context,
            max_crawl_depth=what.max_crawl_depth,
            profile=what.profile,
            source=what.source,
            is_trusted=rule is not None,
            # By a rule nobody has reviewed it: who made the rule stands in the trail.
            **({"reviewed_by": actor.id, "reviewed_at": func.bailiwick_now()} if what.admit else {}),
        )
        .on_conflict_do_nothing(index_elements=["name"])
        .returning(domains.c.id)
    ).scalar()
    if added is None:
        return None
    key = select(func.hashtextextended(what.name.shared_key, 0)).scalar_subquery()
    conn.execute(insert(crawl_queue).values(domain_id=added, key_hash=key))
    told = {"rule": rule, "receipt": what.receipt}
    details: JsonValue = {name: value for name, value in told.items() if value is not None} or None
    act = Act(verb, after=state, reason=what.context, details=details)
    record(conn, actor, Subject("domain", what.name.name, added), act)
    lock_queue(conn, [added])
    requeue(conn, [added])
    return Submitted(Answer.ADMITTED if admitted else Answer.SUBMITTED, get(conn, what.name), _warnings(what))


def _answer_for(conn: Connection, known: Domain, what: Submission, actor: Actor) -> Submitted:
    if known.standing == "blacklisted":
        return Submitted(Answer.BLACKLISTED, known)
    if known.approval == "pending_review" and what.admit:
        _refuse_unless_admin(actor)
        reviewed = {"reviewed_by": actor.id, "reviewed_at": func.bailiwick_now()}
        apply(conn, Move(APPROVAL, known.id, "admit", known.approval_seen, what.context, changes=reviewed), actor)
        return Submitted(Answer.ADMITTED, get(conn, known.name), _warnings(what))
    if known.approval == "pending_review" and not known.row["is_proposed"]:
        return Submitted(Answer.SUBMITTED, propose(conn, known, actor, context=what.context), _warnings(what))
    if known.approval == "rejected" and (what.context or "").strip():
        wish = Move(
            APPROVAL,
            known.id,
            "resubmit",
            known.approval_seen,
            what.context,
            changes={"submission_context": what.context, "submitted_by": actor.id},
        )
        apply(conn, wish, actor)
        return Submitted(Answer.RESUBMITTED, get(conn, known.name), _warnings(what))
    answers = {
        "approved": Answer.ALREADY_APPROVED,
        "pending_review": Answer.ALREADY_PENDING,
        "rejected": Answer.REJECTED,
        "suspended": Answer.SUSPENDED,
    }
    return Submitted(answers[known.approval], known)


def _warnings(what: Submission) -> tuple[str, ...]:
    deep = (f"a depth of {what.max_crawl_depth} can be slow; 2 or 3 is usual",) if what.max_crawl_depth >= DEEP else ()
    return (*what.name.warnings, *deep)


def _refuse_unless_admin(actor: Actor) -> None:
    if actor.role not in (Role.ADMIN, Role.SYSTEM):
        raise UsageError(f"{actor.name} ({actor.role}) may not admit without review", hint="submit it for review")
