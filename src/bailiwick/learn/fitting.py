"""Fits one model: L2 logistic regression, calibrated, with cut points; all that is chosen is chosen out of fold.

`fit` sees its examples only. Whoever wants an honest figure gives it a part and measures on the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bailiwick.learn.cutting import Wish, cuts_at
from bailiwick.learn.folds import FOLDS, folds_of
from bailiwick.learn.form import Form, Isotonic, Platt
from bailiwick.learn.matrix import Floats, Raw, Scale
from bailiwick.learn.scorer import FARTHEST

STRENGTHS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Of regularisation, as scikit-learn counts it (smaller is stronger)."""
ISOTONIC_FROM = 1000
"""With fewer labels, steps of an isotonic line are chance; two numbers of a sigmoid are not."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model, and how it came about."""

    form: Form
    strength: float
    components: int
    out_of_fold: Floats
    """Of each example, the probability by models that never saw its host."""


def fit(raw: Raw, hosts: Sequence[str], wish: Wish, *, seed: int) -> Fitted:
    """Choose strength, calibration and cut points on out-of-fold predictions, then fit on everything."""
    log_odds, strength = _chosen(raw, folds_of(hosts, raw.wanted.tolist(), seed=seed))
    calibrator = calibrator_of(log_odds, raw.wanted)
    out_of_fold = probabilities(log_odds, calibrator)
    cuts = cuts_at(out_of_fold, raw.wanted, wish)
    scale, weights, intercept = _regression(raw, strength)
    form = scale.form(weights, intercept, calibrator, cuts)
    return Fitted(form, strength, scale.basis.shape[1], out_of_fold)


def predict(form: Form, raw: Raw) -> Floats:
    """Probabilities of many rows at once; of each the same as `Scorer.probability`."""
    log_odds = np.full(len(raw), form.intercept)
    for part in form.signals:
        column = raw.values[:, raw.names.index(part.name)] if part.name in raw.names else np.full(len(raw), np.nan)
        distance = np.clip((column - part.mean) / part.scale, -FARTHEST, FARTHEST)
        log_odds += np.where(np.isnan(column), part.missing_weight, part.weight * distance)
    if form.embedding is not None:
        fits = raw.vectors.shape[1] == len(form.embedding.direction)
        said = raw.vectors @ np.array(form.embedding.direction) if fits else np.full(len(raw), np.nan)
        log_odds += np.where(np.isfinite(said), said - form.embedding.offset, form.embedding.missing_weight)
    return probabilities(log_odds, form.calibrator)


def calibrator_of(log_odds: Floats, wanted: NDArray[np.bool_]) -> Platt | Isotonic:
    """Isotonic from a thousand labels on, else Platt's sigmoid."""
    if len(wanted) >= ISOTONIC_FROM:
        from sklearn.isotonic import IsotonicRegression

        rising = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(log_odds, wanted.astype(float))
        return Isotonic(
            log_odds=tuple(rising.X_thresholds_.tolist()), probabilities=tuple(rising.y_thresholds_.tolist())
        )
    from sklearn.linear_model import LogisticRegression

    sigmoid = LogisticRegression(C=1e4, tol=1e-8, max_iter=1000).fit(log_odds[:, None], wanted)
    slope, intercept = float(sigmoid.coef_[0, 0]), float(sigmoid.intercept_[0])
    if slope > 0:
        return Platt(slope=slope, intercept=intercept)
    # Out of fold the model points the wrong way: it has learned nothing, and says what is usual.
    share = float(wanted.mean())
    return Platt(slope=0.0, intercept=float(np.log(share / (1 - share))))


def probabilities(log_odds: Floats, calibrator: Platt | Isotonic) -> Floats:
    if isinstance(calibrator, Isotonic):
        return np.interp(log_odds, calibrator.log_odds, calibrator.probabilities)
    shifted = calibrator.slope * log_odds + calibrator.intercept
    return np.exp(-np.logaddexp(0.0, -shifted))


def _chosen(raw: Raw, parted: NDArray[np.intp]) -> tuple[Floats, float]:
    """Out-of-fold log-odds at the strength that predicts best, and that strength."""
    found = np.zeros((len(STRENGTHS), len(raw)))
    for fold in range(FOLDS):
        inside, outside = np.flatnonzero(parted != fold), np.flatnonzero(parted == fold)
        scale = Scale.of(raw.rows(inside))
        columns, others = scale.columns(raw.rows(inside)), scale.columns(raw.rows(outside))
        for number, strength in enumerate(STRENGTHS):
            weights, intercept = _weights(columns, raw.wanted[inside], strength)
            found[number, outside] = others @ weights + intercept
    signs = np.where(raw.wanted, 1.0, -1.0)
    losses = np.logaddexp(0.0, -found * signs).mean(axis=1)
    best = int(losses.argmin())
    return found[best], STRENGTHS[best]


def _regression(raw: Raw, strength: float) -> tuple[Scale, Floats, float]:
    scale = Scale.of(raw)
    return scale, *_weights(scale.columns(raw), raw.wanted, strength)


def _weights(columns: Floats, wanted: NDArray[np.bool_], strength: float) -> tuple[Floats, float]:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=strength, solver="newton-cholesky", tol=1e-8, max_iter=200).fit(columns, wanted)
    return model.coef_[0].astype(float), float(model.intercept_[0])
