"""The items of one domain: what its pages describe, as data, with how sure that is and where it comes from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import JsonValue
from starlette.responses import Response

from bailiwick.base.errors import UsageError
from bailiwick.extract import item_listing
from bailiwick.extract.item_listing import FIRST, Cursor, FoundItem
from bailiwick.model.items import ItemKind
from bailiwick.model.schemas import SCHEMAS
from bailiwick.web.domain import seen
from bailiwick.web.domains import address, whole
from bailiwick.web.visits import Member

router = APIRouter()
_ROWS = 25
_MOST_FIELDS, _MOST_PARTS = 60, 30
_VALUE_CHARS, _FACT_CHARS = 400, 60
_FACTS = ("availability", "deadline", "status", "organisation", "provider", "kind", "telephone", "email", "role",
          "brand", "datePublished", "category", "authors")  # fmt: skip
"""Fields that say most about an item, in this order, after what it costs or gives."""
_MOST_FACTS = 4

Text = Annotated[str, Query(max_length=300)]


@dataclass(frozen=True, slots=True)
class Fact:
    """A field of an item, as a page shows it."""

    name: str
    text: str
    confidence: float | None


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item as a page shows it."""

    item: FoundItem
    page: str
    facts: list[str]
    fields: list[Fact]
    left_out: int
    """Fields beyond those that are shown."""


@router.get("/domains/{name}/items")
def items(here: Member, name: str, kind: Text = "", after: Text = "") -> Response:
    """A page of them, of one kind or of all. The whole state of the list is in its address."""
    if kind and kind not in {one.value for one in ItemKind}:
        raise UsageError(f"there are no items of kind {kind!r}", hint=", ".join(ItemKind))
    with here.site.app.database.read() as conn:
        domain = seen(conn, here, name)
        found = item_listing.items(conn, domain.id, kind or None, limit=_ROWS + 1, after=_cursor(after))
        counts = {} if here.is_fragment else item_listing.counts(conn, domain.id)
    path = f"/domains/{domain.name}"
    last = f"{found[_ROWS - 1].kind},{found[_ROWS - 1].id}" if len(found) > _ROWS else None
    more = address(f"{path}/items", {"kind": kind, "after": last}) if last else None
    values = {"domain": domain, "rows": [_shown(one, path) for one in found[:_ROWS]], "more": more}
    if here.is_fragment:
        return here.page("_item_list.html", values, kind=kind)
    return here.page("items.html", values, kind=kind, counts=counts, most=item_listing.MOST_COUNTED)


def _shown(one: FoundItem, path: str) -> ShownItem:
    fields = [Fact(name, _text(one.data[name]), one.fields.get(name)) for name in _in_order(one)]
    page = address(f"{path}/pages", {"view": "fetched", "path": one.path})
    return ShownItem(one, page, _main_facts(one.data), fields[:_MOST_FIELDS], max(len(fields) - _MOST_FIELDS, 0))


def _in_order(one: FoundItem) -> list[str]:
    """Names of its fields as the schema has them; the database keeps them in another order."""
    schema = SCHEMAS.get(ItemKind(one.kind))
    known = list(schema.model_fields) if schema is not None else []
    return sorted(one.data, key=lambda name: (known.index(name) if name in known else len(known), name))


def _main_facts(data: Mapping[str, JsonValue]) -> list[str]:
    told = [*_amounts(data), *(_text(data[name]) for name in _FACTS if data.get(name))]
    return [_cut(text, _FACT_CHARS) for text in told if text][:_MOST_FACTS]


def _amounts(data: Mapping[str, JsonValue]) -> Iterator[str]:
    """What it costs, or what one may get."""
    currency = data.get("currency") or data.get("currencyRaw") or ""
    if price := data.get("price"):
        yield f"{price} {currency}".strip()
    least, most = data.get("amountMin"), data.get("amountMax")
    if least and most and least != most:
        yield f"{least} to {most} {currency}".strip()
    elif most or least:
        yield f"{'' if least else 'up to '}{most or least} {currency}".strip()


def _text(value: JsonValue) -> str:
    """A value in a line or a few, whatever it is made of."""
    return _cut(_told(value), _VALUE_CHARS)


def _told(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(_told(part) for part in list(value.values())[:_MOST_PARTS] if part is not None)
    if isinstance(value, list):
        return "; ".join(_told(part) for part in value[:_MOST_PARTS])
    return "" if value is None else str(value)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _cursor(after: str) -> Cursor:
    if not after:
        return FIRST
    kind, _, number = after.rpartition(",")
    if kind not in {one.value for one in ItemKind}:
        raise UsageError("this page of the list is put wrongly")
    return kind, whole(number)
