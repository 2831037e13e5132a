"""Words and phrases by which pages show themselves, of English and the languages asked for: `phrases/*.toml`."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict

from bailiwick.model.layers import FLAGS
from bailiwick.score.rules.shipped import shipped_text
from bailiwick.score.rules.wording import Finder, spellings

Phrases: TypeAlias = tuple[str, ...]
LANGUAGES = ("bg", "cs", "da", "de", "en", "es", "fr", "it", "nl", "pl", "pt", "sv")


class Grade(IntEnum):
    """How sure a wording is, and so where it may stand: `phrases/en.toml` says it in full."""

    WEAK = 0
    LABEL = 1
    PHRASE = 2
    SAID = 3


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FlagPhrases(_Part):
    labels: Phrases = ()
    phrases: Phrases = ()
    said: Phrases = ()
    weak: Phrases = ()
    beside: Phrases = ()
    unless: Phrases = ()


class AuthorPhrases(FlagPhrases):
    folders: Phrases = ()
    bylines: Phrases = ()
    nobody: Phrases = ()
    """Words of a byline that name no person."""


class RefusalPhrases(_Part):
    subjects: Phrases = ()
    before: Phrases = ()
    after: Phrases = ()
    answers: Phrases = ()
    """First words of the answer to a question that was none of consent."""
    despite: Phrases = ()
    """Beside these a negation is none: "do not hesitate to"."""
    limits: Phrases = ()
    """What follows narrows a refusal: "no guest posts that"."""
    whole: Phrases = ()
    """Right after a limit they make it none: "no guest posts on this blog"."""
    bystanders: Phrases = ()
    """Somebody else who does it: "the people who write for us"."""


class AboutPhrases(_Part):
    subjects: Phrases = ()
    words: Phrases = ()
    lists: Phrases = ()
    invites: Phrases = ()


class Language(_Part):
    """One language's file."""

    contact_page: FlagPhrases
    author_bio: AuthorPhrases
    pricing_page: FlagPhrases
    submit_content: FlagPhrases
    write_for_us: FlagPhrases
    guest_post_guidelines: FlagPhrases
    refusals: RefusalPhrases
    about: AboutPhrases

    def of_flag(self, flag: str) -> FlagPhrases:
        phrases: FlagPhrases = getattr(self, flag)
        return phrases


@dataclass(frozen=True, slots=True)
class Match:
    """A phrase found: of which flag, and the words it took."""

    flag: str
    grade: Grade
    first: int
    last: int
    """The word after its last."""


@cache
def language(code: str) -> Language:
    text = shipped_text("phrases", f"{code}.toml")
    return Language.model_validate(tomllib.loads(text))


def codes_for(languages: Sequence[str], page_language: str | None) -> tuple[str, ...]:
    """English and those asked for, or else the page's own, as far as there are phrases of them."""
    asked = languages or ((page_language,) if page_language else ())
    primary = {one.replace("_", "-").partition("-")[0].lower() for one in asked}
    return ("en", *sorted((primary & set(LANGUAGES)) - {"en"}))


@lru_cache(maxsize=64)
def phrase_book(codes: tuple[str, ...]) -> "PhraseBook":
    return PhraseBook([language(code) for code in codes])


class PhraseBook:
    """The phrases of some languages, ready to be looked for."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self._languages = languages
        self._whole: dict[str, dict[str, Grade]] = {}
        self._graded = {
            (flag, grade): Finder(self._of(flag, name))
            for flag in FLAGS
            for name, grade in (("phrases", Grade.PHRASE), ("said", Grade.SAID))
        }
        self._firsts = frozenset[str]().union(*(finder.firsts for finder in self._graded.values()))
        self._beside = {flag: Finder(self._of(flag, "beside")) for flag in FLAGS}
        self._unless = {flag: Finder(self._of(flag, "unless")) for flag in FLAGS}
        for name, grade in _WHOLE.items():
            for flag in FLAGS:
                self._keep_whole(flag, grade, self._of(flag, name))
        bios = [one.author_bio for one in languages]
        self.author_folders = frozenset(_joined(phrase for bio in bios for phrase in bio.folders))
        self.bylines = Finder(phrase for bio in bios for phrase in bio.bylines)
        self.nobody = frozenset(_joined(phrase for bio in bios for phrase in bio.nobody))
        self.refusals = {name: self._finder("refusals", name) for name in RefusalPhrases.model_fields}
        self.about = {name: self._finder("about", name) for name in AboutPhrases.model_fields}

    def whole(self, words: Sequence[str]) -> Mapping[str, Grade]:
        """The flags for which these words, as a whole, are a label; written together or apart."""
        return self._whole.get("".join(words), _NOTHING)

    def within(self, words: Sequence[str], *, least: Grade = Grade.PHRASE) -> list[Match]:
        """Every phrase of this grade or a surer one, in the order of the flags."""
        if self._firsts.isdisjoint(words):
            return []
        return [
            Match(flag, grade, first, last)
            for (flag, grade), finder in self._graded.items()
            if grade >= least
            for first, last in finder.find(words)
        ]

    def is_spoilt(self, flag: str, words: Sequence[str], start: int = 0, end: int | None = None) -> bool:
        """Whether a word is there that makes something else of it: contact *lenses*."""
        return self._unless[flag].is_in(words, start, end)

    def is_borne_out(self, flag: str, words: Sequence[str]) -> bool:
        return self._beside[flag].is_in(words)

    def _of(self, flag: str, name: str) -> list[str]:
        return [phrase for one in self._languages for phrase in getattr(one.of_flag(flag), name)]

    def _finder(self, part: str, name: str) -> Finder:
        return Finder(phrase for one in self._languages for phrase in getattr(getattr(one, part), name))

    def _keep_whole(self, flag: str, grade: Grade, phrases: Iterable[str]) -> None:
        for joined in _joined(phrases):
            self._whole.setdefault(joined, {})[flag] = grade


# In this order, so that the surest grade of a label stays.
_WHOLE = {"weak": Grade.WEAK, "labels": Grade.LABEL, "phrases": Grade.PHRASE, "said": Grade.SAID}
_NOTHING: Mapping[str, Grade] = {}


def _joined(phrases: Iterable[str]) -> set[str]:
    return {"".join(spelled) for phrase in phrases for spelled in spellings(phrase)}
