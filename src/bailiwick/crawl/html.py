"""HTML, parsed once: bytes in, plain strings and hashes out. No parse tree outlives the call: 1 MB a domain."""

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from bailiwick.base.failpoints import parser_killer

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.\-]{1,40})", re.I)
_HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.\-]{1,40})", re.I)
_COMMENT = re.compile(rb"<!--.*?-->", re.S)
_PRESCAN_BYTES = 1024
_ANCHOR_CHARS = 200
_MOST_LINKS = 20_000
_NOT_TEXT = ["script", "style", "nav", "noscript", "template"]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What the fetch half needs of a page."""

    hrefs: list[str]
    base_href: str | None
    anchors: dict[str, str]
    """Text of the links that lead out of this host, by their href."""
    text_hash: int
    is_noindex: bool
    canonical: str | None
    images: int


def decode(body: bytes, content_type: str) -> str:
    """The text of a body by the encoding standard: BOM, header, meta; else UTF-8 if it is that, else windows-1252."""
    import webencodings

    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    label = _declared(body, content_type)
    found = webencodings.lookup(label) if label else None
    if found is None:
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            return body.decode("windows-1252", "replace")
    return str(found.codec_info.decode(body, "replace")[0])


def _declared(body: bytes, content_type: str) -> str | None:
    header = _HEADER_CHARSET.search(content_type)
    if header:
        return header[1]
    meta = _META_CHARSET.search(_COMMENT.sub(b"", body[:_PRESCAN_BYTES]))
    if meta is None:
        return None
    # A meta that could be read as ASCII cannot be in UTF-16, whatever it says.
    label = meta[1].decode("ascii")
    return "utf-8" if label.lower().startswith("utf-16") else label


def parse_page(body: bytes, content_type: str, host: str) -> Parsed:
    """Links, the cheap text hash and the few marks that the fetch loop acts on."""
    from selectolax.lexbor import LexborHTMLParser

    parser_killer(body)
    tree = LexborHTMLParser(decode(body, content_type))
    hrefs: list[str] = []
    anchors: dict[str, str] = {}
    for node in tree.css("a[href], area[href]")[:_MOST_LINKS]:
        href = (node.attributes["href"] or "").strip()
        if not href or href[0] == "#":
            continue
        hrefs.append(href)
        if "//" in href[:8] and host not in href and href not in anchors:
            anchors[href] = " ".join(node.text().split())[:_ANCHOR_CHARS]
    hrefs += [src for node in tree.css("iframe[src], frame[src]")[:_MOST_LINKS] if (src := node.attributes["src"])]
    base = tree.css_first("base[href]")
    canonical = tree.css_first("link[rel=canonical][href]")
    noindex, digest, images = _marks(tree)
    tree.strip_tags(_NOT_TEXT)
    # White space does not count; taking it out of bytes is ten times faster than splitting text (measured).
    digest.update(tree.text().encode("utf-8", "replace").translate(None, b" \t\r\n\f"))
    return Parsed(
        hrefs=hrefs,
        base_href=base.attributes["href"] if base else None,
        anchors=anchors,
        text_hash=int.from_bytes(digest.digest(), "big", signed=True),
        is_noindex=noindex,
        canonical=(canonical.attributes["href"] or None) if canonical else None,
        images=images,
    )


def _marks(tree: "LexborHTMLParser") -> "tuple[bool, blake2b, int]":
    """(noindex, digest of what carries meaning outside the text, images): meta, JSON-LD, itemprop, image URLs."""
    digest = blake2b(digest_size=8)
    noindex = False
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        name = (attributes.get("name") or attributes.get("property") or attributes.get("itemprop") or "").lower()
        content = attributes["content"] or ""
        if name in ("robots", "bailiwick") and _says_noindex(content):
            noindex = True
        if name and name not in _NONCES:
            digest.update(f"{name}={content}\n".encode("utf-8", "replace"))
    for node in tree.css('script[type="application/ld+json"]'):
        digest.update(node.text().encode("utf-8", "replace"))
    for node in tree.css("[itemprop]"):
        attributes = node.attributes
        value = attributes.get("content") or attributes.get("href") or attributes.get("datetime") or ""
        digest.update(f"{attributes['itemprop']}={value}\n".encode("utf-8", "replace"))
    images = tree.css("img[src]")
    for node in images:
        digest.update((node.attributes["src"] or "").encode("utf-8", "replace"))
    return noindex, digest, len(images)


_NONCES = frozenset({"csrf-token", "csrf-param", "_token", "csp-nonce", "request-id"})
"""Meta names whose value is another one on every request."""


def _says_noindex(content: str) -> bool:
    return bool({"noindex", "none"} & {part.strip() for part in content.lower().split(",")})


def header_says_noindex(value: str) -> bool:
    """X-Robots-Tag: rules for all, or for a named agent; only those for all or for us count."""
    for part in value.split(","):
        agent, colon, rule = part.rpartition(":")
        if (not colon or agent.strip().lower() == "bailiwick") and _says_noindex(rule):
            return True
    return False
