"""`bailiwick learn`: models of what people decide, and whether they may decide too."""

from typing import TYPE_CHECKING

import click

from bailiwick.cli.acting import reason_option, warn, yes_option
from bailiwick.cli.context import Session, json_option, limit_option, pass_session, profile_option, say_more, text
from bailiwick.cli.learn_display import COLUMNS, comparison_lines, full_row, model_row, show_model
from bailiwick.cli.output import Row, show_rows
from bailiwick.learn import drift as drifting
from bailiwick.learn import models
from bailiwick.learn.examples import TASKS, gather
from bailiwick.registry.permission import ADMINS, require

if TYPE_CHECKING:
    from bailiwick.base.bands import Bands

_task_option = click.option(
    "--task",
    type=click.Choice(TASKS),
    default="review",
    show_default=True,
    help="Whose decisions: on evaluated URLs, or on candidates of discovery.",
)
_id_argument = click.argument("model_id", metavar="ID", type=click.IntRange(1, 2**62))
_WEEK_COLUMNS = ("week", "decisions", "agreement", "expected", "auc", "brier")


@click.group()
def learn() -> None:
    """Learn from people's decisions, so that fewer are needed: train, compare, switch on.

    A model is fitted on what people approved and rejected: on every signal of an evaluation and on the page's text.
    It decides nothing by itself. `use` shows what it would have changed on pages that it had not seen, at the same
    precision as the bands have, and asks; from then on its confidence is what the bands sort by.

    \b
      bailiwick learn train --profile link-vetting    fit on all decisions so far
      bailiwick learn show 3                          figures, weights, reliability
      bailiwick learn use 3                           compare with the bands, then switch on
      bailiwick learn drift --profile link-vetting    do people still agree with it?
      bailiwick learn stop 3                          back to the evidence alone
    """


@learn.command()
@_task_option
@profile_option
@json_option
@pass_session
def train(session: Session, *, task: str, profile: str, as_json: bool) -> None:
    """Fit a model on all decisions so far, and keep it as the next version. Nothing changes until `use`.

    Needs 100 decisions, at least 20 of each kind, and the extra `learn`. The same decisions give the same model.
    """
    from bailiwick.learn.training import fit_model

    app = session.app
    with app.database.begin() as conn:
        require(app.actor(conn), ADMINS)
        examples = gather(conn, task, profile)
    session.say(f"fitting on {len(examples):,} decisions")
    # Outside of a transaction: it takes seconds to minutes.
    made = fit_model(task, profile, examples, _bands(session, profile))
    with app.database.begin() as conn:
        model = models.keep(conn, made, app.actor(conn))
    if as_json:
        show_rows([full_row(model)], (), as_json=True, empty="")
        return
    click.echo(f"model {model.id} is trained: version {model.version} for {model.task}, profile {model.profile}")
    for line in comparison_lines(model):
        click.echo(line)
    session.say(f"next: bailiwick learn use {model.id}")


@learn.command("list")
@click.option("--task", type=click.Choice(TASKS), help="Only of this task.")
@click.option("--profile", type=text, help="Only of this profile.")
@click.option("--after", type=click.IntRange(1, 2**62), metavar="ID", help="Go on after this one.")
@limit_option
@json_option
@click.pass_context
@pass_session
def list_(
    session: Session,
    ctx: click.Context,
    *,
    task: str | None,
    profile: str | None,
    after: int | None,
    limit: int,
    as_json: bool,
) -> None:
    """List models, the newest first: on how many decisions each rests, and how many reviews it would save."""
    with session.app.database.read() as conn:
        found = models.listed(conn, task=task, profile=profile, limit=limit, before=after)
    rows = [model_row(model) for model in found]
    show_rows(rows, COLUMNS, as_json=as_json, empty="there are no models yet: bailiwick learn train")
    say_more(session, ctx, rows, "id")


