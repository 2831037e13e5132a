"""Examples as columns of numbers on a common scale, and how to get back from weights of columns to a form."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bailiwick.learn.examples import Example
from bailiwick.learn.form import MOST_SIGNALS, Cuts, EmbeddingPart, Form, Isotonic, Platt, SignalPart
from bailiwick.learn.scorer import FARTHEST, floats_of

Floats: TypeAlias = NDArray[np.float64]
MOST_COMPONENTS = 64
_EXAMPLES_A_COMPONENT = 10
"""Few labels cannot weigh hundreds of directions: the embedding is reduced to as many as they can."""


@dataclass(frozen=True, slots=True)
class Raw:
    """Numbers of examples as they came; NaN where one is missing."""

    names: tuple[str, ...]
    values: Floats
    vectors: Floats
    """No columns where no example has an embedding."""
    wanted: NDArray[np.bool_]

    @classmethod
    def of(cls, examples: Sequence[Example]) -> "Raw":
        names = tuple(sorted({name for one in examples for name in one.signals}))[:MOST_SIGNALS]
        values = [[_or_nan(one.signals.get(name)) for name in names] for one in examples]
        wanted = np.array([one.is_wanted for one in examples], dtype=bool)
        return cls(names, np.array(values, dtype=float).reshape(len(examples), len(names)), _vectors(examples), wanted)

    def rows(self, chosen: NDArray[np.intp]) -> "Raw":
        return Raw(self.names, self.values[chosen], self.vectors[chosen], self.wanted[chosen])

    def __len__(self) -> int:
        return len(self.wanted)


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value


def _vectors(examples: Sequence[Example]) -> Floats:
    """Embeddings of the most common length; others come from another embedder and count as missing."""
    given = [floats_of(one.embedding) for one in examples]
    sizes = Counter(len(vector) for vector in given if vector is not None)
    size = max(sizes, key=lambda size: (sizes[size], size)) if sizes else 0
    nothing = (np.nan,) * size
    kept = [vector if vector is not None and len(vector) == size else nothing for vector in given]
    return np.array(kept, dtype=float).reshape(len(examples), size)


@dataclass(frozen=True, slots=True)
class Scale:
    """How raw numbers become columns; learned from the examples that a model is fitted on, and from no others."""

    names: tuple[str, ...]
    means: Floats
    scales: Floats
    gaps: NDArray[np.intp]
    """The signals that are sometimes missing: each has a column that says so."""
    centre: Floats
    basis: Floats
    """Dimensions of the embedding by components: its main directions, the first one of unit spread."""
    variances: Floats
    """Variance of each component."""
    has_text_gap: bool

    @classmethod
    def of(cls, raw: Raw) -> "Scale":
        is_there = np.isfinite(raw.values)
        counts = np.maximum(is_there.sum(axis=0), 1)
        means = np.where(is_there, raw.values, 0.0).sum(axis=0) / counts
        spreads = np.sqrt(np.square(np.where(is_there, raw.values - means, 0.0)).sum(axis=0) / counts)
        missing = (~is_there).sum(axis=0)
        gaps = np.flatnonzero((missing > 0) & (missing < len(raw)))
        centre, basis, variances = _main_directions(raw.vectors)
        gone = len(raw) - int(_has_text(raw.vectors).sum())
        scales = np.where(spreads > 1e-12, spreads, 1.0)
        return cls(raw.names, means, scales, gaps, centre, basis, variances, 0 < gone < len(raw))

    def columns(self, raw: Raw) -> Floats:
        """Signals, gaps of signals, components of the embedding, its gap."""
        is_there = np.isfinite(raw.values)
        signals = np.clip((np.where(is_there, raw.values, self.means) - self.means) / self.scales, -FARTHEST, FARTHEST)
        has_text = _has_text(raw.vectors)
        texts = np.where(has_text[:, None], raw.vectors - self.centre, 0.0) @ self.basis
        text_gap = (~has_text)[:, None] if self.has_text_gap else np.empty((len(raw), 0))
        return np.hstack((signals, (~is_there)[:, self.gaps], texts, text_gap)).astype(float)

    def form(self, weights: Floats, intercept: float, calibrator: Platt | Isotonic, cuts: Cuts) -> Form:
        """The same weights, as they are kept: one part a signal, one direction for the embedding."""
        signals, gaps, texts, text_gap = np.split(
            weights, np.cumsum([len(self.names), len(self.gaps), self.basis.shape[1]])
        )
        missing = dict(zip(self.gaps.tolist(), gaps.tolist(), strict=True))
        parts = [
            SignalPart(name=name, mean=mean, scale=scale, weight=weight, missing_weight=missing.get(number, 0.0))
            for number, (name, mean, scale, weight) in enumerate(
                zip(self.names, self.means.tolist(), self.scales.tolist(), signals.tolist(), strict=True)
            )
        ]
        embedding = None
        if self.basis.shape[1]:
            direction = self.basis @ texts
            embedding = EmbeddingPart(
                direction=tuple(direction.tolist()),
                offset=float(self.centre @ direction),
                spread=float(np.sqrt(np.square(texts) @ self.variances)),
                missing_weight=float(text_gap.sum()),
            )
        return Form(signals=tuple(parts), embedding=embedding, intercept=intercept, calibrator=calibrator, cuts=cuts)


def _has_text(vectors: Floats) -> NDArray[np.bool_]:
    """No columns: nobody has."""
    found: NDArray[np.bool_] = np.isfinite(vectors).sum(axis=1) == max(1, vectors.shape[1])
    return found


def _main_directions(vectors: Floats) -> tuple[Floats, Floats, Floats]:
    """The mean of embeddings, their principal directions and variances. A common scale keeps weak directions weak."""
    there, size = vectors[_has_text(vectors)], vectors.shape[1]
    most = min(MOST_COMPONENTS, len(there) // _EXAMPLES_A_COMPONENT, size)
    nothing = np.zeros(size), np.empty((size, 0)), np.empty(0)
    if most == 0:
        return nothing
    centre = there.mean(axis=0)
    spread, directions = np.linalg.eigh(np.cov(there - centre, rowvar=False, bias=True).reshape(size, size))
    strongest = np.argsort(spread)[::-1][:most]
    largest = float(spread[strongest[0]])
    if largest < 1e-12:
        return nothing
    return centre, directions[:, strongest] / np.sqrt(largest), np.maximum(spread[strongest], 0.0) / largest
