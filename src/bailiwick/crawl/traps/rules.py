"""The names of the rules, and how much each of them lets pass."""

from dataclasses import dataclass
from enum import StrEnum


class Refusal(StrEnum):
    """The rule by which a link does not become a page. A closed list: counts are kept and shown by these names."""

    EXCLUDED = "excluded"
    """An exclude pattern matches it."""
    NOT_INCLUDED = "not_included"
    """There are include patterns, and none matches it."""
    TOO_LONG = "too_long"
    TOO_MANY_SEGMENTS = "too_many_segments"
    PATH_REPETITION = "path_repetition"
    """A segment, or a sequence of them, comes again and again: /a/b/a/b/a/b."""
    SESSION_ID = "session_id"
    """A page that is known, with another session's token in its URL."""
    CALENDAR = "calendar"
    """A date reached from other dates, where these led to nothing but dates."""
    FACETS = "facets"
    """One more combination, or another order, of parameters that are all known."""
    MIRROR = "mirror"
    """A copy, in a sub-tree of copies, of a page that was fetched."""
    DUPLICATE_FAMILY = "duplicate_family"
    """Its family's pages have all had known texts for some time."""
    FAMILY_BUDGET = "family_budget"
    """Its family finds far more pages of its own kind than it brings new text."""


@dataclass(frozen=True, slots=True)
class TrapSettings:
    """What the rules let pass, for each domain. The defaults refuse nothing on ordinary sites (tests/crawl)."""

    max_path_chars: int = 1_000
    """Path and query. Longer ones are almost always a query that grows from link to link."""
    max_segments: int = 20
    max_repeats: int = 3
    """So many times in a row a sequence of segments is a repetition; so is a segment anywhere in the path once more
    than that. Numbers never are: /11/11/11 is a date."""
    repeat_run: int = 8
    """Known texts in a row after which a path with any segment twice is taken for one."""

    session_probes: int = 8
    """Known pages that are fetched again with another token, to see whether the text is another one, too."""
    session_rests: int = 4
    """A token that goes with no more pages than this is an id (/commit/3f2a…), whatever it looks like."""

    calendar_pages: int = 32
    """Dates that a family of them (/calendar/2026/11) may find by itself, one after another, while none of its dates
    leads to a new page without one; 4 times that for all families together. After twice that, dates that are found on
    other pages are no longer free, either."""
    calendar_years_back: int = 30
    calendar_years_ahead: int = 2
    """Where most dates of a family lead to nothing else, those outside of these years are refused."""

    facet_combinations: int = 24
    """Combinations of known values for one path. Half of it for one set of parameter names, 4 times it for all paths
    of a first folder, and twice each of these for combinations that are found on another path's pages."""
    facet_growth: int = 2
    """More of them for each that led to a new page on another path."""

    family_pages: int = 2_000
    """Pages that a family (a folder, whatever the numbers in it; its parameter names) may find by itself."""
    family_growth: int = 32
    """More of them for each page with a new text."""
    duplicate_run: int = 24
    """Known texts in a row that end a family, if they are also a fifth of all. Twice that end a level of a folder."""

    mirror_pages: int = 4
    """Different texts that a sub-tree has to share, page by page, with another to be its mirror."""
