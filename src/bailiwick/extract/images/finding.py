"""The images that a page refers to: one reference for each image element, and the one that it is shared with.

Of an element's candidates (`srcset`, the sources of its `picture`) the largest counts. An address as data stands for
an image that is loaded later; the attributes of lazy loaders name that one.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bailiwick.extract.addresses import absolute
from bailiwick.extract.clean import clean_line
from bailiwick.model.images import FoundImage, FoundIn, ImageType

if TYPE_CHECKING:
    from resiliparse.parse.html import DOMNode, HTMLTree

MOST_IMAGES = 2_000
"""References that are kept of one page."""
_ALT_CHARS = 512
_WANTED = "img, amp-img, input[type=image], meta[property], meta[name], base"
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-url", "data-image", "data-hi-res-src")
_SETS = (
    ("srcset", FoundIn.SRCSET),
    ("data-srcset", FoundIn.LAZY),
    ("data-lazy-srcset", FoundIn.LAZY),
    ("data-original-set", FoundIn.LAZY),
)
_SHARED = frozenset({"og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"})
_STANDINS = frozenset(b"blank spacer placeholder pixel transparent 1x1 lazy loading".split())
"""Words for what stands in the place of an image, between strokes, points and hyphens."""
_SMALL = frozenset(
    b"""thumb thumbs thumbnail thumbnails icon icons avatar avatars sprite sprites logo logos badge badges emoji favicon
    flag flags arrow arrows bullet bullets button buttons prev previous next""".split()
)
"""Words for what is small, between anything but letters."""
# Words are cut out of an address in two passes over its bytes; an expression tries each of them at every letter.
_LOWER = bytes(range(256)).lower()
_BETWEEN_PARTS = _LOWER.translate(bytes.maketrans(b" \t\n\r\f\v/_.-", b"??????    "))
_BETWEEN_LETTERS = bytes(code if chr(code).isalpha() and code < 128 else 32 for code in _LOWER)
_AROUND = frozenset({"nav", "header", "footer", "button"})
_STEPS_UP = 6
_MOST_SOURCES = 40
_NUMBER_CHARS = 20
_MAIN = re.compile(r"(?:^|[\s_-])(?:hero|primary|featured|main-image|product-image|lead|cover)(?:[\s_-]|$)")
_NO_MARKS = 2
"""So many spaces are between marks that are missing."""
_THUMBNAIL_PIXELS = 160
_NUMBER = re.compile(r"\s*(\d{1,6})\s*(?:px)?\s*$")
_CANDIDATE = re.compile(r"\s*([^\s,]\S*[^\s,]|[^\s,])\s*([\d.]+[wx])?[^,]*(?:,|$)", re.I)


def find_images(tree: "HTMLTree", url: str) -> list[FoundImage]:
    """All references of a page (tamed), in its order, at most `MOST_IMAGES`. Addresses are absolute, http or https."""
    document = tree.document
    if document is None:
        return []
    page = _Page(url)
    for node in document.query_selector_all(_WANTED):
        if len(page.found) >= MOST_IMAGES:
            break
        page.note(node)
    return page.finished()


class _Page:
    """What was found so far."""

    def __init__(self, url: str) -> None:
        self._url = self._base = url
        self._has_base = False
        self._shared: list[str] = []
        self.found: list[FoundImage] = []

    def note(self, node: "DOMNode") -> None:
        tag = node.tag
        if tag == "base":
            if not self._has_base and (href := absolute(node.getattr("href"), self._url)) is not None:
                self._base, self._has_base = href, True
        elif tag == "meta":
            name = (node.getattr("property") or node.getattr("name") or "").lower()
            if name in _SHARED and (content := node.getattr("content")):
                self._shared.append(content)
        else:
            self._image(node)

    def _image(self, node: "DOMNode") -> None:
        for address, found_in in _addresses(node):
            url = absolute(address, self._base) if address[:1] != "#" else None
            if url is not None:
                url = url.partition("#")[0]
                if _is_fallback(node) and any(one.url == url for one in self.found):
                    return
                alt = clean_line(node.getattr("alt") or node.getattr("title"), _ALT_CHARS)
                self.found.append(FoundImage(url, len(self.found), alt, _kind(node, url), found_in))
                return

    def finished(self) -> list[FoundImage]:
        """With the image that the page is shared with; if none of the others is the primary one, the first large is."""
        found = list(self.found)
        shared = [url.partition("#")[0] for one in self._shared if (url := absolute(one, self._base)) is not None]
        for url in dict.fromkeys(shared):
            at = next((i for i, one in enumerate(found) if one.url == url), None)
            if at is not None:
                found[at] = _as(found[at], ImageType.PRIMARY)
            elif len(found) < MOST_IMAGES:
                found.append(FoundImage(url, len(found), None, ImageType.PRIMARY, FoundIn.META))
        if not any(one.kind is ImageType.PRIMARY for one in found):
            first = next((i for i, one in enumerate(found) if one.kind is ImageType.GALLERY), None)
            if first is not None:
                found[first] = _as(found[first], ImageType.PRIMARY)
        return found


def _as(image: FoundImage, kind: ImageType) -> FoundImage:
    return FoundImage(image.url, image.position, image.alt, kind, image.found_in)


def _addresses(node: "DOMNode") -> Iterator[tuple[str, FoundIn]]:
    """Where the element's image may be, the best first."""
    source = (node.getattr("src") or "").strip()
    is_standin = not source or source[:5].lower() == "data:" or _says(source, _BETWEEN_PARTS, _STANDINS)
    for name, found_in in _SETS:
        if best := _largest(node.getattr(name)):
            yield best, found_in
    parent = node.parent
    if parent is not None and parent.tag == "picture":
        yield from ((best, FoundIn.PICTURE) for best in _sources(node))
    if source and not is_standin:
        yield source, FoundIn.SRC
    for name in _LAZY:
        if address := node.getattr(name):
            yield address.strip(), FoundIn.LAZY
    if source:
        yield source, FoundIn.SRC


