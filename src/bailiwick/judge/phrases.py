"""Finds phrases among folded words: each phrase is looked at only where its first word stands."""

from collections.abc import Iterable, Sequence

from bailiwick.model.words import words_of


class Phrases:
    def __init__(self, phrases: Iterable[str]) -> None:
        self._by_first: dict[str, list[list[str]]] = {}
        for phrase in phrases:
            words = words_of(phrase)
            self._by_first.setdefault(words[0], []).append(words)
        self._firsts = frozenset(self._by_first)

    def first_in(self, words: Sequence[str]) -> str | None:
        """The phrase that stands first."""
        if self._firsts.isdisjoint(words):
            return None
        for position, word in enumerate(words):
            for phrase in self._by_first.get(word, ()):
                if list(words[position : position + len(phrase)]) == phrase:
                    return " ".join(phrase)
        return None
