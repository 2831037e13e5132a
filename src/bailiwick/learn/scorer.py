"""Predicts by a fitted model: what people would say of a page, and why. Needs nothing but Python.

The bands stay the one decider: the model's cut points are laid onto the bands' limits.
"""

import struct
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, isfinite, nextafter
from operator import mul

from sqlalchemy import Connection, select

from bailiwick.base.bands import Limits
from bailiwick.db.tables import models
from bailiwick.learn.form import Cuts, EmbeddingPart, Form, Isotonic, Platt, SignalPart

PAGE_TEXT = "page text"
"""The name under which the embedding speaks."""
FARTHEST = 5.0
"""Standard deviations: what lies farther away counts like this, so that one odd number cannot decide alone."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one signal adds to the log-odds. `value` None: it is missing, or it is the page's text."""

    name: str
    value: float | None
    contribution: float


@dataclass(frozen=True, slots=True)
class Scorer:
    """One model, ready to predict."""

    id: int
    version: int
    form: Form

    def probability(self, signals: Mapping[str, float | None], embedding: bytes | None) -> float:
        """How likely a person wants the page, 0..1. Signals that the model does not know are left out."""
        return calibrated(self.log_odds(signals, embedding), self.form.calibrator)

    def log_odds(self, signals: Mapping[str, float | None], embedding: bytes | None) -> float:
        """Before calibration."""
        return self.form.intercept + sum(part.contribution for part in self._parts(signals, embedding))

    def confidence(self, probability: float, limits: Limits) -> float:
        """The probability on the scale of the bands: rising, and its cut points land on their limits."""
        return on_bands(probability, self.form.cuts, limits)

    def top_signals(
        self, signals: Mapping[str, float | None], embedding: bytes | None, *, most: int = 5
    ) -> list[Contribution]:
        """What moved this page most, either way. Compared with the mean page of the labels, which adds nothing."""
        parts = [part for part in self._parts(signals, embedding) if part.contribution]
        return sorted(parts, key=lambda part: (-abs(part.contribution), part.name))[:most]

    def _parts(self, signals: Mapping[str, float | None], embedding: bytes | None) -> list[Contribution]:
        parts = [_of_signal(part, signals.get(part.name)) for part in self.form.signals]
        if self.form.embedding is not None:
            parts.append(_of_embedding(self.form.embedding, embedding))
        return parts


def active_scorer(conn: Connection, task: str, profile: str) -> Scorer | None:
    """The model that an admin switched on for this; None: nobody did."""
    where = (models.c.task == task, models.c.profile == profile, models.c.state == "active")
    row = conn.execute(select(models.c.id, models.c.version, models.c.form).where(*where)).one_or_none()
    return None if row is None else Scorer(row.id, row.version, Form.model_validate(row.form))


def floats_of(embedding: bytes | None) -> tuple[float, ...] | None:
    """The numbers of a stored embedding (float16, little endian); None where it is none, or broken."""
    if not embedding or len(embedding) % 2:
        return None
    values: tuple[float, ...] = struct.unpack(f"<{len(embedding) // 2}e", embedding)
    return values if all(map(isfinite, values)) else None


def calibrated(log_odds: float, calibrator: Platt | Isotonic) -> float:
    """The probability that these log-odds stand for."""
    if isinstance(calibrator, Platt):
        return _sigmoid(calibrator.slope * log_odds + calibrator.intercept)
    points, values = calibrator.log_odds, calibrator.probabilities
    above = bisect_right(points, log_odds)
    if above in (0, len(points)):
        return values[0 if above == 0 else -1]
    left, right = points[above - 1], points[above]
    low, high = values[above - 1], values[above]
    return low + (high - low) * (log_odds - left) / (right - left)


def on_bands(probability: float, cuts: Cuts, limits: Limits) -> float:
    """Three straight pieces. What the model would not reject or approve alone never leaves the middle one.

    A piece ends below its limit by the smallest step there is: the limit itself belongs to the next.
    """
    reject, approve = cuts.reject_below, cuts.approve_from
    if approve is not None and probability >= approve:
        return _between(probability, (approve, 1.0), (limits.approve_from, 1.0))
    if reject is not None and probability < reject:
        return _between(probability, (0.0, reject), (0.0, _just_below(limits.reject_below)))
    span = (reject or 0.0, 1.0 if approve is None else approve)
    return _between(probability, span, (limits.reject_below, _just_below(limits.approve_from)))


def _between(value: float, span: tuple[float, float], onto: tuple[float, float]) -> float:
    start, end = onto[0], max(onto)
    if span[1] <= span[0]:
        return start
    share = (value - span[0]) / (span[1] - span[0])
    return min(end, max(start, start + (end - start) * share))


def _just_below(limit: float) -> float:
    return max(0.0, nextafter(limit, 0.0))


def _of_signal(part: SignalPart, value: float | None) -> Contribution:
    if value is None or not isfinite(value):
        return Contribution(part.name, None, part.missing_weight)
    distance = max(-FARTHEST, min(FARTHEST, (value - part.mean) / part.scale))
    return Contribution(part.name, value, part.weight * distance)


def _of_embedding(part: EmbeddingPart, embedding: bytes | None) -> Contribution:
    values = floats_of(embedding)
    if values is None or len(values) != len(part.direction):
        return Contribution(PAGE_TEXT, None, part.missing_weight)
    return Contribution(PAGE_TEXT, None, sum(map(mul, part.direction, values)) - part.offset)


def _sigmoid(log_odds: float) -> float:
    # Either way round, so that the exponential cannot overflow.
    if log_odds >= 0:
        return 1 / (1 + exp(-log_odds))
    grown = exp(log_odds)
    return grown / (1 + grown)
