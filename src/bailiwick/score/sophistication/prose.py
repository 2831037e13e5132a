"""Figures of a text: repetition, variety, length of sentences, shouting, and letters that were misread."""

# ruff: noqa: RUF001 - quotation marks of many languages, and what becomes of letters

import re
from collections import Counter
from dataclasses import dataclass

MOST_CHARS = 60_000
"""More of a text says nothing new of how it is written."""
# Scripts without spaces: a letter stands for a word.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？…])[\s\"”»)]+|\n+|(?<=[。！？])")
_LONG_SENTENCE = 25
_SHINGLE = 4
_LEAST_WORDS = 40
_TOP_LETTERS = 5
_MARKS = "\x80-\xba\xbc-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ•–—˜™š›œžŸ"
# Bytes of UTF-8 that were taken for letters of Windows' or Latin encodings: a first one, and those that follow it.
_GARBLED = re.compile(rf"[ÂÃÄÅÐÑ][{_MARKS}]|(?:[ÎÏ×ØÙ][{_MARKS}]){{2}}|â€|[à-ï][{_MARKS}“”’]{{2}}|\ufffd")
_QUOTATION = re.compile(
    r"“[^“”\n]{20,400}”|«[^«»\n]{20,400}»|„[^„“”\n]{20,400}[“”]|\"[^\"\n]{20,400}\"|「[^「」\n]{8,200}」"
)
_FILLERS = ("lorem ipsum", "dolor sit amet", "consectetur adipisc", "consectetuer adipisc")
_PLACEHOLDERS = (
    "under construction", "coming soon", "your text here", "your content here", "your title here", "your logo here",
    "insert text here", "insert content here", "[insert", "this is a sample page", "hello world!",
    "just another wordpress site", "undefined undefined", "[object object]", "todo:", "seite ist im aufbau",
    "page en construction", "en construcción", "pagina in costruzione", "página em construção", "}}",
)  # fmt: skip
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]")
_ODD = re.compile(r"([^\W\d_])\1\1|[!?.,]{4,}|[!?]{2,}|\s[,.;!?](?=\s)|\$\$+|\*{3,}")
_TITLED = re.compile(r"(?:Dr|Prof)\.? [A-ZÄÖÜ]|Ph\.?D\b|M\.D\.")
_CREDENTIALS = (
    " certified", " accredited", "award-winning", "iso 9001", "zertifiziert", "certifié", "certificad", "professor of",
    "professor at", "researcher at", "chartered ", "licensed ", "professeur", "профессор", "博士", "教授",
)  # fmt: skip
_REFERENCES = ("doi.org/", "doi:", "isbn", "et al.", "arxiv:", "according to ", "laut ", "selon ", "según ", "secondo ")
_NOTE = re.compile(r"\[\d{1,3}\]")


@dataclass(frozen=True, slots=True)
class Prose:
    """Of the text, or of its first part."""

    chars: int
    words: int
    repeated_share: float
    variety: float | None
    top_word: str
    top_word_share: float
    quotations: int
    fillers: int
    sentence_words: float | None
    capital_share: float
    exclamations: int
    emoji: int
    oddities: int
    placeholders: int
    garbled: int
    sample: str
    credentials: int
    references: int


def prose_of(whole: str) -> Prose:
    text = whole[:MOST_CHARS]
    words = _WORD.findall(text)
    lower, small = [word.lower() for word in words], text.lower()
    sentences = [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence]
    garbled = _GARBLED.findall(text)
    top_word, top_share = _top_word(lower)
    return Prose(
        chars=len(text),
        words=len(words) if len(whole) <= MOST_CHARS else round(len(words) * len(whole) / MOST_CHARS),
        repeated_share=_repeated_share(sentences),
        variety=_variety(lower),
        top_word=top_word,
        top_word_share=top_share,
        quotations=len(_QUOTATION.findall(text)),
        fillers=_times(small, _FILLERS),
        sentence_words=_sentence_words(sentences),
        capital_share=_capital_share(words),
        exclamations=text.count("!") + text.count("！"),
        emoji=len(_EMOJI.findall(text)),
        oddities=len(_ODD.findall(text)),
        placeholders=_times(small, _PLACEHOLDERS),
        garbled=len(garbled),
        sample=garbled[0] if garbled else "",
        credentials=len(_TITLED.findall(text)) + _times(small, _CREDENTIALS),
        references=len(_NOTE.findall(text)) + _times(small, _REFERENCES),
    )


def _times(text: str, phrases: tuple[str, ...]) -> int:
    return sum(map(text.count, phrases))


def _repeated_share(sentences: list[str]) -> float:
    """By length, of those long enough to be no label."""
    long = [" ".join(sentence.lower().split()) for sentence in sentences if len(sentence) >= _LONG_SENTENCE]
    total = sum(map(len, long))
    return (total - sum(map(len, set(long)))) / total if total else 0.0


def _variety(words: list[str]) -> float | None:
    if len(words) < _LEAST_WORDS:
        return None
    runs = list(zip(*(words[start:] for start in range(_SHINGLE)), strict=False))
    return len(set(runs)) / len(runs)


def _top_word(words: list[str]) -> tuple[str, float]:
    """Of the words that are long enough to mean something."""
    if len(words) < _LEAST_WORDS:
        return "", 0.0
    found = Counter(word for word in words if len(word) >= _TOP_LETTERS).most_common(1)
    return (found[0][0], found[0][1] / len(words)) if found else ("", 0.0)


def _sentence_words(sentences: list[str]) -> float | None:
    """The mean, of lines that are sentences."""
    lengths = [len(_WORD.findall(sentence)) for sentence in sentences if sentence[-1:] in '.!?。！？…"”»)']
    return sum(lengths) / len(lengths) if len(lengths) >= 3 else None


def _capital_share(words: list[str]) -> float:
    long = [word for word in words if len(word) >= 4 and word[0].lower() != word[0].upper()]
    return sum(word.isupper() for word in long) / len(long) if len(long) >= _LEAST_WORDS // 2 else 0.0
