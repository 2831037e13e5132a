"""A body in, its content out, or why there is none. No network, no database, and no exception for what a page does.

Always called in a process of its own with a time limit: parsers written in C may hang or die over a page.
"""

from dataclasses import dataclass

from bailiwick.extract.clean import clean
from bailiwick.extract.hashing import content_hash
from bailiwick.extract.html_content import read_html
from bailiwick.extract.languages import language_of
from bailiwick.extract.limits import ContentLimits
from bailiwick.extract.pdf_content import read_pdf
from bailiwick.extract.simhash import simhash, word_count, words_of
from bailiwick.extract.sniffing import kind_of
from bailiwick.extract.taming import tamed
from bailiwick.model.content import Content, ContentKind, ParseOutcome, Unread
from bailiwick.net.charsets import decode

__all__ = ["ContentLimits", "Opened", "open_body", "read_content", "read_opened"]

_TITLE_CHARS = 200
_BYTES_A_CHARACTER = 4


@dataclass(frozen=True, slots=True)
class Opened:
    """A body whose type is known, as text if it is one: HTML within the limits of what parsers read in good time."""

    kind: ContentKind
    body: bytes
    text: str = ""


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
    return read_html(opened.text, url, limits) if opened.kind is ContentKind.HTML else _read_text(opened.text, limits)


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
