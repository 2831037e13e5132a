"""What speaks for a page being a product, and for each of its fields."""

from pydantic import JsonValue

from bailiwick.extract.items.evidence import Values


class Evidence(Values):
    """Values of a product's fields, and whether there is one."""

    def __init__(self) -> None:
        super().__init__()
        self.is_product = False

    def put(self, name: str, value: JsonValue, sure: float) -> None:
        """In the place of whatever is known."""
        self.values[name], self.sure[name] = value, sure

    def text(self, name: str) -> str:
        value = self.values.get(name)
        return value if isinstance(value, str) else ""
