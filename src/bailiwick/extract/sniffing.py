"""What a body is: by its media type, and by its first bytes where the type lies or is missing."""

import re

from bailiwick.model.content import ContentKind, ParseOutcome, Unread

_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
_XML_TYPES = frozenset({"text/xml", "application/xml"})
_VAGUE_TYPES = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/unknown"})
_NO_PROSE = frozenset({"text/css", "text/javascript", "text/ecmascript", "text/calendar", "text/vcard"})
_START_BYTES = 1024
_PDF = b"%PDF-"
_DOCUMENT = re.compile(rb"<!doctype\s+html|<html[\s>]", re.I)
_MARKUP = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|script|style|div|p|h1|table|a|br|span|ul)[\s/>]", re.I
)
# By their first bytes: whatever a header says, there is no text to read in them.
_BINARY = (
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"RIFF", "a RIFF file"),
    (b"PK\x03\x04", "a ZIP archive or office document"),
    (b"\x1f\x8b", "gzip data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"OggS", "an Ogg file"),
    (b"ID3", "an MP3 file"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"SQLite format 3\x00", "a database"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\x0c\x1b"))
_MOST_CONTROLS = 0.05


def kind_of(body: bytes, content_type: str) -> ContentKind | Unread:
    """Which reader it is for."""
    media_type = content_type.partition(";")[0].strip().lower()
    start = body[:_START_BYTES]
    if not start.strip():
        return Unread(ParseOutcome.EMPTY, "the body is empty")
    if start.startswith(_PDF):
        return ContentKind.PDF
    for magic, name in _BINARY:
        if start.startswith(magic):
            return Unread(ParseOutcome.UNSUPPORTED, f"it is {name}")
    if media_type in _HTML_TYPES:
        return _unless_binary(start, content_type, ContentKind.HTML)
    if media_type == "application/pdf":
        return ContentKind.HTML if _MARKUP.search(start) and _PDF not in start else ContentKind.PDF
    return _of_another_type(start, media_type, content_type)


def _of_another_type(start: bytes, media_type: str, content_type: str) -> ContentKind | Unread:
    if media_type in _VAGUE_TYPES:
        if _PDF in start:
            return ContentKind.PDF
        kind = ContentKind.HTML if _MARKUP.search(start) else ContentKind.TEXT
        return _unless_binary(start, content_type, kind)
    if media_type in _XML_TYPES:
        found = _DOCUMENT.search(start)
        return ContentKind.HTML if found else Unread(ParseOutcome.UNSUPPORTED, "it is XML, and no XHTML")
    if media_type.startswith("text/") and media_type not in _NO_PROSE:
        is_html = _DOCUMENT.match(start.lstrip())
        return _unless_binary(start, content_type, ContentKind.HTML if is_html else ContentKind.TEXT)
    return Unread(ParseOutcome.UNSUPPORTED, f"no text is read from {media_type[:100]!a}")


def _unless_binary(start: bytes, content_type: str, kind: ContentKind) -> ContentKind | Unread:
    """UTF-16 is full of zeros and is text all the same, where it says so."""
    if start.startswith((b"\xff\xfe", b"\xfe\xff")) or "utf-16" in content_type.lower():
        return kind
    controls = len(start) - len(start.translate(None, _CONTROLS))
    if controls > _MOST_CONTROLS * len(start):
        return Unread(ParseOutcome.BROKEN, f"it says that it is {kind.value}, and is binary data")
    return kind
