"""Amounts of money in a text, in the ways of writing of many countries, and ranges of them."""

# ruff: noqa: RUF001 - pages write dashes and quotes of many kinds

import re
from dataclasses import dataclass

from bailiwick.model.currencies import currency_of

_MOST_CHARS = 4_000
_MOST_SUMS = 60
_SIGNS = (
    r"US\$|C\$|CA\$|A\$|AU\$|NZ\$|HK\$|S\$|R\$|€|£|¥|₹|\$|Rs\.?|CHF|EUR|GBP|USD|CAD|AUD|NZD|INR|SEK|NOK|DKK|PLN|CZK|"
    r"ZAR|SGD|"
    r"Fr\.|zł|Kč"
)
_AFTER = (
    r"€|£|₹|\$|CHF|EUR|GBP|USD|CAD|INR|[Ee]uros?|[Pp]ounds?|[Dd]ollars?|[Rr]upees|[Ff]rancs?|Franken|zł|Kč|SEK|"
    r"NOK|DKK"
)
_NAMED_TEXT = """
    $ € £ ¥ ₹ Rs CHF EUR GBP USD CAD AUD NZD INR SEK NOK DKK PLN CZK ZAR SGD Fr. zł Kč euro Euro pound Pound
    dollar Dollar rupees Rupees franc Franc Franken
"""
_NAMED = tuple(_NAMED_TEXT.split())
"""One of these is in each way to name a currency."""
_DIGITS = r"\d{1,3}(?:[.,'’\u00a0\u202f ]\d{2,3}){1,4}(?:[.,]\d{1,2})?|\d{1,12}(?:[.,]\d{1,2})?"
_SCALE = r"k|K|m|M|mn|million|millions|Mio\.?|Millionen|millones|miljoen|crores?|lakhs?|thousand|tausend|bn|billion"
_SUM = re.compile(
    rf"(?<![\w.,])(?P<sign>{_SIGNS})\s?(?P<first>{_DIGITS})(?:[.,][-–—]+)?(?:\s?(?P<scale>{_SCALE})\b)?"
    rf"|(?<![\w.,])(?P<second>{_DIGITS})(?:[.,][-–—]+)?(?:\s?(?P<scale2>{_SCALE}))?\s?(?P<sign2>{_AFTER})(?![\w])"
)
_TIMES = {
    "k": 1e3, "thousand": 1e3, "tausend": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "millions": 1e6, "mio": 1e6,
    "millionen": 1e6, "millones": 1e6, "miljoen": 1e6, "crore": 1e7, "crores": 1e7, "lakh": 1e5, "lakhs": 1e5,
    "bn": 1e9, "billion": 1e9,
}  # fmt: skip
_WORDS = {
    "euro": "EUR",
    "euros": "EUR",
    "pound": "GBP",
    "pounds": "GBP",
    "rupees": "INR",
    "francs": "CHF",
    "franken": "CHF",
}
_JOIN = re.compile(r"^\s{0,2}(?:-|–|—|to|and|bis(?: zu)?|und|à|a|et|y|tot|en|-to-)\s{0,2}$", re.IGNORECASE)
_BARE = re.compile(
    rf"(?<![\w.,])(?P<n>{_DIGITS})\s{{0,2}}(?:-|–|—|to|and|bis|und|à|a|et|y|tot|en)\s{{0,2}}$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Sum:
    """One amount, or a range of them, and where it stands."""

    least: float
    most: float
    currency: str | None
    start: int
    end: int

    @property
    def is_range(self) -> bool:
        return self.least != self.most


def names_money(text: str) -> bool:
    """Whether there may be an amount in a text, however long: it names a currency."""
    return any(name in text for name in _NAMED)


def sums_in(text: str, host: str = "", language: str | None = None) -> list[Sum]:
    """All amounts of a text in order; two that are joined as "from .. to" are one range."""
    text = text[:_MOST_CHARS]
    single: list[Sum] = []
    for match in _SUM.finditer(text):
        value = amount(match["first"] or match["second"])
        if value is None:
            continue
        scale = (match["scale"] or match["scale2"] or "").lower().rstrip(".")
        value *= _TIMES.get(scale, 1)
        currency = _currency(match["sign"] or match["sign2"], host, language)
        start, bare = match.start(), None
        if match["second"]:  # "300 à 650 €": the sign stands for both
            bare = _BARE.search(text[max(0, start - 30) : start])
        least = amount(bare["n"]) if bare else None
        if least is not None and bare is not None and least < value and not (1900 < least < 2100):
            single.append(Sum(least, value, currency, start - len(bare[0]), match.end()))
        else:
            single.append(Sum(value, value, currency, start, match.end()))
        if len(single) >= _MOST_SUMS:
            break
    return _joined(single, text)


def _joined(single: list[Sum], text: str) -> list[Sum]:
    found: list[Sum] = []
    for one in single:
        last = found[-1] if found else None
        if (
            last is not None
            and not last.is_range
            and not one.is_range
            and last.most < one.most
            and _JOIN.match(text[last.end : one.start])
            and last.currency == one.currency
        ):
            found[-1] = Sum(last.least, one.most, one.currency, last.start, one.end)
        else:
            found.append(one)
    return found


def _currency(sign: str | None, host: str, language: str | None) -> str | None:
    if sign is None:
        return None
    known = _WORDS.get(sign.lower()) or currency_of(sign, host)
    if known is None and sign.lower() in ("$", "dollars", "dollar"):
        return currency_of("$", host) or ("USD" if (language or "en")[:2] == "en" else None)
    return known


def amount(text: str) -> float | None:
    """The number that digits with separators stand for."""
    bare = re.sub(r"['’\u00a0\u202f ]", "", text)
    last_point, last_comma = bare.rfind("."), bare.rfind(",")
    mark = max(last_point, last_comma)
    if mark >= 0:
        decimals = len(bare) - mark - 1
        sign = bare[mark]
        is_decimal = decimals in (1, 2) and bare.count(sign) == 1
        whole = re.sub(r"[.,]", "", bare[:mark] if is_decimal else bare)
        bare = f"{whole or 0}.{bare[mark + 1 :]}" if is_decimal else whole
    try:
        return float(bare)
    except ValueError:
        return None
