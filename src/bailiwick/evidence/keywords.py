"""Evidence by keywords: which of a profile's words and phrases stand where on a page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import exp

from bailiwick.model.words import Words, words_of

# What a keyword counts by the place where it stands. A title is chosen to say what the page is about.
_TITLE, _URL, _DESCRIPTION, _BODY = 1.0, 0.7, 0.6, 0.6


@dataclass(frozen=True, slots=True)
class Evidence:
    """How much speaks for a page and against it, 0 to 1 each, and the words that do, strongest first."""

    support: float
    objection: float
    named: tuple[str, ...]
    against: tuple[str, ...]


class Keywords:
    """A profile's keywords, ready to be looked for. A page costs some 100 microseconds whatever their number."""

    def __init__(self, wanted: Mapping[str, float], unwanted: Mapping[str, float]) -> None:
        self._wanted, self._unwanted = _Lexicon(wanted), _Lexicon(unwanted)

    def evidence(self, words: Words) -> Evidence:
        parts = (words.title, _TITLE), (words.url, _URL), (words.description, _DESCRIPTION), (words.body, _BODY)
        fields = [_Field(part, factor) for part, factor in parts if part]
        support, named = self._wanted.weigh(fields)
        objection, against = self._unwanted.weigh(fields)
        return Evidence(support, objection, named, against)


class _Field:
    """The words of one part of a page, and what a keyword there counts."""

    def __init__(self, words: list[str], factor: float) -> None:
        self.words, self.factor = words, factor
        self.distinct = frozenset(words)

    @cached_property
    def joined(self) -> str:
        return " ".join(self.distinct)


class _Lexicon:
    """Phrases by their first word, so that only those are compared whose first word stands there at all."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = dict(weights)
        self._by_first: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        self._by_prefix: dict[str, str] = {}
        for phrase in weights:
            self._add(phrase, words_of(phrase))
        self._firsts = frozenset(self._by_first)
        self._prefixes = tuple(self._by_prefix)

    def _add(self, phrase: str, words: list[str]) -> None:
        if phrase.endswith("*") and len(words) == 1:
            self._by_prefix[words[0]] = phrase
        elif words:
            for spelled in _spellings(words):
                self._by_first.setdefault(spelled[0], []).append((phrase, spelled))

    def weigh(self, fields: Iterable[_Field]) -> tuple[float, tuple[str, ...]]:
        """The weight of all that was found, saturating towards 1, and what was found."""
        found: dict[str, float] = {}
        for field in fields:
            for phrase, count in self._count(field).items():
                # Each further mention counts half of the one before: all of them together less than two.
                mentions = 2 - 0.5 ** (count - 1)
                found[phrase] = found.get(phrase, 0.0) + field.factor * mentions * self._weights[phrase]
        ordered = sorted(found, key=lambda phrase: (-found[phrase], phrase))
        return 1 - exp(-sum(found.values())), tuple(phrase.removesuffix("*") for phrase in ordered)

    def _count(self, field: _Field) -> dict[str, int]:
        counts: dict[str, int] = {}
        for first in self._firsts & field.distinct:
            for phrase, spelled in self._by_first[first]:
                times = field.words.count(first) if len(spelled) == 1 else _times(field.words, spelled)
                if times:
                    counts[phrase] = counts.get(phrase, 0) + times
        # Nearly no page has one: all its words at once are looked through before each of them is.
        if not any(prefix in field.joined for prefix in self._prefixes):
            return counts
        for word in field.distinct:
            if word.startswith(self._prefixes):
                phrase = next(self._by_prefix[prefix] for prefix in self._prefixes if word.startswith(prefix))
                counts[phrase] = counts.get(phrase, 0) + 1
        return counts


def _spellings(words: list[str]) -> list[tuple[str, ...]]:
    """A phrase as given and in its plural: the last word with -s, or -ies for -y."""
    *before, last = words
    spelled = [last]
    if not last.endswith("s"):
        spelled.append(last[:-1] + "ies" if last.endswith("y") and last[-2:-1] not in "aeiou" else last + "s")
    return [(*before, form) for form in spelled]


def _times(words: list[str], phrase: tuple[str, ...]) -> int:
    times, start = 0, 0
    while True:
        try:
            start = words.index(phrase[0], start)
        except ValueError:
            return times
        times += tuple(words[start : start + len(phrase)]) == phrase
        start += 1
