"""What a reader sees in the main area of a page: headings, lines, fields and buttons. The tree stays as it is."""
# ruff: noqa: RUF001, SIM905 - letters of other alphabets; word lists read best as a line of words

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from bailiwick.crawl.lookalikes.words import plain, weight

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_MOST_NODES = 1200
_MOST_PROSE = 1200
_MOST_LINKS = 120
_MOST_KEPT = 40
_PIECE = 300
_LONG_CODE = 80
_NEARLY_NOTHING = 80

_UNSEEN = frozenset("script style noscript template svg nav footer aside iframe textarea object video audio".split())
_SECTIONS = frozenset({"main", "article", "section"})
_INLINE = frozenset("a abbr b bdi br code em font i kbd mark small span strong sub sup time u wbr".split())
_HEADINGS = frozenset({"h1", "h2", "h3", "legend"})
_CONTROLS = frozenset({"a", "button", "input", "select", "form"})
_UNSEEN_ROLES = frozenset({"navigation", "banner", "contentinfo", "complementary", "search", "menu"})
_CHROME = re.compile(
    r"(?!no-|has-|with-|without-)(?:\S*[_-])?(?:header|headerbar|masthead|topbar|topnav|navbar|nav|navigation"
    r"|menu|toolbar|breadcrumbs?|footer|foot|footer-links|collapse|kopf|kopfzeile|fuss|fusszeile|cabecera|pie|barra|topo"
    r"|rodape|entete|testata|naglowek|stopka|topbalk|voet)"
)
_ASIDE = frozenset(
    "side lateral barra-lateral seitenleiste sidebar side-bar left-sidebar right-sidebar widget widget-area cookie "
    "cookies cookie-banner cookie-notice cookie-consent cookie-bar consent gdpr hidden hide d-none sr-only "
    "visually-hidden visuallyhidden is-hidden screen-reader-text mfp-hide".split()
)
_OVERLAY = re.compile(
    r"(?:^|[\s_-])(?:modal|popup|dropdown|offcanvas|drawer|flyout|lightbox|popover|megamenu)(?:$|[\s_-])"
)
_SHOWN = frozenset({"show", "shown", "open", "is-open", "visible", "is-visible", "active", "is-active"})
_SIDE_FORM = re.compile(
    r"(?:^|[\s_-])(?:header|navbar|nav|top|topbar|sidebar|side|widget|quick|mini|footer|comments?|block)(?:$|[\s_-])"
)
_UNDISPLAYED = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")
_AUTHOR = re.compile(r"(?:^|[\s_-])(?:byline|author|posted-on|entry-meta|post-meta)(?:$|[\s_-])")
_PRICE = re.compile(r"[€$£¥]\s?\d|\d\s?(?:[€£¥円元]|zł\b|EUR\b|USD\b|руб)")

Attributes = dict[str, str | None]


@dataclass(frozen=True, slots=True)
class Field:
    """A visible field of a form in the main area."""

    type: str
    names: str
    """Its name, its id and what it says of itself, plain."""
    autocomplete: str
    action: str
    """Where its form is sent to."""


@dataclass(slots=True)
class Sight:
    """What there is to see, counted only as far as a lookalike may have it."""

    headings: list[tuple[str, str]] = field(default_factory=list)
    """(tag, text) in the order of the page; the name of the site is left out."""
    lines: list[str] = field(default_factory=list)
    """Text blocks outside links, headings and forms' labels."""
    buttons: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    """(text, href), the first of them."""
    fields: list[Field] = field(default_factory=list)
    link_count: int = 0
    prose: int = 0
    """The weight of the text outside links, buttons and headings."""
    form_prose: int = 0
    """Of that in forms."""
    code: int = 0
    rows: int = 0
    """Of tables with heads, and of definition lists."""
    steps: int = 0
    sections: int = 0
    """Headings with a good line of text below."""
    prices: int = 0
    is_signed: bool = False
    """It names its author or its date."""
    nodes: int = 0
    is_cut_short: bool = False


