"""Why a domain is crawled now, or is not: the deciding rule in plain words, and what would change it."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection

from bailiwick.model.names import DomainName
from bailiwick.registry import trust
from bailiwick.registry.records import Domain, find

_WORDS = {
    "pending_review": ("it waits for review", "bailiwick domain approve {name}"),
    "rejected": ("it was rejected: {review_reason}", 'bailiwick domain submit {name} --context "why now"'),
    "suspended": ("it is suspended: {review_reason}", "bailiwick domain resume {name}"),
    "blacklisted": ("it is blacklisted: {blacklist_reason}", "bailiwick domain blacklist {name} --lift"),
    "no_funds_this_year": (
        "there is nothing to find in {no_funds_year}; it comes back in the new year",
        None,
    ),
    "held": ("only paused jobs want it", "bailiwick job list --state paused"),
    "retries_used_up": (
        "it stayed {crawl} ({block_reason}) after {block_retries} tries; only a reset helps",
        "bailiwick domain reset {name}",
    ),
    "cooling_down": ("it is {crawl}: {block_reason}; it is tried again {wakes}", "bailiwick domain reset {name}"),
    "not_due": ("all known pages are fetched; it is due again {wakes}", "bailiwick domain recrawl {name}"),
}


_RESTS = ("its last run has ended and it rests; more of it is due {wakes}", "bailiwick crawl {name}")


@dataclass(frozen=True, slots=True)
class Explanation:
    """The rule that decides, what it says, and the command that would change it."""

    name: DomainName
    may_crawl: bool
    rule: str
    says: str
    change: str | None
    wakes_at: datetime | None = None


def explain(conn: Connection, name: DomainName) -> Explanation:
    """The one rule's answer for this domain, now."""
    domain = find(conn, name)
    if domain is None:
        return _unknown(conn, name)
    if domain.refusal is not None:
        return explain_refusal(domain)
    worker = domain.row["worker"]
    if worker is not None:
        what = "it is being crawled now" if domain.row["wake_at"] else "it is leased"
        return Explanation(name, True, "leased", f"{what}, by {worker}", None, domain.row["wake_at"])
    if domain.row["is_parked"]:
        says = "it may be crawled, and waits until fewer domains of the same operator are being crawled"
        return Explanation(name, True, "parked", says, None)
    return Explanation(name, True, "may_be_crawled", "it is approved and due", f"bailiwick crawl {name}")


def explain_refusal(domain: Domain) -> Explanation:
    """The words for a refusal that the rule has given."""
    rule = domain.refusal or ""
    says, change = _RESTS if rule == "not_due" and domain.crawl != "exhausted" else _WORDS[rule]
    wakes = f"at {domain.wakes_at.astimezone(UTC):%Y-%m-%d %H:%M UTC}" if domain.wakes_at else "when somebody asks"
    said = says.format(**{**domain.row, "wakes": wakes})
    command = change.format(name=domain.name) if change else None
    return Explanation(domain.name, False, rule, said, command, domain.wakes_at)


def _unknown(conn: Connection, name: DomainName) -> Explanation:
    rule = trust.rule_for(conn, name)
    submit = f"bailiwick domain submit {name}"
    if rule is not None:
        says = f"it is unknown, but the trust rule {rule} admits it on first sight"
        return Explanation(name, False, "unknown", says, submit)
    return Explanation(name, False, "unknown", "it is unknown, and only approved domains are crawled", submit)
