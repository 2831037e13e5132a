"""How models are shown: rows for machines, and for people the comparison first."""

from collections.abc import Iterator

import click
from pydantic import JsonValue

from bailiwick.base.bands import BandAction
from bailiwick.cli.output import Row, printable, stamp
from bailiwick.learn.models import Model, told
from bailiwick.learn.report import Side, Target
from bailiwick.learn.scorer import PAGE_TEXT

COLUMNS = ("id", "task", "profile", "version", "state", "labels", "auc", "saved_share", "trained_at", "trained_by")
_SIGNALS = 15
_BAR = 20


def model_row(model: Model) -> dict[str, JsonValue]:
    return {
        "id": model.id,
        "task": model.task,
        "profile": model.profile,
        "version": model.version,
        "state": model.state,
        **told(model),
        "trained_by": model.trained_by,
        "trained_at": stamp(model.trained_at),
        "activated_by": model.activated_by,
        "activated_at": stamp(model.activated_at) if model.activated_at else None,
    }


def full_row(model: Model) -> Row:
    """Everything but the direction in the space of texts, which says nothing to anybody."""
    form = model.form
    return {
        **model_row(model),
        "report": model.report.model_dump(mode="json"),
        "signals": [part.model_dump(mode="json") for part in form.signals],
        "page_text_weight": _text_weight(model),
        "calibrator": form.calibrator.model_dump(mode="json"),
        "cuts": form.cuts.model_dump(mode="json"),
    }


def comparison_lines(model: Model) -> Iterator[str]:
    """What an admin decides by."""
    report, compared = model.report, model.report.comparison
    yield f"of {report.rows:,} decided pages, by models that had seen neither them nor their sites:"
    yield f"  {'':10} {'approved':>10} {'right':>7} {'rejected':>10} {'right':>7} {'to people':>10}"
    yield _side_line("bands", compared.bands)
    yield _side_line("model", compared.model)
    yield f"  wished: approved right {_aim(compared.approve)}; rejected right {_aim(compared.reject)}"
    asked = compared.routes[BandAction.AUTO_APPROVE], compared.routes[BandAction.REJECT]
    more = sum(route[BandAction.MANUAL_REVIEW] for route in asked)
    alone = sum(sum(route.values()) for route in asked)
    yield f"  of {alone:,} that the bands decide alone, the model asks people about {more:,}"
    saved = compared.saved_share
    yield f"  reviews saved: {'none to save' if saved is None else f'{saved:.0%}'}"


def show_model(model: Model) -> None:
    report = model.report
    click.echo(click.style(f"model {model.id}: {model.task}, {model.profile}, version {model.version}", bold=True))
    used = f", used since {stamp(model.activated_at)} ({model.activated_by})" if model.activated_at else ""
    click.echo(f"  {model.state}; trained {stamp(model.trained_at)} by {printable(model.trained_by)}{used}")
    click.echo(
        f"  AUC {report.auc:.3f} (evidence alone {report.evidence_auc:.3f}), "
        f"Brier {report.brier:.3f} (without a model {report.usual_brier:.3f}), calibrated by {report.calibration}"
    )
    for line in comparison_lines(model):
        click.echo(line)
    click.echo("what it says, and what people said:")
    for one in report.reliability:
        bar = "#" * round(one.share_wanted * _BAR)
        click.echo(f"  {one.start:.1f} to {one.end:.1f} {one.rows:6,} pages, {one.share_wanted:4.0%} wanted  {bar}")
    click.echo("what counts, in log-odds a standard deviation:")
    for name, weight, missing in _weights(model)[:_SIGNALS]:
        gap = f"  (missing: {missing:+.2f})" if missing else ""
        click.echo(printable(f"  {weight:+6.2f}  {name}{gap}"))


def _side_line(name: str, side: Side) -> str:
    approved, rejected = _percent(side.precision_approved), _percent(side.precision_rejected)
    return f"  {name:10} {side.approved:10,} {approved:>7} {side.rejected:10,} {rejected:>7} {side.to_people:10,}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _aim(aim: Target) -> str:
    return f"{aim.precision:.1%} ({aim.basis})"


def _weights(model: Model) -> list[tuple[str, float, float]]:
    """The strongest first."""
    found = [(part.name, part.weight, part.missing_weight) for part in model.form.signals]
    if model.form.embedding is not None:
        found.append((PAGE_TEXT, _text_weight(model), model.form.embedding.missing_weight))
    return sorted(found, key=lambda part: (-abs(part[1]), part[0]))


def _text_weight(model: Model) -> float:
    """How far the text moves the log-odds: the length of its direction, kept with the spread of the labels' texts."""
    return 0.0 if model.form.embedding is None else model.form.embedding.spread