@learn.command()
@_id_argument
@json_option
@pass_session
def show(session: Session, *, model_id: int, as_json: bool) -> None:
    """Show one model: the comparison with the bands, how honest its probabilities are, what counts how much."""
    with session.app.database.read() as conn:
        model = models.get(conn, model_id)
    if as_json:
        show_rows([full_row(model)], (), as_json=True, empty="")
    else:
        show_model(model)


@learn.command()
@_id_argument
@reason_option
@yes_option
@pass_session
def use(session: Session, *, model_id: int, reason: str | None, yes: bool) -> None:
    """Switch a model on, after a look at the comparison; the one that was on is retired. Admins only.

    The comparison is of pages that the model had not seen. At the same precision, fewer of them should reach people.
    """
    app = session.app
    with app.database.begin() as conn:
        require(app.actor(conn), ADMINS)
        model = models.get(conn, model_id)
    for line in comparison_lines(model):
        click.echo(line, err=True)
    warn(_doubts(model))
    if not yes and not click.confirm(f"Use model {model.id} for {model.task}, profile {model.profile}?", err=True):
        raise click.Abort
    with app.database.begin() as conn:
        # As it was seen: if somebody else moved it meanwhile, that is told.
        used = models.activate(conn, model, app.actor(conn), reason=reason)
    click.echo(f"model {used.id} is used now: version {used.version} for {used.task}, profile {used.profile}")


@learn.command()
@_id_argument
@reason_option
@pass_session
def stop(session: Session, *, model_id: int, reason: str | None) -> None:
    """Switch a model off: the bands go by the evidence alone again. Admins only."""
    app = session.app
    with app.database.begin() as conn:
        model = models.retire(conn, models.get(conn, model_id), app.actor(conn), reason=reason)
    click.echo(f"model {model.id} is retired; the bands go by the evidence alone for {model.task}, {model.profile}")


@learn.command()
@_task_option
@profile_option
@click.option("--model", "model_id", type=click.IntRange(1, 2**62), metavar="ID", help="Only what this model scored.")
@limit_option
@json_option
@pass_session
def drift(session: Session, *, task: str, profile: str, model_id: int | None, limit: int, as_json: bool) -> None:
    """Show by week whether people agree with the model, beside the agreement that it expects itself.

    People see what the model is unsure of, so some disagreement is expected. A warning comes when there is
    more of it than that, or more than before.
    """
    with session.app.database.read() as conn:
        found = drifting.drift(conn, task, profile, weeks=limit, model_id=model_id)
    rows = [_week_row(week) for week in found.weeks]
    show_rows(rows, _WEEK_COLUMNS, as_json=as_json, empty="people decided about nothing yet that a model had scored")
    warn(found.warnings)


def _bands(session: Session, profile: str) -> "Bands":
    """Those of the profile, else those of the settings."""
    from bailiwick.base.bands import Bands
    from bailiwick.model.profile_files import load_profile

    own = load_profile(profile, session.place.profiles).bands
    return Bands.of(own or session.app.settings.review.bands)


def _doubts(model: models.Model) -> list[str]:
    """What should make an admin think twice."""
    compared = model.report.comparison
    said = []
    if (compared.saved_share or 0.0) <= 0:
        said.append("this model saves no reviews")
    said += [f"what it {name} was right less often than wished" for name in compared.shortfalls]
    for name, aim in (("approved", compared.approve), ("rejected", compared.reject)):
        if aim.basis != "measured":
            said.append(f"how right the bands are in what is {name} is {aim.basis}: people looked at {aim.looked_at}")
    if not model.report.hosts_apart:
        said.append("there were too few hosts to keep each on one side: the figures flatter the model")
    return said


def _week_row(week: drifting.Week) -> Row:
    return {
        "week": week.start.isoformat(),
        "decisions": week.decisions,
        "agreed": week.agreed,
        "agreement": round(week.agreement, 3),
        "expected": round(week.expected, 3),
        "auc": None if week.auc is None else round(week.auc, 3),
        "brier": round(week.brier, 3),
    }
