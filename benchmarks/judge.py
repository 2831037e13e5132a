"""How well and how fast search results are judged. `make bench-judge`.

The published rows that have a title, and our hard negatives (`tests/quality/judging_negatives.jsonl`): ROC-AUC,
precision and recall at the threshold for the whole, for each judge and for each half of the rows. Then the 20 snippets
of the public suite, which have no titles, and how many results a CPU-second takes in batches, from URL, title and
snippet to the judgment. `--without NAME` leaves one judge out.
"""

import argparse
import gc
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

from tests.quality import judging

from bailiwick.judge import Panel
from bailiwick.model.discovery import Case, Judgment, SearchResult
from bailiwick.model.names import DomainName
from bailiwick.model.profile_files import load_profile
from bailiwick.model.profiles import Profile

WANTED_AUC, WANTED_RIGHT, WANTED_RATE = 0.90, 16, 5_000
BATCH, RESULTS = 500, 10_000
WHOLE = "the whole"


def main() -> None:
    parser = argparse.ArgumentParser(description="How well and how fast search results are judged.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without", metavar="NAME", help="leave this judge out")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures there, as JSON")
    options = parser.parse_args()
    profile = load_profile("funding", None)
    if options.without:
        kept = tuple(judge for judge in profile.judges if judge.name != options.without)
        profile = profile.model_copy(update={"judges": kept})
    rows = judging.funding_rows()
    panel = Panel(profile, judging.TODAY)
    judgments = panel.judge([row.case for row in rows])
    quality = {
        "all rows": table(profile, rows, judgments, [True] * len(rows)),
        "tuning half": table(profile, rows, judgments, [not row.is_held_out for row in rows]),
        "held-out half": table(profile, rows, judgments, [row.is_held_out for row in rows]),
        "published rows alone": table(profile, rows, judgments, [not row.kind for row in rows]),
    }
    for name, found in quality.items():
        print_table(name, found)
    verdicts = judging.snippet_verdicts()
    right = sum(wanted == judgment.should_crawl for _, wanted, judgment in verdicts)
    print(f"snippets: {right} of {len(verdicts)} right; wanted: {WANTED_RIGHT}")
    rates = [rate(panel, rows) for _ in range(options.rounds)]
    print(f"results a CPU-second, batches of {BATCH}: best {max(rates):,.0f}; wanted: {WANTED_RATE:,}; "
          f"all {' '.join(f'{found:,.0f}' for found in sorted(rates))}; load {os.getloadavg()[0]:.1f}")  # fmt: skip
    if options.out:
        told = {"quality": quality, "snippets_right": right, "snippets": len(verdicts), "rates": rates,
                "load": os.getloadavg()}  # fmt: skip
        options.out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def table(
    profile: Profile, rows: Sequence[judging.Row], judgments: Sequence[Judgment], chosen: Sequence[bool]
) -> dict[str, dict[str, float]]:
    """Of the whole and each judge: rows with evidence, AUC, precision and recall at the threshold."""
    kept = [(row, judgment) for row, judgment, take in zip(rows, judgments, chosen, strict=True) if take]
    truth = [row.is_wanted for row, _ in kept]
    said = [judgment for _, judgment in kept]
    found = {}
    for name in (None, *(judge.name for judge in profile.judges)):
        scores = judging.scores_of(said, name)
        heard = [name is None or any(score.judge_name == name for score in judgment.judge_scores) for judgment in said]
        precision, recall = judging.precision_and_recall(truth, [score >= profile.judge_threshold for score in scores])
        found[name or WHOLE] = {
            "rows": len(truth),
            "wanted": sum(truth),
            "heard": sum(heard),
            "auc": judging.roc_auc(truth, scores),
            "auc_where_heard": _auc(truth, scores, heard),
            "precision": precision,
            "recall": recall,
        }
    return found


def _auc(truth: Sequence[bool], scores: Sequence[float], heard: Sequence[bool]) -> float:
    """Of the rows that the judge had something to say on; 0.5 where those are of one kind only."""
    pairs = [(is_wanted, score) for is_wanted, score, said in zip(truth, scores, heard, strict=True) if said]
    kinds = {is_wanted for is_wanted, _ in pairs}
    return judging.roc_auc([one for one, _ in pairs], [score for _, score in pairs]) if len(kinds) > 1 else 0.5


def print_table(name: str, found: dict[str, dict[str, float]]) -> None:
    whole = found[WHOLE]
    print(f"{name}: {whole['wanted']:.0f} of {whole['rows']:.0f} wanted; AUC wanted: {WANTED_AUC:.2f}")
    print(f"  {'':13} {'heard':>6} {'AUC':>6} {'where heard':>12} {'precision':>10} {'recall':>7}")
    for judge, figures in found.items():
        print(
            f"  {judge:13} {figures['heard']:6.0f} {figures['auc']:6.3f} {figures['auc_where_heard']:12.3f} "
            f"{figures['precision']:10.2f} {figures['recall']:7.2f}"
        )
    print()


def rate(panel: Panel, rows: Sequence[judging.Row]) -> float:
    """Results a CPU-second; none of them is the same twice."""
    results = [row.case.result for row in rows]
    many = [
        SearchResult(f"{one.url}?{number}", f"{one.title} {number}", one.snippet)
        for number in range(RESULTS // len(results) + 1)
        for one in results
    ][:RESULTS]
    gc.collect()
    start = time.process_time()
    for first in range(0, len(many), BATCH):
        panel.judge([Case.of(one, DomainName.parse(one.url)) for one in many[first : first + BATCH]])
    return len(many) / (time.process_time() - start)


if __name__ == "__main__":
    main()
