"""Which of the optional libraries are installed. Asked at every start, so nothing of them is imported for it."""

from functools import cache
from importlib.util import find_spec


@cache
def has_content() -> bool:
    """Whether the extra `content` is here: markdown."""
    return find_spec("trafilatura") is not None


@cache
def has_items() -> bool:
    """Whether the extra `items` is here: items other than articles."""
    needed = ("extruct", "lxml", "phonenumbers", "price_parser", "zyte_parsers")
    return all(find_spec(name) is not None for name in needed)
