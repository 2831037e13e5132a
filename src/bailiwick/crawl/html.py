"""HTML, parsed once: bytes in, plain strings and hashes out. No parse tree outlives the call: 1 MB a domain."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from bailiwick.base.failpoints import parser_killer

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser
    from webencodings import Encoding

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.\-]{1,40})", re.I)
_COMMENT = re.compile(r"<!(?=--).*?(?:-->|\Z)", re.S)
_META = re.compile(r"<meta[\s/]((?:\"[^\"]*\"|'[^']*'|[^>\"'])*)", re.I)
_ATTRIBUTE = re.compile(r"([^\s/>=]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]*)))?")
_XML_ENCODING = re.compile(r"<\?xml\s[^>]*?encoding\s*=\s*[\"']\s*([A-Za-z0-9_:.\-]{1,40})")
_PRESCAN_BYTES = 1024
_ANCHOR_CHARS = 200
_MOST_LINKS = 20_000
_MOST_FEEDS = 5
_FEEDS = (
    'link[rel~=alternate][type="application/rss+xml"][href], link[rel~=alternate][type="application/atom+xml"][href]'
)
_NOT_IN_A_DOCUMENT = {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}
_LEADING_HOST = re.compile(r"(?:https?:)?//(?:[^/?#\\@]*@)?(?:www\.)?([^/?#\\:]*)", re.I)
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
    feeds: list[str]
    """RSS and Atom feeds that it names."""


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
        if "//" in href[:8] and href not in anchors and _leads_out(href, host):
            anchors[href] = " ".join(node.text().split())[:_ANCHOR_CHARS]
    hrefs += [src for node in tree.css("iframe[src], frame[src]")[:_MOST_LINKS] if (src := node.attributes["src"])]
    base = tree.css_first("base[href]")
    canonical = tree.css_first("link[rel~=canonical][href]")
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
        feeds=[node.attributes["href"] or "" for node in tree.css(_FEEDS)[:_MOST_FEEDS]],
    )


def _leads_out(href: str, host: str) -> bool:
    found = _LEADING_HOST.match(href)
    return found is not None and found[1].lower() != host


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
    for node in tree.css('script[type^="application/ld+json"]'):
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
    """X-Robots-Tag, a line for each time it came: rules for all, or for the agent before them; those for us count."""
    for line in value.splitlines():
        agent = ""
        for part in line.split(","):
            rule = part
            if (named := _AGENT.match(part)) and named[1].lower() not in _RULES_WITH_VALUES:
                agent, rule = named[1].lower(), part[named.end() :]
            if agent in ("", "*", "bailiwick") and _says_noindex(rule):
                return True
    return False


_AGENT = re.compile(r"\s*([\w*-]+)\s*:")
_RULES_WITH_VALUES = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})
