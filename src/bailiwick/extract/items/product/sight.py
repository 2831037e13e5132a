"""What a person sees on a page, gathered by one walk through its tree: prices, labels, buttons, headings."""

# ruff: noqa: RUF001 - signs of currencies are Cyrillic, too

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from bailiwick.extract.items.product.words import (
    BRAND_LABEL,
    BUY,
    BUY_MARK,
    CODE_LABEL,
    IN_STOCK,
    OUT_OF_STOCK,
    says_something,
)

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_MOST_ELEMENTS = 30_000
_SHORT_CHARS = 60
_LONG_CHARS = 300
_SIGN_CHARS = 8
_MOST_OF_A_KIND = 400
_MOST_PARTS = 8
_UNSEEN = frozenset({"script", "style", "noscript", "template", "svg", "head", "iframe", "select", "textarea"})
PRICE_MARK = re.compile(r"pri[cx]|preis|preci?o|prezzo|cena|cijena|цена|amount|betrag|hinta|pris\b|kaina")
_MONEY = re.compile(
    r"""[$€£¥₹₽₺₴₩₫₪฿₱₸₾₦]|\b(?:usd|eur|gbp|chf|pln|czk|sek|nok|dkk|huf|ron|bgn|rub|uah|brl|aud|cad|jpy|cny|inr|try|kzt|byn|mxn|aed|sar|
    ft|lei|kr|zł|kč|din|руб|грн|тг|лв|rs|rm|tl)\b|\d\s*(?:zł|kč|р\.|руб|тг|лв|원|円|元|kr)""",
    re.X,
)
_DIGIT = re.compile(r"\d")
_CALLED = {
    "price": PRICE_MARK,
    "buy": BUY_MARK,
    "brand": re.compile("brand"),
    "rating": re.compile("rating|stars"),
    "trail": re.compile("bread-?_?crumb"),
}
Key = tuple[str | None, str | None, str | None]


@dataclass(frozen=True, slots=True)
class Seen:
    """An element with a short text, and its place in the order of the page."""

    node: "HtmlElement"
    place: int
    text: str


@dataclass(slots=True)
class Sight:
    headings: list[Seen] = field(default_factory=list)
    prices: list[Seen] = field(default_factory=list)
    codes: list[Seen] = field(default_factory=list)
    buys: list[Seen] = field(default_factory=list)
    stocks: list[Seen] = field(default_factory=list)
    """Words for being there or not, in texts so short that they say nothing else."""
    brands: list[Seen] = field(default_factory=list)
    brand_labels: list[Seen] = field(default_factory=list)
    ratings: list[Seen] = field(default_factory=list)
    trails: list[Seen] = field(default_factory=list)
    elements: int = 0


def look_at(tree: "HtmlElement") -> Sight:
    """One walk; what cannot be seen is not looked at."""
    sight = Sight()
    told: dict[Key, frozenset[str]] = {(None, None, None): frozenset()}
    for place, node in enumerate(visible(tree)):
        sight.elements = place
        get = node.get
        key = (get("class"), get("id"), get("itemprop"))
        called = told.get(key)
        if called is None:  # the same few classes come again and again
            marks = marks_of(node)
            called = told[key] = frozenset(name for name, mark in _CALLED.items() if mark.search(marks))
        if called:
            _note_called(sight, node, place, called)
        tag = node.tag
        if tag in ("button", "input") and "buy" not in called:
            _note_button(sight, node, place)
        elif tag == "h1" and (heading := _text(node, 300)):
            _add(sight.headings, node, place, heading)
        text = node.text
        if text and not text.isspace():
            _note_text(sight, node, place, " ".join(text[:_LONG_CHARS].split()))
        if (label := get("aria-label")) is not None:
            _note_label(sight, node, place, label.lower())
    return sight


def marks_of(node: "HtmlElement") -> str:
    """What its author calls it, in lower case."""
    get = node.get
    return f"{get('class', '')} {get('id', '')} {get('itemprop', '')}".lower()


