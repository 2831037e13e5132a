"""A relevant page as extractors of items see it. Each view of it is made when it is first asked for, and once."""

from datetime import UTC, date, datetime
from functools import cache, cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bailiwick.extract.items.lines import Line, plain_lines, read_lines
from bailiwick.extract.items.page_facts import Facts
from bailiwick.extract.items.pairs import Pair, read_pairs
from bailiwick.extract.structured import Thing, read_things
from bailiwick.model.content import Content, ContentKind

if TYPE_CHECKING:
    from lxml.etree import ElementDefaultClassLookup
    from lxml.html import HtmlElement


class Source:
    """Of a PDF or a text there is content, and an empty tree."""

    def __init__(
        self, url: str, html: str, content: Content, markdown: str | None = None, *, seen_on: date | None = None
    ) -> None:
        """`html`: as the page was sent, within the limits; nothing, if it is none. `seen_on`: today, if not told."""
        self.url, self.html, self.content, self.markdown = url, html, content, markdown
        self.seen_on = seen_on or datetime.now(UTC).date()

    @property
    def is_html(self) -> bool:
        return self.content.kind is ContentKind.HTML

    @cached_property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @cached_property
    def tree(self) -> "HtmlElement":
        """Of lxml. Extractors read it; none changes it."""
        return parse_tree(self.html)

    @cached_property
    def base_url(self) -> str:
        """What its relative addresses are relative to."""
        from bailiwick.extract.addresses import absolute

        base = next((href for node in self.tree.iter("base") if (href := node.get("href")) is not None), None)
        return absolute(base, self.url) or self.url

    @cached_property
    def things(self) -> list[Thing]:
        """What its markup describes: JSON-LD, microdata and RDFa, in this order; the outermost ones."""
        return read_things(self.tree, self.base_url)

    @cached_property
    def lines(self) -> list[Line]:
        """Its text in reading order, line by line."""
        return read_lines(self.tree) if self.is_html else plain_lines(self.content.text)

    @cached_property
    def pairs(self) -> list[Pair]:
        """Labels with what they say."""
        return read_pairs(self.lines)

    @cached_property
    def facts(self) -> Facts:
        """What several extractors ask for."""
        return Facts(self)

    @cached_property
    def meta(self) -> dict[str, str]:
        """Content of meta elements by name or property in lower case, the first of each."""
        found: dict[str, str] = {}
        for node in self.tree.iter("meta"):
            name = node.get("property") or node.get("name") or node.get("itemprop") or ""
            content = node.get("content")
            if name and content and content.strip():
                found.setdefault(name[:100].lower(), content[:4_000].strip())
        return found


def parse_tree(html: str) -> "HtmlElement":
    """An lxml tree of any text. Whatever a document is, there is a root element."""
    from lxml import etree
    from lxml.html import HTMLParser, document_fromstring

    parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    parser.set_element_class_lookup(_plain_elements())
    data = html.encode("utf-8", "replace").replace(b"\x00", b"")
    try:
        return document_fromstring(data, parser=parser)
    except (etree.ParserError, ValueError):
        return document_fromstring(b"<html><body></body></html>", parser=parser)


@cache
def _plain_elements() -> "ElementDefaultClassLookup":
    """One class for all elements: lxml.html asks a function of Python for that of each, at every step of a walk."""
    from lxml.etree import ElementDefaultClassLookup
    from lxml.html import HtmlElement

    return ElementDefaultClassLookup(element=HtmlElement)
