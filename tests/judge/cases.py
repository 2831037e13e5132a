"""Cases as judges see them, in a line."""

from datetime import date

from bailiwick.model.discovery import Case, History, SearchResult, Sighting
from bailiwick.model.names import DomainName
from bailiwick.model.profiles import Profile

TODAY = date(2026, 11, 16)


def case(
    title: str = "",
    snippet: str = "",
    *,
    url: str = "https://example.com/",
    sightings: tuple[Sighting, ...] = (),
    history: History | None = None,
) -> Case:
    domain = DomainName.parse(url, allow_private=True)
    return Case.of(SearchResult(url, title, snippet), domain, sightings=sightings, history=history)


def profile(**fields: object) -> Profile:
    """One that looks for bridges, or whatever it is told."""
    return Profile.model_validate(
        {
            "name": "bridges",
            "title": "Bridges",
            "topic": "Pages about bridges one can walk over.",
            "keywords": {"bridge": 1.0, "footbridge": 1.5},
            "negative_keywords": {"dental": 2.0},
            **fields,
        }
    )


WITHOUT_TOPIC = Profile(name="all", title="Everything")
