"""What an admin sees before a model is switched on: how well it predicts, and what it would spare people."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

_Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
Basis: TypeAlias = Literal["measured", "extrapolated", "assumed"]
"""Of what the bands' precision is known by: decisions of people about what bands decide alone; the curve of decisions
about what lies between, drawn on; or nothing yet."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Bin(_Part):
    """A line of the reliability table: of pages with about this probability, how many were wanted?"""

    start: _Number
    end: _Number
    rows: int
    mean_probability: _Number
    share_wanted: _Number


class Side(_Part):
    """What one way to decide does with the labelled rows."""

    approved: int
    approved_right: int
    rejected: int
    rejected_right: int
    to_people: int

    @property
    def precision_approved(self) -> float | None:
        return self.approved_right / self.approved if self.approved else None

    @property
    def precision_rejected(self) -> float | None:
        return self.rejected_right / self.rejected if self.rejected else None


class Target(_Part):
    """The precision that was to be kept: that of the bands."""

    precision: _Number
    basis: Basis
    looked_at: int


class Comparison(_Part):
    """The fixed bands beside the model, on rows that neither the model nor its cut points have seen."""

    bands: Side
    model: Side
    approve: Target
    reject: Target
    routes: Mapping[str, Mapping[str, int]]
    """Rows by what the bands do and what the model does."""

    @property
    def shortfalls(self) -> tuple[str, ...]:
        """What the model decides alone, but less rightly than wished, by more than a standard error."""
        sides = (
            ("approved", self.model.precision_approved, self.model.approved, self.approve.precision),
            ("rejected", self.model.precision_rejected, self.model.rejected, self.reject.precision),
        )
        return tuple(
            name
            for name, precision, rows, wished in sides
            if precision is not None and precision < wished - (wished * (1 - wished) / rows) ** 0.5
        )

    @property
    def saved_share(self) -> float | None:
        """Of the reviews that the bands ask for; below 0 if the model asks for more. None: the bands ask for none."""
        return 1 - self.model.to_people / self.bands.to_people if self.bands.to_people else None


class Report(_Part):
    """All figures are out of fold."""

    rows: int
    wanted: int
    folds: int
    hosts_apart: bool
    """No host stood on both sides of a fold. False: there were too few hosts, and the figures flatter the model."""
    seed: int
    strength: _Number
    components: int
    calibration: str
    auc: _Number
    evidence_auc: _Number
    """Of the evidence's own confidence, on the same rows."""
    brier: _Number
    usual_brier: _Number
    """Of saying the usual share for every row."""
    reliability: tuple[Bin, ...]
    comparison: Comparison
