"""What speaks for a page being a product, and for each of its fields: the surest word counts."""

from dataclasses import dataclass, field

from pydantic import JsonValue


@dataclass(slots=True)
class Evidence:
    """Values of fields, each with how sure it is."""

    is_product: bool = False
    values: dict[str, JsonValue] = field(default_factory=dict)
    sure: dict[str, float] = field(default_factory=dict)

    def note(self, name: str, value: JsonValue, sure: float) -> None:
        """Keep it, unless something surer is known already."""
        if value not in (None, "", [], {}) and sure > self.sure.get(name, 0.0):
            self.values[name], self.sure[name] = value, sure

    def put(self, name: str, value: JsonValue, sure: float) -> None:
        """In the place of whatever is known."""
        self.values[name], self.sure[name] = value, sure

    def text(self, name: str) -> str:
        value = self.values.get(name)
        return value if isinstance(value, str) else ""
