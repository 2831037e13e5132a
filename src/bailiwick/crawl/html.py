"""HTML, parsed once: bytes in, plain strings and hashes out. No parse tree outlives the call: 1 MB a domain."""

import re
from collections.abc import Set
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from bailiwick.base.failpoints import parser_killer
from bailiwick.crawl.lookalikes import looks_like
from bailiwick.net.charsets import decode

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_ANCHOR_CHARS = 200
_MOST_LINKS = 20_000
_MOST_FEEDS = 5
_FEEDS = ("application/rss+xml", "application/atom+xml")
_LEADING_HOST = re.compile(r"(?:https?:)?//(?:[^/?#\\@]*@)?(?:www\.)?([^/?#\\:]*)", re.I)
_NOT_TEXT = frozenset({"script", "style", "nav", "noscript", "template"})
_LINKED_DATA = "application/ld+json"
_TELLING = ("a", "area", "img", "meta", "link", "base", "iframe", "frame", *sorted(_NOT_TEXT))


@dataclass(frozen=True, slots=True)
class Parsed:
    """What the fetch half needs of a page."""

    hrefs: list[str]
    base_href: str | None
    anchors: dict[str, str]
    """Text of the links that lead out of this host, by their href."""
    text_hash: int
    is_noindex: bool
    is_nofollow: bool
    canonical: str | None
    images: int
    feeds: list[str]
    """RSS and Atom feeds that it names."""
    looks_like: str | None
    """What it is in place of content: a `Lookalike`."""


def parse_page(body: bytes, content_type: str, host: str) -> Parsed:
    """Links, the cheap text hash and the few marks that the fetch loop acts on."""
    from selectolax.lexbor import LexborHTMLParser

    parser_killer(body)
    tree = LexborHTMLParser(decode(body, content_type))
    page = _Gathered(host)
    no_text = page.gather(tree)
    page.gather_properties(tree)
    lookalike = looks_like(tree)
    for node in reversed(no_text):  # what lies within goes before what it lies in
        node.decompose(recursive=False)
    return Parsed(
        hrefs=page.hrefs + page.frames,
        base_href=page.base_href,
        anchors=page.anchors,
        text_hash=page.hash_with(tree.text()),
        is_noindex=says_noindex(page.directives),
        is_nofollow=says_nofollow(page.directives),
        canonical=page.canonical,
        images=len(page.images),
        feeds=page.feeds,
        looks_like=lookalike,
    )


@cache
def _telling() -> dict[int, str]:
    """The elements that are looked at, by the parser's number for their name."""
    from selectolax.lexbor import LexborHTMLParser

    frames = LexborHTMLParser("<frameset><frame></frameset>")
    page = LexborHTMLParser("".join(f"<{name}></{name}>" for name in _TELLING))
    nodes = [node for tree in (frames, page) if tree.root is not None for node in tree.root.traverse()]
    return {node.tag_id: node.tag for node in nodes if node.tag in _TELLING}


