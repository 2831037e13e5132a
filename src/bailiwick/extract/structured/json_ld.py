"""JSON-LD, as forgiving as pages need it: comments, trailing commas, things that refer to others by their id."""

import json
import re
from collections.abc import Iterable
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING

from pydantic import JsonValue

from bailiwick.extract.structured.things import MOST_CHARS, MOST_DEPTH, MOST_THINGS, MOST_VALUES, Thing, short

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_MOST_SCRIPTS = 50
_MOST_SCRIPT_CHARS = 1_000_000
_WRAPPING = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/)|(?:-->|//\s*\]\]>|\]\]>|;)\s*$"
)


def read_json_ld(tree: "HtmlElement") -> list[Thing]:
    """The outermost things of all scripts."""
    values = []
    scripts = (script for script in tree.iter("script") if "ld+json" in script.get("type", ""))
    for script in islice(scripts, _MOST_SCRIPTS):
        value = lenient(script.text_content())
        if value is not None:
            values.append(value)
    return things_of(values)


def lenient(source: str) -> JsonValue:
    """The value of a script, its faults forgiven; None where there is none, or too much."""
    if len(source) > _MOST_SCRIPT_CHARS:
        return None
    for attempt in (source, _WRAPPING.sub("", _WRAPPING.sub("", source)), None):
        text = _mended(source) if attempt is None else attempt
        try:
            value: JsonValue = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            continue
        return value
    return None


def _mended(source: str) -> str:
    """Without comments and commas too many."""
    import jstyleson

    bare = _WRAPPING.sub("", _WRAPPING.sub("", source))
    try:
        return str(jstyleson.dispose(bare))
    except (ValueError, IndexError, RecursionError):
        return bare


def things_of(values: Iterable[JsonValue]) -> list[Thing]:
    """Things at the top of these values, in lists and in `@graph` too; what refers to another by id is that other."""
    made = _Making()
    top = [thing for value in values for thing in made.outermost(value)]
    made.join()
    return top


class _Making:
    """Things under way: how many there are, and which have an id."""

    def __init__(self) -> None:
        self._count = 0
        self._by_id: dict[str, Thing] = {}

    def outermost(self, value: JsonValue, depth: int = 0) -> list[Thing]:
        if depth > MOST_DEPTH:
            return []
        if isinstance(value, list):
            return [thing for one in value[:MOST_VALUES] for thing in self.outermost(one, depth + 1)]
        if not isinstance(value, dict):
            return []
        graph = value.get("@graph")
        found = self.outermost(graph, depth + 1) if isinstance(graph, list | dict) else []
        if "@type" in value or graph is None:
            thing = self._thing(value, depth)
            found = [thing, *found] if thing is not None else found
        return found

    def _thing(self, value: "dict[str, JsonValue]", depth: int) -> Thing | None:
        if depth > MOST_DEPTH or self._count >= MOST_THINGS:
            return None
        self._count += 1
        given = value.get("@type")
        names = given if isinstance(given, list) else [given]
        named = value.get("@id")
        thing = Thing(
            frozenset(short(name) for name in names if isinstance(name, str)),
            id=named[:MOST_CHARS] if isinstance(named, str) else None,
        )
        for name, inner in list(value.items())[:MOST_VALUES]:
            if not name.startswith("@"):
                values = self._values(inner, depth)
                if values:
                    thing.values[short(name)] = values
        if thing.id and (thing.values or thing.types):
            self._by_id.setdefault(thing.id, thing)
        return thing

    def _values(self, value: JsonValue, depth: int) -> "list[str | Thing]":
        if isinstance(value, list):
            return (
                [one for inner in value[:MOST_VALUES] for one in self._values(inner, depth + 1)]
                if depth <= MOST_DEPTH
                else []
            )
        if isinstance(value, dict):
            if "@value" in value:
                return self._values(value["@value"], depth + 1) if depth <= MOST_DEPTH else []
            thing = self._thing(value, depth + 1)
            return [thing] if thing is not None else []
        if isinstance(value, bool):
            return ["true" if value else "false"]
        if isinstance(value, int | float):
            return [_number(value)]
        return [unescape(value[:MOST_CHARS])] if isinstance(value, str) and value.strip() else []

    def join(self) -> None:
        """Put things in the place of bare references to them."""
        for thing in list(self._by_id.values()):
            for values in thing.values.values():
                for place, value in enumerate(values):
                    if isinstance(value, Thing) and not value.values and value.id in self._by_id:
                        values[place] = self._by_id[value.id]


def _number(value: float) -> str:
    """As it was written, as far as that is known: 12.50 came as 12.5."""
    return (
        f"{value:f}".rstrip("0").rstrip(".")
        if isinstance(value, float) and abs(value) < 1e15
        else str(value)[:MOST_CHARS]
    )
