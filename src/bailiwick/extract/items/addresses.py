"""Postal addresses in lines of text: found by their postal code, read by the habits of its country."""

# ruff: noqa: RUF001 - pages write dashes and quotes of many kinds

import re
from dataclasses import dataclass

from bailiwick.extract.items.lines import Line
from bailiwick.model.countries import NAMES, country_code

_STATES_TEXT = """
    AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK
    OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC
"""
_STATES = _STATES_TEXT.split()
_STATE_NAMES = {
    "Alabama": "AL", "Arizona": "AZ", "California": "CA", "Colorado": "CO", "Connecticut": "CT", "Florida": "FL",
    "Georgia": "GA", "Illinois": "IL", "Indiana": "IN", "Iowa": "IA", "Kansas": "KS", "Kentucky": "KY", "Maine": "ME",
    "Maryland": "MD", "Massachusetts": "MA", "Michigan": "MI", "Minnesota": "MN", "Missouri": "MO", "Montana": "MT",
    "Nebraska": "NE", "Nevada": "NV", "New Jersey": "NJ", "New Mexico": "NM", "New York": "NY",
    "North Carolina": "NC", "Ohio": "OH", "Oklahoma": "OK", "Oregon": "OR", "Pennsylvania": "PA", "Tennessee": "TN",
    "Texas": "TX", "Utah": "UT", "Vermont": "VT", "Virginia": "VA", "Washington": "WA", "Wisconsin": "WI",
}  # fmt: skip
# A word is taken whole or not at all (`+`): else a line of hyphens is tried in every way there is.
_CITY = (
    r"[A-ZÀ-Ý][\w'’.À-ÿ]{1,30}+(?:-[\w'’.À-ÿ]{1,30}+| (?:\(?[A-ZÀ-Ý][\w'’.À-ÿ]{1,30}+(?:-[\w'’.À-ÿ]{1,30}+){0,3}+\)?|"
    r"am|an|im|der|den|de|la|le|les|sur|sous|upon|del|el|in)\b){0,5}"
)
_REGIONS = "|".join([*_STATES, *_STATE_NAMES])
_CODES = (
    ("US", r"\d\d\d\d\d", rf"(?P<city>{_CITY}),?\s(?P<region>{_REGIONS}),?\s(?P<code>\d{{5}}(?:-\d{{4}})?)\b"),
    ("GB", r"\d[A-Z]{2}", r"(?P<code>\b[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}\b)"),
    ("IE", r"[A-Z]\d[\dW]", r"(?P<code>\b[AC-FHKNPRTV-Y]\d[\dW]\s?[\dAC-FHKNPRTV-Y]{4}\b)"),
    ("CA", r"\d[A-Z]\d\b", r"(?P<code>\b[ABCEGHJ-NPRSTVXY]\d[A-Z]\s?\d[A-Z]\d\b)"),
    ("NL", r"\d\d\d\d\s?[A-Z]{2}", rf"(?P<code>\b\d{{4}}\s?[A-Z]{{2}})\s{{1,2}}(?P<city>{_CITY})"),
    (
        "", r"\d\d\d\d\s{1,2}[A-ZÀ-Ý]",
        rf"(?<![\w.,-])(?:(?P<land>[ADFLBIE]|CH)-)?(?P<code>\d{{5}}|\d{{4}})\s{{1,2}}(?P<city>{_CITY})",
    ),
    ("IN", r"\d\d\d\s?\d{3}\b", rf"(?P<city>{_CITY})\s?[–-]?\s?(?P<code>[1-9]\d{{2}}\s?\d{{3}})\b(?![\d-])"),
)  # fmt: skip
"""By country: what is in each of its codes, and is found quickly; the code with what stands beside it."""
_PATTERNS = tuple((land, re.compile(hint), re.compile(pattern)) for land, hint, pattern in _CODES)
_MAY_BE_CODE = re.compile(r"[A-Z\d](?:(?<=\d)(?:\d\d\d|[A-Z]|\d\d\s\d\d\d)|(?<=[A-Z])\d)")
"""In the codes of every country. An expression that begins with one set of characters is the quickest there is."""
_LANDS = {"A": "AT", "D": "DE", "F": "FR", "CH": "CH", "L": "LU", "B": "BE", "I": "IT", "E": "ES", "NL": "NL"}
_FOUR_DIGITS = frozenset(("AT", "CH", "BE", "LU", "LI", "DK", "NO", "HU", "AU", "NZ"))
_STREET = re.compile(
    r"\d|\b(?:street|st|road|rd|lane|avenue|ave|drive|dr|way|close|court|square|place|quay|row|terrace|walk|hill|"
    r"park|house|unit|"
    r"suite|floor|works|yard|stra(?:ß|ss)e|str\.|weg|platz|gasse|allee|ring|rue|avenue|boulevard|quai|place|route|"
    r"chemin|calle|c/|"
    r"avenida|plaza|paseo|polígono|nave|straat|laan|plein|gracht|kade|dijk|markt|campus|cottages?)\b",
    re.IGNORECASE,
)
_COUNTIES = re.compile(
    r"^(?:\w+shire|devon|cornwall|kent|essex|surrey|dorset|somerset|norfolk|suffolk|(?:east|west) sussex|county \w+|"
    r"co\.? \w+|"
    r"greater \w+|west \w+|cumbria|durham|fife|highland|england|scotland|wales)$",
    re.IGNORECASE,
)
_BEFORE_STREET = re.compile(
    r"^.{0,80}?(?:\bfind us at|\bat|\bto|ladengeschäft|adresse?|address|adres|dirección|"
    r"lieu|where|où|box office)\s?[:]?\s",
    re.IGNORECASE,
)
_MOST_BACK = 4
_MOST_PART = 70


