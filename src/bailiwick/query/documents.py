"""What can be found of a page: its content now, and each item in it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from pydantic import JsonValue
from sqlalchemy import Connection, RowMapping

from bailiwick.db.sql import by_index, queries
from bailiwick.model.items import ItemKind
from bailiwick.model.search import PAGE, Offer, PageKey, SearchDocument

SQL = queries("bailiwick.query")
_TITLES = ("name", "title", "headline", "legalName")
_MAX_LEAVES = 1_000


def documents_of(conn: Connection, pages: Sequence[PageKey]) -> list[SearchDocument]:
    """The documents of those pages that have content now; a page that lost it has none."""
    by_index(conn)
    keys = {"domain_ids": [p.domain_id for p in pages], "path_hashes": [p.path_hash for p in pages]}
    rows = conn.exec_driver_sql(SQL["pages_now"], keys).mappings().all()
    by_snapshot = {row["snapshot_id"]: row for row in rows}
    found = conn.exec_driver_sql(SQL["items_now"], {"snapshot_ids": list(by_snapshot)}).mappings().all()
    return [_page(row) for row in rows] + [_item(by_snapshot[item["snapshot_id"]], item) for item in found]


def item_title(data: Mapping[str, JsonValue]) -> str:
    """What an item is called, by the names that schemas use for it."""
    return next((value for name in _TITLES if isinstance(value := data.get(name), str)), "")


def item_text(data: JsonValue) -> str:
    """All its words, in reading order; addresses of images and the like are none."""
    leaves = (text for text in _leaves(data) if not text.startswith(("http://", "https://", "data:")))
    return "\n".join(text for _, text in zip(range(_MAX_LEAVES), leaves, strict=False))


def _page(row: RowMapping) -> SearchDocument:
    return _document(
        row, kind=PAGE, position=0, title=row["title"] or "", texts=(row["description"] or "", row["text"])
    )


def _item(row: RowMapping, item: RowMapping) -> SearchDocument:
    data = item["data"] if isinstance(item["data"], dict) else {}
    description = data.get("description")
    texts = (description if isinstance(description, str) else "", item_text(data))
    found = _document(row, kind=item["kind"], position=item["position"], title=item_title(data), texts=texts)
    return replace(found, offer=_offer(data)) if item["kind"] == ItemKind.PRODUCT else found


def _offer(data: Mapping[str, JsonValue]) -> Offer:
    """By the schema of products, as far as it holds: what was extracted by another version may have other fields."""
    brand = data.get("brand")
    stock = {"InStock": "in_stock", "OutOfStock": "out_of_stock"}.get(str(data.get("availability")))
    try:
        price = Decimal(str(data["price"])) if "price" in data else None
    except InvalidOperation:
        price = None
    return Offer(
        price=price if price is not None and price.is_finite() else None,
        currency=_text(data.get("currency")),
        availability=stock,
        brand=_text(brand.get("name") if isinstance(brand, dict) else brand),
        category=_text(data.get("category")),
    )


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None


def _document(row: RowMapping, *, kind: str, position: int, title: str, texts: tuple[str, str]) -> SearchDocument:
    return SearchDocument(
        page=PageKey(row["domain_id"], row["path_hash"]),
        kind=kind,
        position=position,
        snapshot_id=row["snapshot_id"],
        url=f"{row['origin'].rstrip('/')}{row['path']}",
        domain=row["domain"],
        title=title,
        description=texts[0],
        text=texts[1],
        language=row["language"],
        is_relevant=row["is_relevant"],
        at=row["at"],
    )


def _leaves(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        yield str(value)
    else:
        for child in value.values() if isinstance(value, dict) else value:
            yield from _leaves(child)
