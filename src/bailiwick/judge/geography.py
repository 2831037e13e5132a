"""The profile's countries: by the host's country code, and by countries, peoples and capitals that the text names."""

from collections.abc import Sequence
from datetime import date

from bailiwick.judge.places import PLACES
from bailiwick.model.countries import country_of_host
from bailiwick.model.discovery import Case, Opinion
from bailiwick.model.profiles import Profile
from bailiwick.model.words import words_of

_NAMED, _HOSTED = 0.9, 0.75
_NAMED_ELSEWHERE, _HOSTED_ELSEWHERE = 0.15, 0.3


class GeographyJudge:
    """Silent where the profile names no countries, or the result none."""

    name = "geography"

    def __init__(self, profile: Profile, _today: date) -> None:
        self._wanted = frozenset(profile.countries)
        self._places = {tuple(words_of(name)): code for code, names in PLACES.items() for name in names.split(", ")}
        self._firsts = {words[0] for words in self._places}

    def judge(self, cases: Sequence[Case]) -> list[Opinion | None]:
        return [self._opinion(case) for case in cases] if self._wanted else [None] * len(cases)

    def _opinion(self, case: Case) -> Opinion | None:
        named = self._named(case.words.title + case.words.description)
        if named:
            wanted = named & self._wanted
            told = ", ".join(sorted(wanted or named)[:4])
            return Opinion(_NAMED, f"names {told}") if wanted else Opinion(_NAMED_ELSEWHERE, f"names only {told}")
        hosted = country_of_host(case.domain.host)
        if hosted is None:
            return None
        score = _HOSTED if hosted in self._wanted else _HOSTED_ELSEWHERE
        return Opinion(score, f"its host is of {hosted}")

    def _named(self, words: list[str]) -> set[str]:
        if self._firsts.isdisjoint(words):
            return set()
        found = set()
        for position, word in enumerate(words):
            if word in self._firsts:
                for length in (1, 2, 3):
                    if (code := self._places.get(tuple(words[position : position + length]))) is not None:
                        found.add(code)
        return found
