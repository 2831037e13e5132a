"""A page's HTML, parsed and walked once. What is too deep or too much is left out: pages are made to keep us busy."""

import re
from itertools import islice
from typing import TYPE_CHECKING

from bailiwick.score.rules.ads import ad_name
from bailiwick.score.rules.markup_values import AuthorMark, Mark, Markup

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_MOST_CHARS = 2_000_000
_MOST_TAGS = 60_000
_CALM_TAGS = 5_000
_MOST_DEPTH = 500
"""The parser takes time by the depth's square: minutes for 100,000, nothing for what real pages have (below 100)."""
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_NEVER_DEEP = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
    | {"p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "optgroup"}
    | {"script", "style", "title"}
)
_TEXT_CHARS, _TEXT_NODES = 300, 80
_MOST_CAPTIONS, _MOST_SCRIPTS, _MOST_MARKS = 150, 20, 60
_SCRIPT_CHARS = 200_000
_CAPTION_CHARS = 160
_UNSEEN = frozenset({"style", "noscript", "template", "title"})
_UNCOUNTED = frozenset({"br", "wbr", "link", "meta", "source", "track", "param", "option"})
_CAPTIONS = frozenset({"h2", "h3", "h4", "h5", "h6", "button", "summary", "legend", "dt", "strong", "b"})
_PAGE_PARTS = frozenset({"h1", "main", "article"})
_AD_NODES = 250
"""An ad holds less than this; what holds more was named after the ads beside the text."""
_BOX = re.compile(
    r"(?:^|[-_\s])(?:(?:post|entry|article|single)?[-_]{0,2}(?:author|autor(?:en)?|auteur|autore)[-_]{0,2}"
    r"(?:bio|biography|box|info|description|desc|card|profile|details|about|block|intro)|about[-_]?(?:the[-_]?)?author|bio[-_]author)"
    r"(?:$|[-_\s])",
    re.I,
)
_BYLINE = re.compile(
    r"(?:^|[-_\s])(?:by-?line|posted-?by|written-?by|(?:post|entry|article|story|meta|content)[-_]{1,2}author|author(?:[-_]{1,2}name)?)"
    r"(?:$|\s)",
    re.I,
)
# Where somebody else has the word: readers, customers, people who are quoted; and books that are sold.
_OTHERS = re.compile(
    r"(?:^|[-_\s])(?:comment|testimonial|quote|review|repl|response|discussion|rating|product|book|forum|tweet)", re.I
)
_MORE_THAN_A_NAME = frozenset({"description", "jobtitle", "url", "image", "sameas", "affiliation", "worksfor"})


def read_markup(html: str) -> Markup:
    from selectolax.lexbor import LexborHTMLParser

    walk = _Walk()
    node = LexborHTMLParser(_within_limits(html)).root
    while node is not None:
        following = node.first_child if walk.visit(node) else None
        while following is None and node is not None:
            following = node.next
            node = node.parent if following is None else node
        node = following
    return walk.gathered()


def _within_limits(html: str) -> str:
    """Up to the first tag that is too deep or one too many."""
    html = html[:_MOST_CHARS]
    if html.count("<") <= _CALM_TAGS:
        return html
    depth = 0
    for number, tag in enumerate(_TAG.finditer(html)):
        if tag[2].lower() not in _NEVER_DEEP:
            depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > _MOST_DEPTH or number >= _MOST_TAGS:
            return html[: tag.start()]
    return html


