"""Items for people: lists, one page's items with where they come from, what was refused, how a price went."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from pydantic import JsonValue
from sqlalchemy import Connection, Row

from bailiwick.db.sql import by_index
from bailiwick.extract.queue import SQL

Cursor = tuple[str, int]
"""The kind and id to go on after."""
FIRST: Cursor = ("", 0)
_LAST_KIND = "~"
MOST_COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class FoundItem:
    """An item of what a page holds now."""

    id: int
    domain: str
    path: str
    kind: str
    position: int
    data: Mapping[str, JsonValue]
    fields: Mapping[str, float]
    confidence: float
    extractor: str
    extractor_version: int
    snapshot_id: int
    first_seen_at: datetime
    updated_at: datetime

    @property
    def title(self) -> str:
        names = ("name", "headline", "title", "email", "telephone")
        return next((text for name in names if isinstance(text := self.data.get(name), str)), "")


@dataclass(frozen=True, slots=True)
class RefusedValue:
    """A value that a page gives and the schema of its kind does not take."""

    id: int
    domain: str
    path: str
    kind: str
    field: str | None
    value: str
    reason: str
    extractor: str
    extractor_version: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class PriceAt:
    seen_at: datetime
    price: Decimal | None
    currency: str | None
    availability: str | None


def items(
    conn: Connection, domain_id: int | None, kind: str | None, *, limit: int, after: Cursor = FIRST
) -> list[FoundItem]:
    """A page of them, by kind, and in the order in which they were first found."""
    by_index(conn)
    after_kind, after_id = max(after, (kind, 0)) if kind else after
    values = {"after_kind": after_kind, "after_id": after_id, "last_kind": kind or _LAST_KIND, "limit": limit}
    name = "items_after" if domain_id is None else "items_of_domain_after"
    return [_item(row) for row in conn.exec_driver_sql(SQL[name], {**values, "domain_id": domain_id})]


def counts(conn: Connection, domain_id: int) -> dict[str, int]:
    """How many items of each kind a domain's pages hold now; counted up to ten thousand."""
    rows = conn.exec_driver_sql(SQL["item_counts"], {"domain_id": domain_id, "most": MOST_COUNTED})
    return {row.kind: row.items for row in rows}


def items_of_page(conn: Connection, domain_id: int, path_hash: int) -> list[FoundItem]:
    """All items of what one page holds now."""
    rows = conn.exec_driver_sql(SQL["items_of_page"], {"domain_id": domain_id, "path_hash": path_hash})
    return [_item(row) for row in rows]


def prices_of_page(conn: Connection, domain_id: int, path_hash: int, *, limit: int) -> list[PriceAt]:
    """How the price and availability of a page's product went, the newest first."""
    values = {"domain_id": domain_id, "path_hash": path_hash, "limit": limit}
    return [PriceAt(*row) for row in conn.exec_driver_sql(SQL["prices_of_page"], values)]


def rejects(conn: Connection, domain_id: int | None, *, limit: int, after: int = 0) -> list[RefusedValue]:
    """A page of what was refused."""
    by_index(conn)
    name = "rejects_after" if domain_id is None else "rejects_of_domain_after"
    values = {"domain_id": domain_id, "after": after, "limit": limit}
    return [RefusedValue(*row) for row in conn.exec_driver_sql(SQL[name], values)]


def _item(row: "Row[tuple[object, ...]]") -> FoundItem:
    return FoundItem(**row._mapping)  # noqa: SLF001 - how SQLAlchemy names it
