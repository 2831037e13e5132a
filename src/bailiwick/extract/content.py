"""A body in, its content out, or why there is none. No network, no database, and no exception for what a page does.

Always called in a process of its own with a time limit: parsers written in C may hang or die over a page.
"""

from bailiwick.extract.clean import clean
from bailiwick.extract.hashing import content_hash
from bailiwick.extract.html_content import read_html
from bailiwick.extract.languages import language_of
from bailiwick.extract.limits import ContentLimits
from bailiwick.extract.pdf_content import read_pdf
from bailiwick.extract.simhash import simhash, word_count, words_of
from bailiwick.extract.sniffing import kind_of
from bailiwick.model.content import Content, ContentKind, ParseOutcome, Unread
from bailiwick.net.charsets import decode

__all__ = ["ContentLimits", "read_content"]

_TITLE_CHARS = 200
_BYTES_A_CHARACTER = 4


def read_content(body: bytes, content_type: str, url: str, limits: ContentLimits) -> Content | Unread:
    """The content of a body by its type, sniffed where that lies or is missing."""
    kind = kind_of(body, content_type)
    if isinstance(kind, Unread):
        return kind
    if kind is ContentKind.PDF:
        return read_pdf(body, limits)
    text = decode(body[: _BYTES_A_CHARACTER * limits.max_html_chars], content_type)
    return read_html(text, url, limits) if kind is ContentKind.HTML else _read_text(text, limits)


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
