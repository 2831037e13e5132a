"""The rows on which relevance is fitted and measured, and how: cross-validation, average precision.

Published rows stay in the public suites; what is committed here is our own writing (`hard_negatives.jsonl`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bailiwick.evidence.embedding import shipped_embedder
from bailiwick.evidence.keywords import Keywords
from bailiwick.evidence.meaning import Meaning
from bailiwick.extract.relevance.subject import Subject
from bailiwick.model.profile_files import load_profile
from bailiwick.model.profiles import Examples, Profile
from tests.suites import json_lines, suite_path

HARD_NEGATIVES = Path(__file__).with_name("hard_negatives.jsonl")
LABELS = suite_path("labels/labelled_urls.jsonl")
SNIPPETS = suite_path("labels/snippet_relevance.jsonl")
TOPICS: Mapping[str, str] = {"funding": "funding", "guest_post": "link-vetting"}
"""A label of the suite, and the built-in profile that looks for it."""
# Columns of the evidence: support and objection by keywords, likeness to wanted and unwanted examples.
KEYWORDS, MEANING, ALL = (0, 1), (2, 3), (0, 1, 2, 3)
FOLDS, REPEATS, RIDGE = 5, 5, 0.01
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    """What it is: `funding`, `guest_post`, or `hard` for our negatives."""
    subject: Subject


def labelled_rows() -> list[Row]:
    """Published rows that have a title, and our hard negatives, which are negative for both topics."""
    if LABELS is None:
        raise FileNotFoundError("labels/labelled_urls.jsonl of the public suites is needed")
    published = [
        Row(row["label"], Subject(row["url"], _plain(row["title"]), _plain(row.get("snippet") or "")))
        for row in json_lines(LABELS)
        if row.get("title")
    ]
    hard = [Row("hard", Subject(row["url"], row["title"], row["snippet"])) for row in json_lines(HARD_NEGATIVES)]
    return published + hard


def _plain(text: str) -> str:
    """Without the markdown of the lists that the rows were taken from: no hint of where a row comes from."""
    return re.sub(r"\s+", " ", text.replace("`", " ").replace(" > ", ". ")).strip()


def evidence(profile: Profile, subjects: Sequence[Subject]) -> Numbers:
    """The four numbers of each subject."""
    embedder = shipped_embedder()
    assert embedder is not None
    keywords, meaning = Keywords(profile.keywords, profile.negative_keywords), Meaning(profile.examples, embedder)
    numbers = []
    for subject in subjects:
        words = subject.words()
        found, likeness = keywords.evidence(words), meaning.likeness(words)
        numbers.append((found.support, found.objection, likeness.wanted, likeness.unwanted))
    return np.array(numbers)


def harder_evidence(profile: Profile, rows: Sequence[Row]) -> Numbers:
    """The same, but each hard negative is compared without the negative example that is nearest to it.

    Profiles and hard negatives have one author, who thought of the same kinds of pages twice. This asks what is left
    when a page comes of a kind that the profile's author had not thought of.
    """
    embedder = shipped_embedder()
    assert embedder is not None
    numbers = evidence(profile, [row.subject for row in rows])
    meaning = Meaning(profile.examples, embedder)
    for position, row in enumerate(rows):
        if row.label == "hard":
            words = row.subject.words()
            nearest = meaning.likeness(words).nearest_unwanted
            others = tuple(example for example in profile.examples.negative if example != nearest)
            without = Meaning(Examples(positive=profile.examples.positive, negative=others), embedder)
            numbers[position, 3] = without.likeness(words).unwanted
    return numbers


@dataclass(frozen=True)
class Data:
    """Evidence and truth of all rows, by topic."""

    numbers: Mapping[str, Numbers]
    truth: Mapping[str, Numbers]

    @classmethod
    def load(cls, *, harder: bool = False) -> "Data":
        rows = labelled_rows()
        subjects = [row.subject for row in rows]
        return cls(
            {
                topic: harder_evidence(profile, rows) if harder else evidence(profile, subjects)
                for topic, profile in ((topic, load_profile(name, None)) for topic, name in TOPICS.items())
            },
            {topic: np.array([float(row.label == topic) for row in rows]) for topic in TOPICS},
        )

    @property
    def rows(self) -> int:
        return len(next(iter(self.truth.values())))


def fit(numbers: Numbers, truth: Numbers) -> tuple[Numbers, float]:
    """Coefficients and intercept of a logistic model, by Newton's method with a small ridge on scaled columns."""
    centre, scale = numbers.mean(axis=0), numbers.std(axis=0) + 1e-9
    design = np.column_stack([np.ones(len(numbers)), (numbers - centre) / scale])
    ridge = np.diag([0.0] + [RIDGE * len(numbers)] * numbers.shape[1])
    weights = np.zeros(design.shape[1])
    for _ in range(50):
        predicted = 1 / (1 + np.exp(-design @ weights))
        slope = design.T @ (predicted - truth) + ridge @ weights
        curve = (design * (predicted * (1 - predicted))[:, None]).T @ design + ridge
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-10:
            break
    coefficients = weights[1:] / scale
    return coefficients, float(weights[0] - coefficients @ centre)


def fitted(data: Data, columns: Sequence[int], chosen: NDArray[np.bool_] | None = None) -> tuple[Numbers, float]:
    """One model for all topics, on the chosen rows."""
    rows = np.ones(data.rows, dtype=bool) if chosen is None else chosen
    numbers = np.vstack([data.numbers[topic][rows][:, columns] for topic in TOPICS])
    return fit(numbers, np.concatenate([data.truth[topic][rows] for topic in TOPICS]))


def cross_validated(data: Data, columns: Sequence[int], seed: int) -> dict[str, Numbers]:
    """Probabilities of each row by a model that has seen neither it nor any other row of its fold."""
    fold = np.random.default_rng(seed).permutation(data.rows) % FOLDS
    scores = {topic: np.zeros(data.rows) for topic in TOPICS}
    for number in range(FOLDS):
        coefficients, intercept = fitted(data, columns, fold != number)
        for topic, into in scores.items():
            held_out = data.numbers[topic][fold == number][:, columns]
            into[fold == number] = 1 / (1 + np.exp(-(held_out @ coefficients + intercept)))
    return scores


def average_precision(truth: Numbers, scores: Numbers) -> float:
    """Area under precision over recall, in steps; rows with one score are one step."""
    order = np.argsort(-scores, kind="stable")
    truth, scores = truth[order], scores[order]
    last_of_step = np.append(scores[1:] != scores[:-1], True)
    hits = np.cumsum(truth)[last_of_step]
    precision = hits / (np.flatnonzero(last_of_step) + 1)
    return float(np.sum(np.diff(np.append(0, hits / truth.sum())) * precision))


def mean_precisions(data: Data, columns: Sequence[int]) -> dict[str, float]:
    """Average precision by topic, cross-validated, the mean over several ways to cut the folds."""
    runs = [cross_validated(data, columns, seed) for seed in range(REPEATS)]
    return {
        topic: float(np.mean([average_precision(data.truth[topic], run[topic]) for run in runs])) for topic in TOPICS
    }


def calibration_error(truth: Numbers, scores: Numbers, bins: int = 5) -> float:
    """Mean distance between what was predicted and what was so, over bins of equal width."""
    bin_of = np.minimum((scores * bins).astype(int), bins - 1)
    gaps = [
        abs(scores[bin_of == number].mean() - truth[bin_of == number].mean()) * np.mean(bin_of == number)
        for number in range(bins)
        if (bin_of == number).any()
    ]
    return float(sum(gaps))