@dataclass(frozen=True, slots=True)
class PostalAddress:
    """Parts of an address; `at` is the line of its postal code."""

    street: str | None
    city: str | None
    region: str | None
    code: str
    country: str | None
    at: int

    @property
    def text(self) -> str:
        tail = (
            f"{self.city or ''} {self.code}"
            if self.country in ("GB", "IE", "IN", "CA")
            else f"{self.code} {self.city or ''}"
        )
        if self.country == "US":
            tail = f"{self.city}, {self.region} {self.code}"
        return ", ".join(part for part in (self.street, tail.strip()) if part)

    @property
    def fields(self) -> dict[str, str]:
        given = {
            "addressRaw": self.text,
            "streetAddress": self.street,
            "addressCity": self.city,
            "addressRegion": self.region,
            "postalCode": self.code,
            "addressCountry": self.country,
        }
        return {name: value for name, value in given.items() if value}


def find_addresses(lines: list[Line], country: str | None, *, most: int = 10) -> list[PostalAddress]:
    """Addresses of a page with a street, in order."""
    found: list[PostalAddress] = []
    for at, line in enumerate(lines):
        if line.has_digit and len(line.text) < 400:
            address = _address_at(lines, at, country)
            if address is not None and address.street:
                found.append(address)
                if len(found) >= most:
                    break
    return found


def read_address(text: str, country: str | None) -> PostalAddress | None:
    """The address that a text is."""
    parts = [part.strip() for part in re.split(r"\n|,(?=\s)", text[:500]) if part.strip()]
    if parts and parts[-1].casefold() in NAMES:
        country = NAMES[parts.pop().casefold()]
    for at, part in enumerate(parts):
        for joined in (part, f"{parts[at - 1]}, {part}" if at else None):
            if joined and (hit := _code_in(joined, country)):
                before = parts[: at if joined is part else at - 1]
                return _made(hit, joined, before, country, 0)
    return None


def _code_in(text: str, country: str | None) -> "tuple[str, re.Match[str]] | None":
    if _MAY_BE_CODE.search(text) is None:
        return None
    for land, hint, pattern in _PATTERNS:
        match = pattern.search(text) if hint.search(text) else None
        if match is None:
            continue
        if land == "IN" and country not in ("IN", None):
            continue
        if not land:
            if len(match["code"]) == 4 and country not in _FOUR_DIGITS and not match["land"]:
                continue
            if country in ("GB", "US", "IE", "IN", "NL"):
                continue
        if land in ("CA", "IE") and country not in (land, None):
            continue
        if land == "US" and country not in ("US", None):
            continue
        return land, match
    return None


def _address_at(lines: list[Line], at: int, country: str | None) -> PostalAddress | None:
    line = lines[at]
    hit = _code_in(line.text, country)
    if hit is None:
        return None
    before: list[str] = []
    for back in range(at - 1, max(-1, at - 1 - _MOST_BACK), -1):
        above = lines[back]
        if above.zone is not line.zone or above.level or len(above.text) > _MOST_PART or not above.text:
            break
        if above.row != line.row or "@" in above.text or re.search(r":$|:\s|\w{5}\.$", above.text):
            break
        before.insert(0, above.text)
    after = lines[at + 1].text if at + 1 < len(lines) else ""
    return _made(hit, line.text, before, country or country_code(after), at)


def _made(
    hit: "tuple[str, re.Match[str]]", text: str, before: list[str], country: str | None, at: int
) -> PostalAddress | None:
    land, match = hit
    groups = match.groupdict()
    code = match["code"]
    city, region = groups.get("city"), groups.get("region")
    head = text[: match.start()].strip(" ,–-")
    parts = [*_parts(" , ".join(before)), *_parts(_without_lead(head))]
    if land in ("GB", "IE", "CA"):
        while parts and _COUNTIES.match(parts[-1]) and len(parts) > 1:
            region = parts.pop()
        city = parts.pop() if parts and not re.match(r"^\d", parts[-1]) else None
        if city is not None and len(city.split()) > 3:
            return None
    elif land == "IN" and parts and city is None:
        city = parts.pop()
    country = land or _LANDS.get(groups.get("land") or "") or country
    street = _street(parts)
    region = _STATE_NAMES.get(region or "", region)
    return PostalAddress(street, city.strip(" ,") if city else None, region, code, country, at)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in re.split(r",\s|\s,|\s[·|]\s", text) if part.strip(" ,")]


def _without_lead(text: str) -> str:
    """Without what leads up to an address in a sentence."""
    if len(text) < 25:
        return text
    tail = re.split(r"(?<=[\wà-ÿ)]{4})[.;]\s+(?=\S)|\s[·|]\s", text)[-1]
    return _BEFORE_STREET.sub("", tail) if _BEFORE_STREET.match(tail) else tail


def _street(parts: list[str]) -> str | None:
    """From the first part that looks like a street on; a name before it is no part of the address."""
    for first, part in enumerate(parts):
        following = parts[first + 1] if first + 1 < len(parts) else ""
        is_name = not re.search(r"\d", part) and re.match(r"\d", following) is not None
        if _STREET.search(part) and not is_name and len(part) <= _MOST_PART:
            return ", ".join(parts[first:])[:200].strip(" ,")
    return None
