"""Text as folded words that know where they stand, so that what was found can be shown as it was written."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import combining, normalize

SHOWN_CHARS = 200
_WORD = re.compile(r"[^\W_]+(?:['\u2019](?:s|t|re|ve|ll|d|m)(?![^\W_]))?", re.I)
_BREAK = re.compile(r"[.!?;|\n\u2022\u2026\u3002]")
_UNSHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\xa0]+")
_OTHER_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "\u0131": "i", "þ": "th", "ð": "d"})
# How addresses spell letters that are more than an accent: ueber-den-autor, gaesteindlaeg, paa-vores-blog.
_SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
_MOST_WORDS = 40_000


@dataclass(frozen=True, slots=True)
class Wording:
    """A text and its words. `spans` are the places of the words in the text."""

    text: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, text: str) -> "Wording":
        text = cleaned(text)
        words, spans = [], []
        for found in _WORD.finditer(text):
            words.append(folded(found[0]))
            spans.append(found.span())
            if len(words) == _MOST_WORDS:
                break
        return cls(text, tuple(words), tuple(spans))

    def breaks_before(self, position: int) -> bool:
        """Whether a sentence or a line ends before this word."""
        if not 0 < position < len(self.spans):
            return True
        return _BREAK.search(self.text, self.spans[position - 1][1], self.spans[position][0]) is not None

    def sentence(self, first: int, last: int, *, most: int = 40) -> tuple[int, int]:
        """The words of the sentence around these, at most so many on each side."""
        start, end = first, last
        while first - start < most and not self.breaks_before(start):
            start -= 1
        while end - last < most and not self.breaks_before(end):
            end += 1
        return start, end

    def shown(self, first: int, last: int) -> str:
        """The words and what stands around them, on one line."""
        return cut_around(self.text, self.spans[first][0], self.spans[last - 1][1])


def cut_around(text: str, start: int, end: int) -> str:
    """At most 200 characters, the place itself among them."""
    room = max(0, SHOWN_CHARS - (end - start))
    left = max(0, start - room // 2)
    right = min(len(text), left + SHOWN_CHARS)
    left = max(0, right - SHOWN_CHARS)
    return " ".join(text[left:right].split())


def cleaned(text: str) -> str:
    """Without characters that nobody sees or that cannot be stored."""
    return _SPACE.sub(" ", _UNSHOWN.sub("", text))


@lru_cache(maxsize=32_768)
def folded(word: str) -> str:
    """Case, accents and apostrophes do not count."""
    if word.isascii():
        return word.lower().replace("'", "")
    letters = normalize("NFKD", word.casefold().replace("\u2019", "").replace("'", ""))
    return "".join(one for one in letters if not combining(one)).translate(_OTHER_LETTERS)


def words_in(text: str) -> tuple[str, ...]:
    return tuple(folded(found[0]) for found in _WORD.finditer(text))


def spellings(phrase: str) -> set[tuple[str, ...]]:
    """A phrase without its accents, and as those spell it who write the letters out."""
    return {words_in(phrase), words_in(phrase.casefold().translate(_SPELLED_OUT))}


class Finder:
    """Finds phrases among folded words: each is compared only where its first word stands."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        for words in sorted({spelled for phrase in phrases for spelled in spellings(phrase)}):
            if words:
                self._by_first.setdefault(words[0], []).append(words)
        self.firsts = frozenset(self._by_first)

    def find(self, words: Sequence[str], start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
        """(first word, word after the last) of each, in their order; the longest of those that begin at a word."""
        end = len(words) if end is None else end
        for position in range(start, end):
            if words[position] not in self.firsts:
                continue
            lengths = [
                len(phrase)
                for phrase in self._by_first[words[position]]
                if position + len(phrase) <= end and tuple(words[position : position + len(phrase)]) == phrase
            ]
            if lengths:
                yield position, position + max(lengths)

    def is_in(self, words: Sequence[str], start: int = 0, end: int | None = None) -> bool:
        return next(self.find(words, start, end), None) is not None
