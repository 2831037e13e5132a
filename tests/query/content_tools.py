"""Rows as the parse stage leaves them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b

from pydantic import JsonValue
from sqlalchemy import Connection, text

from bailiwick.extract.queue import SQL
from bailiwick.ledger import outbox
from bailiwick.ledger.outbox import Message
from bailiwick.model.search import PageKey
from bailiwick.model.urls import page_key
from tests.registry.tools import admit

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Made:
    """A page's content."""

    text: str
    title: str | None = None
    description: str | None = None
    language: str | None = "en"
    is_relevant: bool = True
    at: datetime = AT
    items: Sequence[tuple[str, Mapping[str, JsonValue]]] = field(default_factory=tuple)


def domain(conn: Connection, name: str) -> int:
    """An approved domain of this name, made if there is none."""
    known = conn.execute(text("select id from domains where name = :n"), {"n": name}).scalar()
    return int(known) if known is not None else admit(conn, name)[0].id


def key_of(domain_id: int, path: str) -> PageKey:
    return PageKey(domain_id, int.from_bytes(page_key(path), "big", signed=True))


def fetched(conn: Connection, domain_id: int, path: str, **more: object) -> PageKey:
    """A page that was fetched."""
    key = key_of(domain_id, path)
    values = {
        "domain_id": domain_id, "path_hash": key.path_hash, "path": path, "state": "fetched", "last_status": 200,
        "last_outcome": "ok", "content_type": "text/html", "body_hash": b"body", "fetch_count": 1, **more,
    }  # fmt: skip
    names = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    conn.execute(
        text(
            f"insert into pages ({names}, last_fetched_at) values ({marks}, bailiwick_now())"
            f" on conflict (domain_id, path_hash) do update set last_fetched_at = bailiwick_now(),"
            f" last_status = excluded.last_status, fetch_count = pages.fetch_count + 1"
        ),
        values,
    )
    return key


def parsed(conn: Connection, domain_id: int, path: str, made: Made | None, *, tell: bool = True) -> int | None:
    """A page with this content now (None: it lost it), and the message that tells of it; the snapshot's id."""
    key = fetched(conn, domain_id, path)
    snapshot_id = _snapshot(conn, key, made) if made is not None else None
    conn.execute(
        text(
            "insert into page_parses (domain_id, path_hash, body_hash, outcome, snapshot_id, extractor_version,"
            " profile, profile_mark) values (:d, :p, 'body', :outcome, :s, 1, 'general', 0)"
            " on conflict (domain_id, path_hash) do update"
            " set outcome = excluded.outcome, snapshot_id = excluded.snapshot_id, parsed_at = bailiwick_now()"
        ),
        {"d": key.domain_id, "p": key.path_hash, "s": snapshot_id, "outcome": "parsed" if made else "empty"},
    )
    if tell:
        payload: JsonValue = {"path_hash": key.path_hash, "snapshot": snapshot_id, "items": 0}
        outbox.put(conn, [Message("extraction_completed", "page", domain_id, payload)])
    return snapshot_id


def sold(conn: Connection) -> None:
    """Products as the parse stage keeps them, of all pages."""
    keys = conn.execute(text("select domain_id, path_hash, snapshot_id from page_parses where snapshot_id > 0")).all()
    names = ("domain_id", "path_hash", "snapshot_id")
    conn.exec_driver_sql(SQL["project_products"], dict(zip(names, map(list, zip(*keys, strict=True)), strict=True)))


def _snapshot(conn: Connection, key: PageKey, made: Made) -> int:
    content = blake2b(repr(made).encode("utf-8", "replace"), digest_size=16).digest()
    snapshot_id = conn.execute(
        text(
            "insert into page_snapshots (domain_id, path_hash, content_hash, body_hash, kind, title, description,"
            " language, text, words, simhash, is_relevant, relevance, relevance_reason, relevance_source, published_at,"
            " extractor_version, profile_mark)"
            " values (:d, :p, :c, 'body', 'html', :title, :description, :language, :text, 1, 0, :relevant, 0.7,"
            " 'because', 'keywords', :at, 1, 1) on conflict (domain_id, path_hash, content_hash)"
            " do update set last_seen_at = bailiwick_now() returning id"
        ),
        {
            "d": key.domain_id, "p": key.path_hash, "c": content, "title": made.title,
            "description": made.description, "language": made.language, "text": made.text,
            "relevant": made.is_relevant, "at": made.at,
        },
    ).scalar_one()  # fmt: skip
    for position, (kind, data) in enumerate(made.items):
        conn.execute(
            text(
                "insert into items (snapshot_id, domain_id, path_hash, kind, position, data, confidence, extractor,"
                " extractor_version, content_hash) values (:s, :d, :p, :kind, :position, cast(:data as jsonb), 0.9,"
                " 'schema.org', 1, 'hash') on conflict do nothing"
            ),
            {
                "s": snapshot_id, "d": key.domain_id, "p": key.path_hash, "kind": kind, "position": position,
                "data": json.dumps(data),
            },
        )  # fmt: skip
    return int(snapshot_id)
