"""What a person sees on a page, gathered by one walk through its tree: prices, labels, buttons, headings.

Words (of stock, of buying, of a brand) are looked for among the short texts of that walk only when somebody asks: of
most pages the markup has said it.
"""

# ruff: noqa: RUF001 - signs of currencies are Cyrillic, too

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

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
_ANY_CALLED = re.compile(
    r"pr[ei]|c(?:ij)?ena|цена|amount|betrag|hinta|kaina|cart|bag|basket|buy|brand|rating|stars|bread"
)
"""A part of each of these: one quick look, for most elements are called otherwise."""
_BUTTONS = frozenset({"button", "input"})
Key = tuple[str | None, str | None, str | None]


class Seen(NamedTuple):
    """An element with a short text, and its place in the order of the page."""

    node: "HtmlElement"
    place: int
    text: str


@dataclass
class Sight:
    headings: list[Seen] = field(default_factory=list)
    prices: list[Seen] = field(default_factory=list)
    codes: list[Seen] = field(default_factory=list)
    brands: list[Seen] = field(default_factory=list)
    ratings: list[Seen] = field(default_factory=list)
    trails: list[Seen] = field(default_factory=list)
    carts: list[Seen] = field(default_factory=list)
    """What is called a button for buying."""
    buttons: list[Seen] = field(default_factory=list)
    """All others."""
    texts: list[Seen] = field(default_factory=list)
    """In lower case, so short that each says one thing."""

    @cached_property
    def stocks(self) -> list[Seen]:
        """Words for being there or not."""
        return [seen for seen, is_about_stock in self._words if is_about_stock][:_MOST_OF_A_KIND]

    @cached_property
    def buys(self) -> list[Seen]:
        """Ways to buy it: buttons, and words without a number."""
        pressed = [seen for seen in self.buttons if _is_for_buying(seen.node)]
        other = [seen for seen, is_about_stock in self._words if not is_about_stock]
        said = [seen for seen in other if BUY.search(seen.text) and not _DIGIT.search(seen.text)]
        return sorted(self.carts + pressed + said, key=attrgetter("place"))[:_MOST_OF_A_KIND]

    @cached_property
    def brand_labels(self) -> list[Seen]:
        return [seen for seen in self.texts if BRAND_LABEL.match(seen.text)][:_MOST_OF_A_KIND]

    @cached_property
    def _words(self) -> list[tuple[Seen, bool]]:
        """Texts that say something a shop says, and whether that is about stock."""
        said = [seen for seen in self.texts if says_something(seen.text)]
        return [(seen, bool(OUT_OF_STOCK.search(seen.text) or IN_STOCK.search(seen.text))) for seen in said]


def look_at(tree: "HtmlElement") -> Sight:
    """One walk; what cannot be seen is not looked at."""
    sight = Sight()
    told: dict[Key, frozenset[str]] = {(None, None, None): frozenset()}
    for place, node in enumerate(visible(tree)):
        get = node.get
        key = (get("class"), get("id"), get("itemprop"))
        called = told.get(key)
        if called is None:  # the same few classes come again and again
            called = told[key] = _names_in(marks_of(node))
        if called:
            _note_called(sight, node, place, called)
        tag = node.tag
        if tag in _BUTTONS and "buy" not in called:
            sight.buttons.append(Seen(node, place, ""))
        elif tag == "h1" and (heading := _text(node, 300)):
            _add(sight.headings, node, place, heading)
        text = node.text
        if text and not text.isspace():
            _note_text(sight, node, place, text)
        if (label := get("aria-label")) is not None:
            _note_label(sight, node, place, label.lower())
    return sight


def _names_in(marks: str) -> frozenset[str]:
    """What its author calls it: a price, a button to buy, a brand, a rating, a trail."""
    if _ANY_CALLED.search(marks) is None:
        return frozenset()
    return frozenset(name for name, mark in _CALLED.items() if mark.search(marks))


def marks_of(node: "HtmlElement") -> str:
    """What its author calls it, in lower case."""
    get = node.get
    return f"{get('class', '')} {get('id', '')} {get('itemprop', '')}".lower()


def _note_called(sight: Sight, node: "HtmlElement", place: int, called: frozenset[str]) -> None:
    """By what it is called."""
    if "price" in called:
        _note_marked(sight, node, place)
    if "buy" in called:
        _add(sight.carts, node, place, "")
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
    for node in islice(body.iter("*"), _MOST_ELEMENTS):
        if skipped:
            skipped -= 1
        elif node.tag not in _UNSEEN:
            yield node
        elif len(node):
            skipped = sum(1 for _ in node.iter("*")) - 1


def _note_text(sight: Sight, node: "HtmlElement", place: int, given: str) -> None:
    """Its own first text, as far as that tells something."""
    text = " ".join(given[:_LONG_CHARS].split())
    low = text.lower()
    if CODE_LABEL.match(low):
        _add(sight.codes, node, place, text[:200])
    if len(text) > _SHORT_CHARS:
        return
    sight.texts.append(Seen(node, place, low))
    if _DIGIT.search(low):
        is_all = len(node) == 0 and len(given) <= _LONG_CHARS
        _note_money(sight, node, place, text if is_all else _text(node, _SHORT_CHARS + 1))
    elif len(text) <= _SIGN_CHARS and _MONEY.search(low) and (above := node.getparent()) is not None:
        _note_money(sight, above, place, _text(above, _SHORT_CHARS + 1))


def _note_money(sight: Sight, node: "HtmlElement", place: int, whole: str) -> None:
    """An amount with its sign, which may stand in elements of their own."""
    if len(whole) <= _SHORT_CHARS and _DIGIT.search(whole) and _MONEY.search(whole.lower()):
        _add(sight.prices, node, place, whole)


def _is_for_buying(button: "HtmlElement") -> bool:
    return bool(BUY.search(_button_text(button).lower()) or BUY_MARK.search(button.get("name", "").lower()))


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
