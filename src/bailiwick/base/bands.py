"""Confidence bands (003): ranges of a score from 0 to 1, and what each leads to."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

# People write ends with two decimals, so that is how close two bands can lie (0.49 and 0.5).
_STEP = 0.01
_EPSILON = 1e-9
MOST_BANDS = 20

_Share: TypeAlias = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_Name: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$", max_length=60)]


class BandAction(StrEnum):
    """What happens to a URL whose confidence lies in a band."""

    AUTO_APPROVE = "auto_approve"
    MANUAL_REVIEW = "manual_review"
    REJECT = "reject"

    @property
    def result(self) -> Literal["approved", "rejected"] | None:
        """What it makes of a URL; None: a person has to say."""
        return _RESULTS.get(self)


_RESULTS: dict[BandAction, Literal["approved", "rejected"]] = {
    BandAction.AUTO_APPROVE: "approved",
    BandAction.REJECT: "rejected",
}


class Band(BaseModel):
    """A range of confidence as people write it, and what it leads to."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: _Name
    min: _Share
    max: _Share
    action: BandAction

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"band {self.name}: min {self.min:g} is above max {self.max:g}")
        return self


@dataclass(frozen=True, slots=True)
class Bands:
    """Bands that cover every score once: each goes from its own min up to, and without, the min of the next."""

    written: tuple[Band, ...]
    """As a person wrote them, to be given back."""
    upward: tuple[Band, ...]

    @classmethod
    def of(cls, written: Iterable[Band]) -> Self:
        """ValueError if names repeat, if ranges overlap or leave a gap that is wider than their grid."""
        given = tuple(written)
        _refuse_twice([band.name for band in given])
        upward = tuple(sorted(given, key=lambda band: (band.min, band.max)))
        _refuse_gaps(upward)
        return cls(given, upward)

    @property
    def cuts(self) -> tuple[float, ...]:
        """The scores at which a band begins, but for the lowest."""
        return tuple(band.min for band in self.upward[1:])

    def band(self, score: float) -> Band:
        """The band of a score, which is not rounded: 0.795 lies below a band that begins at 0.8."""
        return self.upward[bisect_right(self.cuts, score)]

    def limits(self) -> "Limits":
        """Below and from where a score leads to a rejection and to an approval, when the bands are in that order."""
        actions = [band.action for band in self.upward]
        rejects = actions.count(BandAction.REJECT)
        approves = actions.count(BandAction.AUTO_APPROVE)
        edges = (0.0, *self.cuts, 1.0)
        return Limits(edges[rejects], edges[len(edges) - 1 - approves])

    @property
    def are_ordered(self) -> bool:
        """Rejecting bands lie below those for people, those below the approving ones."""
        rank = {BandAction.REJECT: 0, BandAction.MANUAL_REVIEW: 1, BandAction.AUTO_APPROVE: 2}
        ranks = [rank[band.action] for band in self.upward]
        return ranks == sorted(ranks)


@dataclass(frozen=True, slots=True)
class Limits:
    """Scores below `reject_below` are rejected, those from `approve_from` on approved."""

    reject_below: float
    approve_from: float


DEFAULT_BANDS = (
    Band(name="high", min=0.8, max=1.0, action=BandAction.AUTO_APPROVE),
    Band(name="medium", min=0.5, max=0.79, action=BandAction.MANUAL_REVIEW),
    Band(name="low", min=0.3, max=0.49, action=BandAction.MANUAL_REVIEW),
    Band(name="auto_reject", min=0.0, max=0.29, action=BandAction.REJECT),
)


def check_bands(given: tuple[Band, ...]) -> tuple[Band, ...]:
    """For validators: the bands as they were written, if they are sound."""
    return Bands.of(given).written


def _refuse_twice(names: Sequence[str]) -> None:
    for position, name in enumerate(names):
        if name in names[:position]:
            raise ValueError(f"{name} is named twice")


def _refuse_gaps(upward: Sequence[Band]) -> None:
    if not upward:
        raise ValueError("there is no band")
    if upward[0].min > _EPSILON:
        raise ValueError(f"no band for scores from 0 to {upward[0].min:g}")
    if upward[-1].max < 1 - _EPSILON:
        raise ValueError(f"no band for scores from {upward[-1].max:g} to 1")
    for below, above in pairwise(upward):
        if above.min <= below.max + _EPSILON:
            raise ValueError(f"bands {below.name} and {above.name} overlap at {above.min:g}")
        if above.min - below.max > _STEP + _EPSILON:
            raise ValueError(f"no band for scores between {below.max:g} and {above.min:g}")