def _is_fallback(node: "DOMNode") -> bool:
    """For readers without scripts: it stands beside an element that loads the same image later."""
    parent = node.parent
    return parent is not None and parent.tag == "noscript"


def _sources(image: "DOMNode") -> list[str]:
    """Of the sources that stand before an image in its picture the best addresses, the first source first."""
    found: list[str] = []
    before = image.prev
    for _ in range(_MOST_SOURCES):
        if before is None:
            break
        if before.tag == "source":
            best = _largest(before.getattr("srcset")) or _largest(before.getattr("data-srcset"))
            found += [best] if best else []
        before = before.prev
    return found[::-1]


def _largest(srcset: str | None) -> str | None:
    """The candidate with the largest width or density; the first of equals."""
    if not srcset:
        return None
    best, most = None, -1.0
    for match in _CANDIDATE.finditer(srcset[:20_000]):
        address, size = match[1], match[2]
        try:
            value = float(size[:-1]) if size else 1.0
        except ValueError:
            value = 1.0
        if value > most and not address.lower().startswith("data:"):
            best, most = address, value
    return best


def _kind(node: "DOMNode", url: str) -> ImageType:
    """By what the element says of itself: its size, its class, the words of its address."""
    sides = [side for name in ("width", "height") if (side := _pixels(node.getattr(name))) is not None]
    marks = f"{node.getattr('class') or ''} {node.getattr('id') or ''} {node.getattr('itemprop') or ''}"
    if len(marks) > _NO_MARKS and _MAIN.search(marks.lower()):
        return ImageType.PRIMARY
    if (sides and max(sides) <= _THUMBNAIL_PIXELS) or _is_around(node):
        return ImageType.THUMBNAIL
    words = marks if sides else f"{marks} {url.partition('://')[2].partition('/')[2]}"
    return ImageType.THUMBNAIL if _says(words, _BETWEEN_LETTERS, _SMALL) else ImageType.GALLERY


def _says(text: str, between: bytes, words: frozenset[bytes]) -> bool:
    """Whether one of these words is in a text, by what stands between its words."""
    return not words.isdisjoint(text.encode("utf-8", "replace").translate(between).split())


def _is_around(node: "DOMNode") -> bool:
    """Part of the frame that a site puts around its pages, not of the page."""
    parent = node.parent
    for _ in range(_STEPS_UP):
        if parent is None:
            return False
        if parent.tag in _AROUND:
            return True
        parent = parent.parent
    return False


def _pixels(value: str | None) -> int | None:
    match = _NUMBER.match(value[:_NUMBER_CHARS]) if value else None
    return int(match[1]) if match else None
