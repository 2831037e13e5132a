"""A fitted model as it is kept: plain numbers, validated when they are read. Nothing in it can run."""

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

MOST_SIGNALS = 500
MOST_DIMENSIONS = 4096

_Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
_Share: TypeAlias = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_Scale: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SignalPart(_Part):
    """A signal: how it is brought to a common scale, and what it counts in log-odds a standard deviation."""

    name: str
    mean: _Number
    scale: _Scale
    weight: _Number
    missing_weight: _Number
    """What it counts that the signal is missing; it is taken as the mean then."""


class EmbeddingPart(_Part):
    """The direction in the space of page texts that speaks for a page. The reduction is multiplied into it."""

    direction: tuple[_Number, ...] = Field(min_length=1, max_length=MOST_DIMENSIONS)
    offset: _Number
    spread: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """Log-odds that a standard deviation of the labels' texts counts: to be shown beside the signals' weights."""
    missing_weight: _Number


class Platt(_Part):
    """Calibration of few labels: a sigmoid over the log-odds. A slope of 0: the model knows nothing."""

    kind: Literal["platt"] = "platt"
    slope: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    intercept: _Number


class Isotonic(_Part):
    """Calibration of many labels: a rising line through these points."""

    kind: Literal["isotonic"] = "isotonic"
    log_odds: tuple[_Number, ...] = Field(min_length=1)
    probabilities: tuple[_Share, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if len(self.log_odds) != len(self.probabilities):
            raise ValueError("each point needs both values")
        for values in (self.log_odds, self.probabilities):
            if list(values) != sorted(values):
                raise ValueError("the points do not rise")
        return self


class Cuts(_Part):
    """The model's own cut points. None: it is never sure enough to approve (to reject) alone."""

    reject_below: _Share | None = None
    approve_from: _Share | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.reject_below is not None and self.approve_from is not None and self.reject_below > self.approve_from:
            raise ValueError("what is rejected would be approved")
        return self


class Form(_Part):
    """Everything that prediction needs."""

    signals: tuple[SignalPart, ...] = Field(max_length=MOST_SIGNALS)
    embedding: EmbeddingPart | None
    intercept: _Number
    calibrator: Annotated[Platt | Isotonic, Field(discriminator="kind")]
    cuts: Cuts