class _Gathered:
    """All that is gathered from a page's elements, by one walk through the tree."""

    def __init__(self, host: str) -> None:
        self.host = host
        self._own = (f"http://{host}/", f"https://{host}/", f"http://{host}:", f"https://{host}:")
        self.hrefs: list[str] = []
        self.anchors: dict[str, str] = {}
        self.images: list[str] = []
        self.base_href: str | None = None
        self.canonical: str | None = None
        self.feeds: list[str] = []
        self.frames: list[str] = []
        self.directives: set[str] = set()
        self._meta: list[str] = []
        self._data: list[str] = []
        self._properties: list[str] = []

    def gather(self, tree: "LexborHTMLParser") -> "list[LexborNode]":
        """Read them all. Returns the elements whose text is none of the page's."""
        no_text: list[LexborNode] = []
        telling = _telling()
        for node in tree.root.traverse() if tree.root is not None else ():
            kind = telling.get(node.tag_id)  # by number: a name would be made for each element
            if kind is None:
                continue
            if kind == "a" or kind == "area":  # noqa: PLR1714 - so often
                self._link(node)
            elif kind == "img":
                try:  # one attribute of many, in one call: a dict of all of them would cost three times as much
                    self.images.append(node.attrs["src"] or "")
                except KeyError:
                    continue
            elif kind in _NOT_TEXT:
                no_text.append(node)
                if kind == "script" and (node.attributes.get("type") or "").lower().startswith(_LINKED_DATA):
                    self._data.append(node.text())
            else:
                self._note(kind, node.attributes)
        return no_text

    def gather_properties(self, tree: "LexborHTMLParser") -> None:
        for node in tree.css("[itemprop]"):
            given = node.attributes
            value = given.get("content") or given.get("href") or given.get("datetime") or ""
            self._properties.append(f"{given['itemprop']}={value}\n")

    def hash_with(self, text: str) -> int:
        """Of the text, and of what carries meaning outside of it: meta, JSON-LD, itemprop, images."""
        beside = "".join(self._meta + self._data + self._properties + self.images)
        digest = blake2b(beside.encode("utf-8", "replace"), digest_size=8)
        # White space does not count; taking it out of bytes is ten times faster than splitting text (measured).
        digest.update(text.encode("utf-8", "replace").translate(None, b" \t\r\n\f"))
        return int.from_bytes(digest.digest(), "big", signed=True)

    def _link(self, node: "LexborNode") -> None:
        href = (node.attrs.get("href") or "").strip()
        if not href or href[0] == "#" or len(self.hrefs) >= _MOST_LINKS:
            return
        self.hrefs.append(href)
        is_whole = "//" in href[:8]
        if is_whole and (not href.startswith(self._own) or "@" in href) and href not in self.anchors:
            found = _LEADING_HOST.match(href)
            if found is not None and found[1].lower() != self.host:
                self.anchors[href] = " ".join(node.text().split())[:_ANCHOR_CHARS]

    def _note(self, tag: str, given: "dict[str, str | None]") -> None:
        if tag == "meta":
            self._said(given)
        elif tag == "link":
            self._related(given)
        elif tag == "base":
            if self.base_href is None:
                self.base_href = given.get("href")
        elif tag in ("iframe", "frame") and (src := given.get("src")) and len(self.frames) < _MOST_LINKS:
            self.frames.append(src)

    def _said(self, given: "dict[str, str | None]") -> None:
        if "content" not in given:
            return
        name = (given.get("name") or given.get("property") or given.get("itemprop") or "").lower()
        content = given["content"] or ""
        if name in ("robots", "bailiwick"):
            self.directives |= _directives(content)
        if name and name not in _NONCES:
            self._meta.append(f"{name}={content}\n")

    def _related(self, given: "dict[str, str | None]") -> None:
        href = given.get("href")
        if not href:
            return
        relations = (given.get("rel") or "").lower().split()
        if "canonical" in relations and self.canonical is None:
            self.canonical = href
        if "alternate" in relations and given.get("type") in _FEEDS and len(self.feeds) < _MOST_FEEDS:
            self.feeds.append(href)


_NONCES = frozenset({"csrf-token", "csrf-param", "_token", "csp-nonce", "request-id"})
"""Meta names whose value is another one on every request."""


def _directives(content: str) -> set[str]:
    return {part.strip() for part in content.lower().split(",")}


def says_noindex(directives: Set[str]) -> bool:
    return not directives.isdisjoint(("noindex", "none"))


def says_nofollow(directives: Set[str]) -> bool:
    return not directives.isdisjoint(("nofollow", "none"))


def header_directives(value: str) -> set[str]:
    """X-Robots-Tag, a line for each time it came: rules for all, or for the agent before them; those for us count."""
    directives: set[str] = set()
    for line in value.splitlines():
        agent = ""
        for part in line.split(","):
            rule = part
            if (named := _AGENT.match(part)) and named[1].lower() not in _RULES_WITH_VALUES:
                agent, rule = named[1].lower(), part[named.end() :]
            if agent in ("", "*", "bailiwick"):
                directives |= _directives(rule)
    return directives


_AGENT = re.compile(r"\s*([\w*-]+)\s*:")
_RULES_WITH_VALUES = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})
