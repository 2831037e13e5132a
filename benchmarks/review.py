"""How many reviews a learned model saves at equal precision. `make bench-review`.

A simulated reviewer works through a generated corpus (`benchmarks/review_pages.py` says what is hidden and what is
shown). Fixed bands send pages to him; of what they decide alone he looks at a share too (none, and 30%), and each look
counts as a decision. After 500 decisions a model is trained on just these, as `bailiwick learn train` does; the rest of
the pages is then routed twice, by the bands and by the model, and both are counted against what he truly thinks. The
model's cut points are its own; nobody helps it. Then the public labels, cross-validated, with the judges' scores.
"""

import argparse
import json
import os
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from tests.quality import judging
from tests.suites import json_lines
from threadpoolctl import threadpool_limits

from bailiwick.base.bands import DEFAULT_BANDS, BandAction, Bands
from bailiwick.judge import Panel
from bailiwick.learn import measures
from bailiwick.learn.comparing import Actions, actions_at, side
from bailiwick.learn.examples import Example, embedded
from bailiwick.learn.fitting import predict
from bailiwick.learn.matrix import Floats, Raw
from bailiwick.learn.models import Made
from bailiwick.learn.report import Side
from bailiwick.learn.training import fit_model
from bailiwick.model.discovery import Judgment
from bailiwick.model.profile_files import load_profile
from benchmarks.review_pages import corpus

PAGES, DECISIONS, SEEDS = 4_500, 500, (31, 32, 33, 34, 35)
AUDITS = (0.0, 0.3)
WANTED_SAVED = 0.5
BANDS = Bands.of(DEFAULT_BANDS)
Figures: TypeAlias = dict[str, float | None]
"""None: nothing was decided alone, so there is no precision."""


def main() -> None:
    parser = argparse.ArgumentParser(description="How many reviews a learned model saves at equal precision.")
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures there, as JSON")
    options = parser.parse_args()
    told: dict[str, object] = {"pages": options.pages, "decisions": DECISIONS, "seeds": list(options.seeds)}
    with threadpool_limits(1):
        for audit in AUDITS:
            runs = [simulate(options.pages, seed, audit) for seed in options.seeds]
            print_runs(f"every automatic decision looked at with a chance of {audit:g}", options.seeds, runs)
            told[f"audit {audit:g}"] = runs
        if judging.LABELS is not None:
            told["public labels"] = public_labels()
    told["load"] = os.getloadavg()
    if options.out:
        options.out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def simulate(pages: int, seed: int, audit: float) -> Figures:
    """One reviewer: 500 decisions, then the rest of his pages routed both ways."""
    made = corpus(pages, seed)
    by_bands = np.array([str(BANDS.band(one.confidence).action) for one in made.examples])
    seen, start = first_decisions(by_bands, audit, seed)
    model = fit_model("review", "general", [made.examples[number] for number in seen], BANDS)
    rest = slice(start, pages)
    truth, said = made.truth[rest], np.array([one.is_wanted for one in made.examples[rest]])
    probabilities = predict(model.form, Raw.of(made.examples[rest]))
    before, after = by_bands[rest], actions_at(probabilities, model.form.cuts)
    matched = equally_precise(probabilities, truth, side(before, truth))
    confidence = np.array([one.confidence for one in made.examples[rest]])
    return {
        "pages": len(truth),
        "audited": sum(str(by_bands[number]) != BandAction.MANUAL_REVIEW for number in seen),
        "evidence_auc": measures.auc(confidence, truth),
        "model_auc": measures.auc(probabilities, truth),
        **_counted("bands", before, truth, said),
        **_counted("model", after, truth, said),
        "saved": _saved(before, after),
        "saved_where_precision_is_equal": _saved(before, matched),
        "saved_as_reported": model.report.comparison.saved_share or 0.0,
        "aim_approve": model.report.comparison.approve.precision,
        "aim_reject": model.report.comparison.reject.precision,
    }


def first_decisions(by_bands: Actions, audit: float, seed: int) -> tuple[list[int], int]:
    """Which pages the reviewer decided about first, and where the rest begins. He sees what bands send to him."""
    draw = np.random.default_rng(seed)
    seen: list[int] = []
    for number, action in enumerate(by_bands):
        if action == BandAction.MANUAL_REVIEW or draw.random() < audit:
            seen.append(number)
        if len(seen) == DECISIONS:
            return seen, number + 1
    raise ValueError(f"fewer than {DECISIONS} decisions in {len(by_bands)} pages")


def equally_precise(probabilities: Floats, truth: NDArray[np.bool_], bands: Side) -> Actions:
    """Cut points moved, in hindsight, to where both precisions are just those of the bands: for the measure only."""
    order = np.argsort(-probabilities, kind="stable")
    counts = np.arange(1, len(order) + 1)
    approvable = np.flatnonzero(np.cumsum(truth[order]) / counts >= (bands.precision_approved or 1.0))
    rejectable = np.flatnonzero(np.cumsum(~truth[order[::-1]]) / counts >= (bands.precision_rejected or 1.0))
    actions = np.full(len(order), str(BandAction.MANUAL_REVIEW), dtype="<U20")
    if len(rejectable):
        actions[order[::-1][: rejectable[-1] + 1]] = str(BandAction.REJECT)
    if len(approvable):
        actions[order[: approvable[-1] + 1]] = str(BandAction.AUTO_APPROVE)
    return actions


