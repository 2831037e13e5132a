"""Which elements are advertisements: by their names, their attributes and the hosts they come from (`ads.toml`)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from bailiwick.model.layers import Flag, Proof
from bailiwick.score.rules.addresses import address_of
from bailiwick.score.rules.markup_values import Markup
from bailiwick.score.rules.proving import proof_of
from bailiwick.score.rules.shipped import shipped_lists
from bailiwick.score.rules.wording import SHOWN_CHARS, Finder, folded

FEWEST_ADS = 3
"""One banner on a page of ten elements is a tenth of it, and not too much."""
_SHOWN = 4
_NAME_CHARS = 60
_MOST_NAMES = 40
# What holds the page or carries its words is no ad, whatever a theme calls it.
_NEVER = frozenset({"html", "body", "main", "article", "nav", "form", "input", "label", "button", "select", "h1"})
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z](?:[a-z]|\b|_))")
_PIECE = re.compile(r"(?<![a-z0-9])(?:\d+x\d+|[a-z]+)(?=\d*(?:[^a-z0-9]|$))")
_HINT = re.compile(
    r"ad|spons|promoted|taboola|outbrain|revcontent|mgid|zergnet|mediavine|dfp|gpt|doubleclick|banner|werbung|publici|"
    r"pubblici|reklam",
    re.I,
)


@dataclass(frozen=True, slots=True)
class _Rules:
    tags: frozenset[str]
    words: Finder
    unless: frozenset[str]
    attributes: frozenset[str]
    hosts: frozenset[str]


@cache
def _rules() -> _Rules:
    given = shipped_lists("ads.toml")
    return _Rules(
        tags=frozenset(given["tags"]),
        words=Finder(given["words"]),
        unless=frozenset(given["unless"]),
        attributes=frozenset(given["attributes"]),
        hosts=frozenset(given["hosts"]),
    )


def ad_name(tag: str, attributes: Mapping[str, str | None]) -> str | None:
    """What to call the element if it is an advertisement: `ins.adsbygoogle`, `iframe doubleclick.net`."""
    rules = _rules()
    if tag in _NEVER:
        return None
    if tag in rules.tags:
        return tag
    for sign, attribute in (("#", "id"), (".", "class")):
        if name := _named(attributes.get(attribute) or ""):
            return f"{tag}{sign}{name}"
    if not rules.attributes.isdisjoint(attributes):
        return f"{tag}[{min(rules.attributes & attributes.keys())}]"
    host = _ad_host(tag, attributes)
    return f"{tag} {host}" if host else None


def assess_ads(markup: Markup, url: str, *, share: float) -> tuple[Flag, Proof]:
    """Whether that many of the elements are advertisements. Of ads within ads the outermost counts."""
    ads, elements = len(markup.ads), max(1, markup.elements)
    detected = ads >= FEWEST_ADS and ads / elements >= share
    names = ", ".join(dict.fromkeys(markup.ads))
    text = f"{ads} of {markup.elements} elements are ads ({ads / elements:.1%})" + (f": {names}" if names else "")
    return Flag(checked=True, detected=detected), proof_of(url, text[:SHOWN_CHARS])


@lru_cache(maxsize=8_192)
def _named(given: str) -> str | None:
    """The first of an element's names that is one of an ad."""
    if not _HINT.search(given):
        return None
    return next((name[:_NAME_CHARS] for name in given.split()[:_MOST_NAMES] if _is_name(name[:200])), None)


def _is_name(name: str) -> bool:
    rules = _rules()
    pieces = _PIECE.findall(folded(_CAPITAL.sub(" ", name)))
    return rules.words.is_in(pieces) and rules.unless.isdisjoint(pieces)


def _ad_host(tag: str, attributes: Mapping[str, str | None]) -> str | None:
    """Of what shows something. A link to such a host is more often one to its terms, in a notice about cookies."""
    if tag not in ("iframe", "img", "embed", "object") or _is_unseen(attributes):
        return None
    given = next(filter(None, map(attributes.get, ("src", "data-src", "data"))), "")
    address = address_of(f"https:{given}" if given.startswith("//") else given)
    if address is None:
        return None
    labels = address.host.partition(":")[0].split(".")
    hosts = (".".join(labels[at:]) for at in range(len(labels) - 1))
    return next((host for host in hosts if host in _rules().hosts), None)


def _is_unseen(attributes: Mapping[str, str | None]) -> bool:
    """Pictures and frames that nobody sees count visits."""
    style = (attributes.get("style") or "").replace(" ", "").lower()
    return (
        any((attributes.get(side) or "").strip() in ("0", "1") for side in ("width", "height"))
        or "display:none" in style
        or "visibility:hidden" in style
    )
