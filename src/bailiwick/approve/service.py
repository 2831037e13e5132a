"""The verbs by which people govern a domain. Each is one decision, checked, recorded, and felt by the queue at once."""

from dataclasses import asdict, dataclass

from pydantic import JsonValue
from sqlalchemy import Connection, func

from bailiwick.approve.telling import tell_decision
from bailiwick.base.errors import ConflictError, UsageError
from bailiwick.ledger.events import Act, Actor
from bailiwick.ledger.move import Move
from bailiwick.model.transitions import APPROVAL, CRAWL, STANDING
from bailiwick.registry import trust
from bailiwick.registry.apply import apply, current, edit
from bailiwick.registry.permission import DECIDERS, SUBMITTERS, is_own_decision, require
from bailiwick.registry.records import Domain, get
from bailiwick.registry.standing import standing_after_lift
from bailiwick.registry.submit import request_page

_NOW = func.bailiwick_now()
_TOLD = {"reject": "rejected", "suspend": "suspended"}


def approve(
    conn: Connection,
    domain: Domain,
    actor: Actor,
    *,
    reason: str | None = None,
    include_subdomains: bool = False,
) -> Domain:
    """Approve a domain that waits for review; with its sub-domains by a trust rule for all names under it."""
    is_own = is_own_decision(conn, actor, domain.row["submitted_by"], domain.name.name)
    details: JsonValue = {"self_approved": True} if is_own else None
    changes = {"reviewed_by": actor.id, "reviewed_at": _NOW, "review_reason": reason}
    wish = Move(APPROVAL, domain.id, "approve", domain.approval_seen, reason, changes=changes, details=details)
    apply(conn, wish, actor)
    if include_subdomains:
        trust.add_rule(conn, trust.suffix_of(domain.name.host), actor, reason=reason or f"with {domain.name}")
    tell_decision(conn, domain, "approved", reason)
    return get(conn, domain.name)


def reject(conn: Connection, domain: Domain, actor: Actor, *, reason: str | None) -> Domain:
    return _decide(conn, domain, "reject", actor, reason)


def suspend(conn: Connection, domain: Domain, actor: Actor, *, reason: str | None) -> Domain:
    """Stop crawling it; a worker that is at it stops within seconds."""
    return _decide(conn, domain, "suspend", actor, reason)


def resume(conn: Connection, domain: Domain, actor: Actor, *, reason: str | None = None) -> Domain:
    return _decide(conn, domain, "resume", actor, reason)


def set_trust(conn: Connection, domain: Domain, actor: Actor, *, trusted: bool, reason: str | None) -> Domain:
    """Mark a domain as trusted, which approves one that waits for review, or take the mark away."""
    require(actor, DECIDERS)
    if trusted and domain.approval in ("rejected", "suspended"):
        raise ConflictError(
            f"{domain.name} is {domain.approval}: approval decides, trust does not change it",
            hint=f"bailiwick domain {'resume' if domain.approval == 'suspended' else 'submit'} {domain.name}",
        )
    if trusted and domain.approval == "pending_review":
        domain = approve(conn, domain, actor, reason=reason)
    act = Act("trust" if trusted else "distrust", domain.is_trusted, trusted, reason)
    edit(conn, domain, {"is_trusted": trusted}, act, actor)
    return get(conn, domain.name)


def blacklist(conn: Connection, domain: Domain, actor: Actor, *, reason: str | None) -> Domain:
    changes = {
        "blacklisted_by": actor.id,
        "blacklisted_at": _NOW,
        "blacklist_reason": reason,
        "standing_before": standing_after_lift(domain.standing),
    }
    apply(conn, Move(STANDING, domain.id, "blacklist", domain.standing_seen, reason, changes=changes), actor)
    return get(conn, domain.name)


def lift_blacklist(conn: Connection, domain: Domain, actor: Actor, *, reason: str | None = None) -> Domain:
    """Back to the standing before."""
    before = domain.row["standing_before"] or "discovered"
    cleared = dict.fromkeys(("blacklisted_by", "blacklisted_at", "blacklist_reason", "standing_before"))
    wish = Move(STANDING, domain.id, "lift", domain.standing_seen, reason, to=before, changes=cleared)
    apply(conn, wish, actor)
    return get(conn, domain.name)


