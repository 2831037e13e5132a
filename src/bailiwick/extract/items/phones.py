"""Telephone numbers in a text, as E.164 where their country can be known."""

# ruff: noqa: RUF001 - pages write dashes and quotes of many kinds

import re
from dataclasses import dataclass
from functools import lru_cache

from bailiwick.extract.items.calendar_days import days_in

_MOST_CHARS = 4_000
_SHAPE = re.compile(r"(?<![\w@/.,:#=-])(?:\+|\()?\d[\d\s()./\u2010-\u2015\u00a0-]{5,22}\d(?![\w@]|[.,]\d)")
_DIGITS = re.compile(r"\d[\d\s()./\u2010-\u2015\u00a0-]{5}")
"""In each of these, and quicker to find."""
_LABEL = re.compile(
    r"(?:tel|fon|phone|call|ring|mobile?|mobil|handy|text|helpline|hotline|line|whatsapp|contact|toll-free|\bt\b|"
    r"box office|office|"
    r"anrufen|rufen|teléfono|téléphone|gsm|or|oder|ou|☎|principal|enquiries|booking|\bat\b|\bon\b|appointment|"
    r"reservierung|us)"
    r"[\w.'’ -]{0,24}[:.]?\s{0,3}[(]?$",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"(?:tel|fon|phone|call|ring|mobil|handy|☎|telefoon|teléfono|"
    r"\bt)[\w.'’ ]{0,12}[:.]?\s{0,3}[(]?$",
    re.IGNORECASE,
)
_FAX = re.compile(r"fax\w{0,8}[:.]?\s{0,3}$", re.IGNORECASE)
_AGAINST = re.compile(
    r"(?:iban|bic|konto\w*|account|vat|ust-?id\w*|uid|kvk|siret|siren|rcs|isbn|issn|nif|cif|charity|registered|"
    r"company|"
    r"\bno|\bnr|number|reference|ref|cpv|grid reference|station|sensor|build|licen[cs]es?\b.{0,30}|firmenbuch\w*|"
    r"sra|version|commit|poison control|"
    r"emergenc\w{1,3}|samaritans|towing|tower)[\w. :,/()-]{0,22}$",
    re.IGNORECASE,
)
_NORTH_AMERICAN = re.compile(r"^(?:1[\s.-])?\(?[2-9]\d\d\)?[\s.\u2010-\u2015-]{1,2}\d{3}[\s.\u2010-\u2015-]\d{4}$")
_TIMES = re.compile(r"^\(?[0-2]?\d[.:][0-5]\d\s?[-\u2010-\u2015]\s?[0-2]?\d[.:][0-5]\d$")
_LEAST_DIGITS, _MOST_DIGITS = 7, 15
_ALONE = 0.6


@dataclass(frozen=True, slots=True)
class Phone:
    """A number in E.164, or as its digits where no country is known."""

    number: str
    start: int
    end: int
    is_fax: bool
    is_labelled: bool


def phones_in(text: str, country: str | None) -> list[Phone]:
    """The numbers of a text that are meant for calling, and faxes, marked so."""
    text = text[:_MOST_CHARS]
    found: list[Phone] = []
    if not _DIGITS.search(text) or not _SHAPE.search(text):
        return found
    days = [(day.start, day.end) for day in days_in(text)]
    for match in _SHAPE.finditer(text):
        shown = match[0].strip()
        before = text[max(0, match.start() - 40) : match.start()]
        if (
            any(start < match.end() and match.start() < end for start, end in days)
            or _AGAINST.search(before)
            or _TIMES.match(shown)
        ):
            continue
        is_labelled = _LABEL.search(before) is not None
        if not is_labelled and not _is_phone_like(shown, text):
            continue
        if before.rstrip().endswith(("£", "€", "$", "₹")) or _is_money_after(text[match.end() : match.end() + 6]):
            continue
        number = e164(shown, country, is_trusted=_STRONG.search(before) is not None)
        if number is not None:
            is_fax = _FAX.search(before) is not None
            found.append(Phone(number, match.start(), match.end(), is_fax, is_labelled))
    return found


def _is_phone_like(shown: str, text: str) -> bool:
    """Without a word before it a number must look like one: by its plus, its shape, or standing (nearly) alone."""
    if shown.startswith("+") or _NORTH_AMERICAN.match(shown):
        return True
    return shown[0] in "(0" or len(shown) >= _ALONE * len(text)


def _is_money_after(text: str) -> bool:
    return re.match(r"\s?(?:€|£|\$|euro|eur\b|%|km|mm|m²|kg)", text, re.IGNORECASE) is not None


@lru_cache(maxsize=2_000)
def e164(shown: str, country: str | None, *, is_trusted: bool = False) -> str | None:
    """+441632960961, or None for what is no number there. `is_trusted`: something says that it is one."""
    import phonenumbers

    digits = sum(map(str.isdigit, shown))
    if not _LEAST_DIGITS <= digits <= _MOST_DIGITS:
        return None
    shown = re.sub(r"\(0\)", "", shown.strip())
    region = country
    if region is None and _NORTH_AMERICAN.match(shown):
        region = "US"
    if region is None and not shown.startswith("+"):
        return None
    try:
        parsed = phonenumbers.parse(shown, region)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_possible_number(parsed):
        return None
    if not is_trusted and not (_is_grouped(shown) and phonenumbers.is_valid_number(parsed)):
        return None
    return str(phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164))


def _is_grouped(shown: str) -> bool:
    return re.search(r"\d[\s()./-]+\d", shown) is not None
