"""Keeps a search index up to date: reads the outbox, and makes the index anew where that is not enough.

At least once and in any order: a message only says which page to look at; what is written is what the page holds now.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from pydantic import JsonValue
from sqlalchemy import Connection, delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from bailiwick.db.engine import Database
from bailiwick.db.sql import by_index
from bailiwick.db.tables import outbox_readers
from bailiwick.ledger import outbox
from bailiwick.ledger.outbox import Delivered
from bailiwick.ledger.reader import Cursor, end_cursor
from bailiwick.model.search import PageKey
from bailiwick.ports import SearchIndex
from bailiwick.query.documents import SQL, documents_of

PAGE_TOPIC, DOMAIN_TOPIC = "extraction_completed", "domain_content_moved"
CHUNK = 200
"""Pages in one transaction."""
_LAST = 2**63 - 1
_ABANDONED = timedelta(minutes=5)
"""A builder notes the time with every chunk; one that is silent for so long has ended."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What one round did."""

    messages: int = 0
    pages: int = 0
    is_more_left: bool = False
    is_rebuilt: bool = False
    is_busy: bool = False
    """Somebody else is at it: nothing was done."""


@dataclass(frozen=True, slots=True)
class _Place:
    cursor: Cursor
    is_behind: bool


def run_once(database: Database, index: SearchIndex, *, limit: int = 1_000, keep_days: int = 14) -> Counts:
    """Bring into the index what happened since the last time, at most `limit` messages.

    Documents and the reader's place become true together. A reader whose next messages may be gone already, and one
    that is new, makes the whole index anew. Two at once do no harm: the second one finds the reader busy.
    """
    name = _reader(index)
    with database.begin() as conn:
        place = _locked(conn, name, keep_days)
        if place is None and _exists(conn, name):
            return Counts(is_busy=True)
        if place is not None and not place.is_behind:
            messages = outbox.take(conn, place.cursor, limit=limit)
            if not messages or messages[0].message.topic != DOMAIN_TOPIC:
                return _read_pages(conn, index, place.cursor, messages, limit)
    if place is None or place.is_behind:
        return rebuild(database, index)
    return _read_domain(database, index, place.cursor, messages[0])


def rebuild(
    database: Database, index: SearchIndex, *, say_done: Callable[[int], None] = lambda _: None, force: bool = False
) -> Counts:
    """Make the index anew from what was parsed, page by page; searching goes on meanwhile.

    What changes during it is told by messages from after its start. Killed in the middle it starts again next time;
    `force` starts it although somebody else seems to be at it.
    """
    with database.begin() as conn:
        start = end_cursor(conn)
        if not _begin_building(conn, index, force=force):
            return Counts(is_busy=True)
    pages = 0
    for done in _walk(database, index, PageKey(-_LAST - 1, -_LAST - 1), _LAST):
        pages += done
        say_done(pages)
    with database.begin() as conn:
        conn.execute(delete(outbox_readers).where(outbox_readers.c.name.startswith(_family(index))))
        conn.execute(insert(outbox_readers).values(name=_reader(index), xid=start.xid, message_id=start.id))
    return Counts(pages=pages, is_rebuilt=True)


def _read_pages(conn: Connection, index: SearchIndex, cursor: Cursor, messages: list[Delivered], limit: int) -> Counts:
    """Index the pages that these messages tell of, up to the first one about a whole domain."""
    now = list(takewhile(lambda m: m.message.topic != DOMAIN_TOPIC, messages))
    keys = sorted({key for message in now if (key := _page_of(message)) is not None})
    for chunk in _chunks(keys):
        index.replace(conn, chunk, documents_of(conn, chunk))
    is_more_left = len(now) < len(messages) or len(messages) == limit
    read_until = now[-1].at if is_more_left else None
    _move(conn, _reader(index), cursor, now[-1].cursor if now else cursor, read_until=read_until)
    return Counts(messages=len(now), pages=len(keys), is_more_left=is_more_left)


