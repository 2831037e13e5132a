"""A price in a text, by price-parser, with what it leaves to be decided."""

import re
from dataclasses import dataclass

_MOST_CHARS = 200
_APOSTROPHE = re.compile("(?<=\\d)['\u2019\u02bc](?=\\d{3})")
"""Between thousands, in Switzerland."""
_PLAIN = re.compile(r"^\d{1,12}(\.\d{1,4})?$")


@dataclass(frozen=True, slots=True)
class Price:
    """An amount with a point for its decimals, and the currency as it was written."""

    amount: str
    sign: str | None


def read_price(text: str, sign: str | None = None, *, is_plain: bool = False) -> Price | None:
    """The first price of a text. `is_plain`: of a machine-readable field, where a point is always a decimal point."""
    text = text.strip()[:_MOST_CHARS]
    if is_plain and _PLAIN.match(text):
        return Price(text, sign)
    from price_parser import Price as Parsed

    parsed = Parsed.fromstring(_APOSTROPHE.sub("", text), currency_hint=sign)
    if parsed.amount is None:
        return None
    amount = f"{parsed.amount:f}"
    return Price(amount, parsed.currency or sign)
