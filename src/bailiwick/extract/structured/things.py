"""A thing: types and properties, of which each may have several values."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

MOST_THINGS = 2_000
MOST_VALUES = 500
MOST_CHARS = 100_000
MOST_DEPTH = 20
_MOST_CALLED = 4


class Syntax(StrEnum):
    """How it was written."""

    JSON_LD = "json-ld"
    MICRODATA = "microdata"
    RDFA = "rdfa"


Value: TypeAlias = "str | Thing"


@dataclass(slots=True, eq=False)
class Thing:
    """Something that a page describes by a vocabulary; names are without the vocabulary's address."""

    types: frozenset[str]
    values: dict[str, list[Value]] = field(default_factory=dict)
    syntax: Syntax = Syntax.JSON_LD
    id: str | None = None

    def is_a(self, types: Iterable[str]) -> bool:
        return not self.types.isdisjoint(types)

    def all(self, *names: str) -> list[Value]:
        """Every value of these properties, in order."""
        return [value for name in names for value in self.values.get(name, [])]

    def texts(self, *names: str) -> list[str]:
        """Values as texts: of a thing its name, value, address or id."""
        return [text for value in self.all(*names) if (text := text_of(value))]

    def text(self, *names: str, depth: int = 0) -> str | None:
        """The first text of the first property that has one."""
        for name in names:
            for value in self.values.get(name, []):
                if text := text_of(value, depth):
                    return text
        return None

    def things(self, *names: str) -> "list[Thing]":
        return [value for value in self.all(*names) if isinstance(value, Thing)]


def text_of(value: Value, depth: int = 0) -> str | None:
    """Itself, or what a thing is called; things may be called after each other, in circles even."""
    if isinstance(value, Thing):
        named = value.text("name", "value", "url", "contentUrl", depth=depth + 1) if depth < _MOST_CALLED else None
        return named or value.id
    return value.strip() or None


def short(name: str) -> str:
    """A type or property without its vocabulary's address."""
    return name.rstrip("/").rpartition("/")[2].rpartition("#")[2].rpartition(":")[2]


def everything_in(things: Iterable[Thing]) -> Iterator[Thing]:
    """These and all within them, each once, the outermost first. Walked without recursion and bounded."""
    waiting, seen = list(things)[::-1], set[int]()
    while waiting and len(seen) < MOST_THINGS:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        yield thing
        inner = [value for values in thing.values.values() for value in values if isinstance(value, Thing)]
        waiting.extend(reversed(inner))
