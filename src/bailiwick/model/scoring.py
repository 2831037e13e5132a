"""How the layers of an evaluation are weighed: data of a profile. A change of it is another version."""

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Annotated, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from bailiwick.model.layers import CHECKS, FACTORS, FLAGS, SIGNALS

_Weight: TypeAlias = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
_Signed: TypeAlias = Annotated[float, Field(ge=-10, le=10, allow_inf_nan=False)]
_Share: TypeAlias = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_Text: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True, min_length=2, max_length=100)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class LayerWeights(_Part):
    """How much each layer counts in the confidence."""

    domain: _Weight = 0.25
    rules: _Weight = 0.35
    sophistication: _Weight = 0.4

    @model_validator(mode="after")
    def _some_count(self) -> Self:
        if self.domain + self.rules + self.sophistication <= 0:
            raise ValueError("at least one layer needs a weight")
        return self


# Top-level domains and registrars that published abuse statistics name most often for their size.
_TLDS = (
    "tk", "ml", "ga", "cf", "gq", "top", "xyz", "icu", "buzz", "click", "link", "work", "rest", "bid", "loan", "win",
    "review", "trade", "date", "stream", "download", "racing", "faith", "party", "science", "accountant", "cricket",
    "men", "cam", "monster", "sbs", "cfd", "cyou", "quest", "bond", "info",
)  # fmt: skip
_REGISTRARS = ("nicenic", "aceville", "dnspod", "webnic", "namesilo", "hosting concepts", "ownregistrar", "alpnames")


class ScorePolicy(_Part):
    """Weights and thresholds of the three layers."""

    layers: LayerWeights = LayerWeights()
    factors: Mapping[str, _Weight] = Field(default_factory=dict)
    """Of layer 1, by name; what is not named counts 1."""
    flags: Mapping[str, _Signed] = Field(default_factory=dict)
    """Of layer 2's six flags: below 0 a flag speaks against the page, above 0 for it."""
    checks: Mapping[str, _Weight] = Field(default_factory=dict)
    """Of layer 2's three checks of content, which speak against a page."""
    signals: Mapping[str, _Weight] = Field(default_factory=dict)
    min_age_days: int = Field(180, ge=0, le=36_500)
    tld_red_flags: tuple[_Text, ...] = Field(_TLDS, max_length=2000)
    registrar_red_flags: tuple[_Text, ...] = Field(_REGISTRARS, max_length=500)
    """Parts of registrars' names."""
    thin_words: int = Field(300, ge=0, le=100_000)
    ads_share: _Share = 0.05
    """From this share of elements on that match the rule list, ads are excessive."""
    broken_links: int = Field(2, ge=1, le=20)
    """From so many broken links on, of the 20 at most that are checked."""
    signal_threshold: _Share = 0.5

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        named = {"factors": FACTORS, "flags": FLAGS, "checks": CHECKS, "signals": SIGNALS}
        for field, known in named.items():
            for name in getattr(self, field):
                if name not in known:
                    raise ValueError(f"{field}: there is no {name}; there are {', '.join(known)}")
        return self

    @property
    def version(self) -> str:
        """What tells a policy from what it was."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return blake2b(text.encode(), digest_size=6).hexdigest()

    def factor(self, name: str) -> float:
        return self.factors.get(name, 1.0)

    def flag(self, name: str) -> float:
        return self.flags.get(name, _FLAGS[name])

    def check(self, name: str) -> float:
        return self.checks.get(name, 1.0)

    def signal(self, name: str) -> float:
        return self.signals.get(name, 1.0)


# 003 calls them red flags; that a site can be reached and names its authors is no fault of it, though.
_FLAGS = {
    "contact_page": 1.0,
    "author_bio": 1.0,
    "pricing_page": -0.5,
    "submit_content": -1.0,
    "write_for_us": -1.0,
    "guest_post_guidelines": -1.0,
}
