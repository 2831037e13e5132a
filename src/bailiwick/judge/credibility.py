"""What the name of the host tells: who may register under its suffix, and whether it looks made for one season."""

from collections import Counter
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from math import log2

from bailiwick.judge.credibility_lists import (
    CHEAP_SUFFIXES,
    DISPOSABLE_SITES,
    FREE_HOSTS,
    GUARDED_LABELS,
    GUARDED_SUFFIXES,
    SPAM_ANYWHERE,
    SPAM_WORDS,
)
from bailiwick.model.discovery import Case, Opinion
from bailiwick.model.names import DomainName
from bailiwick.model.profiles import Profile

_ORG = 0.6
_FREE, _DOUBTFUL, _DISPOSABLE, _ADDRESS = 0.4, 0.2, 0.1, 0.1
_MANY_HYPHENS, _MANY_DIGITS, _LONG_LABEL = 3, 5, 30
_RANDOM_CHARS, _RANDOM_BITS = 12, 3.5
"""A label at least so long, with so many bits a letter and hardly a vowel, was rolled with dice."""
_VOWEL_SHARE = 0.2


class CredibilityJudge:
    """Silent about a plain name under .com, .net or a country: it says nothing either way."""

    name = "credibility"

    def __init__(self, _profile: Profile, _today: date) -> None:
        """Names are the same for every profile."""

    def judge(self, cases: Sequence[Case]) -> list[Opinion | None]:
        return [_opinion(case.domain.name) for case in cases]


@lru_cache(maxsize=8192)
def _opinion(name: str) -> Opinion | None:
    domain = DomainName(name)
    if domain.is_address:
        return Opinion(_ADDRESS, "a bare IP address")
    if warnings := domain.warnings:
        return Opinion(_DOUBTFUL, f"its name may be dressed up as another: {warnings[0]}")
    labels = domain.host.split(".")
    return _by_list(domain.site, labels) or _by_looks(domain.site.partition(".")[0]) or _by_suffix(labels)


def _by_list(site: str, labels: list[str]) -> Opinion | None:
    if site in DISPOSABLE_SITES:
        return Opinion(_DISPOSABLE, f"{site} gives out addresses that do not last")
    for count in (2, 3):
        if (host := ".".join(labels[-count:])) in FREE_HOSTS:
            return Opinion(_FREE, f"anybody can have a page on {host}")
    for count in (1, 2):
        if (score := GUARDED_SUFFIXES.get(suffix := ".".join(labels[-count:]))) is not None:
            return Opinion(score, f".{suffix} is given to {'institutions' if count == 1 else 'its institutions'} only")
    if len(labels) >= 3 and (len(labels[-1]) == 2) and (score := GUARDED_LABELS.get(labels[-2])) is not None:
        return Opinion(score, f".{'.'.join(labels[-2:])} is given to institutions only")
    return None


def _by_looks(label: str) -> Opinion | None:
    parts = label.split("-")
    spam = next((part for part in parts if part in SPAM_WORDS), None) if len(parts) > 1 else None
    if spam := spam or next((word for word in SPAM_ANYWHERE if word in label), None):
        return Opinion(_DOUBTFUL, f'"{spam}" in the name, as in addresses of spam')
    if len(parts) - 1 > _MANY_HYPHENS:
        return Opinion(_DOUBTFUL, f"{len(parts) - 1} hyphens in the name")
    if sum(map(str.isdecimal, label)) >= _MANY_DIGITS:
        return Opinion(_DOUBTFUL, "many digits in the name")
    if len(label) > _LONG_LABEL:
        return Opinion(_DOUBTFUL, f"a name of {len(label)} letters")
    return Opinion(_DOUBTFUL, "the name looks random") if _looks_random(label) else None


def _looks_random(label: str) -> bool:
    if len(label) < _RANDOM_CHARS or label.startswith("xn--"):
        return False
    counts = Counter(label)
    bits = -sum(count / len(label) * log2(count / len(label)) for count in counts.values())
    return bits >= _RANDOM_BITS - 0.5 and sum(counts[vowel] for vowel in "aeiouy") < _VOWEL_SHARE * len(label)


def _by_suffix(labels: list[str]) -> Opinion | None:
    if labels[-1] in CHEAP_SUFFIXES:
        return Opinion(_DOUBTFUL, f".{labels[-1]} is cheap and much used for spam")
    return Opinion(_ORG, ".org: mostly organisations without profit") if labels[-1] == "org" else None
