"""Facts of domains that were asked for before: shared by all processes of the database, until they expire."""

from dataclasses import dataclass

from pydantic import JsonValue
from sqlalchemy import Connection, and_, delete, func, select, text, tuple_

from bailiwick.db.tables import domain_facts


@dataclass(frozen=True, slots=True)
class Kept:
    """What was found out about a subject: facts, or why there are none."""

    facts: JsonValue
    why: str | None
    seconds_left: float
    """Until it expires; below 0, it has."""
    is_asked: bool = False
    """Nothing is known yet: somebody is asking just now."""


def kept(conn: Connection, kind: str, subject: str) -> Kept | None:
    """The newest row, expired or not."""
    left = func.extract("epoch", domain_facts.c.expires_at - text("bailiwick_now()"))
    asked = select(domain_facts.c.facts, domain_facts.c.why, left, domain_facts.c.source == _ASKING).where(
        domain_facts.c.kind == kind, domain_facts.c.subject == subject
    )
    row = conn.execute(asked).one_or_none()
    return None if row is None else Kept(row[0], row[1], float(row[2]), row[3])


def keep(conn: Connection, kind: str, subject: str, found: Kept, *, source: str) -> None:
    """Remember it for so long, in place of what was known before."""
    conn.execute(_KEEP, {
        "kind": kind, "subject": subject, "source": source, "facts": _json(found.facts), "why": found.why,
        "seconds": found.seconds_left,
    })  # fmt: skip


def begin(conn: Connection, kind: str, subject: str, *, seconds: float) -> bool:
    """Say that one is asking, for so long at the most. False: somebody else is, or has an answer by now."""
    given = {"kind": kind, "subject": subject, "source": _ASKING, "why": _WHY, "seconds": seconds}
    return conn.execute(_BEGIN, given).rowcount == 1


def give_up(conn: Connection, kind: str, subject: str) -> None:
    """Without an answer that is worth remembering: whoever waits for it asks."""
    mine = and_(domain_facts.c.kind == kind, domain_facts.c.subject == subject, domain_facts.c.source == _ASKING)
    conn.execute(delete(domain_facts).where(mine))


def sweep(conn: Connection, *, limit: int) -> int:
    """Drop facts that nobody believes any more, some at a time. A list of servers stays: an old one is better than
    none. How many were there?
    """
    old = (
        select(domain_facts.c.kind, domain_facts.c.subject)
        .where(domain_facts.c.expires_at < func.bailiwick_now(), domain_facts.c.kind != "rdap_servers")
        .order_by(domain_facts.c.expires_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    gone = delete(domain_facts).where(tuple_(domain_facts.c.kind, domain_facts.c.subject).in_(old))
    return conn.execute(gone).rowcount


def _json(facts: JsonValue) -> str | None:
    import json

    return None if facts is None else json.dumps(facts)


_ASKING, _WHY = "asking", "somebody is asking just now"
_BEGIN = text("""
    insert into domain_facts as f (kind, subject, source, why, expires_at)
    values (:kind, :subject, :source, :why, bailiwick_now() + make_interval(secs => :seconds))
    on conflict (kind, subject) do update
        set source = excluded.source, facts = null, why = excluded.why, seen_at = bailiwick_now(),
            expires_at = excluded.expires_at
        where f.expires_at <= bailiwick_now()""")
_KEEP = text("""
    insert into domain_facts (kind, subject, source, facts, why, expires_at)
    values (:kind, :subject, :source, cast(:facts as jsonb), :why, bailiwick_now() + make_interval(secs => :seconds))
    on conflict (kind, subject) do update
        set source = excluded.source, facts = excluded.facts, why = excluded.why, seen_at = bailiwick_now(),
            expires_at = excluded.expires_at""")
