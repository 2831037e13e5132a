"""An export from beginning to end: rows by key, into a part that becomes the file, and the cursor of its name."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from pydantic import JsonValue
from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.postgresql import insert

from bailiwick.base.errors import ConflictError, UsageError
from bailiwick.db.engine import Database
from bailiwick.db.tables import export_cursors
from bailiwick.model.search import PageKey
from bailiwick.ports import BodyStore
from bailiwick.query.export.formats import Csv, Encoder, JsonLines
from bailiwick.query.export.kinds import BODIES, KINDS, Kind
from bailiwick.query.export.rows import START, Which, chunks, horizon
from bailiwick.query.export.spool import Noted, Spool

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asked for."""

    kind: str
    format: str
    which: Which
    since: str | None = None
    """As it was typed; `last` goes on where the last export of this name ended."""
    name: str | None = None

    @property
    def source(self) -> Kind:
        return BODIES if self.format == "warc" else KINDS[self.kind]

    def filters(self) -> dict[str, JsonValue]:
        """Which rows, apart from their time: exports of one name keep to the same."""
        which = self.which
        # Not there without: exports of a name that was remembered before there were states keep to the same.
        states: dict[str, JsonValue] = {"states": [*sorted(which.states)]} if which.states else {}
        return {
            "kind": self.kind,
            "domain_ids": [*sorted(which.domain_ids)],
            "item_kinds": [*sorted(which.item_kinds)],
            "only_relevant": which.only_relevant,
            **states,
        }

    def described(self) -> dict[str, JsonValue]:
        """The same request says the same, today and tomorrow: by it a part is known again."""
        return {**self.filters(), "format": self.format, "name": self.name, "since": self.since}


@dataclass(frozen=True, slots=True)
class Exported:
    rows: int
    missing: int = 0
    """Bodies that are gone by now."""
    resumed_at: int = 0
    """Rows that an earlier run had written already."""


def to_file(
    database: Database, request: Request, path: Path, encoder: Encoder, *, force: bool = False, advance: Advance
) -> Exported:
    """Write the file, or go on with its part. Nothing appears under its name, and no cursor moves, before all is done.

    At least once: a cursor moves after its file is published, so a crash in between exports the same rows again.
    """
    spool = Spool.open(path, _begin(database, request), force=force)
    try:
        noted, resumed_at = spool.noted, spool.noted.rows
        if noted.bytes == 0:
            spool.append(encoder.header(), rows=0, looked_at=0, after=PageKey(noted.domain_id, noted.path_hash))
        after = PageKey(noted.domain_id, noted.path_hash)
        for chunk in chunks(database, request.source, _since(request.which, noted), after):
            data = encoder.encode(chunk.rows) if chunk.rows else b""
            spool.append(data, rows=len(chunk.rows), looked_at=chunk.looked_at, after=chunk.after)
            advance(spool.noted.looked_at)
        spool.publish(encoder, force=force)
    finally:
        spool.close()
    _move_cursor(database, request, noted)
    return Exported(spool.noted.rows, getattr(encoder, "missing", 0), resumed_at)


def to_stream(database: Database, request: Request, stream: BinaryIO, encoder: Encoder) -> Exported:
    """Write to another program. Its cursor moves when all is written; what the program makes of it is its own."""
    noted = _begin(database, request)
    stream.write(encoder.header())
    rows = 0
    after = PageKey(noted.domain_id, noted.path_hash)
    for chunk in chunks(database, request.source, _since(request.which, noted), after):
        if chunk.rows:
            stream.write(encoder.encode(chunk.rows))
            rows += len(chunk.rows)
    stream.flush()
    _move_cursor(database, request, noted)
    return Exported(rows)


def encoder_for(request: Request, store: Callable[[], BodyStore]) -> Encoder:
    """UsageError where the kind has no such format."""
    columns = request.source.columns
    if request.format == "jsonl":
        return JsonLines(columns)
    if request.format == "csv":
        return Csv(columns)
    if request.format == "parquet":
        from bailiwick.query.export.parquet import Parquet

        return Parquet(columns)
    if request.kind != "pages":
        raise UsageError(f"WARC holds pages, not {request.kind}", hint="--format jsonl, csv or parquet")
    from bailiwick.query.export.warc import Warc

    return Warc(store())


def _begin(database: Database, request: Request) -> Noted:
    with database.read() as conn:
        until = horizon(conn)
        since = _last_end(conn, request) if request.since == "last" else request.which.since
    start = START
    return Noted(
        request=request.described(),
        since=since.isoformat() if since else None,
        until=until.isoformat(),
        domain_id=start.domain_id,
        path_hash=start.path_hash,
    )


def _since(which: Which, noted: Noted) -> Which:
    since = datetime.fromisoformat(noted.since) if noted.since else None
    return replace(which, since=since)


def _last_end(conn: Connection, request: Request) -> datetime | None:
    """Where the last export of this name ended; None: there was none, so everything is new."""
    found = conn.execute(select(export_cursors.c.cursor).where(export_cursors.c.name == request.name)).scalar()
    if not isinstance(found, dict):
        return None
    if found.get("filters") != request.filters():
        raise ConflictError(
            f"the export {request.name!r} had other filters, so its end says nothing about these rows",
            hint="the same kind and filters as before, or another --name",
        )
    return datetime.fromisoformat(str(found["until"]))


def _move_cursor(database: Database, request: Request, noted: Noted) -> None:
    if request.name is None:
        return
    cursor = {"until": noted.until, "filters": request.filters()}
    row = {"name": request.name, "kind": request.kind, "cursor": cursor}
    with database.begin() as conn:
        conn.execute(
            insert(export_cursors)
            .values(row)
            .on_conflict_do_update(
                index_elements=["name"],
                set_={"kind": request.kind, "cursor": cursor, "updated_at": func.bailiwick_now()},
            )
        )