def mark_no_funds(conn: Connection, domain: Domain, actor: Actor, *, year: int, reason: str | None) -> Domain:
    """Legitimate, but nothing to find in this year; in the new year it comes back by itself."""
    if not 2020 <= year <= 2100:
        raise UsageError(f"{year} is not a year from 2020 to 2100")
    changes = {"no_funds_year": year}
    if domain.standing == "no_funds_this_year":
        require(actor, DECIDERS)
        act = Act("mark_no_funds", domain.row["no_funds_year"], year, reason)
        edit(conn, domain, changes, act, actor)
    else:
        wish = Move(STANDING, domain.id, "mark_no_funds", domain.standing_seen, reason, changes=changes)
        apply(conn, wish, actor)
    return get(conn, domain.name)


def note(conn: Connection, domain: Domain, actor: Actor, *, text: str) -> Domain:
    """Add a line to the admin notes; the trail says whose it is."""
    require(actor, DECIDERS)
    if not text.strip():
        raise UsageError("the note is empty")
    notes = "\n".join(filter(None, (domain.row["notes"], text.strip())))
    edit(conn, domain, {"notes": notes}, Act("note", after=text.strip()), actor)
    return get(conn, domain.name)


@dataclass(frozen=True, slots=True)
class Configuration:
    """How one domain is crawled. The bounds are the table's own."""

    max_crawl_depth: int
    crawl_delay_seconds: float
    max_concurrent_requests: int
    max_pages_per_run: int
    scrape_frequency_hours: int | None


def configure(conn: Connection, domain: Domain, actor: Actor, *, wanted: Configuration, reason: str | None) -> Domain:
    """Set how it is crawled, from the next slice on. BrokenRuleError names the bound that a value breaks."""
    require(actor, DECIDERS)
    before = {name: domain.row[name] for name in asdict(wanted)}
    changed = {name: value for name, value in asdict(wanted).items() if value != before[name]}
    if changed:
        was = {name: before[name] for name in changed}
        edit(conn, domain, changed, Act("configure", was, changed, reason), actor)
    return get(conn, domain.name)


def recrawl(conn: Connection, domain: Domain, actor: Actor, *, reason: str | None = None) -> Domain:
    """Every known page of an approved domain is due now. A domain in its cooldown needs `reset`."""
    require(actor, SUBMITTERS)
    domain = current(conn, domain)
    _refuse_unapproved(domain)
    if domain.refusal in ("cooling_down", "retries_used_up"):
        raise ConflictError(
            f"{domain.name} is {domain.crawl}: {domain.row['block_reason']}",
            hint=f"bailiwick domain reset {domain.name} clears that",
        )
    request_page(conn, domain, "/", actor, kind="recrawl")
    due = {"next_crawl_after": None}
    if domain.crawl == "exhausted":
        wish = Move(CRAWL, domain.id, "refresh", domain.crawl_seen, reason, changes=due)
        apply(conn, wish, actor)
    else:
        edit(conn, domain, due, Act("recrawl", reason=reason), actor)
    return get(conn, domain.name)


def reset(conn: Connection, domain: Domain, actor: Actor, *, reason: str | None = None) -> Domain:
    """Like `recrawl`, and forget cooldown, errors and retries."""
    domain = current(conn, domain)
    _refuse_unapproved(domain)
    request_page(conn, domain, "/", actor, kind="recrawl")
    cleared: dict[str, object] = {
        **dict.fromkeys(("next_crawl_after", "block_reason", "block_reason_code", "first_blocked_at")),
        "block_retries": 0,
        "consecutive_error_count": 0,
    }
    if domain.crawl in ("exhausted", "blocked", "unreachable"):
        apply(conn, Move(CRAWL, domain.id, "reset", domain.crawl_seen, reason, changes=cleared), actor)
    else:
        require(actor, DECIDERS)
        edit(conn, domain, cleared, Act("reset", reason=reason), actor)
    return get(conn, domain.name)


def _decide(conn: Connection, domain: Domain, verb: str, actor: Actor, reason: str | None) -> Domain:
    changes = {"reviewed_by": actor.id, "reviewed_at": _NOW, "review_reason": reason}
    apply(conn, Move(APPROVAL, domain.id, verb, domain.approval_seen, reason, changes=changes), actor)
    if verb in _TOLD:
        tell_decision(conn, domain, _TOLD[verb], reason)
    return get(conn, domain.name)


def _refuse_unapproved(domain: Domain) -> None:
    if domain.approval != "approved":
        raise ConflictError(f"{domain.name} is {domain.approval}", hint=f"bailiwick domain show {domain.name}")
    if domain.standing == "blacklisted":
        raise ConflictError(f"{domain.name} is blacklisted", hint=f"bailiwick domain blacklist --lift {domain.name}")
