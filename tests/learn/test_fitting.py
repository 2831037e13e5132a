"""Fitting: the numbers are scikit-learn's, the same each time, and nothing is chosen on what it is measured on."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from bailiwick.base.errors import SettingsError, UsageError
from bailiwick.learn import fitting, measures
from bailiwick.learn.comparing import actions_at, fit_and_report
from bailiwick.learn.cutting import Aim, Wish, cuts_at, wish_of
from bailiwick.learn.examples import Example
from bailiwick.learn.fitting import calibrator_of, fit, predict, probabilities
from bailiwick.learn.folds import FOLDS, are_hosts_apart, folds_of
from bailiwick.learn.form import Cuts, Platt
from bailiwick.learn.matrix import Raw, Scale
from bailiwick.learn.scorer import Scorer, floats_of
from bailiwick.learn.training import fit_model
from tests.learn.tools import BANDS, DIMENSIONS, examples

WISH = Wish(Aim(0.8, "assumed", 0), Aim(0.8, "assumed", 0))


def by_hand(given: list[Example], strength: float) -> np.ndarray:
    """Log-odds by scikit-learn alone, on columns that are made here from the definition."""
    names = sorted(given[0].signals)
    values = np.array([[np.nan if one.signals[n] is None else one.signals[n] for n in names] for one in given], float)
    means, spreads = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    columns = [np.clip(np.nan_to_num((values - means) / spreads), -5, 5)]
    columns.append(np.isnan(values[:, [names.index("age")]]).astype(float))
    vectors = [floats_of(one.embedding) for one in given]
    has_text = np.array([vector is not None for vector in vectors])
    there = np.array([vector for vector in vectors if vector is not None])
    spread, directions = np.linalg.eigh(np.cov(there.T, bias=True))
    count = min(64, len(there) // 10, DIMENSIONS)
    basis = directions[:, np.argsort(spread)[::-1][:count]] / np.sqrt(spread.max())
    texts = np.zeros((len(given), count))
    texts[has_text] = (there - there.mean(axis=0)) @ basis
    columns += [texts, (~has_text)[:, None].astype(float)]
    model = LogisticRegression(C=strength, solver="newton-cholesky", tol=1e-8, max_iter=200)
    return model.fit(np.hstack(columns), [one.is_wanted for one in given]).decision_function(np.hstack(columns))


@pytest.mark.parametrize("isotonic_from", [1000, 100])
def test_predictions_are_those_of_scikit_learn(isotonic_from: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "ISOTONIC_FROM", isotonic_from)
    given = examples(200)
    raw = Raw.of(given)
    fitted = fit(raw, [one.host for one in given], WISH, seed=3)
    log_odds = by_hand(given, fitted.strength)
    model = Scorer(1, 1, fitted.form)
    assert [model.log_odds(one.signals, one.embedding) for one in given] == pytest.approx(list(log_odds), abs=1e-9)
    expected = probabilities(log_odds, fitted.form.calibrator)
    assert fitted.form.calibrator.kind == ("isotonic" if isotonic_from == 100 else "platt")
    one_by_one = [model.probability(one.signals, one.embedding) for one in given]
    assert one_by_one == pytest.approx(list(expected), abs=1e-9)
    assert list(predict(fitted.form, raw)) == pytest.approx(one_by_one, abs=1e-9)


def test_calibrators_are_those_of_scikit_learn() -> None:
    draw = np.random.default_rng(5)
    log_odds = draw.normal(size=1200)
    wanted = draw.random(1200) < 1 / (1 + np.exp(-2 * log_odds))
    rising = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(log_odds, wanted)
    places = np.linspace(-6, 6, 500)
    assert probabilities(places, calibrator_of(log_odds, wanted)) == pytest.approx(rising.predict(places), abs=1e-9)
    few = LogisticRegression(C=1e4, tol=1e-8, max_iter=1000).fit(log_odds[:300, None], wanted[:300])
    sigmoid = calibrator_of(log_odds[:300], wanted[:300])
    assert probabilities(places, sigmoid) == pytest.approx(few.predict_proba(places[:, None])[:, 1], abs=1e-9)


def test_a_model_that_points_the_wrong_way_says_what_is_usual() -> None:
    log_odds = np.linspace(-1, 1, 200)
    found = calibrator_of(log_odds, log_odds < -0.5)
    assert isinstance(found, Platt)
    assert found.slope == 0
    assert probabilities(log_odds, found) == pytest.approx(np.full(200, (log_odds < -0.5).mean()))


def test_the_same_labels_give_the_same_model() -> None:
    one, other = (fit_model("review", "general", examples(120), BANDS) for _ in range(2))
    assert one == other
    assert fit_model("review", "general", examples(120, seed=2), BANDS).form != one.form


def test_the_text_speaks_where_signals_are_silent() -> None:
    given = examples(240)
    blind = [replace(one, embedding=None) for one in given]
    seeing, not_seeing = (fit_and_report(rows, BANDS, seed=1)[1] for rows in (given, blind))
    assert seeing.auc > not_seeing.auc + 0.05
    assert not_seeing.components == 0
    assert seeing.auc > seeing.evidence_auc
    assert seeing.brier < seeing.usual_brier
    assert sum(line.rows for line in seeing.reliability) == seeing.rows == 240
    assert seeing.hosts_apart


def test_labels_without_meaning_make_no_sure_model() -> None:
    """Chance must not look like knowledge: what is chosen inside is measured outside."""
    draw = np.random.default_rng(8)
    given = [replace(one, is_wanted=bool(draw.random() < 0.5)) for one in examples(200)]
    report = fit_and_report(given, BANDS, seed=1)[1]
    assert report.auc < 0.6
    assert all(0.25 < line.mean_probability < 0.75 for line in report.reliability), "it is sure of nothing"


def test_hosts_stay_on_one_side_where_that_is_possible() -> None:
    given = examples(200)
    hosts, wanted = [one.host for one in given], [one.is_wanted for one in given]
    parted = folds_of(hosts, wanted, seed=4)
    assert are_hosts_apart(hosts, parted)
    assert sorted(np.bincount(parted)) == pytest.approx([200 / FOLDS] * FOLDS, abs=8)
    shares = [np.array(wanted)[parted == fold].mean() for fold in range(FOLDS)]
    assert max(shares) - min(shares) < 0.15
    assert (folds_of(hosts, wanted, seed=4) == parted).all()
    lonely = ["one.example"] * 200
    assert not are_hosts_apart(lonely, folds_of(lonely, wanted, seed=4))


def test_cut_points_keep_the_precision_that_is_wished() -> None:
    draw = np.random.default_rng(6)
    chances = draw.random(5000)
    wanted = draw.random(5000) < chances
    cuts = cuts_at(chances, wanted, Wish(Aim(0.9, "assumed", 0), Aim(0.8, "assumed", 0)))
    assert cuts.approve_from == pytest.approx(0.8, abs=0.02)
    assert cuts.reject_below == pytest.approx(0.4, abs=0.02)
    actions = actions_at(chances, cuts)
    assert wanted[actions == "auto_approve"].mean() == pytest.approx(0.9, abs=0.02)
    assert (~wanted[actions == "reject"]).mean() == pytest.approx(0.8, abs=0.02)
    assert cuts_at(np.full(50, 0.5), wanted[:50], WISH) == Cuts()
    assert cuts_at(chances, ~wanted, WISH) == Cuts(), "what the count contradicts is not believed"
    easy = cuts_at(chances, wanted, Wish(Aim(0.5, "assumed", 0), Aim(0.5, "assumed", 0)))
    assert easy.approve_from == easy.reject_below, "both are sure of the middle: nobody is asked"


def judged(confidence: float, *, is_wanted: bool, is_guided: bool = False) -> Example:
    return Example(1, "https://a.example/", is_wanted, {}, confidence, None, is_guided)


def test_the_precision_of_bands_is_measured_where_people_looked() -> None:
    between = [judged(0.3 + n / 250, is_wanted=n % 125 > 62) for n in range(125)]
    alone = wish_of(between, BANDS)
    assert (alone.approve.basis, alone.reject.basis, alone.approve.looked_at) == ("extrapolated", "extrapolated", 0)
    assert alone.approve.precision > 0.9
    looked = [judged(0.9, is_wanted=n % 2 == 0) for n in range(400)]
    measured = wish_of([*between, *looked], BANDS).approve
    assert (measured.basis, measured.looked_at) == ("measured", 400)
    assert measured.precision == pytest.approx(0.53, abs=0.03)
    assert wish_of(between[:20], BANDS).approve == Aim(0.95, "assumed", 0)


def test_what_a_model_chose_to_show_does_not_lower_the_wish() -> None:
    between = [judged(0.3 + n / 250, is_wanted=n % 125 > 62) for n in range(125)]
    doubted = [judged(0.9, is_wanted=n % 2 == 0, is_guided=True) for n in range(400)]
    assert wish_of([*between, *doubted], BANDS) == wish_of(between, BANDS)


def test_columns_that_say_nothing_do_no_harm() -> None:
    given = [replace(one, signals={**one.signals, "same": 1.0, "never": None}) for one in examples(120)]
    columns = Scale.of(Raw.of(given)).columns(Raw.of(given))
    assert np.isfinite(columns).all()
    made = fit_model("review", "general", given, BANDS)
    weights = {part.name: (part.weight, part.missing_weight) for part in made.form.signals}
    assert weights["same"] == weights["never"] == (0.0, 0.0)


def test_too_few_labels_or_one_kind_only_are_refused_with_what_to_do() -> None:
    given = examples(140)
    with pytest.raises(UsageError, match="too few to learn from: 99 decisions") as few:
        fit_model("review", "general", given[:99], BANDS)
    assert few.value.hint is not None
    assert "100" in few.value.hint
    with pytest.raises(UsageError, match=r"one kind .* \(140 approved, 0 rejected\)"):
        fit_model("review", "general", [replace(one, is_wanted=True) for one in given], BANDS)


def test_without_scikit_learn_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sklearn", None)
    with pytest.raises(SettingsError, match="scikit-learn") as missing:
        fit_model("review", "general", examples(120), BANDS)
    assert missing.value.hint == 'pip install "bailiwick[learn]"'


def test_measures_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import brier_score_loss, roc_auc_score

    draw = np.random.default_rng(9)
    scores, wanted = draw.integers(0, 20, 300) / 20, draw.random(300) < 0.4
    assert measures.auc(scores, wanted) == pytest.approx(roc_auc_score(wanted, scores), abs=1e-12)
    assert measures.brier(scores, wanted) == pytest.approx(brier_score_loss(wanted, scores), abs=1e-12)
    assert measures.auc(scores, np.ones(300, dtype=bool)) == 0.5
