"""A page as lines of text in reading order, each with its place: which part of the page, which heading, which cell."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from bailiwick.extract.items.emails import deciphered, written_by_script

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MOST_LINES = 3_000
MOST_LINE_CHARS = 2_000
_MOST_LINKS = 2_000
_MOST_CLASS_CHARS = 300


class Zone(StrEnum):
    """The part of a page that a line stands in."""

    MAIN = "main"
    HEADER = "header"
    FOOTER = "footer"
    NAV = "nav"
    ASIDE = "aside"
    """Beside the matter: what else there is to read, notices of cookies, newsletters."""


@dataclass(frozen=True, slots=True)
class Link:
    text: str
    href: str
    """As written."""
    is_button: bool


@dataclass(slots=True)
class Line:
    """What stands between two breaks."""

    text: str
    zone: Zone
    tag: str
    """Of the block that it stands in."""
    level: int
    """1 to 6 of a heading, 7 of what serves as one (dt, th, summary, a line that is all bold), 0 of text."""
    lead: str = ""
    """What is bold at its beginning, if something follows."""
    links: list[Link] = field(default_factory=list)
    row: int = 0
    """Number of the table row that it stands in, 0 outside of tables."""
    cell: int = 0
    block: int = 0
    """Number of its block: lines that only a <br> parts share it."""
    node: "HtmlElement | None" = None
    has_digit: bool = False


_BLOCKS_TEXT = """
    address article aside blockquote body button caption center dd details dialog div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main nav noscript ol option p pre section
    select summary table tbody td tfoot th thead tr ul
"""
_BLOCKS = frozenset(_BLOCKS_TEXT.split())
_SKIPPED_TEXT = """
    script style title template svg iframe object canvas math select option video audio
"""
_SKIPPED = frozenset(_SKIPPED_TEXT.split())
_HEADINGS = {f"h{n}": n for n in range(1, 7)} | dict.fromkeys(("dt", "th", "summary", "legend", "caption"), 7)
_BOXES = frozenset(("a", "label", "span"))
_BOLD = frozenset(("b", "strong", "big"))
_BY_TAG = {"nav": Zone.NAV, "footer": Zone.FOOTER, "aside": Zone.ASIDE, "header": Zone.HEADER, "toolbar": Zone.NAV}
"""Also of elements of a site's own: <app-footer>."""
_BY_ROLE = {
    "navigation": Zone.NAV,
    "contentinfo": Zone.FOOTER,
    "complementary": Zone.ASIDE,
    "banner": Zone.HEADER,
    "dialog": Zone.ASIDE,
    "search": Zone.NAV,
    "main": Zone.MAIN,
}
_NAMES = (
    (Zone.FOOTER, re.compile(r"(?:^|[\s_-])(?:footer|foot|fuss|ft|colophon|site-info|impressum-footer)(?:$|[\s_\d-])")),
    (
        Zone.ASIDE,
        re.compile(
            r"cookie|cli-bar|consent|gdpr|newsletter|bandeau|sharedaddy|share-|related|similar|recent|cc-window|"
            r"modal|"
            r"(?:^|[\s_-])(?:sidebar|widget|aside|teaser|ads?|advert)(?:$|[\s_-])"
        ),
    ),
    (
        Zone.NAV,
        re.compile(
            r"(?:^|[\s_-])(?:nav|navbar|navigation|menu|mega-menu|breadcrumbs?|crumb|subnav|"
            r"section-menu)(?:$|[\s_-])"
        ),
    ),
    (
        Zone.HEADER,
        re.compile(
            r"(?:^|\s)header(?:$|\s)|(?:^|[\s_-])(?:masthead|site-header|page-header|global-header|topbar|top-strip|hd)(?:$|[\s_-])"
        ),
    ),
)
_BUTTON = re.compile(r"btn|button|cta\b|knopf")
_DIGIT = re.compile(r"\d")


