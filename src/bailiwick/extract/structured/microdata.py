"""Microdata, read by extruct."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bailiwick.extract.structured.things import MOST_CHARS, MOST_DEPTH, MOST_VALUES, Syntax, Thing, short

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_MOST_SCOPES = 1_000


def read_microdata(tree: "HtmlElement", base_url: str) -> list[Thing]:
    """The outermost items of a page. One with very many has none that could be told from the others."""
    from extruct.w3cmicrodata import MicrodataExtractor

    if int(tree.xpath("count(//*[@itemscope])")) > _MOST_SCOPES:
        return []
    reader = MicrodataExtractor(nested=True, strict=False, add_text_content=False, add_html_node=False)
    try:
        read = reader.extract_items(tree, base_url)
    except (ValueError, RecursionError, KeyError, AttributeError):
        return []  # an itemref that leads round in circles
    return [_thing(item, 0) for item in read if isinstance(item, Mapping)]


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
    return thing


def _value(value: object, depth: int) -> "str | Thing":
    if isinstance(value, Mapping):
        return _thing(value, depth + 1)
    return str(value)[:MOST_CHARS].strip()
