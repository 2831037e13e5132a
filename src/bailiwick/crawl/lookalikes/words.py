"""How the words of a page are read: a text gets the names of the lists whose phrases are in it.

The lists are in the text files beside this module, eleven languages in each. Phrases of languages with spaces are
looked up in one table, so that a list may be long and cost nothing; Chinese and Japanese are searched for each.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import product
from pathlib import Path

MOST_PHRASE_WORDS = 6
_MARKS = re.compile(r"[^\w']+|_")
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』')
_ELISION = re.compile(r"\b(l|d|n|s|c|j|qu|un|all|dell|nell|dall|sull|quest|lorsqu|jusqu)'(?=\w)")
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_SAYING = re.compile(r"[\u30a0-\u30ff\u3400-\u9fff]")
"""Without the Japanese letters for endings and particles."""
_ALTERNATIVES = re.compile(r"\(([^)]*)\)")
_NAME = re.compile(r"^\[(\w+)\]$", re.MULTILINE)
_MOST_CHARS = 400


def plain(text: str) -> str:
    """The words of a text and one space between them: lower case, `l'article` two words, full-width letters usual."""
    folded = unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'").replace("`", "'")
    return _ELISION.sub(r"\1 ", _MARKS.sub(" ", folded)).strip()


def weight(text: str) -> int:
    """Characters; a Chinese or Japanese one says as much as two and a half."""
    return len(text) if text.isascii() else len(text) + 3 * len(_DENSE.findall(text)) // 2


class Lists:
    """The phrases of some files, each with the names of the lists it is in."""

    def __init__(self, *files: str) -> None:
        self.spaced: dict[str, set[str]] = {}
        self.dense: dict[str, set[str]] = {}
        for file in files:
            text = Path(__file__).with_name(file).read_text(encoding="utf-8")
            names = _NAME.split(text)[1:]
            for name, listed in zip(names[::2], names[1::2], strict=True):
                for phrase in (phrase for template in listed.split(",") for phrase in _expand(template)):
                    table = self.dense if _DENSE.search(phrase) else self.spaced
                    table.setdefault(phrase, set()).add(name)

    def quick_look(self, *names: str) -> Callable[[str], bool]:
        """Whether any of these phrases is in a plain text; quick to answer for the many that have none."""
        wanted = set(names)
        plenty = {phrase for phrase, found in self.spaced.items() if not found.isdisjoint(("page", "thing", "filler"))}
        keys = {
            max(phrase.split(), key=lambda word: (word not in plenty, len(word)))
            for phrase, found in self.spaced.items()
            if not wanted.isdisjoint(found)
        }

        def are_in(text: str) -> bool:
            may_be = not keys.isdisjoint(text.split()) or (not text.isascii() and _DENSE.search(text) is not None)
            return may_be and self.read(text).has(*names)

        return are_in

    def read(self, text: str) -> "Wording":
        return Wording(self, text)


class Wording:
    """A text with the names of the lists whose phrases are in it. What it quotes is not said."""

    def __init__(self, lists: Lists, text: str) -> None:
        self.raw = text[:_MOST_CHARS]
        self.text = plain(_QUOTED.sub(" ", self.raw))
        self._lists = lists

    @cached_property
    def is_dense(self) -> bool:
        """Chinese or Japanese."""
        return not self.text.isascii() and _DENSE.search(self.text) is not None

    @cached_property
    def words(self) -> list[str]:
        found = self.text.split()
        return [word for word in found if "adverbs" not in self._lists.spaced.get(word, ())] or found

    @cached_property
    def _spans(self) -> list[tuple[int, int, set[str]]]:
        table, words = self._lists.spaced, self.words
        return [
            (start, end, names)
            for start in range(len(words))
            for end in range(start + 1, min(start + MOST_PHRASE_WORDS, len(words)) + 1)
            if (names := table.get(" ".join(words[start:end])))
        ]

    @cached_property
    def _dense_found(self) -> list[str]:
        return [phrase for phrase in self._lists.dense if phrase in self.text] if self.is_dense else []

    @cached_property
    def names(self) -> frozenset[str]:
        found: set[str] = set().union(*(names for _, _, names in self._spans))
        return frozenset(found.union(*(self._lists.dense[phrase] for phrase in self._dense_found)))

    def has(self, *names: str) -> bool:
        return not self.names.isdisjoint(names)

    def words_beside(self, *names: str) -> int:
        """How many words are in no phrase of these lists; of a dense text, half of its other characters."""
        wanted = set(names)
        if self.is_dense:
            rest = self.text
            for phrase in sorted(self._dense_found, key=len, reverse=True):
                if not wanted.isdisjoint(self._lists.dense[phrase]):
                    rest = rest.replace(phrase, "")
            return len(_SAYING.findall(rest)) // 2
        covered = {at for start, end, found in self._spans if not wanted.isdisjoint(found) for at in range(start, end)}
        return len(self.words) - len(covered)

    def starts_with(self, name: str) -> bool:
        if self.is_dense:
            return any(name in self._lists.dense[phrase] for phrase in self._dense_found)
        return any(start == 0 and name in names for start, _, names in self._spans)


def _expand(template: str) -> Iterator[str]:
    """`no (page|file) here` is two phrases and `(very|) old` one with an option."""
    pieces = _ALTERNATIVES.split(template)
    for choice in product(*(piece.split("|") if index % 2 else [piece] for index, piece in enumerate(pieces))):
        if phrase := " ".join("".join(choice).split()):
            yield phrase
