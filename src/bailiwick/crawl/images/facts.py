"""What the crawl knows of an image before and after it asked for it."""

import time
from dataclasses import dataclass, field

from bailiwick.model.images import ImageFacts, ImageOutcome


@dataclass(frozen=True, slots=True)
class ImageDue:
    """An address that is to be asked for."""

    url_hash: int
    url: str
    retries: int


@dataclass(frozen=True, slots=True)
class StoredImage:
    """A file that is safe on the disk."""

    sha256: bytes
    path: str
    size: int
    facts: ImageFacts


@dataclass(frozen=True, slots=True)
class ImageResult:
    """What came of it. One that still waits has a time; `tried` says whether that was a failure."""

    due: ImageDue
    outcome: ImageOutcome
    status: int | None = None
    error: str | None = None
    stored: StoredImage | None = None
    wait_seconds: float | None = None
    tried: bool = True
    bytes_received: int = 0
    at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class ImageOutlook:
    """What waits for a domain: addresses that are due now, when the next one is, pages that are yet to be parsed."""

    due: list[ImageDue]
    next_in_seconds: float | None
    unparsed: int
