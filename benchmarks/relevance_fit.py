"""Fits how evidence becomes a score, and says how good it is. `python -m benchmarks.relevance_fit [--write]`.

Prints average precision of keywords alone, meaning alone and both, cross-validated, by topic; the 20 snippets of the
public suite, which nothing is fitted on; and the time a page takes. `--write` puts the numbers into the package.
"""

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from tests.quality import relevance as rows
from tests.suites import json_lines, suite_path

from bailiwick.extract.relevance import Subject, judge_for, weights
from bailiwick.model.profile_files import load_profile
from bailiwick.model.profiles import Examples, Profile

SNIPPET_TASKS = {"open_funding_page": "funding", "accepts_guest_posts": "link-vetting"}
SHIPPED = np.array([getattr(weights.MEANING, name) for name in ("support", "objection", "wanted", "unwanted")])
DRAWS = 20
WEIGHTS = Path(weights.__file__)
BEGIN, END = "# fitted: begin\n", "# fitted: end\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="Put the fitted numbers into the package.")
    data = rows.Data.load()
    if parser.parse_args().write:
        write(data)
    print_precision(data)
    print_other_topic(data)
    print_examples()
    print_snippets()
    print_time()


def write(data: rows.Data) -> None:
    lines = []
    for name, columns in (("MEANING", rows.ALL), ("KEYWORDS", rows.KEYWORDS)):
        coefficients, intercept = rows.fitted(data, columns)
        shown = [round(float(number), 3) for number in (*coefficients, *([0.0] * (4 - len(columns))), intercept)]
        fields = zip(("support", "objection", "wanted", "unwanted", "intercept"), shown, strict=True)
        lines.append(f"{name} = Weights({', '.join(f'{field}={value}' for field, value in fields)})\n")
    before, _, rest = WEIGHTS.read_text().partition(BEGIN)
    WEIGHTS.write_text(before + BEGIN + "".join(lines) + END + rest.partition(END)[2])
    print("".join(lines))


def print_precision(data: rows.Data) -> None:
    print(f"average precision, {rows.FOLDS} folds, mean of {rows.REPEATS} ways to cut them")
    columns = ("positives", "negatives", "keywords", "meaning", "both", "calibration")
    print(" " * 14 + "".join(f"{column:>12}" for column in columns))
    keywords, meaning, both = (
        rows.mean_precisions(data, columns) for columns in (rows.KEYWORDS, rows.MEANING, rows.ALL)
    )
    scores = rows.cross_validated(data, rows.ALL, seed=0)
    for topic, truth in data.truth.items():
        print(
            f"{topic:14}{int(truth.sum()):12}{int((1 - truth).sum()):12}{keywords[topic]:12.3f}{meaning[topic]:12.3f}"
            f"{both[topic]:12.3f}{rows.calibration_error(truth, scores[topic]):12.3f}"
        )


def print_other_topic(data: rows.Data) -> None:
    """What a profile can expect whose topic the numbers have never seen, and whose author had not thought of all."""
    harder = rows.mean_precisions(rows.Data.load(harder=True), rows.ALL)
    told = ", ".join(f"{topic} {precision:.3f}" for topic, precision in harder.items())
    print(f"each hard negative without the negative example nearest to it: {told}")
    first, second = rows.TOPICS
    for fitted_on, scored in ((first, second), (second, first)):
        coefficients, intercept = rows.fit(data.numbers[fitted_on], data.truth[fitted_on])
        precision = rows.average_precision(data.truth[scored], data.numbers[scored] @ coefficients + intercept)
        print(f"fitted on {fitted_on} alone, {scored}: {precision:.3f}")


def print_examples() -> None:
    """What a profile's examples are worth, with the numbers in the package: fewer of them, and the topic instead."""
    labelled = rows.labelled_rows()
    subjects = [row.subject for row in labelled]
    print("\naverage precision with other examples (the package's numbers, not cross-validated)")
    for topic, name in rows.TOPICS.items():
        profile = load_profile(name, None)
        truth = np.array([float(row.label == topic) for row in labelled])
        given, draw = profile.examples, np.random.default_rng(0)

        def precision(positive: Sequence[str], negative: Sequence[str], profile: Profile = profile) -> float:
            changed = Examples(positive=tuple(positive), negative=tuple(negative))
            numbers = rows.evidence(profile.model_copy(update={"examples": changed}), subjects)
            return rows.average_precision(truth, numbers @ SHIPPED)  # noqa: B023

        for count in (1, 3, 5):
            drawn = [draw.choice(given.positive, count, replace=False).tolist() for _ in range(DRAWS)]
            mean = statistics.mean(precision(positive, given.negative) for positive in drawn)
            print(f"{topic:12} {count} positive, all negative: {mean:.3f} (mean of {DRAWS} draws)")
        print(f"{topic:12} all positive, all negative: {precision(given.positive, given.negative):.3f}")
        print(f"{topic:12} all positive, no negative: {precision(given.positive, ()):.3f}")
        statement = (profile.topic or "")[:500]
        print(f"{topic:12} the topic statement for the positive ones: {precision([statement], given.negative):.3f}")


def print_snippets() -> None:
    if rows.SNIPPETS is None:
        return
    print("\nsnippets of the public suite (nothing was fitted on them)")
    for task, name in SNIPPET_TASKS.items():
        chosen = [row for row in json_lines(rows.SNIPPETS) if row["task"] == task]
        profile = load_profile(name, None)
        alone = profile.model_copy(update={"examples": Examples()})
        truth = np.array([float(row["label"]) for row in chosen])
        subjects = [Subject(row["url"], None, row["snippet"]) for row in chosen]
        for said, judge in (("keywords", judge_for(alone)), ("both", judge_for(profile))):
            scores = np.array([judge(subject).score for subject in subjects])
            print(f"{task:20} {said:9} AP {rows.average_precision(truth, scores):.3f} of {len(chosen)}")
            marks = np.where(truth > 0, "+", "-")
            print("  " + " ".join(f"{score:.2f}{mark}" for score, mark in zip(scores, marks, strict=True)))


def print_time() -> None:
    """CPU milliseconds a page of 5,000 characters, on real articles where the suite is there."""
    articles = suite_path("articles/ground-truth.json")
    if articles is None:
        return
    found = json.loads(articles.read_text(encoding="utf-8"))
    texts = [row["articleBody"] for row in found.values() if row["articleBody"]]
    url = "https://www.example.org/a/page"
    subjects = [Subject(url, text[:80], text[80:200], (text * 50)[:5000]) for text in texts]
    for name in rows.TOPICS.values():
        judge = judge_for(load_profile(name, None))
        samples = []
        for _ in range(6):
            start = time.process_time()
            scores = [judge(subject).score for subject in subjects]
            samples.append((time.process_time() - start) / len(subjects) * 1000)
        judged = [judge(replace(subject, text=text)) for subject, text in zip(subjects, texts, strict=True)]
        print(
            f"\n{name}: {statistics.median(samples[1:]):.3f} ms a page (first round, words unknown: {samples[0]:.3f}; "
            f"samples {' '.join(f'{sample:.3f}' for sample in samples[1:])})\n"
            f"  of {len(judged)} news articles {sum(one.is_relevant for one in judged)} judged relevant, "
            f"highest score {max(scores):.2f}"
        )


if __name__ == "__main__":
    main()
