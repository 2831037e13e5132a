"""Microdata, read by extruct."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from bailiwick.extract.structured.things import MOST_CHARS, MOST_DEPTH, MOST_VALUES, Syntax, Thing, short

if TYPE_CHECKING:
    from extruct.w3cmicrodata import MicrodataExtractor
    from lxml.html import HtmlElement

_MOST_SCOPES = 1_000
_MOST_NESTED = 100
_TOO_DEEP = f"boolean(descendant::*[@itemscope][count(ancestor::*[@itemscope]) > {_MOST_NESTED}])"
"""extruct goes down by recursion. Where Python stops it in the midst of an XPath, lxml keeps that locked for ever."""
_TIME_CHARS = 200


def read_microdata(tree: "HtmlElement", base_url: str) -> list[Thing]:
    """The outermost items of a page. One with very many has none that could be told from the others."""
    scopes = int(tree.xpath("count(descendant-or-self::*/@itemscope)"))
    if not 0 < scopes <= _MOST_SCOPES or (scopes > _MOST_NESTED and tree.xpath(_TOO_DEEP)):
        return []
    try:
        read = _reader().extract_items(tree, base_url)
    except (ValueError, RecursionError, KeyError, AttributeError):
        return []  # an itemref that leads round in circles
    return [_thing(item, 0) for item in read if isinstance(item, Mapping)]


@cache
def _reader() -> "MicrodataExtractor":
    from extruct.w3cmicrodata import MicrodataExtractor

    class Reader(MicrodataExtractor):  # type: ignore[misc]
        """Values as pages write them: `content` counts on any element, a time without `datetime` is its text."""

        def _extract_property_value(self, node: "HtmlElement", *args: object, **options: object) -> object:
            if node.get("itemscope") is None:
                if (content := node.get("content")) is not None:
                    return content
                if node.tag == "time" and not node.get("datetime"):
                    return " ".join(node.text_content()[:_TIME_CHARS].split())
                if node.tag == "img" and (lazy := node.get("data-src")):
                    return urljoin(self._base, lazy)
            return super()._extract_property_value(node, *args, **options)

        def _extract_textContent(self, node: "HtmlElement") -> str:  # noqa: N802 - extruct's name
            """Of an element without others in it as it stands: extruct cleans a copy of each."""
            return str(super()._extract_textContent(node)) if len(node) else " ".join((node.text or "").split())

        _base = ""

        def extract_items(self, document: "HtmlElement", base_url: str) -> object:
            self._base = base_url
            return super().extract_items(document, base_url)

    return Reader(nested=True)


def _thing(item: "Mapping[str, object]", depth: int) -> Thing:
    given = item.get("type")
    names = given if isinstance(given, list) else [given]
    named = item.get("id")
    thing = Thing(
        frozenset(short(name) for name in names if isinstance(name, str)),
        syntax=Syntax.MICRODATA,
        id=named if isinstance(named, str) else None,
    )
    properties = item.get("properties")
    if depth < MOST_DEPTH and isinstance(properties, Mapping):
        for name, value in properties.items():
            values = [_value(one, depth) for one in (value if isinstance(value, list) else [value])[:MOST_VALUES]]
            thing.values[short(str(name))] = values
    elif isinstance(bare := item.get("value"), str) and bare.strip():
        thing.values["value"] = [bare[:MOST_CHARS].strip()]
    return thing


def _value(value: object, depth: int) -> "str | Thing":
    if isinstance(value, Mapping):
        return _thing(value, depth + 1)
    return str(value)[:MOST_CHARS].strip()
