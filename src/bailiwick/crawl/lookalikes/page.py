# ruff: noqa: RUF001 - marks of other alphabets
"""What is weighed of a page: its title in parts, its headings and its sentences."""

import re
from dataclasses import dataclass
from functools import cached_property

from bailiwick.crawl.lookalikes.sight import Sight
from bailiwick.crawl.lookalikes.words import Lists, Wording, plain, weight

_TITLE_PARTS = re.compile(
    r"\s+[-\u2010-\u2015/\u2039\u203a<>]+\s+|[|\u00b7\u2022\u00bb\u00ab\uff5c\[\]_]|::|\s\u2014|\u2014\s"
)
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_MOST_SENTENCES = 30
_MOST_HEADINGS = 6


@dataclass(frozen=True)
class Page:
    """A short page, ready to be asked what it says in the words of some lists."""

    sight: Sight
    title: tuple[Wording, ...]
    """The parts of the title; what is before or behind a colon is one too."""
    headings: tuple[Wording, ...]
    sentences: tuple[Wording, ...]

    @classmethod
    def of(cls, title: str, sight: Sight, lists: Lists) -> "Page":
        great = [text for tag, text in sight.headings if tag in ("h1", "h2")]
        # A small heading counts where there is no greater one: a box beside the content has one too.
        headings = great or [text for _, text in sight.headings]
        sentences = [part for line in sight.lines for part in _SENTENCE_END.split(line) if plain(part)]
        return cls(
            sight=sight,
            title=tuple(map(lists.read, title_parts(title))),
            headings=tuple(map(lists.read, headings[:_MOST_HEADINGS])),
            sentences=tuple(map(lists.read, sentences[:_MOST_SENTENCES])),
        )

    @cached_property
    def top(self) -> Wording | None:
        """The heading of the page: its first h1, or else its first."""
        title = next((plain(text) for tag, text in self.sight.headings if tag == "h1"), None)
        first = self.headings[0] if self.headings else None
        return next((heading for heading in self.headings if plain(heading.raw) == title), first)

    @cached_property
    def has_topic(self) -> bool:
        """Its heading is in its title too, beside the name of the site: a page about that."""
        parts = {part.text for part in self.title}
        return self.top is not None and len(parts) > 1 and self.top.text in parts

    @cached_property
    def explains(self) -> bool:
        """`Error 404: what is it`, `How to log in`: words about the thing. A short part may name the site."""
        parts = [part for part in self.title if len(part.words) > 2 or part.is_dense]
        return any(part.has("explains") for part in (*parts, *self.headings[:1], *((self.top,) if self.top else ())))

    @cached_property
    def is_article(self) -> bool:
        """It is built like something to read: code, sections, or an author above a text."""
        sight = self.sight
        return sight.code > 0 or sight.sections > 2 or (sight.is_signed and sight.prose > 150)

    def prose_beside(self, *names: str) -> int:
        """The weight of the sentences that have none of these lists' phrases."""
        return sum(
            weight(sentence.raw)
            for sentence in self.sentences
            if is_told_of_others(sentence) or not sentence.has(*names)
        )


def title_parts(title: str) -> list[str]:
    found = [part.strip() for part in _TITLE_PARTS.split(title)]
    found += [piece for part in found if ": " in part for piece in (part.partition(": ")[0], part.rpartition(": ")[2])]
    return [part for part in found if plain(part)]


def is_told_of_others(wording: Wording) -> bool:
    """`If a page is not found`, `I found no page`: said of another time or by somebody."""
    return wording.has("condition", "narrates") or wording.words[:1] in (["si"], ["se"])
