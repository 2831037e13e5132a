"""Trains: labels in, a model with its report out. Needs the extra `learn`; what it makes needs nothing to predict."""

from collections.abc import Sequence

from sqlalchemy import Connection

from bailiwick.base.bands import Bands
from bailiwick.base.errors import SettingsError, UsageError
from bailiwick.learn.examples import Example, gather
from bailiwick.learn.models import Made, Model, keep
from bailiwick.ledger.events import Actor
from bailiwick.registry.permission import ADMINS, require

LEAST_LABELS = 100
LEAST_OF_A_KIND = 20
"""Approved and rejected alike: with fewer, each of the folds within folds would see a handful."""
_SEED = 20_031


def train(conn: Connection, task: str, profile: str, bands: Bands, actor: Actor) -> Model:
    """Fit on everything that people decided, keep it as the next version. It decides nothing until it is activated.

    The same labels and bands give the same numbers. UsageError if there are too few labels or only one kind,
    SettingsError without scikit-learn, NotAllowedError if the actor is no admin. Takes seconds; where a transaction
    must not be open for so long: `gather`, `fit_model` and `keep` one by one.
    """
    require(actor, ADMINS)
    return keep(conn, fit_model(task, profile, gather(conn, task, profile), bands), actor)


def fit_model(task: str, profile: str, examples: Sequence[Example], bands: Bands) -> Made:
    """Without the database."""
    if not bands.are_ordered:
        raise SettingsError(
            "a model needs bands in order: rejecting ones below those for people, those below approving ones",
            hint="bailiwick settings show review.bands",
        )
    _refuse_few(examples)
    _require_library()
    from threadpoolctl import threadpool_limits

    from bailiwick.learn.comparing import fit_and_report

    # One thread: hundreds of small fits are several times slower when threads wait for each other (measured: 8).
    with threadpool_limits(1):
        fitted, report = fit_and_report(examples, bands, seed=_SEED)
    last = max(one.label_id for one in examples)
    return Made(task, profile, len(examples), last, fitted.form, report)


def _refuse_few(examples: Sequence[Example]) -> None:
    wanted = sum(one.is_wanted for one in examples)
    unwanted = len(examples) - wanted
    told = f"{len(examples):,} decisions ({wanted:,} approved, {unwanted:,} rejected)"
    if len(examples) < LEAST_LABELS:
        raise UsageError(
            f"too few to learn from: {told}", hint=f"at least {LEAST_LABELS} are needed: review more, then train again"
        )
    if min(wanted, unwanted) < LEAST_OF_A_KIND:
        raise UsageError(
            f"too much of one kind to learn from: {told}",
            hint=f"at least {LEAST_OF_A_KIND} approved and {LEAST_OF_A_KIND} rejected ones are needed",
        )


def _require_library() -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise SettingsError(
            "training needs scikit-learn, which is not installed", hint='pip install "bailiwick[learn]"'
        ) from None
