"""How good predictions are: ranking, sharpness, honesty."""

import numpy as np
from numpy.typing import NDArray

from bailiwick.learn.matrix import Floats
from bailiwick.learn.report import Bin

_BINS = 10


def auc(scores: Floats, wanted: NDArray[np.bool_]) -> float:
    """How often a wanted row scores above an unwanted one; equal scores count half. 0.5 where one kind is missing."""
    positives, negatives = int(wanted.sum()), int((~wanted).sum())
    if not positives or not negatives:
        return 0.5
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return float((ranks[wanted].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def brier(probabilities: Floats, wanted: NDArray[np.bool_]) -> float:
    """Mean squared error of probabilities: 0 is perfect."""
    return float(np.mean((probabilities - wanted) ** 2))


def reliability(probabilities: Floats, wanted: NDArray[np.bool_]) -> tuple[Bin, ...]:
    """Ten equal ranges of probability; those without rows are left out."""
    places = np.minimum((probabilities * _BINS).astype(int), _BINS - 1)
    return tuple(
        Bin(
            start=place / _BINS,
            end=(place + 1) / _BINS,
            rows=int(inside.sum()),
            mean_probability=float(probabilities[inside].mean()),
            share_wanted=float(wanted[inside].mean()),
        )
        for place in range(_BINS)
        if (inside := places == place).any()
    )
