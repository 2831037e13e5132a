"""Phase 2 of a candidate (001): its page was crawled, so it gets what was extracted and waits for a person."""

from dataclasses import dataclass

from pydantic import JsonValue
from sqlalchemy import Connection, func

from bailiwick.discover.keeping import SQL
from bailiwick.ledger.events import Actor
from bailiwick.ledger.move import Move, Seen, move
from bailiwick.model.transitions import CANDIDATE

BATCH = 100
_PROGRAMMES = 10
_PROGRAMME_FIELDS = (
    "name", "organisation", "amountMin", "amountMax", "currency", "deadline", "rolling", "status", "url",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Counts:
    """What one batch did; `last_id` is where the next one goes on."""

    moved: int
    last_id: int


def run_once(conn: Connection, system: Actor, *, after: int = 0) -> Counts | None:
    """A duty: move one batch of crawled candidates on to review; None when there is none behind `after`."""
    rows = conn.exec_driver_sql(SQL["crawled_candidates"], {"after": after, "limit": BATCH}).all()
    for row in rows:
        changes = {"facts": facts_of(conn, row.domain_id, row.path_hash), "crawled_at": func.bailiwick_now()}
        move(conn, Move(CANDIDATE, row.id, "crawled", Seen("pending_crawl", row.version), changes=changes), system)
    return Counts(len(rows), rows[-1].id) if rows else None


def facts_of(conn: Connection, domain_id: int, path_hash: int) -> dict[str, JsonValue]:
    """Programmes of the page and its domain, and how many items there are of each kind.

    Contacts are only counted: they are personal, stay in the items alone, and are read there when somebody looks.
    """
    asked = {"domain_id": domain_id, "path_hash": path_hash, "limit": _PROGRAMMES}
    programmes: list[JsonValue] = [
        {"path": row.path, **{name: row.data[name] for name in _PROGRAMME_FIELDS if row.data.get(name) is not None}}
        for row in conn.exec_driver_sql(SQL["programmes_found"], asked)
    ]
    counted = conn.exec_driver_sql(SQL["items_by_kind"], {"domain_id": domain_id})
    counts: dict[str, JsonValue] = {kind: int(number) for kind, number in counted}
    return {"programmes": programmes, "items": counts}
