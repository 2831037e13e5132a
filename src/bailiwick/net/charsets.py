"""The text of a body by the encoding standard, as browsers read it."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webencodings import Encoding

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.\-]{1,40})", re.I)
_COMMENT = re.compile(r"<!(?=--).*?(?:-->|\Z)", re.S)
_META = re.compile(r"<meta[\s/]((?:\"[^\"]*\"|'[^']*'|[^>\"'])*)", re.I)
_ATTRIBUTE = re.compile(r"([^\s/>=]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]*)))?")
_XML_ENCODING = re.compile(r"<\?xml\s[^>]*?encoding\s*=\s*[\"']\s*([A-Za-z0-9_:.\-]{1,40})")
_PRESCAN_BYTES = 1024
_NOT_IN_A_DOCUMENT = {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}


def decode(body: bytes, content_type: str) -> str:
    """The text of a body by the encoding standard: BOM, header, meta; else UTF-8 if it is that, else windows-1252."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    found = _declared(body, content_type)
    if found is None:
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            return body.decode("windows-1252", "replace")
    return str(found.codec_info.decode(body, "replace")[0])


def _declared(body: bytes, content_type: str) -> "Encoding | None":
    """What the header says or, unless it names an encoding, the document."""
    import webencodings

    header = _CHARSET.search(content_type)
    found = webencodings.lookup(header[1]) if header else None
    if found is not None:
        return found
    start = body[:_PRESCAN_BYTES].decode("latin-1")
    for label in _labels(_COMMENT.sub("", start)):
        if (found := webencodings.lookup(label)) is not None:
            # What could be read as ASCII up to here cannot be in UTF-16, whatever it says.
            return webencodings.lookup(_NOT_IN_A_DOCUMENT.get(found.name, found.name))
    return None


def _labels(start: str) -> Iterator[str]:
    """The encodings that a document says it is in: by meta, at last by its XML declaration (HTML standard, prescan)."""
    for meta in _META.finditer(start):
        given: dict[str, str] = {}
        for name, *values in _ATTRIBUTE.findall(meta[1]):
            given.setdefault(name.lower(), "".join(values))
        if "charset" in given:
            yield given["charset"]
        elif given.get("http-equiv", "").lower() == "content-type" and (
            found := _CHARSET.search(given.get("content", ""))
        ):
            yield found[1]
    if declaration := _XML_ENCODING.match(start):
        yield declaration[1]
