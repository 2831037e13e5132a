"""The three layers of evidence of an evaluation (003), as they are stored: all keys present, nothing besides.

A factor that could not be checked says so, has no weight, and its why is in the layer's `unchecked`.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

MAX_WHY_CHARS = 300
MAX_REASONING_CHARS = 2000

Score: TypeAlias = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Why: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=MAX_WHY_CHARS)]
_Word: TypeAlias = Annotated[str, StringConstraints(max_length=300)]
_Count: TypeAlias = Annotated[int, Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def stored(self) -> dict[str, JsonValue]:
        """As 003 writes it: what is optional and unknown is left out."""
        return self.model_dump(mode="json", exclude_none=True)


class Factor(_Part):
    """Something about the domain that speaks for it if it passes."""

    checked: bool = False
    passed: bool = False

    @model_validator(mode="after")
    def _unchecked_is_not_passed(self) -> Self:
        if self.passed and not self.checked:
            raise ValueError("what was not checked has not passed")
        return self


class DomainAge(Factor):
    value: _Count | None = None
    """Days."""
    threshold: _Count | None = None


class TldType(Factor):
    value: _Word | None = None
    red_flags: tuple[_Word, ...] | None = None


class RegistrarReputation(Factor):
    value: _Word | None = None
    red_flags: tuple[_Word, ...] | None = None


class WhoisPrivacy(Factor):
    enabled: bool | None = None


class SslCertificate(Factor):
    valid: bool | None = None
    issuer: _Word | None = None


class Flag(_Part):
    """Something on the page or its site that a rule looks for."""

    checked: bool = False
    detected: bool = False

    @model_validator(mode="after")
    def _unchecked_is_not_detected(self) -> Self:
        if self.detected and not self.checked:
            raise ValueError("what was not checked was not detected")
        return self


class ThinContent(Flag):
    word_count: _Count | None = None
    threshold: _Count | None = None


class BrokenLinks(Flag):
    count: _Count | None = None


class Signal(_Part):
    """One sign of sophistication."""

    score: Score
    detected: bool
    """The score is above the threshold."""
    reasoning: Annotated[str, StringConstraints(max_length=MAX_REASONING_CHARS)] | None = None


class _Checked(_Part):
    """A layer whose parts may be unchecked, each with its why."""

    unchecked: Mapping[str, Why] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _each_unchecked_has_its_why(self) -> Self:
        missing = {name for name, part in self.parts() if not part.checked}
        if missing != set(self.unchecked):
            raise ValueError(f"unchecked should name exactly {', '.join(sorted(missing)) or 'nothing'}")
        return self

    def parts(self) -> Iterator[tuple[str, Factor | Flag]]:
        """Every part by its name, in the order of 003."""
        for name in type(self).model_fields:
            part = getattr(self, name)
            if isinstance(part, Factor | Flag):
                yield name, part
            elif isinstance(part, _Part):
                yield from ((inner, getattr(part, inner)) for inner in type(part).model_fields)


class Layer1Results(_Checked):
    """What is known of the domain."""

    domain_age: DomainAge
    tld_type: TldType
    registrar_reputation: RegistrarReputation
    whois_privacy: WhoisPrivacy
    ssl_certificate: SslCertificate


class GuestPostFlags(_Part):
    contact_page: Flag
    author_bio: Flag
    pricing_page: Flag
    submit_content: Flag
    write_for_us: Flag
    guest_post_guidelines: Flag


class ContentQuality(_Part):
    thin_content: ThinContent
    excessive_ads: Flag
    broken_links: BrokenLinks


class Layer2Results(_Checked):
    """What rules found on the page and its site."""

    guest_post_red_flags: GuestPostFlags
    content_quality: ContentQuality


class Layer3Results(_Part):
    """How sophisticated the page looks."""

    design_quality: Signal
    content_originality: Signal
    authority_indicators: Signal
    professional_presentation: Signal

    def scores(self) -> dict[str, float]:
        """The four scores alone: 003's `sophistication_signals`."""
        return {name: getattr(self, name).score for name in SIGNALS}


FACTORS = ("domain_age", "tld_type", "registrar_reputation", "whois_privacy", "ssl_certificate")
FLAGS = tuple(GuestPostFlags.model_fields)
CHECKS = tuple(ContentQuality.model_fields)
SIGNALS = tuple(Layer3Results.model_fields)


class Proof(_Part):
    """What a finding rests on: where it was seen, and the words or figures seen there."""

    url: Annotated[str, StringConstraints(max_length=3000)] | None = None
    text: Annotated[str, StringConstraints(max_length=MAX_WHY_CHARS)]


Proofs: TypeAlias = Mapping[str, tuple[Proof, ...]]
"""By the name of the factor, flag, check or signal."""