class _Place(NamedTuple):
    """Where the walk is."""

    is_section: bool = False
    is_side: bool = False
    """Its text counts, its forms do not."""
    is_link: bool = False
    is_form: bool = False
    action: str = ""


def look_at(tree: "LexborHTMLParser") -> Sight:
    """Walk the main area, until it is more than a lookalike has."""
    walk = _Walk()
    if tree.body is not None:
        walk.through(tree.body)
    if not (walk.sight.headings or walk.sight.fields or walk.sight.prose > _NEARLY_NOTHING):
        # A dialog over a page that shows nothing else is the page.
        for dialog in walk.dialogs[:2]:
            walk.through(dialog)
    return walk.sight


class _Walk:
    def __init__(self) -> None:
        self.sight = Sight()
        self.dialogs: list[LexborNode] = []
        self._line: list[str] = []
        self._has_prose = False
        self._is_below_heading = False

    def through(self, root: "LexborNode") -> None:
        stack: list[tuple[Iterator[LexborNode], _Place, str]] = [(_children(root), _Place(), "body")]
        sight = self.sight
        while stack:
            children, place, tag = stack[-1]
            node = next(children, None)
            if node is None:
                stack.pop()
                self._break(tag)
                continue
            sight.nodes += 1
            name = node.tag or ""
            if name == "-text":
                self._read(node.text_lexbor(), place)
            elif (inside := self._enter(node, name, place)) is not None:
                self._break(name)
                stack.append((_children(node), inside, name))
            if sight.prose > _MOST_PROSE or sight.nodes > _MOST_NODES or sight.link_count > _MOST_LINKS:
                sight.is_cut_short = True
                break

    def _break(self, tag: str) -> None:
        """A line ends. One of links alone is a menu, not a line."""
        if tag in _INLINE:
            return
        if self._has_prose:
            text = " ".join("".join(self._line).split())
            if self.sight.headings and len(text) > _NEARLY_NOTHING and self._is_below_heading:
                self.sight.sections += 1
                self._is_below_heading = False
            self.sight.lines.append(text)
        self._line.clear()
        self._has_prose = False

    def _read(self, text: str, place: _Place) -> None:
        words = " ".join(text[: 4 * _MOST_PROSE].split())
        if not place.is_link:
            self.sight.prose += weight(words)
            self.sight.form_prose += weight(words) * place.is_form
            self.sight.prices += len(_PRICE.findall(words))
            self._has_prose = True
        self._line += (" ", words, " ")

    def _enter(self, node: "LexborNode", tag: str, place: _Place) -> _Place | None:
        """Note this element; its children are looked at from the place that comes back, or not at all."""
        if tag in _UNSEEN and not (tag == "footer" and place.is_section):
            return None
        attributes = node.attributes
        if attributes and tag not in _HEADINGS:
            is_dialog = attributes.get("role") in ("dialog", "alertdialog")
            if is_dialog:
                self.dialogs.append(node)
            if is_dialog or _is_out_of_sight(node, attributes, is_section=place.is_section):
                return None
            self.sight.is_signed |= _signs(attributes)
            self.sight.prices += attributes.get("itemprop") == "price"
        if tag in _HEADINGS:
            return self._note_heading(node, tag)
        if tag in _CONTROLS:
            return self._note_control(node, tag, attributes, place)
        return self._pass(node, tag, attributes, place)

    def _pass(self, node: "LexborNode", tag: str, attributes: Attributes, place: _Place) -> _Place | None:
        if (tag == "header" and not place.is_section) or (tag == "dialog" and "open" not in attributes):
            return None
        if tag == "details" and "open" not in attributes:
            return place._replace(is_side=True)
        self._count(node, tag)
        return place._replace(is_section=True) if tag in _SECTIONS else place

    def _count(self, node: "LexborNode", tag: str) -> None:
        if tag in ("pre", "code"):
            text = node.text_lexbor()
            # A path that was not found is often set as code: within a line only much of it counts.
            self.sight.code += len(text) if tag == "pre" or len(text) > _LONG_CODE or "\n" in text.strip() else 0
        elif tag in ("th", "dt"):
            self.sight.rows += 1
        elif tag == "ol":
            self.sight.steps += 1
        elif tag == "time":
            self.sight.is_signed = True

    def _note_heading(self, node: "LexborNode", tag: str) -> _Place | None:
        link = node.css_first("a[href]")
        is_site_name = link is not None and (link.attributes["href"] or "").rstrip("/").count("/") in (0, 2)
        text = " ".join(node.text(separator=" ").split())[:_PIECE]
        if text and len(self.sight.headings) < _MOST_KEPT and not (is_site_name and tag == "h1"):
            self._break("div")
            self.sight.headings.append((tag, text))
            self._is_below_heading = True
        return None

    def _note_control(self, node: "LexborNode", tag: str, attributes: Attributes, place: _Place) -> _Place | None:
        sight = self.sight
        value = {name: (text or "")[:_PIECE] for name, text in attributes.items()}
        if tag == "form":
            is_side = _SIDE_FORM.search(f"{value.get('class', '')} {value.get('id', '')}".lower()) is not None
            return place._replace(is_form=True, is_side=place.is_side or is_side, action=value.get("action", ""))
        if tag == "a":
            sight.link_count += 1
            if len(sight.links) < _MOST_KEPT and not place.is_side:
                sight.links.append((node.text_lexbor()[:_PIECE], value.get("href", "")))
            return place._replace(is_link=True)
        if place.is_side or max(len(sight.fields), len(sight.buttons)) >= _MOST_KEPT:
            return None
        kind = (value.get("type") or "text").lower()
        if tag == "button":
            sight.buttons.append(node.text_lexbor()[:_PIECE].strip() or value.get("aria-label", ""))
        elif tag == "input" and kind in ("submit", "button", "image"):
            sight.buttons.append(value.get("value", ""))
        else:
            names = " ".join(value.get(name, "") for name in ("name", "id", "type", "placeholder", "aria-label"))
            kind = tag if tag == "select" else kind
            sight.fields.append(Field(kind, plain(names), value.get("autocomplete", "").lower(), place.action))
        return None


