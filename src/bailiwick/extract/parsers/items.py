"""What page objects return, in the form of our schemas."""

import json
from collections.abc import Iterator, Mapping
from types import NoneType
from typing import get_args

import zyte_common_items
from itemadapter import ItemAdapter
from pydantic import BaseModel, JsonValue

from bailiwick.extract.items.checked import Maker, checked
from bailiwick.model.items import Gathered, ItemKind, Reject
from bailiwick.model.schemas import SCHEMAS

MOST_ITEMS = 200
"""Of one page."""
_MOST_JSON = 5_000_000
_VALUE_CHARS = 500
_SURE = 0.95
"""As sure as what a person wrote for this very site can be."""
_NO_NEWS = frozenset({"url", "canonicalUrl", "metadata", "descriptionHtml", "articleBodyHtml"})
"""What items have whatever the page says, or say once more as HTML."""
_KINDS: dict[type, ItemKind] = {
    zyte_common_items.Article: ItemKind.ARTICLE,
    zyte_common_items.BusinessPlace: ItemKind.BUSINESS,
    zyte_common_items.JobPosting: ItemKind.OPPORTUNITY,
    zyte_common_items.Product: ItemKind.PRODUCT,
}


class NothingError(Exception):
    """The parser gave nothing."""


def kind_of(page: type, item: type | None) -> ItemKind | str:
    """The kind of what a page object returns, by its own word (`parser_kind`) or by the class; else why none."""
    declared = getattr(page, "parser_kind", None)
    if declared is not None:
        kind = next((kind for kind in ItemKind if kind.value == str(declared)), None)
        if kind is None:
            return f"parser_kind is one of {', '.join(sorted(ItemKind))}, not {declared!r}"
    else:
        kind = _kind_of_class(item)
        if kind is None:
            name = item.__name__ if isinstance(item, type) else "dict"
            return f'it returns {name}, which has no kind: say parser_kind = "product", or another'
    return kind if kind in SCHEMAS else f"there are no items of kind {kind} that a parser could give"


def gathered(kind: ItemKind, returned: object, url: str, maker: Maker) -> Gathered:
    """Valid items of what was returned, and what of it was refused. NothingError if there is nothing in it."""
    found = Gathered()
    given = returned if isinstance(returned, list | tuple) else [returned]
    position = 0
    for one in given[:MOST_ITEMS]:
        raw = _plain(one)
        if not raw.keys() - _NO_NEWS:
            continue
        found.add(_fitted(kind, {"url": url, **raw} if _has_url(kind) else raw, maker, position))
        position += 1
    if not position:
        raise NothingError("it gave nothing but the address" if given and given != [None] else "it gave nothing")
    return found


def _kind_of_class(item: type | None) -> ItemKind | None:
    if not isinstance(item, type):
        return None
    own = (kind for kind, schema in SCHEMAS.items() if issubclass(item, schema))
    return next(own, None) or next((kind for cls, kind in _KINDS.items() if issubclass(item, cls)), None)


def _has_url(kind: ItemKind) -> bool:
    return "url" in SCHEMAS[kind].model_fields


def _plain(item: object) -> dict[str, JsonValue]:
    """As JSON, without what is not there."""
    if item is None:
        return {}
    if isinstance(item, BaseModel):
        data: object = item.model_dump(mode="json", exclude_none=True)
    elif isinstance(item, Mapping):
        data = dict(item)
    elif ItemAdapter.is_item(item):
        data = ItemAdapter(item).asdict()
    else:
        raise TypeError(f"a parser returns an item or a dict, not {type(item).__name__}")
    text = json.dumps(data, default=_told)
    if len(text) > _MOST_JSON:
        raise ValueError(f"it gave an item of more than {_MOST_JSON:,} characters")
    return {str(name): value for name, value in json.loads(text).items() if value not in (None, "", [], {})}


def _told(value: object) -> JsonValue:
    if ItemAdapter.is_item(value):
        plain: dict[str, JsonValue] = ItemAdapter(value).asdict()
        return plain
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _fitted(kind: ItemKind, raw: dict[str, JsonValue], maker: Maker, position: int) -> Gathered:
    """Fields that the schema has not are refused by name; parts of fields that it has not are left out."""
    schema = SCHEMAS[kind]
    fit = {name: _part(value, schema, name) for name, value in raw.items() if name in schema.model_fields}
    found = checked(kind, fit, dict.fromkeys(fit, _SURE), maker, position=position)
    for name in raw.keys() - fit.keys() - _NO_NEWS:
        value = json.dumps(raw[name], ensure_ascii=False)[:_VALUE_CHARS]
        why = f"there is no such field in an item of kind {kind}"
        found.rejects.append(Reject(kind, position, name[:100], value, why, maker.name, maker.version))
    return found


def _part(value: JsonValue, schema: type[BaseModel], name: str) -> JsonValue:
    inner = next(_models(schema.model_fields[name].annotation), None)
    if inner is None:
        return value
    if isinstance(value, list):
        return [_known(one, inner) for one in value]
    return _known(value, inner)


def _known(value: JsonValue, schema: type[BaseModel]) -> JsonValue:
    if not isinstance(value, dict):
        return value
    return {
        name: _part(part, schema, name)
        for name, part in value.items()
        if name in schema.model_fields and part is not None
    }


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    """The schemas in an annotation such as `list[Image] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for option in get_args(annotation):
        if option is not NoneType:
            yield from _models(option)
