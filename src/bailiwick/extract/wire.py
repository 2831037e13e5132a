"""Pages and what was extracted of them, as they go between a parse worker and its child processes.

Lengths first, then JSON, then the body; and back JSON, then the page's text and its markdown, which as JSON would take
longer than all the rest. JSON and not pickle: the child has read hostile input with libraries in C.
"""

import json
import struct
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime

from bailiwick.extract.page import Body, Extracted
from bailiwick.model.content import Content, ContentKind, ParseOutcome, Relevance, RelevanceSource, Unread
from bailiwick.model.images import FoundImage, FoundIn, ImageType, PageImages
from bailiwick.model.items import Item, ItemKind, ParserOutcome, ParserTry, Reject

LENGTHS = struct.Struct(">II")
LENGTH = struct.Struct(">I")
_MOMENTS = ("published_at", "modified_at")
_PLAIN = ("kind", "words", "simhash", "title", "description", "language", "author", "canonical")


def pack_body(body: Body) -> bytes:
    """What the child reads."""
    told = {
        "content_type": body.content_type,
        "url": body.url,
        "profile": body.profile,
        "known": [digest.hex() for digest in body.known],
        "relevance": asdict(body.relevance) if body.relevance else None,
        "kinds": list(body.kinds) if body.kinds is not None else None,
        "use_parsers": body.use_parsers,
    }
    header = json.dumps(told).encode()
    return b"".join((LENGTHS.pack(len(header), len(body.data)), header, body.data))


def read_body(read: Callable[[int], bytes]) -> Body | None:
    """The next one; None when the worker is gone."""
    lengths = read(LENGTHS.size)
    if len(lengths) < LENGTHS.size:
        return None
    header_bytes, body_bytes = LENGTHS.unpack(lengths)
    told, data = json.loads(read(header_bytes)), read(body_bytes)
    return Body(
        data,
        told["content_type"],
        told["url"],
        told["profile"],
        [bytes.fromhex(digest) for digest in told["known"]],
        _relevance(told["relevance"]),
        [ItemKind(kind) for kind in told["kinds"]] if told["kinds"] is not None else None,
        told["use_parsers"],
    )


def pack_note(note: ParserTry) -> bytes:
    """What the worker reads before an answer: a site parser runs from here on."""
    return _framed({"running": asdict(note)})


def pack_answer(found: Extracted | Unread) -> bytes:
    """What the worker reads."""
    if isinstance(found, Unread):
        return _framed({"outcome": found.outcome.value, "why": found.why})
    text = _raw(found.content.text)
    told = {
        "content": _told_content(found.content),
        "relevance": asdict(found.relevance) if found.relevance else None,
        "text_bytes": len(text),
        "has_markdown": found.markdown is not None,
        "items": [asdict(item) for item in found.items],
        "rejects": [asdict(reject) for reject in found.rejects],
        "tries": [asdict(one) for one in found.tries],
        "images": _told_images(found.images),
    }
    return _framed(told, text, _raw(found.markdown or ""))


def _framed(told: "dict[str, object]", *raw: bytes) -> bytes:
    """The length of all, the length of the JSON in it, the JSON, and what is no JSON as it is."""
    header = json.dumps(told).encode()
    length = LENGTH.size + len(header) + sum(map(len, raw))
    return b"".join((LENGTH.pack(length), LENGTH.pack(len(header)), header, *raw))


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _told_content(content: Content) -> dict[str, object]:
    """By hand: `asdict` copies everything deeply, which takes longer than the rest."""
    told: dict[str, object] = {name: getattr(content, name) for name in _PLAIN}
    told["content_hash"] = content.content_hash.hex()
    told["meta"] = dict(content.meta)
    for name in _MOMENTS:
        moment: datetime | None = getattr(content, name)
        told[name] = moment.isoformat() if moment else None
    return told


def _told_images(images: PageImages | None) -> object:
    if images is None:
        return None
    return [images.downloads, [(one.url, one.alt, one.kind, one.found_in) for one in images.found]]


def unpack_answer(data: bytes) -> Extracted | Unread | ParserTry:
    """An answer, or a note that comes before it."""
    (header_bytes,) = LENGTH.unpack_from(data)
    told = json.loads(data[LENGTH.size : LENGTH.size + header_bytes])
    if "running" in told:
        return _try(told["running"])
    if "outcome" in told:
        return Unread(ParseOutcome(told["outcome"]), told["why"])
    content = told["content"]
    text = LENGTH.size + header_bytes
    rest = text + told["text_bytes"]
    content["text"] = data[text:rest].decode("utf-8", "surrogatepass")
    markdown = data[rest:].decode("utf-8", "surrogatepass") if told["has_markdown"] else None
    content["kind"] = ContentKind(content["kind"])
    content["content_hash"] = bytes.fromhex(content["content_hash"])
    for name in _MOMENTS:
        content[name] = datetime.fromisoformat(content[name]) if content[name] else None
    items = [Item(**(item | {"kind": ItemKind(item["kind"])})) for item in told["items"]]
    rejects = [Reject(**(reject | {"kind": ItemKind(reject["kind"])})) for reject in told["rejects"]]
    tries = [_try(one) for one in told["tries"]]
    relevance, images = _relevance(told["relevance"]), _images(told["images"])
    return Extracted(Content(**content), relevance, markdown, items, rejects, tries, images)


def _try(told: "dict[str, object]") -> ParserTry:
    why = told["why"]
    return ParserTry(
        str(told["parser"]),
        int(str(told["version"])),
        ItemKind(str(told["kind"])),
        ParserOutcome(str(told["outcome"])),
        str(why) if why is not None else None,
    )


def _images(told: "tuple[bool, list[tuple[str, str | None, str, str]]] | None") -> PageImages | None:
    if told is None:
        return None
    downloads, found = told
    return PageImages(
        [
            FoundImage(url, position, alt, ImageType(kind), FoundIn(found_in))
            for position, (url, alt, kind, found_in) in enumerate(found)
        ],
        downloads,
    )


def _relevance(told: "dict[str, object] | None") -> Relevance | None:
    if told is None:
        return None
    return Relevance(
        float(str(told["score"])), bool(told["is_relevant"]), str(told["reason"]), RelevanceSource(str(told["source"]))
    )
