"""What one walk through a page's HTML gathers."""

from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    """How the markup points to an author."""

    BOX = "box"
    """An element that is named after what it holds: author-bio, author-box."""
    BYLINE = "byline"
    RELATION = "relation"
    """A link with rel=author."""
    PROPERTY = "property"
    """Microdata: itemprop=author that holds more than a name."""
    CAPTION = "caption"
    """A short text that stands out; whether it is about an author, its words say."""


@dataclass(frozen=True, slots=True)
class AuthorMark:
    mark: Mark
    text: str


@dataclass(frozen=True, slots=True)
class Markup:
    headings: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()
    linked_data: tuple[str, ...] = ()
    author_marks: tuple[AuthorMark, ...] = ()
    ads: tuple[str, ...] = ()
    """The outermost advertisements, by name."""
    elements: int = 0
    """Of the body, as far as they show something; what is within an ad does not count."""
    has_text: bool = False
