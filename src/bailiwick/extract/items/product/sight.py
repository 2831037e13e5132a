"""What a person sees on a page, gathered by one walk through its tree: prices, labels, buttons, headings."""

# ruff: noqa: RUF001 - signs of currencies are Cyrillic, too

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from bailiwick.extract.items.product.words import BUY, BUY_MARK, CODE_LABEL, IN_STOCK, OUT_OF_STOCK

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_MOST_ELEMENTS = 30_000
_SHORT_CHARS = 60
_LONG_CHARS = 300
_SIGN_CHARS = 8
_MOST_OF_A_KIND = 400
_UNSEEN = frozenset({"script", "style", "noscript", "template", "svg", "head", "iframe", "select", "textarea"})
PRICE_MARK = re.compile(r"pri[cx]|preis|preci?o|prezzo|cena|cijena|цена|amount|betrag|hinta|pris\b|kaina")
_MONEY = re.compile(
    r"""[$€£¥₹₽₺₴₩₫₪฿₱₸₾₦]|\b(?:usd|eur|gbp|chf|pln|czk|sek|nok|dkk|huf|ron|bgn|rub|uah|brl|aud|cad|jpy|cny|inr|try|kzt|byn|mxn|aed|sar|
    ft|lei|kr|zł|kč|din|руб|грн|тг|лв|rs|rm|tl)\b|\d\s*(?:zł|kč|р\.|руб|тг|лв|원|円|元|kr)""",
    re.X,
)
_DIGIT = re.compile(r"\d")


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
    elements: int = 0


def look_at(tree: "HtmlElement") -> Sight:
    """One walk; what cannot be seen is not looked at."""
    sight = Sight()
    told: dict[str, tuple[bool, bool]] = {"  ": (False, False)}
    for place, node in enumerate(visible(tree)):
        sight.elements = place
        marks = marks_of(node)
        if marks not in told:  # the same few classes come again and again
            told[marks] = (bool(PRICE_MARK.search(marks)), bool(BUY_MARK.search(marks)))
        is_price, is_buy = told[marks]
        if node.tag == "h1" and (heading := _text(node, 300)):
            _add(sight.headings, node, place, heading)
        if is_price:
            _note_marked(sight, node, place)
        if is_buy or node.tag in ("button", "input"):
            _note_button(sight, node, place, is_buy=is_buy)
        text = node.text
        if text and not text.isspace():
            _note_text(sight, node, place, " ".join(text[:_LONG_CHARS].split()))
    return sight


def marks_of(node: "HtmlElement") -> str:
    """What its author calls it, in lower case."""
    get = node.get
    return f"{get('class', '')} {get('id', '')} {get('itemprop', '')}".lower()


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
    if _DIGIT.search(text):
        whole = _text(node, _SHORT_CHARS + 1)
        if len(whole) <= _SHORT_CHARS and _MONEY.search(whole.lower()):
            _add(sight.prices, node, place, whole)
    elif BUY.search(low):
        _add(sight.buys, node, place, text)
    elif len(text) <= _SIGN_CHARS and _MONEY.search(low):  # a sign whose amount stands in another element
        parent = node.getparent()
        whole = _text(parent, _SHORT_CHARS + 1) if parent is not None else ""
        if len(whole) <= _SHORT_CHARS and _DIGIT.search(whole):
            _add(sight.prices, parent, place, whole)
    if OUT_OF_STOCK.search(low) or IN_STOCK.search(low):
        _add(sight.stocks, node, place, low)


def _note_button(sight: Sight, node: "HtmlElement", place: int, *, is_buy: bool) -> None:
    text = node.get("value") or node.get("aria-label") or node.get("title") or _text(node, 80)
    if is_buy or BUY.search(text[:80].lower()) or BUY_MARK.search(node.get("name", "").lower()):
        _add(sight.buys, node, place, text[:80])


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
