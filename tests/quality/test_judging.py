"""Floors under judging: ROC-AUC on the labelled rows and our negatives, right answers on the snippets."""

import pytest

from bailiwick.judge import Panel
from bailiwick.model.profile_files import load_profile
from tests.quality import judging
from tests.suites import json_lines

GOOD_AUC, RIGHT_SNIPPETS = 0.90, 16


def test_there_are_enough_negatives_of_our_own_in_many_kinds() -> None:
    ours = json_lines(judging.NEGATIVES)
    assert len(ours) >= 220
    assert len({row["url"] for row in ours}) == len({row["title"] for row in ours}) == len(ours)
    assert len({row["kind"] for row in ours}) >= 15
    guarded = [row for row in ours if row["url"].split("/")[2].endswith((".gov", ".edu", ".gov.uk", ".ac.uk"))]
    assert len(guarded) >= 25, "the suffix alone must not decide"
    assert sum(not row["snippet"] for row in ours) >= 15, "nor must a missing snippet"


def test_roc_auc_counts_equal_scores_half() -> None:
    assert judging.roc_auc([True, False, True, False], [4, 3, 2, 1]) == 0.75
    assert judging.roc_auc([True, False], [1, 1]) == 0.5
    assert judging.precision_and_recall([True, True, False], [True, False, False]) == (1.0, 0.5)
    assert judging.precision_and_recall([True, False], [False, False]) == (0.0, 0.0)


if judging.LABELS is not None:

    @pytest.mark.parametrize("half", ["all", "tuning", "held out"])
    def test_judges_tell_funding_from_what_looks_like_it(half: str) -> None:
        rows = [row for row in judging.funding_rows() if half == "all" or row.is_held_out == (half == "held out")]
        judgments = Panel(load_profile("funding", None), judging.TODAY).judge([row.case for row in rows])
        truth = [row.is_wanted for row in rows]
        whole = judging.roc_auc(truth, judging.scores_of(judgments))
        precision, recall = judging.precision_and_recall(truth, [judgment.should_crawl for judgment in judgments])
        print(f"{half}: AUC {whole:.3f}, precision {precision:.2f}, recall {recall:.2f}")
        assert whole >= GOOD_AUC
        assert whole >= judging.roc_auc(truth, judging.scores_of(judgments, "keywords")) + 0.1
        assert precision >= 0.6
        assert recall >= 0.6


if judging.SNIPPETS is not None:

    def test_most_snippets_are_judged_rightly() -> None:
        verdicts = judging.snippet_verdicts()
        wrong = {name: judgment.reasoning for name, wanted, judgment in verdicts if wanted != judgment.should_crawl}
        assert len(verdicts) - len(wrong) >= RIGHT_SNIPPETS, wrong
