"""Raw values to a valid item: what the schema refuses is taken out and recorded, never dropped in silence."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue, ValidationError

from bailiwick.model.items import Gathered, Item, ItemKind, Reject
from bailiwick.model.schemas import SCHEMAS
from bailiwick.model.search import storable

_VALUE_CHARS = 500
_MOST_ROUNDS = 40


@dataclass(frozen=True, slots=True)
class Maker:
    """Which extractor made something, and which version of it."""

    name: str
    version: int


def checked(
    kind: ItemKind,
    raw: Mapping[str, JsonValue],
    sure: Mapping[str, float],
    maker: Maker,
    *,
    position: int = 0,
    confidence: float | None = None,
) -> Gathered:
    """One item, or none where a required field is missing or refused; with a reject for each value taken out.

    `sure` tells of each field how sure it is. The item is as sure as its required fields, unless told otherwise.
    """
    data = {name: _fit(value) for name, value in raw.items() if value not in (None, "", [], {})}
    found = Gathered()

    def reject(field: str | None, value: JsonValue, why: str) -> None:
        told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        found.rejects.append(Reject(kind, position, field, told[:_VALUE_CHARS], why, maker.name, maker.version))

    schema = SCHEMAS[kind]
    for _ in range(_MOST_ROUNDS):
        try:
            valid = schema.model_validate(data).model_dump(mode="json", exclude_none=True)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_context=False)[0]
            name = _field(problem["loc"], problem["msg"], data)
            why = problem["msg"].removeprefix("Value error, ")
            if name is None or schema.model_fields[name].is_required():
                reject(None, data, f"{name or kind}: {why}")
                return found
            reject(name, data.pop(name), why)
            continue
        kept = {name: round(sure[name], 2) for name in valid if name in sure}
        required = [kept[name] for name, info in schema.model_fields.items() if info.is_required() and name in kept]
        overall = confidence if confidence is not None else min(required, default=0.5)
        found.items.append(Item(kind, position, valid, round(overall, 3), maker.name, maker.version, kept))
        break
    return found


def _fit(value: JsonValue) -> JsonValue:
    """Without the characters that no database takes."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_fit(one) for one in value]
    return {storable(name): _fit(one) for name, one in value.items()} if isinstance(value, dict) else value


def _field(place: "tuple[int | str, ...]", message: str, data: Mapping[str, JsonValue]) -> str | None:
    """The field that a problem is about; of a problem between fields the one that its message begins with."""
    if place:
        return str(place[0])
    words = message.removeprefix("Value error, ").split()
    return words[0] if words and words[0] in data else None
