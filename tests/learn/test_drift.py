"""Drift on made decisions: quiet while the model is as right as it says, loud when it is not."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from bailiwick.learn.drift import Decision, drift_of

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)


def decisions(weeks: int, a_week: int, *, seed: int = 1, turns_after: int | None = None) -> list[Decision]:
    """People who say what a calibrated model expects; from a week on, the opposite half of the time."""
    draw = np.random.default_rng(seed)
    found = []
    for week in range(weeks):
        for _ in range(a_week):
            probability = float(draw.random())
            is_wanted = bool(draw.random() < probability)
            if turns_after is not None and week >= turns_after and draw.random() < 0.5:
                is_wanted = not is_wanted
            at = MONDAY - timedelta(weeks=weeks - 1 - week) + timedelta(days=float(draw.random() * 6.9))
            found.append(Decision(at, probability, is_wanted))
    return found


def test_a_model_that_keeps_its_word_is_not_warned_of() -> None:
    warned = sum(bool(drift_of(decisions(10, 40, seed=seed)).warnings) for seed in range(40))
    assert warned <= 5, "two standard errors, two rules: about one in twenty by chance"


def test_weeks_are_told_oldest_first() -> None:
    given = decisions(10, 40)
    found = drift_of(given)
    assert [week.start.weekday() for week in found.weeks] == [0] * 10
    assert [week.start for week in found.weeks] == sorted(week.start for week in found.weeks)
    last = [one for one in given if one.at >= MONDAY]
    week = found.weeks[-1]
    assert (week.decisions, week.agreed) == (40, sum((one.probability >= 0.5) == one.is_wanted for one in last))
    assert week.agreement == week.agreed / 40
    assert week.auc == pytest.approx(roc_auc_score([one.is_wanted for one in last], [one.probability for one in last]))
    assert week.expected == pytest.approx(np.mean([max(one.probability, 1 - one.probability) for one in last]))
    assert len(drift_of(given, weeks=3).weeks) == 3


def test_a_change_of_mind_is_warned_of() -> None:
    found = drift_of(decisions(10, 40, turns_after=6))
    assert len(found.warnings) == 2
    assert "where the model expects" in found.warnings[0]
    assert "agreement fell from" in found.warnings[1]


def test_a_handful_is_no_reason_to_worry() -> None:
    wrong = [Decision(MONDAY, 0.95, is_wanted=False) for _ in range(29)]
    assert drift_of(wrong).warnings == ()
    assert drift_of(wrong).weeks[0].auc is None
    assert drift_of([*wrong, wrong[0]]).warnings != ()
    assert drift_of([]).weeks == ()


def test_equal_probabilities_count_half() -> None:
    same = [Decision(MONDAY, 0.6, is_wanted=n % 2 == 0) for n in range(10)]
    assert drift_of(same).weeks[0].auc == 0.5
