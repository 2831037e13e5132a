"""RDFa Lite: vocab, typeof, property, resource, prefix. What pages use of RDFa; no graph is built for it."""

from typing import TYPE_CHECKING
from urllib.parse import urljoin

from bailiwick.extract.structured.things import MOST_CHARS, MOST_THINGS, Syntax, Thing, short

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_ADDRESSES = ("content", "href", "src", "data", "datetime")
_PLAIN = frozenset({"og", "article", "fb", "twitter", "product", "book", "profile", "al", "dc", "dcterms"})
"""Prefixes of meta elements that describe the page by other vocabularies than schema.org."""


def read_rdfa(tree: "HtmlElement", base_url: str) -> list[Thing]:
    """The outermost things. One walk in document order: a parent is met before what is in it."""
    if not tree.xpath("boolean(descendant-or-self::*/@typeof)"):
        return []
    found: list[Thing] = []
    within: dict[HtmlElement, Thing] = {}
    by_id: dict[str, Thing] = {}
    for node in tree.xpath("//*[@typeof or @property]"):
        if len(within) >= MOST_THINGS:
            break
        owner = _owner(node, within)
        names = [short(name) for name in (node.get("property") or "").split() if name.partition(":")[0] not in _PLAIN]
        if node.get("typeof"):
            named = node.get("resource") or node.get("about")
            thing = Thing(frozenset(map(short, node.get("typeof").split())), syntax=Syntax.RDFA, id=named)
            within[node] = thing
            if named:
                by_id[named] = thing
            _note(owner, names, thing)
            if owner is None or not names:
                found.append(thing)
        elif owner is not None:
            named = node.get("resource")
            _note(owner, names, by_id[named] if named in by_id else _text(node, base_url))
    return found


def _owner(node: "HtmlElement", within: "dict[HtmlElement, Thing]") -> Thing | None:
    for above in node.iterancestors():
        if above in within:
            return within[above]
    return None


def _note(owner: Thing | None, names: list[str], value: "str | Thing") -> None:
    if owner is not None and value:
        for name in names:
            owner.values.setdefault(name, []).append(value)


def _text(node: "HtmlElement", base_url: str) -> str:
    for attribute in _ADDRESSES:
        value = node.get(attribute)
        if value is not None:
            value = str(value)[:MOST_CHARS].strip()
            return urljoin(base_url, value) if attribute in ("href", "src", "data") else value
    return str(node.text_content()[:MOST_CHARS]).strip()
