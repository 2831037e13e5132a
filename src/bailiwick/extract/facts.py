"""What a page says about itself, gathered by one query of its tree: meta, links, JSON-LD, itemprop, time, headings."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import JsonValue

from bailiwick.extract.linked_data import parse_linked_data

if TYPE_CHECKING:
    from resiliparse.parse.html import DOMNode, HTMLTree

TYPES = "schema:types"
"""Under which the types that a page's markup names are kept with its other metadata."""
_WANTED = "meta,link[rel],script[type],time[datetime],h1,img,[itemprop],[itemtype],[typeof],base"
_MOST_ELEMENTS = 20_000
_MOST_VALUE_CHARS = 4_000
_MOST_SCRIPTS = 30
_WITH_TEXT = frozenset(
    {"price", "lowPrice", "highPrice", "availability", "sku", "author", "datePublished", "dateModified"}
)
"""Properties whose value may be an element's text; of others (articleBody) it may be the whole page."""


@dataclass(slots=True)
class Facts:
    """As they stand in the page, in its order; nothing is judged here."""

    meta: list[tuple[str, str]] = field(default_factory=list)
    """(name or property in lower case, content)."""
    linked_data: list[JsonValue] = field(default_factory=list)
    """The value of each JSON-LD script; its source, where that is no JSON."""
    properties: list[tuple[str, str]] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    times: list[tuple[str, bool]] = field(default_factory=list)
    """(datetime, whether it says that this is when the page was published)."""
    types: list[str] = field(default_factory=list)
    """Values of itemtype and typeof."""
    headline: str = ""
    canonical: str | None = None
    base_href: str | None = None

    def said(self, *names: str) -> str | None:
        """The first non-empty content of meta with one of these names, the earlier names first."""
        for wanted in names:
            for name, content in self.meta:
                if name == wanted and content.strip():
                    return content
        return None

    def property(self, wanted: str) -> str | None:
        return next((value for name, value in self.properties if name == wanted and value.strip()), None)


def gather(tree: "HTMLTree") -> Facts:
    """All facts of a page."""
    facts = Facts()
    document = tree.document
    if document is None:
        return facts
    for count, node in enumerate(document.query_selector_all(_WANTED)):
        if count >= _MOST_ELEMENTS:
            break
        _note(facts, node)
    return facts


def _note(facts: Facts, node: "DOMNode") -> None:
    tag = node.tag
    if tag == "meta":
        _meta(facts, node)
    elif tag == "img":
        source = node.getattr("data-src") or node.getattr("src")
        if source:
            facts.images.append(source[:_MOST_VALUE_CHARS])
    elif tag == "link":
        _link(facts, node)
    elif tag == "script":
        _linked_data(facts, node)
    elif tag == "time":
        facts.times.append(((node.getattr("datetime") or "")[:_MOST_VALUE_CHARS], _tells_publication(node)))
    elif tag == "h1":
        facts.headline = facts.headline or node.text[:_MOST_VALUE_CHARS]
    elif tag == "base":
        facts.base_href = facts.base_href or node.getattr("href")
    _microdata(facts, node, tag)


def _microdata(facts: Facts, node: "DOMNode", tag: str) -> None:
    if given := node.getattr("itemtype") or node.getattr("typeof"):
        facts.types.append(given[:200])
    name = node.getattr("itemprop")
    if name and tag != "script":
        facts.properties.append((name[:100], _value(name, node)))


def _link(facts: Facts, node: "DOMNode") -> None:
    if facts.canonical is None and "canonical" in (node.getattr("rel") or "").lower().split():
        facts.canonical = node.getattr("href") or None


def _meta(facts: Facts, node: "DOMNode") -> None:
    content = node.getattr("content")
    name = node.getattr("property") or node.getattr("name") or node.getattr("http-equiv")
    if content and name:
        facts.meta.append((name[:100].lower(), content[:_MOST_VALUE_CHARS]))


def _linked_data(facts: Facts, node: "DOMNode") -> None:
    kind = node.getattr("type") or ""
    if not kind.lower().startswith("application/ld+json") or len(facts.linked_data) >= _MOST_SCRIPTS:
        return
    source = node.text
    value = parse_linked_data(source)
    facts.linked_data.append("".join(source.split()) if value is None else value)


def _value(name: str, node: "DOMNode") -> str:
    for attribute in ("content", "datetime", "href", "src"):
        if value := node.getattr(attribute):
            return str(value[:_MOST_VALUE_CHARS])
    return str(node.text[:_MOST_VALUE_CHARS]) if name in _WITH_TEXT else ""


def _tells_publication(node: "DOMNode") -> bool:
    marks = f"{node.getattr('class') or ''} {node.getattr('itemprop') or ''}".lower()
    return node.hasattr("pubdate") or any(mark in marks for mark in ("publish", "entry-date", "posted", "pubdate"))
