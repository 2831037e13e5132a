"""What discovery finds and judging says of it (specification 001): pure values."""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from bailiwick.model.names import DomainName
from bailiwick.model.words import Words

Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]

MAX_URL_CHARS = 4_000
MAX_TITLE_CHARS = 500
MAX_SNIPPET_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One line of a search engine's answer, as plain text within the bounds above."""

    url: str
    title: str = ""
    snippet: str = ""
    engine: str = ""
    query: str = ""
    position: int = 1
    """From 1, over all pages of the answer."""
    is_ranked: bool = True
    """The position says how good somebody found it. Rows of a file that tell none just stand somewhere."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """Where a URL stood in one engine's answer to one query."""

    engine: str
    query: str
    position: int
    is_ranked: bool = True
    """As of the result."""


@dataclass(frozen=True, slots=True)
class History:
    """What a domain gave before this session; all zero where it is known and gave nothing yet."""

    high_candidates: int = 0
    low_candidates: int = 0
    approved_candidates: int = 0
    rejected_candidates: int = 0
    pages_crawled: int = 0
    pages_relevant: int = 0
    items: int = 0


@dataclass(frozen=True, slots=True)
class Case:
    """One URL as judges see it: its best result, its words, everywhere it was found, what is known of its domain."""

    result: SearchResult
    domain: DomainName
    words: Words
    sightings: tuple[Sighting, ...] = ()
    """Empty: nobody says where it was found (`bailiwick judge`)."""
    history: History | None = None
    """None: the domain is new, or nobody looked."""

    @classmethod
    def of(
        cls,
        result: SearchResult,
        domain: DomainName,
        *,
        sightings: tuple[Sighting, ...] = (),
        history: History | None = None,
    ) -> "Case":
        return cls(result, domain, Words.of(result.url, result.title, result.snippet), sightings, history)


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one judge says of one case: 0 speaks against it, 1 for it."""

    score: float
    explanation: str


class JudgeScore(BaseModel):
    """An opinion with its author and what it counts (001)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    judge_name: str
    score: Share
    weight: float = Field(1.0, gt=0)
    explanation: str


class Judgment(BaseModel):
    """All that judging says of one result (001)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    confidence_score: Share
    should_crawl: bool
    domain_name: str
    judge_scores: tuple[JudgeScore, ...]
    """Of the judges that had something to go by. None had: the confidence is 0, and the reasoning says so."""
    reasoning: str
    extracted_organization_name: str | None = None
    extracted_program_name: str | None = None
    threshold: Share
    """From which confidence on it should be crawled."""
