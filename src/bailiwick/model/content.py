"""What is read out of a body: its content, or why there is none; and how relevant it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class ContentKind(StrEnum):
    """What a body was."""

    HTML = "html"
    PDF = "pdf"
    TEXT = "text"


class ParseOutcome(StrEnum):
    """What parsing came to. Everything but `parsed` leaves the page without new content, and is recorded."""

    PARSED = "parsed"
    EMPTY = "empty"
    """There is no text in it: a scanned PDF, a page made by scripts."""
    ENCRYPTED = "encrypted"
    """A PDF that wants a password."""
    BROKEN = "broken"
    """It is not what it says it is, or damaged beyond reading."""
    TOO_LARGE = "too_large"
    """Beyond the limits in the settings."""
    UNSUPPORTED = "unsupported"
    """A type of which no text can be read."""
    TIMEOUT = "timeout"
    """It took longer than a page may."""
    POISON = "poison"
    """Its process died over it, every time."""
    FAULT = "fault"
    """A fault of ours, kept with its words."""
    NO_BODY = "no_body"
    """The stored body is gone or damaged."""


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a body, clean: what a person would say the page holds."""

    kind: ContentKind
    text: str
    words: int
    content_hash: bytes
    """16 bytes over the normalised main text and what carries meaning beside it; noise does not move it."""
    simhash: int
    """64 bits, signed: near duplicates differ in few of them."""
    title: str | None = None
    description: str | None = None
    language: str | None = None
    author: str | None = None
    canonical: str | None = None
    published_at: datetime | None = None
    modified_at: datetime | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    """OpenGraph and the like, by name: `og:type`, `og:image`, `keywords`, `pdf:pages`."""


@dataclass(frozen=True, slots=True)
class Unread:
    """No content, and why."""

    outcome: ParseOutcome
    why: str


class RelevanceSource(StrEnum):
    """What judged a page."""

    ALL = "all"
    """The profile takes everything."""
    KEYWORDS = "keywords"
    MEANING = "meaning"
    """Keywords and sentence embeddings."""
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Relevance:
    """How relevant a page is for a profile, 0 to 1, and why."""

    score: float
    is_relevant: bool
    reason: str
    source: RelevanceSource
