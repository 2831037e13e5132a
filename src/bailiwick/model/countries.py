"""The country that a page speaks from: by its host, its language, its address."""

import re

_BY_SUFFIX = {
    "uk": "GB", "scot": "GB", "wales": "GB", "london": "GB", "wien": "AT", "berlin": "DE", "hamburg": "DE",
    "bayern": "DE", "koeln": "DE", "paris": "FR", "cat": "ES", "us": "US", "gov": "US", "mil": "US", "edu": "US",
}  # fmt: skip
_GENERIC = frozenset(("io", "ai", "tv", "me", "co", "cc", "ly", "to", "fm", "am", "gg", "sh", "eu"))
_BY_LANGUAGE = {
    "de": "DE",
    "fr": "FR",
    "es": "ES",
    "nl": "NL",
    "it": "IT",
    "pl": "PL",
    "pt": "PT",
    "sv": "SE",
    "da": "DK",
}
NAMES = {
    "germany": "DE", "deutschland": "DE", "france": "FR", "united kingdom": "GB", "uk": "GB", "england": "GB",
    "scotland": "GB", "wales": "GB", "northern ireland": "GB", "great britain": "GB", "united states": "US",
    "usa": "US", "u.s.a.": "US", "united states of america": "US", "netherlands": "NL", "the netherlands": "NL",
    "nederland": "NL", "spain": "ES", "españa": "ES", "austria": "AT", "österreich": "AT", "switzerland": "CH",
    "schweiz": "CH", "suisse": "CH", "svizzera": "CH", "india": "IN", "ireland": "IE", "éire": "IE", "belgium": "BE",
    "belgique": "BE", "belgië": "BE", "italy": "IT", "italia": "IT", "canada": "CA", "luxembourg": "LU",
    "liechtenstein": "LI", "portugal": "PT", "denmark": "DK", "danmark": "DK", "sweden": "SE", "norway": "NO",
    "poland": "PL", "polska": "PL", "australia": "AU", "new zealand": "NZ", "kenya": "KE",
}  # fmt: skip


def country_of_host(host: str) -> str | None:
    """What its suffix says; None for .com and the like."""
    suffix = host.rpartition(".")[2].lower()
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    return suffix.upper() if re.fullmatch(r"[a-z]{2}", suffix) and suffix not in _GENERIC else None


def country_of_language(tag: str | None) -> str | None:
    """de-CH is Switzerland, de alone Germany; English alone is nobody's."""
    language, _, region = (tag or "").replace("_", "-").partition("-")
    if re.fullmatch(r"[A-Za-z]{2}", region):
        return region.upper()
    return _BY_LANGUAGE.get(language.lower())


def country_code(text: str | None) -> str | None:
    """The code of a country as it is written in an address."""
    given = (text or "").strip()
    if re.fullmatch(r"[A-Za-z]{2}", given) and given.upper() != "UK":
        return given.upper()
    return NAMES.get(given.casefold())
