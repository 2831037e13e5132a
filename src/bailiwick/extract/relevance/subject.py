"""What is judged: the readable parts of a page, or of a search result, which has no text of its own."""

from dataclasses import dataclass

from bailiwick.extract.facts import TYPES
from bailiwick.model.content import Content
from bailiwick.model.words import Words


@dataclass(frozen=True, slots=True)
class Subject:
    """A page as a judge sees it."""

    url: str
    title: str | None = None
    description: str | None = None
    text: str = ""
    language: str | None = None
    types: frozenset[str] = frozenset()
    """Types of schema.org that its markup names."""

    @classmethod
    def of(cls, content: Content, url: str) -> "Subject":
        types = frozenset(filter(None, content.meta.get(TYPES, "").split(",")))
        return cls(url, content.title, content.description, content.text, content.language, types)

    def words(self) -> Words:
        return Words.of(self.url, self.title, self.description, self.text)