def _children(node: "LexborNode") -> "Iterator[LexborNode]":
    return node.iter(include_text=True, skip_empty=True)


def _signs(attributes: Attributes) -> bool:
    return (
        "datetime" in attributes
        or attributes.get("rel") == "author"
        or attributes.get("itemprop") in ("author", "datePublished")
        or ("class" in attributes and _AUTHOR.search(attributes["class"] or "") is not None)
    )


def _is_out_of_sight(node: "LexborNode", attributes: Attributes, *, is_section: bool) -> bool:
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    if "style" in attributes and _UNDISPLAYED.search(attributes["style"] or ""):
        return True
    if attributes.get("role") in _UNSEEN_ROLES:
        return True
    part = _part((attributes.get("class") or "")[:_PIECE], (attributes.get("id") or "")[:_PIECE])
    is_out = part == "aside" or (part == "chrome" and not is_section)
    # A wrapper of the whole page may be named for one part of it.
    return is_out and node.css_first("main, article") is None


@lru_cache(4096)
def _part(css_class: str, css_id: str) -> str:
    """What the names of an element say that it is. Within a section, a header or a menu is a part of the content."""
    names = f"{css_class} {css_id}".lower()
    tokens = names.split()
    if (_OVERLAY.search(names) and _SHOWN.isdisjoint(tokens)) or not _ASIDE.isdisjoint(tokens):
        return "aside"
    return "chrome" if any(map(_CHROME.fullmatch, tokens)) else "main"