class _Reader:
    """One walk through a tree."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._zones = [Zone.MAIN]
        self._blocks: list[tuple[str, HtmlElement | None]] = [("body", None)]
        self._parts: list[str] = []
        self._bold_parts: list[str] = []
        self._chars = self._bold = self._row = self._cell = self._rows = self._block = self._links = 0
        self._is_bold_so_far = True
        self._pending: list[Link] = []
        self._rows_open: list[tuple[int, int]] = []
        self._known: dict[str, Zone | None] = {}

    def read(self, root: "HtmlElement") -> list[Line]:
        from lxml import etree

        walk = etree.iterwalk(root, events=("start", "end"))
        for event, node in walk:
            tag = node.tag
            if event == "start":
                if tag in _SKIPPED:
                    if tag == "script":
                        self._text(self._scripted(node))
                    walk.skip_subtree()
                    continue
                self._start(node, tag)
                hidden = self._hidden(node)
                if hidden is None:
                    self._text(node.text)
                else:
                    self._text(hidden)
                    walk.skip_subtree()
            else:
                if tag not in _SKIPPED:
                    self._end(node, tag)
                self._text(node.tail)
            if len(self.lines) >= MOST_LINES:
                break
        self._flush()
        return self.lines

    def _scripted(self, script: "HtmlElement") -> str | None:
        """The e-mail address that a script writes in its place."""
        text = script.text
        return written_by_script(text) if text and not script.get("src") and "mailto:" in text else None

    @staticmethod
    def _hidden(node: "HtmlElement") -> str | None:
        """The text of an element that shows something else than it holds; None for all others."""
        if code := node.get("data-cfemail"):
            return deciphered(code)
        style = node.get("style")
        if style and "bidi" in style[:500] and len(text := node.text_content()[:500]) < 200:
            return str(text[::-1])
        return None

    @staticmethod
    def _is_beside_another(node: "HtmlElement") -> bool:
        """Inline elements with nothing between them are boxes of a layout, not words of a sentence."""
        before = node.getprevious()
        return before is not None and before.tag in _BOXES and not before.tail

    def _start(self, node: "HtmlElement", tag: str) -> None:
        if tag in _BOXES and self._is_beside_another(node):
            self._flush()
        if tag in _BLOCKS or "-" in tag:
            self._flush()
            self._block += 1
            self._zones.append(self._zone(node, tag))
            self._blocks.append((tag, node))
            if tag == "tr":
                self._rows_open.append((self._row, self._cell))
                self._rows += 1
                self._row, self._cell = self._rows, 0
            elif tag in ("td", "th"):
                self._cell += 1
        elif tag == "br":
            self._flush()
        elif tag in _BOLD:
            self._bold += 1
        elif tag == "a" and self._links < _MOST_LINKS:
            href = node.get("href")
            if href:
                self._links += 1
                words = " ".join(("".join(node.itertext()) if len(node) else node.text or "")[:300].split())
                self._pending.append(Link(words, href[:4_000].strip(), _looks_like_button(node)))

    def _end(self, _: "HtmlElement", tag: str) -> None:
        if tag in _BLOCKS or "-" in tag:
            self._flush()
            if len(self._blocks) > 1:
                self._zones.pop()
                self._blocks.pop()
            if tag == "tr" and self._rows_open:
                self._row, self._cell = self._rows_open.pop()
        elif tag in _BOLD:
            self._bold = max(0, self._bold - 1)

    def _text(self, text: str | None) -> None:
        if not text or self._chars > MOST_LINE_CHARS:
            return
        text = text[:MOST_LINE_CHARS]
        self._chars += len(text)
        self._parts.append(text)
        if self._is_bold_so_far:
            if self._bold:
                self._bold_parts.append(text)
            elif text.strip():
                self._is_bold_so_far = False

    def _flush(self) -> None:
        if self._parts or self._pending:
            text = " ".join("".join(self._parts).split())
            if text or self._pending:
                self._add(text)
            self._parts, self._bold_parts, self._pending = [], [], []
            self._chars, self._is_bold_so_far = 0, True

    def _add(self, text: str) -> None:
        tag, node = self._blocks[-1]
        lead = " ".join("".join(self._bold_parts).split()) if self._bold_parts else ""
        level = self._level(tag)
        if not level and lead and lead == text and tag != "td":
            level = 7
        self.lines.append(
            Line(
                text[:MOST_LINE_CHARS], self._zones[-1], tag, level, lead if lead != text else "",
                self._pending, self._row, self._cell, self._block, node, _DIGIT.search(text) is not None,
            )
        )  # fmt: skip

    def _level(self, tag: str) -> int:
        if tag in _HEADINGS:
            return _HEADINGS[tag]
        for above, _ in self._blocks[-1:-5:-1]:  # a heading around a button, a div or a paragraph
            if above in _HEADINGS and above[0] == "h":
                return _HEADINGS[above]
        return 7 if tag == "button" else 0

    def _zone(self, node: "HtmlElement", tag: str) -> Zone:
        around = self._zones[-1]
        if tag in ("body", "html"):
            return Zone.MAIN
        if tag == "main":
            return Zone.MAIN
        if tag == "tr" or tag in _HEADINGS:
            return around
        if around in (Zone.FOOTER, Zone.NAV, Zone.ASIDE):
            return around
        zone = _BY_TAG.get(tag.rpartition("-")[2]) or _BY_ROLE.get(node.get("role") or "")
        if zone is None:
            names = f"{node.get('class') or ''} {node.get('id') or ''}"[:_MOST_CLASS_CHARS]
            if len(names) > 1:
                zone = self._zone_of(names)
        if zone is None or zone is Zone.MAIN:
            return zone or around
        return around if self._holds_the_matter(node) else zone

    def _zone_of(self, names: str) -> Zone | None:
        """By class and id, of which the same few come again and again."""
        if names not in self._known:
            lowered = names.lower()
            self._known[names] = next((zone for zone, pattern in _NAMES if pattern.search(lowered)), None)
        return self._known[names]

    @staticmethod
    def _holds_the_matter(node: "HtmlElement") -> bool:
        """A frame around everything may be named after one of its parts."""
        return next(node.iter("h1", "main", "article"), None) is not None


def _looks_like_button(node: "HtmlElement") -> bool:
    return (
        node.get("role") == "button"
        or _BUTTON.search((node.get("class") or "")[:_MOST_CLASS_CHARS].lower()) is not None
    )


def plain_lines(text: str) -> list[Line]:
    """Lines of a text without markup: a PDF, plain text."""
    stripped = (" ".join(line[:MOST_LINE_CHARS].split()) for line in text.split("\n", 20 * MOST_LINES))
    kept = [line for line in stripped if line][:MOST_LINES]
    return [
        Line(line, Zone.MAIN, "p", 0, block=number, has_digit=_DIGIT.search(line) is not None)
        for number, line in enumerate(kept)
    ]


def read_lines(root: "HtmlElement") -> list[Line]:
    """All lines of a page, the first few thousand."""
    return _Reader().read(root)
