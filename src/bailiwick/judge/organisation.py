"""What kind of organisation stands behind the result, and how much the profile likes that kind."""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache

from bailiwick.judge.organisation_words import (
    FIRST_LABELS,
    FOLDERS,
    NAME_ENDS,
    SECOND_LABELS,
    SUFFIXES,
    TITLE_WORDS,
)
from bailiwick.model.discovery import Case, Opinion
from bailiwick.model.names import DomainName
from bailiwick.model.profiles import OrganisationType, Profile

_BY_END = {word: kind for kind, words in NAME_ENDS.items() for word in words.split()}
_BY_WORD = {word: kind for kind, words in TITLE_WORDS.items() for word in words.split()}
_END_LENGTHS = sorted({len(word) for word in _BY_END}, reverse=True)
_FOLDERS_LOOKED_AT = 3


class OrganisationJudge:
    """Silent where the profile likes all kinds alike, or nothing shows the kind."""

    name = "organisation"

    def __init__(self, profile: Profile, _today: date) -> None:
        self._likes = dict(profile.organisations)

    def judge(self, cases: Sequence[Case]) -> list[Opinion | None]:
        return [_opinion(self._likes, case) for case in cases] if self._likes else [None] * len(cases)


def _opinion(likes: Mapping[OrganisationType, float], case: Case) -> Opinion | None:
    """The part of a site decides before the site, and the site before the words of the title."""
    found = _by_path(case.result.url) or _by_host(case.domain.name) or _by_title(case.words.title, case.result.title)
    if found is None or found[0] not in likes:
        return None
    kind, shown = found
    return Opinion(likes[kind], f"{kind.value}, by {shown}")


def _by_path(url: str) -> tuple[OrganisationType, str] | None:
    """By a folder near the top. The URL is one that was parsed before, so its third slash begins the path."""
    for folder in url.split("/", _FOLDERS_LOOKED_AT + 3)[3 : _FOLDERS_LOOKED_AT + 3]:
        if (folder := folder.partition("?")[0].lower()) in FOLDERS:
            return FOLDERS[folder], f"/{folder}"
    return None


@lru_cache(maxsize=8192)
def _by_host(name: str) -> tuple[OrganisationType, str] | None:
    domain = DomainName(name)
    labels = domain.host.split(".")
    if len(labels) > 2 and labels[0] in FIRST_LABELS:
        return FIRST_LABELS[labels[0]], f"{labels[0]}."
    for count in (1, 2):
        if (suffix := ".".join(labels[-count:])) in SUFFIXES:
            return SUFFIXES[suffix], f".{suffix}"
    if len(labels) > 1 and len(labels[-1]) == 2 and labels[-2] in SECOND_LABELS:
        return SECOND_LABELS[labels[-2]], f".{'.'.join(labels[-2:])}"
    return _by_name(domain.site.partition(".")[0])


def _by_name(label: str) -> tuple[OrganisationType, str] | None:
    for length in _END_LENGTHS:
        if length < len(label) and (end := label[-length:]) in _BY_END:
            return _BY_END[end], f'"{end}" in its name'
    return None


def _by_title(words: Sequence[str], title: str) -> tuple[OrganisationType, str] | None:
    """Only by words with a capital: the Foundation gives, a foundation in forty shades does not."""
    for word in words:
        if word in _BY_WORD and (word.capitalize() in title or word.upper() in title):
            return _BY_WORD[word], f'"{word}" in the title'
    return None
