"""Where a model may decide alone: cut points that are as right as the bands are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bailiwick.base.bands import Bands
from bailiwick.learn.examples import Example
from bailiwick.learn.form import Cuts
from bailiwick.learn.matrix import Floats
from bailiwick.learn.report import Basis

ASSUMED_PRECISION = 0.95
"""Of what bands decide alone, where too few decisions came about without a model to know."""
LEAST_LOOKED_AT = 30
_LEAST_FOR_CURVE = 50
_MOST_FOR_CURVE = 30.0
"""A curve that is drawn on beyond what it rests on counts at most like so many decisions: it may have another shape."""
_LEAST_DECIDED = 20
"""A cut point that rests on fewer decisions is chance."""
_MOST = 0.99


@dataclass(frozen=True, slots=True)
class Aim:
    """A precision that the model must not fall below: what the bands reach, and how that is known."""

    precision: float
    basis: Basis
    looked_at: int
    """Decisions of people about what the bands decide alone."""


@dataclass(frozen=True, slots=True)
class Wish:
    approve: Aim
    reject: Aim


def wish_of(examples: Sequence[Example], bands: Bands) -> Wish:
    """How right the bands are where they decide alone.

    People mostly see what lies between the limits: a logistic curve through these decisions, drawn on, is the first
    guess. What people saw beyond the limits corrects it, the more of it the more.
    What a model chose to show to people is not counted: it shows what it doubts, so the bands would look worse than
    they are, and each new model could allow itself more mistakes than the last.
    """
    counted = [one for one in examples if not one.is_guided]
    confidence = np.array([one.confidence for one in counted])
    wanted = np.array([one.is_wanted for one in counted], dtype=bool)
    limits = bands.limits()
    is_above, is_below = confidence >= limits.approve_from, confidence < limits.reject_below
    curve = _Curve.through(confidence, wanted, ~is_above & ~is_below)
    return Wish(
        approve=_aim(curve, (limits.approve_from + 1) / 2, wanted[is_above], is_approval=True),
        reject=_aim(curve, limits.reject_below / 2, ~wanted[is_below], is_approval=False),
    )


def _aim(curve: "_Curve | None", middle: float, right: NDArray[np.bool_], *, is_approval: bool) -> Aim:
    """The curve's guess for the middle of the range as so many decisions, and the decisions that there are."""
    guess, weight = ASSUMED_PRECISION, 1.0
    if curve is not None:
        share, error = curve.at(middle)
        guess = share if is_approval else 1 - share
        weight = min(_MOST_FOR_CURVE, max(1.0, guess * (1 - guess) / error**2 - 1))
    mean = (float(right.sum()) + guess * weight) / (len(right) + weight)
    basis: Basis = "extrapolated" if curve is not None else "assumed"
    return Aim(
        precision=min(mean, _MOST),
        basis="measured" if len(right) >= LEAST_LOOKED_AT else basis,
        looked_at=len(right),
    )


@dataclass(frozen=True, slots=True)
class _Curve:
    """Logistic: the share of wanted ones at a confidence, and how sure that is."""

    weights: Floats
    covariance: Floats

    @classmethod
    def through(cls, confidence: Floats, wanted: NDArray[np.bool_], chosen: NDArray[np.bool_]) -> "_Curve | None":
        """None where the chosen ones are too few, or all alike."""
        confidence, wanted = confidence[chosen], wanted[chosen]
        if len(wanted) < _LEAST_FOR_CURVE or wanted.all() or not wanted.any():
            return None
        from sklearn.linear_model import LogisticRegression

        found = LogisticRegression(C=1e4, tol=1e-8, max_iter=1000).fit(confidence[:, None], wanted)
        # A curve that falls says that confidence tells nothing here.
        weights = np.array([float(found.intercept_[0]), max(0.0, float(found.coef_[0, 0]))])
        columns = np.column_stack((np.ones(len(confidence)), confidence))
        shares = _sigmoid(columns @ weights)
        information = (columns * (shares * (1 - shares))[:, None]).T @ columns
        return cls(weights, np.linalg.pinv(information).astype(float))

    def at(self, place: float) -> tuple[float, float]:
        """The share at this confidence, and its standard error."""
        column = np.array([1.0, place])
        share = float(_sigmoid(column @ self.weights))
        return share, share * (1 - share) * float(np.sqrt(column @ self.covariance @ column)) + 1e-6


def _sigmoid(log_odds: Floats) -> Floats:
    grown: Floats = np.exp(-np.logaddexp(0.0, -log_odds))
    return grown


def cuts_at(probabilities: Floats, wanted: NDArray[np.bool_], wish: Wish) -> Cuts:
    """The widest ranges that are expected to be as right as wished; None where there is no such range.

    `probabilities` are calibrated and out of fold, so their mean over a range is the precision to expect there. To
    count right ones alone would rest on chance: near the ends, a few slips of people decide. But the count must not
    contradict: a calibration of two numbers can be wrong at the ends.
    """
    approve = _cut(probabilities, wanted, wish.approve.precision)
    reject = _cut(1 - probabilities, ~wanted, wish.reject.precision)
    below = None if reject is None else 1 - reject
    if approve is not None and below is not None and below > approve:
        # Both are sure of the middle. It is split where it lies, and nobody is asked.
        below = approve
    return Cuts(reject_below=below, approve_from=approve)


def _cut(chances: Floats, right: NDArray[np.bool_], least: float) -> float | None:
    """The lowest chance of being right above which the mean of chances reaches `least`, and the count is near it."""
    order = np.argsort(-chances, kind="stable")
    ordered, counts = chances[order], np.arange(1, len(chances) + 1)
    expected, counted = np.cumsum(ordered) / counts, np.cumsum(right[order]) / counts
    is_near = counted >= least - np.sqrt(least * (1 - least) / counts)
    # Equal chances cannot be told apart: a cut lies only where they change.
    is_end = np.append(ordered[1:] != ordered[:-1], True)
    fit = np.flatnonzero(is_end & is_near & (counts >= _LEAST_DECIDED) & (expected >= least))
    if not len(fit):
        return None
    last = int(fit[-1])
    # Halfway to the next one, so that no rounding in another place decides.
    return float((ordered[last] + ordered[min(last + 1, len(ordered) - 1)]) / 2)
