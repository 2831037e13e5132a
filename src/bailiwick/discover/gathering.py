"""What a session found, by domain: the same page from several engines is one find with its sightings."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from bailiwick.model.discovery import SearchResult, Sighting
from bailiwick.model.names import DomainName
from bailiwick.model.urls import PageUrl

_MOST_SIGHTINGS = 50
"""Of one page that are kept: what agrees more often than that agrees."""
_SHOWN_REFUSALS = 3
"""Of each reason."""


@dataclass(slots=True)
class Find:
    """One page, its best result, and everywhere it stood."""

    page: PageUrl
    best: SearchResult
    sightings: list[Sighting]


@dataclass(slots=True)
class DomainFinds:
    """All that was found of one domain, best position first."""

    name: DomainName
    finds: list[Find]


@dataclass
class Gathering:
    """Results as they come in."""

    results: int = 0
    duplicates: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    refused_examples: list[str] = field(default_factory=list)
    _finds: dict[PageUrl, Find] = field(default_factory=dict)

    def add(self, page: PageUrl, result: SearchResult) -> None:
        self.results += 1
        sighting = Sighting(result.engine, result.query, result.position, result.is_ranked)
        known = self._finds.get(page)
        if known is None:
            self._finds[page] = Find(page, result, [sighting])
            return
        self.duplicates += 1
        if sighting not in known.sightings and len(known.sightings) < _MOST_SIGHTINGS:
            known.sightings.append(sighting)
        known.best = _better(known.best, result)

    def refuse(self, reason: str, what: str) -> None:
        """A result that is no page; counted, and the first few of every reason are shown."""
        self.results += 1
        self.refusals[reason] += 1
        if self.refusals[reason] <= _SHOWN_REFUSALS:
            self.refused_examples.append(f"{reason}: {what[:200]}" if what else reason)

    def domains(self) -> Iterator[DomainFinds]:
        """By name: sessions that run at once lock domains in the same order."""
        grouped: dict[str, DomainFinds] = {}
        for find in self._finds.values():
            grouped.setdefault(find.page.domain.name, DomainFinds(find.page.domain, [])).finds.append(find)
        for name in sorted(grouped):
            grouped[name].finds.sort(key=lambda find: (find.best.position, find.page.path))
            yield grouped[name]

    def __len__(self) -> int:
        """Different pages."""
        return len(self._finds)


def _better(known: SearchResult, other: SearchResult) -> SearchResult:
    """The one that stands higher; texts that it lacks come from the other: a missing text is no evidence."""
    high, low = (other, known) if _place(other) < _place(known) else (known, other)
    return replace(high, title=high.title or low.title, snippet=high.snippet or low.snippet)


def _place(result: SearchResult) -> tuple[bool, int]:
    return not result.is_ranked, result.position