def _note_called(sight: Sight, node: "HtmlElement", place: int, called: frozenset[str]) -> None:
    """By what it is called."""
    if "price" in called:
        _note_marked(sight, node, place)
    if "buy" in called:
        _add(sight.buys, node, place, _button_text(node))
    for name, found in (("brand", sight.brands), ("rating", sight.ratings), ("trail", sight.trails)):
        if name in called and len(found) < _MOST_PARTS:
            found.append(Seen(node, place, ""))


def _note_label(sight: Sight, node: "HtmlElement", place: int, label: str) -> None:
    """By what it is called for people who cannot see it."""
    if "breadcrumb" in label:
        _add(sight.trails, node, place, "")
    elif " out of " in label:
        _add(sight.ratings, node, place, "")


def _note_marked(sight: Sight, node: "HtmlElement", place: int) -> None:
    """An element that is called a price, if it is as short as one."""
    text = _text(node, _SHORT_CHARS + 1)
    if len(text) <= _SHORT_CHARS and _DIGIT.search(text):
        whole_node, whole = _with_sign(node, text)
        _add(sight.prices, whole_node, place, whole)


def visible(tree: "HtmlElement") -> Iterator["HtmlElement"]:
    """Elements in the order of the page, without those that show nothing."""
    body = next(tree.iter("body"), tree)
    skipped = 0
    for node in islice(body.iter(), _MOST_ELEMENTS):
        if skipped:
            skipped -= 1
        elif node.tag in _UNSEEN:
            skipped = sum(1 for _ in node.iter()) - 1
        elif isinstance(node.tag, str):
            yield node


def _note_text(sight: Sight, node: "HtmlElement", place: int, text: str) -> None:
    """Its own first text, as far as that tells something."""
    low = text.lower()
    if CODE_LABEL.match(low):
        _add(sight.codes, node, place, text[:200])
    if len(text) > _SHORT_CHARS:
        return
    if BRAND_LABEL.match(low):
        _add(sight.brand_labels, node, place, low)
    if _DIGIT.search(text) or len(text) <= _SIGN_CHARS:
        _note_money(sight, node, place, low)
    if says_something(low):
        if OUT_OF_STOCK.search(low) or IN_STOCK.search(low):
            _add(sight.stocks, node, place, low)
        elif BUY.search(low) and not _DIGIT.search(low):
            _add(sight.buys, node, place, text)


def _note_money(sight: Sight, node: "HtmlElement", place: int, low: str) -> None:
    """An amount with its sign, or a sign whose amount stands in another element."""
    if not _DIGIT.search(low):
        node = node.getparent() if _MONEY.search(low) else None
    whole = _text(node, _SHORT_CHARS + 1) if node is not None else ""
    if len(whole) <= _SHORT_CHARS and _DIGIT.search(whole) and _MONEY.search(whole.lower()):
        _add(sight.prices, node, place, whole)


def _note_button(sight: Sight, node: "HtmlElement", place: int) -> None:
    text = _button_text(node)
    if BUY.search(text.lower()) or BUY_MARK.search(node.get("name", "").lower()):
        _add(sight.buys, node, place, text)


def _button_text(node: "HtmlElement") -> str:
    return str(node.get("value") or node.get("aria-label") or node.get("title") or _text(node, 80))[:80]


def _with_sign(node: "HtmlElement", text: str) -> "tuple[HtmlElement, str]":
    """The element, or the one around it where only that has the sign: 29 and 99 are parts of $29.99."""
    above = node.getparent()
    if above is None or _MONEY.search(text.lower()):
        return node, text
    whole = _text(above, _SHORT_CHARS + 1)
    return (above, whole) if len(whole) <= _SHORT_CHARS and _MONEY.search(whole.lower()) else (node, text)


def _add(found: list[Seen], node: "HtmlElement", place: int, text: str) -> None:
    if len(found) < _MOST_OF_A_KIND:
        found.append(Seen(node, place, text))


def _text(node: "HtmlElement", limit: int) -> str:
    """Its text with single spaces, cut behind the limit. A raised number is a number of its own: 9 and 99."""
    parts: list[str] = []
    length = 0
    for piece in node.itertext():
        parts.append(piece)
        length += len(piece)
        if length > limit * 8:
            break
    return " ".join(" ".join(parts).split())[:limit]
