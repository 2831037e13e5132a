"""Evidence by meaning: how near a page's passages are to sentences of wanted pages, and of unwanted ones.

Measured on the labelled rows: likeness to example sentences tells pages apart, likeness to the topic statement does
not (a statement names what must not be there as well). So the topic is for people and for language models.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiwick.evidence.embedding import Embedder
from bailiwick.model.profiles import Examples
from bailiwick.model.words import Words, words_of

if TYPE_CHECKING:
    from bailiwick.evidence.embedding import Vectors

# A bounded amount of text a page: what a page is about is said early.
_PASSAGES, _PASSAGE_WORDS = 4, 50
_NEAREST = 3
"""Likeness to examples is the mean over this many nearest ones: one alone is a matter of luck."""
_ROWS = 32
"""Rows of one product of matrices. From some hundred on, the library starts threads that cost more than they save."""
UNKNOWN_LIKENESS = 0.2
"""Stands for the likeness to negative examples where a profile has none: the mean over the labelled rows."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """Cosines, -1 to 1, and the negative example that is nearest."""

    wanted: float
    unwanted: float
    nearest_unwanted: str | None


class Meaning:
    """A profile's examples as vectors, ready to be compared with pages."""

    def __init__(self, examples: Examples, embedder: Embedder) -> None:
        self._embedder = embedder
        self._negative = examples.negative
        self._wanted = embedder.embed([words_of(example) for example in examples.positive]).T
        self._unwanted = embedder.embed([words_of(example) for example in examples.negative]).T

    def likeness(self, words: Words) -> Likeness:
        """Of the head (title and description) and, where there is text, of the two passages that speak most for it."""
        passages = [words.title + words.description, *_passages(words.body)]
        vectors = self._embedder.embed(passages if passages[0] else passages[1:] or passages)
        wanted = _nearest(vectors @ self._wanted)
        unwanted = _nearest(vectors @ self._unwanted) if self._negative else [UNKNOWN_LIKENESS] * len(vectors)
        chosen = _telling(wanted, unwanted)
        return Likeness(
            wanted=sum(wanted[row] * share for row, share in chosen),
            unwanted=sum(unwanted[row] * share for row, share in chosen),
            nearest_unwanted=self._closest(vectors[0]),
        )

    def of_heads(self, heads: Sequence[Sequence[str]]) -> list[Likeness]:
        """Of many titles with their snippets at once."""
        import numpy as np

        vectors = self._embedder.embed(heads)
        both = np.hstack((self._wanted, self._unwanted))
        slices = [vectors[start : start + _ROWS] @ both for start in range(0, len(vectors), _ROWS)]
        products = np.vstack(slices) if slices else vectors @ both
        wanted, products = _nearest(products[:, : self._wanted.shape[1]]), products[:, self._wanted.shape[1] :]
        if not self._negative:
            return [Likeness(like, UNKNOWN_LIKENESS, None) for like in wanted]
        closest: list[int] = products.argmax(axis=1).tolist()
        return [
            Likeness(like, unlike, self._negative[nearest])
            for like, unlike, nearest in zip(wanted, _nearest(products), closest, strict=True)
        ]

    def _closest(self, head: "Vectors") -> str | None:
        return self._negative[int((head @ self._unwanted).argmax())] if self._negative else None


def _passages(body: list[str]) -> list[list[str]]:
    words = min(len(body), _PASSAGES * _PASSAGE_WORDS)
    return [body[start : start + _PASSAGE_WORDS] for start in range(0, words, _PASSAGE_WORDS)]


def _nearest(likeness: "Vectors") -> list[float]:
    """For each passage the mean of its nearest examples."""
    ordered = likeness.copy()
    ordered.sort(axis=1)
    nearest: list[float] = ordered[:, -_NEAREST:].mean(axis=1).tolist()
    return nearest


def _telling(wanted: Sequence[float], unwanted: Sequence[float]) -> list[tuple[int, float]]:
    """Rows and shares: half for the head, half for the body's best two. Alone, a row counts whole."""
    best = sorted(range(1, len(wanted)), key=lambda row: unwanted[row] - wanted[row])[:2]
    return [(0, 0.5), *((row, 0.5 / len(best)) for row in best)] if best else [(0, 1.0)]
