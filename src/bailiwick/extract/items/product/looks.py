"""A product by its looks: the price beside the heading and the button, codes behind their labels, words about stock."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from bailiwick.extract.clean import clean_line
from bailiwick.extract.items.product.codes import note_codes
from bailiwick.extract.items.product.evidence import Evidence
from bailiwick.extract.items.product.prices import Price, read_price
from bailiwick.extract.items.product.sight import PRICE_MARK, Sight, marks_of
from bailiwick.extract.items.product.texts import Seen
from bailiwick.extract.items.product.words import IN_STOCK, OUT_OF_STOCK
from bailiwick.extract.items.source import Source
from bailiwick.model.currencies import currency_of

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_CROSSED = re.compile(
    r"\b(?:old|was|before|regular|list|rrp|uvp|msrp|strike|striked|strikethrough|original|compare|crossed|previous|retail|normal|past|line-?through|alter|barre|ancien|statt)"
    r"|(?:[-_](?:old|was|list|regular|original|strike|before))|old[-_]?price|[-_]rrp",
)
_OTHER = re.compile(
    r"ship|deliver|versand|livraison|envio|install|month|monat|cuota|parcela|credit|finance|leasing|unit[-_]?price|per[-_]unit|base[-_]?price|grundpreis|"
    r"sav(?:e|ing)|discount|rabat|badge|tax|vat|filter|range|slider|points|cashback|bonus|warranty|coupon|threshold|shipping|reward|deposit",
)
_ELSEWHERE = re.compile(
    r"relat|recommend|similar|carousel|swiper|slick|upsell|cross-?sell|also|viewed|recent|sidebar|side-bar|footer|minicart|mini-cart|mini_cart|"
    r"wishlist|sponsor|suggest|bundle|accessor|together|other-|teaser|product-?list|productlist|products-grid|product-?item|item-?list|tile|megamenu|dropdown|modal|popup",
)
_NOW = re.compile(r"current|sale|final|now|our|special|actual|main|today|deal|buy|offer|pdp|detail|aktuel")
_LEVELS = 7
_CROSSING, _ASIDE = frozenset({"del", "s", "strike"}), frozenset({"nav", "footer", "aside"})
_NO_DIGIT = re.compile(r"\D+")
_NUMBER, _SHARE = re.compile(r"\d+"), re.compile("%|\\d\\s*[/x\u00d7]\\s*\\w")
_MANY_ALIKE = 6
_FAR = 400
_JUST_ABOVE = 50
_BESIDE = 12
_LEAST = 2.0
_STOCK_SURE = 0.7
"""How sure words about stock are at most: markup that says it is surer."""
_MOST_LETTERS = 14
_LETTER = re.compile(r"[^\W\d_]")


Priced = list[tuple[Seen, Price]]


def read_looks(sight: Sight, source: Source, evidence: Evidence) -> None:
    """Note what can be seen. A page without markup is a product if it has one heading, a price and a way to buy it."""
    heading = sight.headings[0] if sight.headings else None
    if not evidence.is_product and (heading is None or not (sight.codes or sight.buys)):
        return
    said, priced, best = evidence.text("price"), Priced(), None
    if not said or _is_seen_crossed_out(said, sight):
        priced = _priced(sight.prices)
        best = _best_price(priced, sight, heading)
    if not evidence.is_product and heading is not None:
        is_sold = best is not None and bool(sight.buys) and not best.is_listed
        was_sold = (
            best is None and bool(sight.codes) and any(OUT_OF_STOCK.search(s.text) for s in _around(sight, heading))
        )
        evidence.is_product = is_sold or was_sold
    if not evidence.is_product:
        return
    if heading is not None:
        evidence.note("name", clean_line(heading.text, 500), 0.7)
    evidence.note("name", clean_line(source.content.title, 500), 0.4)
    evidence.note("description", source.content.description, 0.5)
    if best is not None:
        _note_price(best, priced, source, evidence)
    if evidence.sure.get("availability", 0) < _STOCK_SURE:
        _note_stock(sight, heading, evidence)
    note_codes([seen for seen in sight.codes if not _is_elsewhere(seen.node)], source, evidence)


def _is_seen_crossed_out(said: str, sight: Sight) -> bool:
    """Whether the price that is said is seen as an old one. Most amounts are others, by their digits."""
    digits = said.replace(".", "").strip("0")
    alike = [
        seen
        for seen in sight.prices
        if digits in (own := _NO_DIGIT.sub("", seen.text)) or not (own.isascii() and said.isascii())
    ]
    return _is_crossed_out(said, _priced(seen for seen in alike if _is_old(seen.node)))


def _priced(prices: Iterable[Seen]) -> Priced:
    """With their amounts, as far as they have one; the same text comes again and again."""
    read: dict[str, Price | None] = {}
    found = Priced()
    for seen in prices:
        if seen.text not in read:
            read[seen.text] = read_price(seen.text)
        price = read[seen.text]
        if price is not None and float(price.amount) > 0:
            found.append((seen, price))
    return found


@dataclass(frozen=True, slots=True)
class _Tag:
    """A price, where it stands, and how prominent it is there."""

    price: Price
    seen: Seen
    score: float
    is_listed: bool
    """One of many in elements of the same kind: a list of products."""


def _best_price(priced: Priced, sight: Sight, heading: Seen | None) -> _Tag | None:
    """The most prominent price."""
    times = Counter(price.amount for _, price in priced)
    amounts: dict[tuple[str, str], set[str]] = {}
    for seen, price in priced:
        amounts.setdefault(_kind(seen), set()).add(price.amount)
    tags = []
    said_by = cache(_said_by)  # prices of a page stand in elements of the same few names
    for seen, price in priced:
        is_listed = len(amounts[_kind(seen)]) >= _MANY_ALIKE
        score = _rate(seen, price, heading, sight, called=_called(seen.node, said_by))
        score = score + min(times[price.amount], 4) * 0.25 - is_listed
        tags.append(_Tag(price, seen, score, is_listed))
    best = max(tags, key=lambda tag: (tag.score, -tag.seen.place), default=None)
    return best if best is not None and best.score >= _LEAST else None


def _kind(seen: Seen) -> tuple[str, str]:
    return seen.node.tag, seen.node.get("class", "")


def _note_price(best: _Tag, priced: Priced, source: Source, evidence: Evidence) -> None:
    """What is seen, where no markup says it, or where the markup's price is crossed out in favour of a lower one."""
    price, said = best.price, evidence.text("price")
    sure = min(0.75, 0.45 + best.score / 20)
    if said and float(price.amount) < float(said) and _is_crossed_out(said, priced):
        evidence.note("regularPrice", said, sure)
        evidence.put("price", price.amount, sure)
    else:
        evidence.note("price", price.amount, sure)
    if not said:
        evidence.note("regularPrice", _old_price(best, priced), sure - 0.1)
        evidence.note("currencyRaw", price.sign, sure)
        evidence.note("currency", currency_of(price.sign, source.host), sure)


