"""The words of a text, folded and split once for all that looks at them."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

# A bounded amount of text: what a page is about is said early.
_BODY_CHARACTERS = 2500
_HEAD_CHARACTERS = 1000
_WORD = re.compile(r"\w+")
# Signs that make otherwise plain English text no ASCII.
_TYPESET = "\u2018\u2019\u201c\u201d\u2013\u2014\u2026\u2022\xa0"
_ASCII_WORDS = "".join(chr(code) if _WORD.match(chr(code)) else " " for code in range(128))
_URL_WORD = re.compile(r"[^\W_]+")
_SCHEME = re.compile(r"^[a-z]+://(www\.)?")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a page, or of a search result, which has no body."""

    title: list[str]
    url: list[str]
    description: list[str]
    body: list[str]

    @classmethod
    def of(cls, url: str, title: str | None, description: str | None, text: str = "") -> "Words":
        return cls(
            title=words_of((title or "")[:_HEAD_CHARACTERS]),
            url=_words_of_url(url[:_HEAD_CHARACTERS]),
            description=words_of((description or "")[:_HEAD_CHARACTERS]),
            body=words_of(text[:_BODY_CHARACTERS]),
        )


def words_of(text: str) -> list[str]:
    """Letters, digits and underscores in a row, case folded. ASCII, most of the web's text, goes quicker."""
    if not text.isascii():
        for sign in _TYPESET:
            text = text.replace(sign, " ")
    if text.isascii():
        return text.lower().translate(_ASCII_WORDS).split()
    return _WORD.findall(text.casefold())


def _words_of_url(url: str) -> list[str]:
    """Without the scheme and the host's last label: `.org` says little, `/grants` much."""
    host, slash, path = _SCHEME.sub("", url.casefold(), count=1).partition("/")
    return _URL_WORD.findall(host.rpartition(".")[0] + slash + unquote(path))
