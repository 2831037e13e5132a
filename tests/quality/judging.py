"""The rows on which judging is measured, and how: ROC-AUC, precision and recall at the threshold.

Published rows stay in the public suites; what is committed here is our own writing (`judging_negatives.jsonl`, written
before any judge). Weights and slopes are round numbers, picked from a grid by their AUC on the tuning half and by
the number of snippets that came out right: so the snippets are no held-out rows (docs/benchmarks.md tells the story).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bailiwick.judge import Panel
from bailiwick.model.discovery import Case, Judgment, SearchResult
from bailiwick.model.names import DomainName
from bailiwick.model.profile_files import load_profile
from bailiwick.model.results import plain_text
from tests.suites import json_lines, suite_path

NEGATIVES = Path(__file__).with_name("judging_negatives.jsonl")
LABELS = suite_path("labels/labelled_urls.jsonl")
SNIPPETS = suite_path("labels/snippet_relevance.jsonl")
TODAY = date(2026, 11, 16)
"""The day as of which the rows are judged."""
SNIPPET_TASKS: Mapping[str, str] = {"open_funding_page": "funding", "accepts_guest_posts": "link-vetting"}
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    is_wanted: bool
    case: Case
    kind: str
    """Of a negative; empty for others."""
    is_held_out: bool


def case_of(url: str, title: str, snippet: str) -> Case:
    result = SearchResult(url, plain_text(title, 500), plain_text(snippet, 2000))
    return Case.of(result, DomainName.parse(url))


def funding_rows() -> list[Row]:
    """Published rows that have a title (funding or not), and our negatives. Every second row of each is held out."""
    if LABELS is None:
        raise FileNotFoundError("labels/labelled_urls.jsonl of the public suites is needed")
    titled = [row for row in json_lines(LABELS) if row.get("title")]
    published = [(row["label"] == "funding", row, "") for row in titled]
    ours = [(False, row, row["kind"]) for row in json_lines(NEGATIVES)]
    return [
        Row(
            wanted,
            case_of(row["url"], _unmarked(row["title"]), _unmarked(row.get("snippet") or "")),
            kind,
            number % 2 == 1,
        )
        for number, (wanted, row, kind) in enumerate([*published, *ours])
    ]


def _unmarked(text: str) -> str:
    """Without the markdown of the lists that the rows were taken from: no hint of where a row comes from."""
    return text.replace("`", " ").replace(" > ", ". ")


def snippet_verdicts() -> list[tuple[str, bool, Judgment]]:
    """(id, what it is, what judging says) of each row of the second file, by the profile of its task."""
    if SNIPPETS is None:
        raise FileNotFoundError("labels/snippet_relevance.jsonl of the public suites is needed")
    panels = {task: Panel(load_profile(name, None), TODAY) for task, name in SNIPPET_TASKS.items()}
    return [
        (row["id"], row["label"] == 1, panels[row["task"]].judge([case_of(row["url"], "", row["snippet"])])[0])
        for row in json_lines(SNIPPETS)
    ]


def roc_auc(truth: Sequence[bool], scores: Sequence[float]) -> float:
    """How often a wanted row scores above an unwanted one; equal scores count half."""
    wanted = np.array([score for score, is_wanted in zip(scores, truth, strict=True) if is_wanted])
    unwanted = np.array([score for score, is_wanted in zip(scores, truth, strict=True) if not is_wanted])
    above = (wanted[:, None] > unwanted[None, :]).mean()
    return float(above + 0.5 * (wanted[:, None] == unwanted[None, :]).mean())


def precision_and_recall(truth: Sequence[bool], chosen: Sequence[bool]) -> tuple[float, float]:
    right = sum(is_wanted and taken for is_wanted, taken in zip(truth, chosen, strict=True))
    return right / max(1, sum(chosen)), right / max(1, sum(truth))


def scores_of(judgments: Sequence[Judgment], judge: str | None = None) -> list[float]:
    """The confidence, or one judge's score; 0 where it had nothing to go by, as a whole without evidence has."""
    if judge is None:
        return [judgment.confidence_score for judgment in judgments]
    return [
        next((score.score for score in judgment.judge_scores if score.judge_name == judge), 0.0)
        for judgment in judgments
    ]
