"""The names of the rules, and what each of them says."""

from enum import StrEnum


class Refusal(StrEnum):
    """The rule by which a link does not become a page. A closed list: counts are kept and shown by these names."""

    EXCLUDED = "excluded"
    NOT_INCLUDED = "not_included"
    TOO_LONG = "too_long"
    TOO_MANY_SEGMENTS = "too_many_segments"
    PATH_REPETITION = "path_repetition"
    SESSION_ID = "session_id"
    CALENDAR = "calendar"
    FACETS = "facets"
    MIRROR = "mirror"
    DUPLICATE_FAMILY = "duplicate_family"
    FAMILY_BUDGET = "family_budget"


SAYS: dict[Refusal, str] = {
    Refusal.EXCLUDED: "an exclude pattern of the job matches it",
    Refusal.NOT_INCLUDED: "no include pattern of the job matches it",
    Refusal.TOO_LONG: "path and query are too long",
    Refusal.TOO_MANY_SEGMENTS: "its path has too many segments",
    Refusal.PATH_REPETITION: "segments of its path come again and again",
    Refusal.SESSION_ID: "it is a known page with another session's token in its address",
    Refusal.CALENDAR: "it is a date reached from other dates, which lead to nothing but dates",
    Refusal.FACETS: "it is one more combination, or order, of parameters that are all known",
    Refusal.MIRROR: "it is a copy of a fetched page, in a sub-tree of copies",
    Refusal.DUPLICATE_FAMILY: "pages of its kind have had known texts for some time",
    Refusal.FAMILY_BUDGET: "pages of its kind find far more of their own kind than they bring new text",
}
