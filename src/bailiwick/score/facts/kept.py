"""Facts of domains that were asked for before: shared by all processes of the database, until they expire."""

from dataclasses import dataclass

from pydantic import JsonValue
from sqlalchemy import Connection, func, select, text

from bailiwick.db.tables import domain_facts


@dataclass(frozen=True, slots=True)
class Kept:
    """What was found out about a subject: facts, or why there are none."""

    facts: JsonValue
    why: str | None
    seconds_left: float
    """Until it expires; below 0, it has."""


def kept(conn: Connection, kind: str, subject: str) -> Kept | None:
    """The newest row, expired or not."""
    left = func.extract("epoch", domain_facts.c.expires_at - text("bailiwick_now()"))
    asked = select(domain_facts.c.facts, domain_facts.c.why, left).where(
        domain_facts.c.kind == kind, domain_facts.c.subject == subject
    )
    row = conn.execute(asked).one_or_none()
    return None if row is None else Kept(row[0], row[1], float(row[2]))


def keep(conn: Connection, kind: str, subject: str, found: Kept, *, source: str) -> None:
    """Remember it for so long, in place of what was known before."""
    conn.execute(_KEEP, {
        "kind": kind, "subject": subject, "source": source, "facts": _json(found.facts), "why": found.why,
        "seconds": found.seconds_left,
    })  # fmt: skip


def _json(facts: JsonValue) -> str | None:
    import json

    return None if facts is None else json.dumps(facts)


_KEEP = text("""
    insert into domain_facts (kind, subject, source, facts, why, expires_at)
    values (:kind, :subject, :source, cast(:facts as jsonb), :why, bailiwick_now() + make_interval(secs => :seconds))
    on conflict (kind, subject) do update
        set source = excluded.source, facts = excluded.facts, why = excluded.why, seen_at = bailiwick_now(),
            expires_at = excluded.expires_at""")