def _read_domain(database: Database, index: SearchIndex, cursor: Cursor, message: Delivered) -> Counts:
    """Index a domain anew, in transactions of its own: it may be large. Who reads the same message meanwhile does the
    same work; the place is moved once.
    """
    domain_id = message.message.subject_id
    pages = 0 if domain_id is None else sum(_walk(database, index, PageKey(domain_id - 1, _LAST), domain_id))
    with database.begin() as conn:
        _move(conn, _reader(index), cursor, message.cursor, read_until=message.at)
    return Counts(messages=1, pages=pages, is_more_left=True)


def _walk(database: Database, index: SearchIndex, after: PageKey, last_domain: int) -> Iterator[int]:
    """Index every page behind `after` up to the last of that domain, and forget those in between that are gone."""
    while True:
        with database.begin_patiently() as conn:
            by_index(conn)
            asked = {"domain_id": after.domain_id, "path_hash": after.path_hash, "last": last_domain, "limit": CHUNK}
            pages = [PageKey(*row) for row in conn.exec_driver_sql(SQL["parsed_after"], asked)]
            upto = pages[-1] if len(pages) == CHUNK else PageKey(last_domain, _LAST)
            index.drop_between(conn, after, upto, pages)
            index.replace(conn, pages, documents_of(conn, pages))
            _note_building(conn, index)
        yield len(pages)
        if len(pages) < CHUNK:
            return
        after = upto


def _page_of(delivered: Delivered) -> PageKey | None:
    message = delivered.message
    if message.topic != PAGE_TOPIC or message.subject_id is None or not isinstance(message.payload, dict):
        return None
    path_hash: JsonValue = message.payload.get("path_hash")
    return PageKey(message.subject_id, path_hash) if isinstance(path_hash, int) else None


def _chunks(keys: list[PageKey]) -> Iterator[list[PageKey]]:
    for start in range(0, len(keys), CHUNK):
        yield keys[start : start + CHUNK]


# The reader's row


def _family(index: SearchIndex) -> str:
    """Readers of one kind of index: there is only one of it, so another dictionary's place is void."""
    return f"search.{index.name.partition('.')[0]}."


def _reader(index: SearchIndex) -> str:
    return f"search.{index.name}"


def _builder(index: SearchIndex) -> str:
    return f"{_reader(index)}.building"


def _exists(conn: Connection, name: str) -> bool:
    return conn.execute(select(outbox_readers.c.name).where(outbox_readers.c.name == name)).scalar() is not None


def _locked(conn: Connection, name: str, keep_days: int) -> _Place | None:
    row = conn.execute(
        select(
            outbox_readers.c.xid,
            outbox_readers.c.message_id,
            (outbox_readers.c.updated_at < func.bailiwick_now() - timedelta(days=keep_days)).label("is_behind"),
        )
        .where(outbox_readers.c.name == name)
        .with_for_update(skip_locked=True)
    ).one_or_none()
    return _Place(Cursor(row.xid, row.message_id), row.is_behind) if row is not None else None


def _move(conn: Connection, name: str, seen: Cursor, to: Cursor, *, read_until: datetime | None) -> None:
    """`updated_at` says up to when everything was read: by it a reader knows that it has fallen behind."""
    conn.execute(
        update(outbox_readers)
        .where(outbox_readers.c.name == name)
        .where(outbox_readers.c.xid == seen.xid, outbox_readers.c.message_id == seen.id)
        .values(xid=to.xid, message_id=to.id, updated_at=read_until or func.bailiwick_now())
    )


def _begin_building(conn: Connection, index: SearchIndex, *, force: bool) -> bool:
    abandoned = outbox_readers.c.updated_at < func.bailiwick_now() - _ABANDONED
    return (
        conn.execute(
            insert(outbox_readers)
            .values(name=_builder(index))
            .on_conflict_do_update(
                index_elements=["name"],
                set_={"updated_at": func.bailiwick_now()},
                where=text("true") if force else abandoned,
            )
            .returning(outbox_readers.c.name)
        ).scalar()
        is not None
    )


def _note_building(conn: Connection, index: SearchIndex) -> None:
    conn.execute(
        update(outbox_readers).where(outbox_readers.c.name == _builder(index)).values(updated_at=func.bailiwick_now())
    )