class _Walk:
    """All that is gathered on the way. `visit` says whether to go deeper."""

    def __init__(self) -> None:
        self._headings: list[str] = []
        self._captions: list[str] = []
        self._scripts: list[str] = []
        self._marks: list[AuthorMark] = []
        self._ads: list[str] = []
        self._elements = 0
        self._has_text = False
        self._in_body = False
        self._looks_left = 20 * _AD_NODES

    def gathered(self) -> Markup:
        return Markup(
            headings=tuple(self._headings),
            captions=tuple(self._captions),
            linked_data=tuple(self._scripts),
            author_marks=tuple(self._marks),
            ads=tuple(self._ads),
            elements=self._elements,
            has_text=self._has_text,
        )

    def visit(self, node: "LexborNode") -> bool:
        if not node.is_element_node:
            if self._in_body and not self._has_text and node.is_text_node:
                self._has_text = bool((node.text_content or "").strip())
            return node.is_document_node
        tag, attributes = node.tag or "", node.attributes
        if tag == "script":
            self._script(node, attributes)
            return False
        if tag in _UNSEEN:
            return False
        self._in_body = self._in_body or tag in ("body", "frameset")
        if not self._in_body or tag == "body":
            return True
        self._elements += tag not in _UNCOUNTED
        if (name := ad_name(tag, attributes)) and not self._holds_page(node):
            self._ads.append(name)
            return False
        self._note(node, tag, attributes)
        return tag not in ("svg", "math")

    def _script(self, node: "LexborNode", attributes: "dict[str, str | None]") -> None:
        if "ld+json" in (attributes.get("type") or "").lower() and len(self._scripts) < _MOST_SCRIPTS:
            source = node.text()
            if len(source) <= _SCRIPT_CHARS:
                self._scripts.append(source)

    def _note(self, node: "LexborNode", tag: str, attributes: "dict[str, str | None]") -> None:
        if tag == "h1" and len(self._headings) < 5:
            self._headings.append(text_within(node))
        if (tag in _CAPTIONS or tag == "h1") and len(self._captions) < _MOST_CAPTIONS:
            self._caption(text_within(node), is_heading=tag != "h1" and tag not in ("strong", "b"))
        elif tag == "input" and (attributes.get("type") or "").lower() == "submit":
            self._caption(attributes.get("value") or "", is_heading=True)
        if len(self._marks) < _MOST_MARKS and (mark := _author_mark(node, tag, attributes)):
            self._marks.append(AuthorMark(mark, text_within(node)))

    def _caption(self, text: str, *, is_heading: bool) -> None:
        if not 0 < len(text) <= _CAPTION_CHARS:
            return
        if is_heading and len(self._captions) < _MOST_CAPTIONS:
            self._captions.append(text)
        if len(self._marks) < _MOST_MARKS and len(text) <= 60:
            self._marks.append(AuthorMark(Mark.CAPTION, text))

    def _holds_page(self, node: "LexborNode") -> bool:
        """Whether what is named like an ad holds the page's own words."""
        if self._looks_left <= 0:
            return False
        count = 0
        for count, inner in enumerate(islice(node.traverse(), _AD_NODES), start=1):
            if inner.tag in _PAGE_PARTS:
                self._looks_left -= count
                return True
        self._looks_left -= count
        return count >= _AD_NODES


def text_within(node: "LexborNode") -> str:
    """The first words in an element, on one line."""
    parts: list[str] = []
    for inner in islice(node.traverse(include_text=True), _TEXT_NODES):
        if inner.is_text_node:
            parts.append((inner.text_content or "")[:_TEXT_CHARS])
            if sum(map(len, parts)) >= _TEXT_CHARS:
                break
    return " ".join(" ".join(parts).split())[:_TEXT_CHARS]


def _author_mark(node: "LexborNode", tag: str, attributes: "dict[str, str | None]") -> Mark | None:
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"[:300]
    if tag == "a" and "author" in (attributes.get("rel") or "").lower().split():
        mark = Mark.RELATION
    elif (attributes.get("itemprop") or "").lower() == "author":
        mark = Mark.PROPERTY if _has_more_than_a_name(node) else Mark.BYLINE
    elif _BOX.search(names):
        mark = Mark.BOX
    elif _BYLINE.search(names):
        mark = Mark.BYLINE
    else:
        return None
    return None if _is_of_others(node) else mark


def _has_more_than_a_name(node: "LexborNode") -> bool:
    inner = islice(node.traverse(), _TEXT_NODES)
    return any((one.attributes.get("itemprop") or "").lower() in _MORE_THAN_A_NAME for one in inner)


def _is_of_others(node: "LexborNode") -> bool:
    """Within a comment, a quotation or a review."""
    outer: LexborNode | None = node
    for _ in range(25):
        if outer is None or outer.tag in ("body", "main"):
            return False
        given = outer.attributes
        if outer.tag == "blockquote" or _OTHERS.search(f"{given.get('class') or ''} {given.get('id') or ''}"[:300]):
            return True
        outer = outer.parent
    return False
