"""What a person sees on a page, gathered by one walk through its tree: prices, labels, buttons, headings.

A page has thousands of elements, so the walk asks of each no more than its tag, its names and its first text. Words (of
stock, of buying, of a brand) and amounts are looked for among these only when somebody asks: of most pages the markup
has said it.
"""

# ruff: noqa: RUF001 - signs of currencies are Cyrillic, too

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING

from bailiwick.extract.items.product.texts import Seen, Texts
from bailiwick.extract.items.product.words import BRAND_LABEL, BUY, BUY_MARK, CODE_LABEL, IN_STOCK, OUT_OF_STOCK

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
_TOLD = dict.fromkeys(_UNSEEN, "unseen") | {"h1": "heading", "button": "button", "input": "button"}
"""What the walk has to know of an element by its tag."""
_NOTHING: frozenset[str] = frozenset()


@dataclass
class Sight:
    headings: list[Seen] = field(default_factory=list)
    codes: list[Seen] = field(default_factory=list)
    brands: list[Seen] = field(default_factory=list)
    ratings: list[Seen] = field(default_factory=list)
    trails: list[Seen] = field(default_factory=list)
    carts: list[Seen] = field(default_factory=list)
    """What is called a button for buying."""
    buttons: "list[tuple[HtmlElement, int]]" = field(default_factory=list)
    """All others, with their places."""
    marked: "list[tuple[HtmlElement, int]]" = field(default_factory=list)
    """What is called a price."""
    texts: Texts = field(default_factory=lambda: Texts([], [], []))
    """So short that each says one thing."""

    @cached_property
    def prices(self) -> list[Seen]:
        """Amounts of money: what is called a price and has a number, and numbers with a sign."""
        marked = (_marked(node, place) for node, place in self.marked)
        found = [*filter(None, marked), *_amounts(self.texts)]
        return sorted(found, key=attrgetter("place"))[:_MOST_OF_A_KIND]

    @cached_property
    def stocks(self) -> list[Seen]:
        """Words for being there or not."""
        return [seen for seen, is_about_stock in self._words if is_about_stock][:_MOST_OF_A_KIND]

    @cached_property
    def buys(self) -> list[Seen]:
        """Ways to buy it: buttons, and words without a number."""
        pressed = [Seen(node, place, "") for node, place in self.buttons if _is_for_buying(node)]
        other = [seen for seen, is_about_stock in self._words if not is_about_stock]
        said = [seen for seen in other if BUY.search(seen.text) and not _DIGIT.search(seen.text)]
        return sorted(self.carts + pressed + said, key=attrgetter("place"))[:_MOST_OF_A_KIND]

    @cached_property
    def brand_labels(self) -> list[Seen]:
        texts = self.texts
        return [texts.seen(at) for at, text in enumerate(texts.low) if BRAND_LABEL.match(text)][:_MOST_OF_A_KIND]

    @cached_property
    def _words(self) -> list[tuple[Seen, bool]]:
        """Texts that say something a shop says, and whether that is about stock."""
        said = self.texts.telling()
        return [(seen, bool(OUT_OF_STOCK.search(seen.text) or IN_STOCK.search(seen.text))) for seen in said]


def look_at(tree: "HtmlElement") -> Sight:
    """One walk; what cannot be seen is not looked at."""
    sight = Sight()
    walk = _Walk(tree)
    nodes, called = walk.nodes, walk.called()
    for place in sorted(called):
        _note_called(sight, nodes[place], place, called[place])
    for place in walk.headings:
        if heading := _text(nodes[place], 300):
            _add(sight.headings, nodes[place], place, heading)
    sight.buttons = [(nodes[place], place) for place in walk.buttons if "buy" not in called.get(place, _NOTHING)]
    texts = Texts([nodes[place] for place in walk.places], walk.places, walk.given)
    codes = (at for at, text in enumerate(texts.low) if CODE_LABEL.match(text))
    for at in islice(codes, _MOST_OF_A_KIND):
        sight.codes.append(Seen(texts.nodes[at], texts.places[at], texts.written[at][:200]))
    sight.texts = texts.of_length(_SHORT_CHARS)
    return sight


