"""Trust rules: domains that are admitted on first sight, by suffix (`.gov`, `.example.org`)."""

import re
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.postgresql import insert

from bailiwick.base.errors import UsageError
from bailiwick.db.tables import members, trust_rules
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.model.names import DomainName
from bailiwick.registry.permission import DECIDERS, require


@dataclass(frozen=True, slots=True)
class TrustRule:
    """One rule, as people read it."""

    suffix: str
    made_by: str
    made_at: datetime
    reason: str | None


def suffix_of(text: str) -> str:
    """A rule's suffix as it is kept: lower case, with its dot, in punycode."""
    bare = text.strip().lower().removeprefix("*").removeprefix(".")
    if not bare.isascii():
        from ada_url import idna_to_ascii

        bare = idna_to_ascii(bare).decode("ascii")  # empty if it is no name
    if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", bare) or len(bare) > 253:
        raise UsageError(f"{text!r} is no suffix", hint="write it with its dot: .gov or .example.org")
    return f".{bare}"


def suffixes_of(name: DomainName) -> list[str]:
    """Every suffix by which a rule could trust this name, itself included (`.example.org` trusts example.org)."""
    labels = name.host.split(".")
    return [] if name.is_address else ["." + ".".join(labels[n:]) for n in range(len(labels))]


def rule_for(conn: Connection, name: DomainName) -> str | None:
    """The longest suffix rule that trusts this name."""
    query = select(trust_rules.c.suffix).where(trust_rules.c.suffix.in_(suffixes_of(name)))
    found: list[str] = list(conn.execute(query).scalars())
    return max(found, key=len, default=None)


def list_rules(conn: Connection, *, limit: int, after: str | None = None) -> list[TrustRule]:
    """One page of rules, in the order of their suffixes."""
    query = (
        select(trust_rules.c.suffix, members.c.name, trust_rules.c.made_at, trust_rules.c.reason)
        .join(members, members.c.id == trust_rules.c.made_by)
        .where(trust_rules.c.suffix > (after or ""))
        .order_by(trust_rules.c.suffix)
        .limit(limit)
    )
    return [TrustRule(suffix, who, at, reason) for suffix, who, at, reason in conn.execute(query)]


def add_rule(conn: Connection, suffix: str, actor: Actor, *, reason: str | None) -> bool:
    """Trust all names under a suffix from now on. Says whether the rule is new."""
    require(actor, DECIDERS)
    added = conn.execute(
        insert(trust_rules)
        .values(suffix=suffix, reason=reason, made_by=actor.id)
        .on_conflict_do_nothing()
        .returning(trust_rules.c.id)
    ).scalar()
    if added is not None:
        record(conn, actor, Subject("trust_rule", suffix, added), Act("trust", after="trusted", reason=reason))
    return added is not None


def remove_rule(conn: Connection, suffix: str, actor: Actor, *, reason: str | None) -> bool:
    """Trust no further names under it; what it has admitted stays. Says whether there was such a rule."""
    require(actor, DECIDERS)
    gone = conn.execute(delete(trust_rules).where(trust_rules.c.suffix == suffix).returning(trust_rules.c.id)).scalar()
    if gone is not None:
        record(conn, actor, Subject("trust_rule", suffix, gone), Act("distrust", before="trusted", reason=reason))
    return gone is not None
