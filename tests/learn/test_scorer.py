"""Prediction: monotone, aligned with the bands, at ease with what is missing."""

from math import nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bailiwick.base.bands import BandAction, Bands, Limits
from bailiwick.learn.form import Cuts, EmbeddingPart, Form, Isotonic, Platt, SignalPart
from bailiwick.learn.scorer import PAGE_TEXT, Scorer, floats_of
from tests.learn.tools import BANDS

PLAIN = Platt(slope=1.0, intercept=0.0)
SURE = Cuts(reject_below=0.2, approve_from=0.9)


def scorer(cuts: Cuts = SURE, calibrator: Platt | Isotonic = PLAIN) -> Scorer:
    parts = (
        SignalPart(name="care", mean=0.5, scale=0.25, weight=2.0, missing_weight=-1.0),
        SignalPart(name="age", mean=100.0, scale=50.0, weight=-0.5, missing_weight=0.0),
    )
    text = EmbeddingPart(direction=(1.0, -1.0), offset=0.25, spread=1.0, missing_weight=0.125)
    return Scorer(7, 3, Form(signals=parts, embedding=text, intercept=0.1, calibrator=calibrator, cuts=cuts))


def vector(*values: float) -> bytes:
    return np.array(values, dtype="<f2").tobytes()


def test_log_odds_are_the_sum_of_the_parts() -> None:
    found = scorer().log_odds({"care": 0.75, "age": 50.0, "never heard of": 9.0}, vector(0.5, 1.0))
    assert found == pytest.approx(0.1 + 2.0 + 0.5 + (0.5 - 1.0 - 0.25))
    assert scorer().probability({"care": 0.75, "age": 50.0}, vector(0.5, 1.0)) == pytest.approx(
        1 / (1 + np.exp(-found))
    )


@pytest.mark.parametrize("missing", [None, float("nan"), float("inf")])
def test_what_is_missing_counts_as_missing(missing: float | None) -> None:
    assert scorer().log_odds({"care": missing}, None) == pytest.approx(0.1 - 1.0 + 0.0 + 0.125)
    assert scorer().log_odds({}, b"") == scorer().log_odds({"care": missing}, None)


@pytest.mark.parametrize("broken", [b"\x00", vector(1.0), vector(1.0, 2.0, 3.0), vector(1.0, float("nan"))])
def test_an_embedding_of_another_kind_counts_as_missing(broken: bytes) -> None:
    assert scorer().log_odds({}, broken) == scorer().log_odds({}, None)


def test_an_odd_number_cannot_decide_alone() -> None:
    near = scorer().log_odds({"care": 0.5 + 0.25 * 5}, None)
    assert scorer().log_odds({"care": 1e300}, None) == near
    assert scorer().probability({"care": -1e300, "age": 1e300}, None) > 0


def test_the_strongest_reasons_come_first() -> None:
    reasons = scorer().top_signals({"care": 0.75, "age": 90.0}, vector(0.0, 2.0))
    assert [(one.name, one.value) for one in reasons] == [(PAGE_TEXT, None), ("care", 0.75), ("age", 90.0)]
    assert [one.contribution for one in reasons] == pytest.approx([-2.25, 2.0, 0.1])
    assert [one.name for one in scorer().top_signals({"care": 0.75}, None, most=1)] == ["care"]


def test_isotonic_interpolates_and_keeps_its_ends() -> None:
    rising = Isotonic(log_odds=(-1.0, 0.0, 0.0, 2.0), probabilities=(0.1, 0.3, 0.5, 0.9))
    plain = Form(signals=(), embedding=None, intercept=0.0, calibrator=rising, cuts=Cuts())
    for log_odds, wanted in ((-9.0, 0.1), (-0.5, 0.2), (1.0, 0.7), (2.0, 0.9), (9.0, 0.9)):
        moved = plain.model_copy(update={"intercept": log_odds})
        assert Scorer(1, 1, moved).probability({}, None) == pytest.approx(wanted)


def test_a_form_that_does_not_hold_together_is_refused() -> None:
    with pytest.raises(ValidationError, match="would be approved"):
        Cuts(reject_below=0.9, approve_from=0.2)
    with pytest.raises(ValidationError, match="do not rise"):
        Isotonic(log_odds=(1.0, 0.0), probabilities=(0.1, 0.2))
    with pytest.raises(ValidationError, match="finite"):
        Platt(slope=float("inf"), intercept=0.0)


shares = st.floats(0, 1, allow_subnormal=False)
maybe = st.none() | shares


@given(shares, shares, maybe, maybe, st.tuples(shares, shares).map(sorted))
def test_confidence_rises_with_probability_and_lands_on_the_limits(
    one: float, other: float, low: float | None, high: float | None, edges: list[float]
) -> None:
    if low is not None and high is not None and low > high:
        low, high = high, low
    model = scorer(Cuts(reject_below=low, approve_from=high))
    limits = Limits(*edges)
    less, more = sorted((one, other))
    assert 0 <= model.confidence(less, limits) <= model.confidence(more, limits) <= 1
    if high is not None and one >= high:
        assert model.confidence(one, limits) >= limits.approve_from
    elif low is not None and one < low:
        assert model.confidence(one, limits) < limits.reject_below or limits.reject_below == 0
    else:
        assert limits.reject_below <= model.confidence(one, limits)
        assert model.confidence(one, limits) < limits.approve_from or limits.reject_below == limits.approve_from


def test_the_bands_decide_what_the_cut_points_mean() -> None:
    limits = BANDS.limits()

    def action(probability: float, cuts: Cuts = SURE) -> BandAction:
        return BANDS.band(scorer(cuts).confidence(probability, limits)).action

    assert [action(p) for p in (0.0, nextafter(0.2, 0), 0.2, 0.5, nextafter(0.9, 0), 0.9, 1.0)] == [
        "reject", "reject", "manual_review", "manual_review", "manual_review", "auto_approve", "auto_approve",
    ]  # fmt: skip
    never = Cuts()
    assert {action(p, never) for p in (0.0, 0.3, 1.0)} == {"manual_review"}
    assert scorer().confidence(0.9, limits) == 0.8
    assert scorer().confidence(0.2, limits) == 0.3
    split = Cuts(reject_below=0.5, approve_from=0.5)
    assert [action(p, split) for p in (0.49, 0.5)] == ["reject", "auto_approve"]


def test_without_approving_bands_nothing_is_approved() -> None:
    bands = Bands.of([band.model_copy(update={"action": BandAction.MANUAL_REVIEW}) for band in BANDS.written])
    assert bands.band(scorer().confidence(1.0, bands.limits())).action == "manual_review"
    assert bands.band(scorer().confidence(0.0, bands.limits())).action == "manual_review"


def test_floats_of_reads_little_endian_halves() -> None:
    assert floats_of(vector(1.0, -0.5)) == (1.0, -0.5)