class _Walk:
    """Elements in the order of the page, without those that show nothing, and what was asked of each on the way.

    All in one pass: a tree is larger than a processor's cache, and a second one would fetch each element again.
    """

    def __init__(self, tree: "HtmlElement") -> None:
        self.nodes: list[HtmlElement] = []
        self.headings: list[int] = []
        self.buttons: list[int] = []
        self.places: list[int] = []
        """Of elements that begin with a text."""
        self.given: list[str] = []
        """These texts."""
        self._classes: list[str | None] = []
        self._ids: list[str | None] = []
        self._properties: dict[int, str] = {}
        self._labels: dict[int, str] = {}
        self._go(tree)

    def _go(self, tree: "HtmlElement") -> None:
        nodes, classes, ids, places, given = self.nodes, self._classes, self._ids, self.places, self.given
        properties, labels = self._properties, self._labels
        body = next(tree.iter("body"), tree)
        walk = islice(body.iter("*"), _MOST_ELEMENTS)
        for node in walk:
            told = _TOLD.get(node.tag)
            if told is not None and self._is_unseen(node, told, walk):
                continue
            get = node.get
            classes.append(get("class"))
            ids.append(get("id"))
            if (value := get("itemprop")) is not None:
                properties[len(nodes)] = value
            if (value := get("aria-label")) is not None:
                labels[len(nodes)] = value
            text = node.text
            if text and not text.isspace():
                places.append(len(nodes))
                given.append(text[:_LONG_CHARS])
            nodes.append(node)

    def _is_unseen(self, node: "HtmlElement", told: str, walk: "Iterator[HtmlElement]") -> bool:
        if told == "unseen":
            if len(node):
                deque(islice(walk, sum(1 for _ in node.iter("*")) - 1), maxlen=0)
            return True
        (self.headings if told == "heading" else self.buttons).append(len(self.nodes))
        return False

    def called(self) -> dict[int, frozenset[str]]:
        """By place what elements are called, of those that are: a price, a button to buy, a brand, a rating, a trail.

        The same few classes come again and again. No mark goes over the end of a name: each counts by itself.
        """
        found: dict[int, frozenset[str]] = {}
        names = _names_in({*self._classes, *self._ids, *self._properties.values()})
        if names:
            for values in (enumerate(self._classes), enumerate(self._ids), self._properties.items()):
                for place, value in values:
                    if value in names:
                        found[place] = found.get(place, _NOTHING) | names[value]
        for place, label in self._labels.items():
            if (name := _label_in(label.lower())) is not None:
                found[place] = found.get(place, _NOTHING) | {name}
        return found


def _names_in(values: Iterable[str | None]) -> dict[str | None, frozenset[str]]:
    """What these classes, ids and properties stand for, of those that stand for anything."""
    found: dict[str | None, frozenset[str]] = {}
    for value in values:
        if value and _ANY_CALLED.search(low := value.lower()) is not None:
            names = frozenset(name for name, mark in _CALLED.items() if mark.search(low))
            if names:
                found[value] = names
    return found


def _label_in(label: str) -> str | None:
    """What an element is called for people who cannot see it."""
    if "breadcrumb" in label:
        return "trail, by its label"
    return "rating, by its label" if " out of " in label else None


def marks_of(node: "HtmlElement") -> str:
    """What its author calls it, in lower case."""
    get = node.get
    return f"{get('class', '')} {get('id', '')} {get('itemprop', '')}".lower()


def _note_called(sight: Sight, node: "HtmlElement", place: int, called: frozenset[str]) -> None:
    """By what it is called."""
    if "price" in called:
        sight.marked.append((node, place))
    if "buy" in called:
        _add(sight.carts, node, place, "")
    for name, found in (("brand", sight.brands), ("rating", sight.ratings), ("trail", sight.trails)):
        if name in called and len(found) < _MOST_PARTS:
            found.append(Seen(node, place, ""))
        if f"{name}, by its label" in called:
            _add(found, node, place, "")


def _marked(node: "HtmlElement", place: int) -> Seen | None:
    """An element that is called a price, if it is as short as one."""
    text = _text(node, _SHORT_CHARS + 1)
    if len(text) > _SHORT_CHARS or _DIGIT.search(text) is None:
        return None
    whole_node, whole = _with_sign(node, text)
    return Seen(whole_node, place, whole)


def _amounts(texts: Texts) -> Iterator[Seen]:
    """Amounts with their sign, which may stand in elements of their own."""
    for at, low in enumerate(texts.low):
        if _DIGIT.search(low):
            node = texts.nodes[at]
            if len(node) == 0 and len(node.text) <= _LONG_CHARS:
                if _MONEY.search(low):
                    yield Seen(node, texts.places[at], texts.written[at])
                continue
        elif (
            len(texts.written[at]) > _SIGN_CHARS
            or not _MONEY.search(low)
            or (node := texts.nodes[at].getparent()) is None
        ):
            continue
        whole = _text(node, _SHORT_CHARS + 1)
        if len(whole) <= _SHORT_CHARS and _DIGIT.search(whole) and _MONEY.search(whole.lower()):
            yield Seen(node, texts.places[at], whole)


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
    if len(node) == 0:
        return " ".join((node.text or "").split())[:limit]
    parts: list[str] = []
    length = 0
    for piece in node.itertext():
        parts.append(piece)
        length += len(piece)
        if length > limit * 8:
            break
    return " ".join(" ".join(parts).split())[:limit]
