"""A profile: what one use of the system looks for. Pure values; `profile_files` reads them from TOML."""

import json
from collections.abc import Mapping
from enum import StrEnum
from hashlib import blake2b
from typing import Annotated, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from bailiwick.base.bands import MOST_BANDS, Band, check_bands
from bailiwick.model.items import ItemKind
from bailiwick.model.scoring import ScorePolicy

DEFAULT_PROFILE = "general"
PROFILE_NAME = r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$"

Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Weight: TypeAlias = Annotated[float, Field(gt=0, le=10)]
Phrase: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=100)]
Example: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=500)]
Statement: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=4000)]
Slug: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$", max_length=60)]
# `*.` in front of a host name takes in all names below it.
HostPattern: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$", max_length=253)
]
SchemaType: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Za-z]+$", max_length=60)]
Country: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
Language: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")]


class ModelUse(StrEnum):
    """When a language model is asked about a page, if one is set up."""

    OFF = "off"
    UNCERTAIN = "uncertain"
    """When the local score is near the threshold."""
    ALWAYS = "always"


class ModelReading(StrEnum):
    """When a language model reads items out of a relevant page, if one is set up."""

    OFF = "off"
    MISSING = "missing"
    """When the rules found no item of a kind, or one that lacks what its kind is about."""
    ALWAYS = "always"


class MarkdownPolicy(StrEnum):
    """Which pages are kept as markdown too."""

    ALL = "all"
    RELEVANT = "relevant"
    NONE = "none"


class OrganisationType(StrEnum):
    """What kind of organisation stands behind a search result."""

    GOVERNMENT = "government"
    INTERNATIONAL = "international"
    FOUNDATION = "foundation"
    RESEARCH = "research"
    EDUCATION = "education"
    ASSOCIATION = "association"
    COMPANY = "company"
    FINANCE = "finance"
    SHOP = "shop"
    MEDIA = "media"
    BLOG = "blog"
    JOBS = "jobs"
    FORUM = "forum"
    REFERENCE = "reference"
    FUNDRAISER = "fundraiser"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Examples(_Part):
    """Sentences as they stand on pages that are wanted, and on pages that only look like it."""

    positive: tuple[Example, ...] = Field((), max_length=100)
    negative: tuple[Example, ...] = Field((), max_length=100)


class JudgeWeight(_Part):
    """A judge of search results and how much its score counts (001)."""

    name: Slug
    weight: Weight = 1.0


class ImagePolicy(_Part):
    """Which images of a page are wanted, and whether they are fetched."""

    download: bool = False
    min_width: int = Field(0, ge=0, le=100_000)
    min_height: int = Field(0, ge=0, le=100_000)
    min_bytes: int = Field(0, ge=0, le=1_000_000_000)


class ModelPolicy(_Part):
    """When a language model judges relevance and reads items, and what it is told beside the topic."""

    use: ModelUse = ModelUse.OFF
    extract: ModelReading = ModelReading.OFF
    margin: Share = 0.2
    """`uncertain`: how far from the threshold a local score may lie to be asked about."""
    instructions: Annotated[str, StringConstraints(strip_whitespace=True, max_length=4000)] = ""


# Round numbers: what a result says of itself counts most, what only hints at its worth half or less.
DEFAULT_JUDGES = (
    JudgeWeight(name="keywords", weight=0.5),
    JudgeWeight(name="meaning", weight=1.5),
    JudgeWeight(name="recency", weight=1.5),
    JudgeWeight(name="organisation", weight=0.5),
    JudgeWeight(name="credibility", weight=0.25),
    JudgeWeight(name="geography", weight=0.5),
    JudgeWeight(name="history", weight=1.0),
    JudgeWeight(name="agreement", weight=0.5),
)


