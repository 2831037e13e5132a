"""Codes of a product: behind a label that says so, or in the page's address."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bailiwick.extract.items.product.evidence import Evidence
from bailiwick.extract.items.product.texts import Seen
from bailiwick.extract.items.product.words import CODE_LABEL
from bailiwick.extract.items.source import Source

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9./_\-]{1,39}")
_IN_ADDRESS = re.compile(r"(?:[A-Z]{0,6}\d{4,16}|[A-Z0-9]{9,14})")


def note_codes(labels: Iterable[Seen], source: Source, evidence: Evidence) -> None:
    """What a shop calls the number of a product is that, whatever its markup says; its address is the last resort."""
    for label in labels:
        if (code := _labelled(label)) is not None:
            evidence.note("sku", code, 0.96)
            break
    code = _from_address(source)
    if code is not None:
        evidence.note("productId", code, 0.5)
        evidence.note("sku", code, 0.45)


def _labelled(seen: Seen) -> str | None:
    """The value behind a label: in the same text, the next element, or the next cell."""
    label = CODE_LABEL.match(seen.text.lower())
    if label is None:
        return None
    rest = seen.text[label.end() :].strip()
    if rest:
        return _code(rest)
    node = seen.node
    if len(node) and (code := _code(f"{node[0].text_content()[:80]} {(node[0].tail or '')[:80]}")):
        return code
    return _code(_following(node))


def _following(node: "HtmlElement") -> str:
    """The text behind an element, or behind the one around it."""
    for _ in range(2):
        tail = (node.tail or "").strip(" :\n\t\r")
        following = node.getnext()
        if tail or following is not None:
            return tail or str(following.text_content())[:80]
        node = node.getparent()
        if node is None:
            break
    return ""


def _code(text: str) -> str | None:
    """A code at the beginning of a text: one word with a digit."""
    found = _CODE.match(text.strip(" :#\u200e\u200f\xa0\n\t\r"))
    return found[0].rstrip(".-_/") if found and re.search(r"\d", found[0]) else None


def _from_address(source: Source) -> str | None:
    """The number by which the address names the product: the last one of its path."""
    path = urlsplit(source.url).path.rstrip("/")
    for segment in reversed(path.split("/")):
        words = re.split(r"[-_.,=]", segment)
        for word in reversed(words):
            if _IN_ADDRESS.fullmatch(word) and re.search(r"\d", word):
                return word
    return None
