"""Measures a way of fitting before its result is used, by nested cross-validation.

Rows are parted by host. For each part, a model is fitted on the others, and *everything* that is chosen (strength,
calibration, cut points, the precision that is wished) is chosen on those others, by a cross-validation of their own.
So the figures are of rows that had no say in anything; they are of models with four fifths of the labels.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from bailiwick.base.bands import BandAction, Bands
from bailiwick.learn import measures
from bailiwick.learn.cutting import Wish, wish_of
from bailiwick.learn.examples import Example
from bailiwick.learn.fitting import Fitted, fit, predict
from bailiwick.learn.folds import FOLDS, are_hosts_apart, folds_of
from bailiwick.learn.form import Cuts
from bailiwick.learn.matrix import Floats, Raw
from bailiwick.learn.report import Comparison, Report, Side, Target

Actions = NDArray[np.str_]


def fit_and_report(examples: Sequence[Example], bands: Bands, *, seed: int) -> tuple[Fitted, Report]:
    """A model on all examples, and what may be expected of it. Both kinds of labels are needed, several of each."""
    raw, hosts = Raw.of(examples), [one.host for one in examples]
    wish = wish_of(examples, bands)
    fitted = fit(raw, hosts, wish, seed=seed)
    parted = folds_of(hosts, raw.wanted.tolist(), seed=seed + 1)
    probabilities, actions = _out_of_fold(examples, raw, bands, parted, seed=seed)
    by_bands = np.array([bands.band(one.confidence).action for one in examples])
    share = float(raw.wanted.mean())
    return fitted, Report(
        rows=len(raw),
        wanted=int(raw.wanted.sum()),
        folds=FOLDS,
        hosts_apart=are_hosts_apart(hosts, parted),
        seed=seed,
        strength=fitted.strength,
        components=fitted.components,
        calibration=fitted.form.calibrator.kind,
        auc=measures.auc(probabilities, raw.wanted),
        evidence_auc=measures.auc(np.array([one.confidence for one in examples]), raw.wanted),
        brier=measures.brier(probabilities, raw.wanted),
        usual_brier=share * (1 - share),
        reliability=measures.reliability(probabilities, raw.wanted),
        comparison=compare(by_bands, actions, raw.wanted, wish),
    )


def compare(by_bands: Actions, by_model: Actions, wanted: NDArray[np.bool_], wish: Wish) -> Comparison:
    """What both ways do with the same rows."""
    pairs = Counter(zip(by_bands.tolist(), by_model.tolist(), strict=True))
    routes = {str(one): {str(other): pairs[one, other] for other in BandAction} for one in BandAction}
    return Comparison(
        bands=side(by_bands, wanted),
        model=side(by_model, wanted),
        approve=Target(**asdict(wish.approve)),
        reject=Target(**asdict(wish.reject)),
        routes=routes,
    )


def side(actions: Actions, wanted: NDArray[np.bool_]) -> Side:
    approved, rejected = actions == BandAction.AUTO_APPROVE, actions == BandAction.REJECT
    return Side(
        approved=int(approved.sum()),
        approved_right=int((approved & wanted).sum()),
        rejected=int(rejected.sum()),
        rejected_right=int((rejected & ~wanted).sum()),
        to_people=int((actions == BandAction.MANUAL_REVIEW).sum()),
    )


def actions_at(probabilities: Floats, cuts: Cuts) -> Actions:
    """What a model with these cut points does."""
    approve = np.inf if cuts.approve_from is None else cuts.approve_from
    reject = -np.inf if cuts.reject_below is None else cuts.reject_below
    chosen: Actions = np.select(
        [probabilities >= approve, probabilities < reject],
        [str(BandAction.AUTO_APPROVE), str(BandAction.REJECT)],
        str(BandAction.MANUAL_REVIEW),
    )
    return chosen


def _out_of_fold(
    examples: Sequence[Example], raw: Raw, bands: Bands, parted: NDArray[np.intp], *, seed: int
) -> tuple[Floats, Actions]:
    probabilities = np.zeros(len(raw))
    actions = np.full(len(raw), str(BandAction.MANUAL_REVIEW), dtype="<U20")
    for fold in range(FOLDS):
        inside, outside = np.flatnonzero(parted != fold), np.flatnonzero(parted == fold)
        seen = [examples[number] for number in inside.tolist()]
        fitted = fit(raw.rows(inside), [one.host for one in seen], wish_of(seen, bands), seed=seed + 2 + fold)
        probabilities[outside] = predict(fitted.form, raw.rows(outside))
        actions[outside] = actions_at(probabilities[outside], fitted.form.cuts)
    return probabilities, actions
