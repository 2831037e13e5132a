"""How a domain changes: queue row first, then the move or edit with its event, then its place in the queue."""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, update

from bailiwick.base.errors import ConflictError, NotFoundError
from bailiwick.db.sql import queries
from bailiwick.db.tables import domains
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.ledger.move import Move, Moved, move
from bailiwick.registry.records import Domain, get_by_id

SQL = queries("bailiwick.registry")


def apply(conn: Connection, wish: Move, actor: Actor) -> Moved:
    """Move one axis of a domain and put it where it now belongs in the queue. Errors: those of `ledger.move`."""
    lock_queue(conn, [wish.subject_id])
    moved = move(conn, wish, actor)
    requeue(conn, [wish.subject_id])
    return moved


def edit(conn: Connection, domain: Domain, changes: Mapping[str, object], act: Act, actor: Actor) -> int:
    """Change columns that are no state, with an event; returns the new version. ConflictError if somebody was first."""
    lock_queue(conn, [domain.id])
    version: int | None = conn.execute(
        update(domains)
        .where(domains.c.id == domain.id, domains.c.version == domain.version)
        .values({**changes, "version": domains.c.version + 1})
        .returning(domains.c.version)
    ).scalar()
    if version is None:
        raise _changed(domain)
    record(conn, actor, Subject("domain", domain.name.name, domain.id), act)
    requeue(conn, [domain.id])
    return version


def current(conn: Connection, domain: Domain) -> Domain:
    """The record as it is now, held: workers move the crawl axis without a new version. ConflictError if people did."""
    lock_queue(conn, [domain.id])
    now = get_by_id(conn, domain.id)
    if now.version != domain.version:
        raise _changed(domain)
    return now


def lock_queue(conn: Connection, domain_ids: Iterable[int]) -> None:
    """Lock the queue rows first (DESIGN section 4: the other way round deadlocks within seconds)."""
    ids = sorted(set(domain_ids))
    found = conn.exec_driver_sql(SQL["lock_queue"], {"ids": ids}).all()
    if len(found) != len(ids):
        raise NotFoundError("the domain is gone", hint="somebody merged or removed it meanwhile")


def requeue(conn: Connection, domain_ids: Iterable[int]) -> None:
    """Make the queue agree with the one rule again, after anything that may have changed its answer."""
    conn.exec_driver_sql(SQL["requeue"], {"ids": list(domain_ids)})


def _changed(domain: Domain) -> ConflictError:
    return ConflictError(f"{domain.name} has changed meanwhile", hint="look at it again, then decide")
