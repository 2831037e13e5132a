"""A body in, its content out, or why there is none. No network, no database, and no exception for what a page does.

Always called in a process of its own with a time limit: parsers written in C may hang or die over a page.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from bailiwick.extract.clean import clean
from bailiwick.extract.hashing import content_hash
from bailiwick.extract.html_content import LARGE_CHARS, parse_html, read_html
from bailiwick.extract.languages import language_of
from bailiwick.extract.limits import ContentLimits
from bailiwick.extract.pdf_content import read_pdf
from bailiwick.extract.simhash import simhash, word_count, words_of
from bailiwick.extract.sniffing import kind_of
from bailiwick.extract.taming import tamed
from bailiwick.model.content import Content, ContentKind, ParseOutcome, Unread
from bailiwick.net.charsets import decode

if TYPE_CHECKING:
    from resiliparse.parse.html import HTMLTree

__all__ = ["ContentLimits", "Opened", "open_body", "read_content", "read_opened"]

_TITLE_CHARS = 200
_BYTES_A_CHARACTER = 4


class Opened:
    """A body whose type is known, as text if it is one: HTML within the limits of what parsers read in good time."""

    def __init__(self, kind: ContentKind, body: bytes, text: str = "") -> None:
        self.kind, self.body, self.text = kind, body, text

    @cached_property
    def tree(self) -> "HTMLTree":
        """Of resiliparse, made once. Who reads it leaves it as it was."""
        return parse_html(self.text)


def open_body(body: bytes, content_type: str, limits: ContentLimits) -> Opened | Unread:
    """A body by its type, sniffed where that lies or is missing."""
    kind = kind_of(body, content_type)
    if isinstance(kind, Unread):
        return kind
    if kind is ContentKind.PDF:
        return Opened(kind, body)
    text = decode(body[: _BYTES_A_CHARACTER * limits.max_html_chars], content_type)
    if kind is ContentKind.HTML:
        most = {
            "max_chars": limits.max_html_chars,
            "max_tags": limits.max_html_tags,
            "max_depth": limits.max_html_depth,
        }
        text = tamed(text, **most)
    return Opened(kind, body, text)


def read_opened(opened: Opened, url: str, limits: ContentLimits) -> Content | Unread:
    if opened.kind is ContentKind.PDF:
        return read_pdf(opened.body, limits)
    if opened.kind is ContentKind.HTML:
        return read_html(opened.tree, url, limits, is_large=len(opened.text) > LARGE_CHARS)
    return _read_text(opened.text, limits)


def read_content(body: bytes, content_type: str, url: str, limits: ContentLimits) -> Content | Unread:
    """The content of a body, in one go."""
    opened = open_body(body, content_type, limits)
    return opened if isinstance(opened, Unread) else read_opened(opened, url, limits)


def _read_text(source: str, limits: ContentLimits) -> Content | Unread:
    """Plain text: its first line stands for a title."""
    text = clean(source, limits.max_text_chars)
    if not text:
        return Unread(ParseOutcome.EMPTY, "there is no text in it")
    first = text.partition("\n")[0].strip()
    return Content(
        kind=ContentKind.TEXT,
        text=text,
        words=word_count(text),
        content_hash=content_hash(text),
        simhash=simhash(words_of(text)),
        title=first if len(first) <= _TITLE_CHARS else None,
        language=language_of(None, text),
    )