def _old_price(best: _Tag, priced: Priced) -> str | None:
    """A higher price that is crossed out beside this one."""
    beside = [price for seen, price in priced if abs(seen.place - best.seen.place) <= _BESIDE and _is_old(seen.node)]
    return next((price.amount for price in beside if float(price.amount) > float(best.price.amount)), None)


def _is_crossed_out(amount: str, priced: Priced) -> bool:
    """Whether it is seen as an old price, and only as such."""
    same = [seen for seen, price in priced if float(price.amount) == float(amount)]
    narrow = [seen for seen in same if len(_NUMBER.findall(seen.text)) <= 3]
    return bool(narrow) and all(_is_old(seen.node) for seen in narrow)


def _is_old(node: "HtmlElement | None") -> bool:
    for _ in range(3):
        if node is None:
            return False
        if node.tag in _CROSSING or _CROSSED.search(marks_of(node)):
            return True
        node = node.getparent()
    return False


def _rate(seen: Seen, price: Price, heading: Seen | None, sight: Sight, *, called: float) -> float:
    """How much it looks like the price of the page's product: what it is called, where it stands, what else it says."""
    score = (1.0 if price.sign else 0.0) + called
    if heading is not None:
        distance = seen.place - heading.place
        score += 3.0 * max(0.0, 1 - distance / _FAR) if distance >= 0 else max(0.0, 1.5 + distance / 100)
    if sight.buys:
        nearest = min(abs(seen.place - buy.place) for buy in sight.buys)
        score += 1.5 * max(0.0, 1 - nearest / 200)
    if len(_NUMBER.findall(seen.text)) > 4 or _SHARE.search(seen.text):
        score -= 1.5
    if len(_LETTER.findall(seen.text)) > _MOST_LETTERS or _OTHER.search(seen.text.lower()):
        score -= 2.0
    return score


class _Said(NamedTuple):
    """What the names of an element say of the price in it."""

    is_price: bool
    is_now: bool
    is_other: bool
    is_crossed: bool
    is_elsewhere: bool


def _said_by(marks: str) -> _Said:
    return _Said(*(pattern.search(marks) is not None for pattern in (PRICE_MARK, _NOW, _OTHER, _CROSSED, _ELSEWHERE)))


def _called(node: "HtmlElement | None", said_by: Callable[[str], _Said]) -> float:
    """What it and the elements around it are called, and whether they cross it out or put it aside."""
    score = 0.0
    for level in range(_LEVELS):
        if node is None or node.tag == "body":
            break
        said = said_by(marks_of(node))
        if level <= 2:
            score += (1.5 if level == 0 else 0.7) * said.is_price + 0.5 * said.is_now
            score -= 2.0 * said.is_other + 3.0 * (node.tag in _CROSSING or said.is_crossed)
        if node.tag in _ASIDE:
            score -= 4
        elif said.is_elsewhere:
            score -= 2.5
        node = node.getparent()
    return score


def _note_stock(sight: Sight, heading: Seen | None, evidence: Evidence) -> None:
    """Words beside the heading, then a button, then a price: something that costs money is there to be sold."""
    around = _around(sight, heading)
    start = heading.place if heading is not None else 0
    near = [seen for seen in around if seen.place >= start - _JUST_ABOVE or "price" not in evidence.values]
    if any(OUT_OF_STOCK.search(seen.text) for seen in near):
        evidence.note("availability", "OutOfStock", 0.65)
    elif any(IN_STOCK.search(seen.text) for seen in near):
        evidence.note("availability", "InStock", _STOCK_SURE)
    if sight.buys:
        evidence.note("availability", "InStock", 0.6)
    if "price" in evidence.values:
        evidence.note("availability", "InStock", 0.5)


def _around(sight: Sight, heading: Seen | None) -> list[Seen]:
    """Words about stock that stand by the heading."""
    start = heading.place if heading is not None else 0
    return [seen for seen in sight.stocks if abs(seen.place - start) <= _FAR and not _is_elsewhere(seen.node)]


def _is_elsewhere(node: "HtmlElement | None") -> bool:
    for _ in range(_LEVELS):
        if node is None or node.tag == "body":
            return False
        if node.tag in _ASIDE or _ELSEWHERE.search(marks_of(node)):
            return True
        node = node.getparent()
    return False