def _counted(name: str, actions: Actions, truth: NDArray[np.bool_], said: NDArray[np.bool_]) -> Figures:
    true, noisy = side(actions, truth), side(actions, said)
    return {
        f"{name}_to_people": true.to_people,
        f"{name}_approved": true.approved,
        f"{name}_rejected": true.rejected,
        f"{name}_precision_approved": true.precision_approved,
        f"{name}_precision_rejected": true.precision_rejected,
        f"{name}_precision_approved_noisy": noisy.precision_approved,
        f"{name}_precision_rejected_noisy": noisy.precision_rejected,
    }


def _saved(before: Actions, after: Actions) -> float:
    people = str(BandAction.MANUAL_REVIEW)
    return 1 - float((after == people).sum()) / float((before == people).sum())


def print_runs(title: str, seeds: Sequence[int], runs: Sequence[Figures]) -> None:
    print(f"\n{title}; {DECISIONS} decisions, then the rest; wanted: {WANTED_SAVED:.0%} saved")
    print(f"  {'':32}" + "".join(f"{f'seed {seed}':>10}" for seed in seeds) + f"{'mean':>10}{'spread':>10}")
    for name in runs[0]:
        values = [run[name] for run in runs]
        known = [value for value in values if value is not None]
        mean, spread = (statistics.mean(known), statistics.stdev(known)) if len(known) > 1 else (None, None)
        digits = 0 if all(value == int(value) for value in known) else 3
        print(f"  {name.replace('_', ' '):32}" + "".join(_cell(value, digits) for value in (*values, mean, spread)))


def _cell(value: float | None, digits: int) -> str:
    return f"{'-':>10}" if value is None else f"{value:10.{digits}f}"


def public_labels() -> Figures:
    """The published rows and our hard negatives, cross-validated; then the snippets, on which nothing is fitted."""
    rows = judging.funding_rows()
    judgments = Panel(load_profile("funding", None), judging.TODAY).judge([row.case for row in rows])
    results = [row.case.result for row in rows]
    found = [
        _example(number, result.url, row.is_wanted, judgment)
        for number, (row, result, judgment) in enumerate(zip(rows, results, judgments, strict=True))
    ]
    found = embedded(found, [f"{result.title} {result.snippet}" for result in results])
    made = fit_model("candidate", "funding", found, BANDS)
    report, compared = made.report, made.report.comparison
    right, count = _snippets(made)
    figures: Figures = {
        "rows": report.rows,
        "wanted": report.wanted,
        "evidence_auc": report.evidence_auc,
        "model_auc": report.auc,
        "model_brier": report.brier,
        "usual_brier": report.usual_brier,
        "bands_to_people": compared.bands.to_people,
        "model_to_people": compared.model.to_people,
        "bands_approved": compared.bands.approved,
        "model_approved": compared.model.approved,
        "bands_rejected": compared.bands.rejected,
        "model_rejected": compared.model.rejected,
        "bands_precision_approved": compared.bands.precision_approved,
        "model_precision_approved": compared.model.precision_approved,
        "bands_precision_rejected": compared.bands.precision_rejected,
        "model_precision_rejected": compared.model.precision_rejected,
        "aim_approve": compared.approve.precision,
        "aim_reject": compared.reject.precision,
        "saved": compared.saved_share or 0.0,
        "snippets": count,
        "snippets_right_by_judges": right[0],
        "snippets_right_by_model": right[1],
    }
    print("\npublic labels and hard negatives, cross-validated: judges' scores and embeddings")
    for name, value in figures.items():
        print(f"  {name.replace('_', ' '):32}{_cell(value, 0 if value == int(value or 0) else 3)}")
    return figures


def _example(number: int, url: str, is_wanted: bool, judgment: Judgment) -> Example:
    signals = {score.judge_name: score.score for score in judgment.judge_scores}
    return Example(number + 1, url, is_wanted, signals, judgment.confidence_score, None)


def _snippets(made: Made) -> tuple[tuple[int, int], int]:
    """Of the public suite's funding snippets, how many come out right: by the judges at 0.6, by the model at 0.5."""
    if judging.SNIPPETS is None:
        return (0, 0), 0
    texts = {row["id"]: (row["url"], row["snippet"]) for row in json_lines(judging.SNIPPETS)
             if row["task"] == "open_funding_page"}  # fmt: skip
    verdicts = [(*texts[name], wanted, judgment) for name, wanted, judgment in judging.snippet_verdicts()
                if name in texts]  # fmt: skip
    found = [_example(number, url, wanted, judged) for number, (url, _, wanted, judged) in enumerate(verdicts)]
    raw = Raw.of(embedded(found, [snippet for _, snippet, _, _ in verdicts]))
    by_model = int(((predict(made.form, raw) >= 0.5) == raw.wanted).sum())
    by_judges = sum(wanted == judged.should_crawl for _, _, wanted, judged in verdicts)
    return (by_judges, by_model), len(verdicts)


if __name__ == "__main__":
    main()
