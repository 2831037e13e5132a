"""Values of an item in the making: of each field the surest one wins."""

from collections.abc import Mapping

from pydantic import JsonValue

MARKUP, LABELLED, SEEN = 0.95, 0.85, 0.65
"""How sure a value is: said by schema.org markup, by a label beside it, by its looks."""


class Values:
    """What is known so far, and how sure each is."""

    def __init__(self) -> None:
        self.values: dict[str, JsonValue] = {}
        self.sure: dict[str, float] = {}

    def note(self, name: str, value: JsonValue, sure: float) -> None:
        """Keep a value if it is one, and surer than what is known."""
        if value not in (None, "", [], {}) and sure > self.sure.get(name, 0):
            self.values[name], self.sure[name] = value, sure

    def note_found(self, name: str, found: "tuple[str, float] | None") -> None:
        if found is not None:
            self.note(name, found[0], found[1])

    def has(self, *names: str) -> int:
        """How many of these are known."""
        return sum(name in self.values for name in names)

    def with_url(self, url: str) -> Mapping[str, JsonValue]:
        return self.values | {"url": url}