class Profile(_Part):
    """What is looked for: the topic and its evidence, what is extracted, where scores lead."""

    name: Annotated[str, StringConstraints(pattern=PROFILE_NAME, max_length=60)]
    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    extends: str | None = None
    """The profile that this one was laid over; its values are already in here."""
    topic: Statement | None = None
    """What a wanted page is, in a sentence or a few. None: everything is relevant."""
    relevance_threshold: Share = 0.5
    languages: tuple[Language, ...] = Field((), max_length=50)
    """Pages known to be in another language are not relevant. Empty: any language."""
    keywords: Mapping[Phrase, Weight] = Field(default_factory=dict, max_length=500)
    negative_keywords: Mapping[Phrase, Weight] = Field(default_factory=dict, max_length=500)
    examples: Examples = Examples()
    organisations: Mapping[OrganisationType, Share] = Field(default_factory=dict)
    """How much each kind of organisation speaks for a search result of theirs. Not named: no opinion."""
    countries: tuple[Country, ...] = Field((), max_length=250)
    """Where search results should come from or be for (ISO 3166). Empty: anywhere."""
    types: tuple[SchemaType, ...] = Field((), max_length=50)
    """Types of schema.org: a page whose markup names one is relevant, whatever its words and their language."""
    extractors: tuple[ItemKind, ...] = (ItemKind.ARTICLE,)
    """Kinds of items that are wanted."""
    markdown: MarkdownPolicy = MarkdownPolicy.RELEVANT
    images: ImagePolicy = ImagePolicy()
    asset_hosts: tuple[HostPattern, ...] = Field((), max_length=500)
    """Hosts besides the page's own from which images of an approved page may be fetched (P5)."""
    model: ModelPolicy = ModelPolicy()
    judges: tuple[JudgeWeight, ...] = Field(DEFAULT_JUDGES, min_length=1, max_length=50)
    judge_threshold: Share = 0.6
    """Weighted score of the judges from which a search result becomes a candidate (001)."""
    bands: tuple[Band, ...] | None = Field(None, min_length=1, max_length=MOST_BANDS)
    """Where scores lead (003). None: as the setting `review.bands` says."""
    scoring: ScorePolicy = ScorePolicy()

    @property
    def takes_everything(self) -> bool:
        return self.topic is None

    @property
    def mark(self) -> int:
        """64 bits, signed, over all that decides how a page is parsed: it changes when parsing would."""
        deciding = self.model_dump(mode="json", include=_DECIDE_PARSING)
        if self.model.extract is ModelReading.OFF:
            del deciding["model"]["extract"]  # so that marks from before there was such a choice still hold
        text = json.dumps(deciding, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)

    @field_validator("extractors", "languages", "asset_hosts", "types", "countries")
    @classmethod
    def _named_once(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        _refuse_twice(given)
        return given

    @field_validator("judges")
    @classmethod
    def _judges_once(cls, given: tuple[JudgeWeight, ...]) -> tuple[JudgeWeight, ...]:
        _refuse_twice([judge.name for judge in given])
        return given

    @field_validator("bands")
    @classmethod
    def _bands_cover(cls, given: tuple[Band, ...] | None) -> tuple[Band, ...] | None:
        return None if given is None else check_bands(given)

    @model_validator(mode="after")
    def _evidence_needs_a_topic(self) -> Self:
        if self.topic is None and (
            self.keywords or self.negative_keywords or self.types or self.examples != Examples()
        ):
            raise ValueError("keywords, types and examples need a topic; without one everything is relevant")
        if self.topic is not None and not self.keywords:
            raise ValueError(
                "a topic needs keywords: they are what is left where sentence embeddings are not installed"
            )
        return self


_DECIDE_PARSING = {
    "topic", "relevance_threshold", "languages", "types", "keywords", "negative_keywords", "examples",
    "extractors", "markdown", "images", "model",
}  # fmt: skip


def _refuse_twice(names: "tuple[str, ...] | list[str]") -> None:
    for position, name in enumerate(names):
        if name in names[:position]:
            raise ValueError(f"{name} is named twice")
