"""Images: how a page refers to one, what is known of its bytes, and what came of asking for it."""

from dataclasses import dataclass
from enum import StrEnum

SVG = "image/svg+xml"
NEAR_BITS = 6
"""Two images are near duplicates if at most so many of the 64 bits of their perceptual hashes differ."""


class ImageType(StrEnum):
    """What an image is for on its page (004)."""

    PRIMARY = "primary"
    GALLERY = "gallery"
    THUMBNAIL = "thumbnail"


class FoundIn(StrEnum):
    """Where a page names an image."""

    SRC = "src"
    SRCSET = "srcset"
    PICTURE = "picture"
    LAZY = "lazy"
    META = "meta"


class ImageOutcome(StrEnum):
    """What came of an image that was to be fetched."""

    WAITING = "waiting"
    STORED = "stored"
    TOO_SMALL = "too_small"
    """Smaller than its profile wants."""
    TOO_LARGE = "too_large"
    """More bytes than an answer may have."""
    TOO_MANY_PIXELS = "too_many_pixels"
    """Never decoded: a small file may unpack to gigabytes."""
    TRUNCATED = "truncated"
    UNREADABLE = "unreadable"
    NOT_AN_IMAGE = "not_an_image"
    ROBOTS_DENIED = "robots_denied"
    HOST_NOT_ALLOWED = "host_not_allowed"
    """On a host that the profile does not name (P5)."""
    HOST_REFUSED = "host_refused"
    """On a host that is a rejected, suspended or blacklisted domain (P5)."""
    ADDRESS_REFUSED = "address_refused"
    """On a private address (P7)."""
    NOT_FOUND = "not_found"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class FoundImage:
    """One reference of a page to an image; `position` counts them from 0 in the order of the page."""

    url: str
    position: int
    alt: str | None
    kind: ImageType
    found_in: FoundIn


@dataclass(frozen=True, slots=True)
class PageImages:
    """The references of one page, and whether their images are wanted here."""

    found: list[FoundImage]
    downloads: bool


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What the bytes say. An SVG has no size of its own: it is never rendered."""

    mime: str
    width: int | None = None
    height: int | None = None
    perceptual_hash: int | None = None
    """64 bits, signed. None where every part looks the same."""


SUFFIXES = {
    "image/avif": "avif",
    "image/bmp": "bmp",
    "image/gif": "gif",
    "image/jpeg": "jpg",
    "image/png": "png",
    SVG: "svg",
    "image/tiff": "tif",
    "image/webp": "webp",
    "image/x-icon": "ico",
}
"""The types that are kept, and how their files' names end."""


def distance(one: int, other: int) -> int:
    """In how many bits two perceptual hashes differ."""
    return ((one ^ other) & (2**64 - 1)).bit_count()
