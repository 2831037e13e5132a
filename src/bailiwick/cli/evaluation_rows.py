"""Evaluations on the command line: as lines, as JSON, and what a job came to."""

import asyncio
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from pydantic import JsonValue
from sqlalchemy import RowMapping, select

from bailiwick.base.bands import Bands
from bailiwick.cli.context import Session
from bailiwick.cli.output import Row, printable
from bailiwick.cli.review_show import show_layers
from bailiwick.db.tables import evaluations
from bailiwick.model.urls import PageUrl, hash_of
from bailiwick.registry.records import find
from bailiwick.review.routing import NewEvaluation, Routed
from bailiwick.score import jobs
from bailiwick.score.jobs import ClaimedUrl, EvaluationJob, Settled

if TYPE_CHECKING:
    from bailiwick.app import App
    from bailiwick.net.guard import Resolve

_WORDS = {
    "approved": ("approved", "green"),
    "rejected": ("rejected", "red"),
    "queue_overflow": ("queue is full", "yellow"),
    "waiting": ("waits for review", "yellow"),
    "audit": ("also asked of people", "yellow"),
    "refused": ("refused", "red"),
    "unreachable": ("unreachable", "red"),
}


def print_outcome(app: "App", url: ClaimedUrl, outcome: Routed | Settled, *, as_json: bool) -> None:
    """One URL that was settled; one that waits for another try says nothing."""
    if isinstance(outcome, Settled):
        if outcome.state == "waiting":
            return
        row: Row = {"url": url.url, "state": outcome.state, "why": outcome.why}
        told = f"{'':>4}  {_coloured(outcome.state)}  {printable(url.name + url.path)}: {printable(outcome.why or '')}"
    else:
        with app.database.read() as conn:
            kept = conn.execute(select(evaluations).where(evaluations.c.id == outcome.evaluation_id)).one()
        row = {**_stored_row(kept._mapping), "status": outcome.status, "reason": outcome.reason}  # noqa: SLF001
        score = click.style(f"{kept.confidence:.2f}", bold=True)
        told = f"{score}  {_coloured(outcome.status)}  {printable(kept.name)}  ({kept.band}, {outcome.reason})"
    click.echo(json.dumps(row, ensure_ascii=False) if as_json else told)


def print_summary(session: Session, job: EvaluationJob, *, is_finished: bool) -> None:
    """What the job came to, and what a person can do next."""
    from bailiwick.review.figures import results_of_job

    with session.app.database.read() as conn:
        counts = jobs.counts(conn, job.id)
        results = results_of_job(conn, job.id)
    parts = [f"{number:,} {_WORDS[name][0]}" for name, number in results.items() if number]
    parts += [f"{number:,} {name}" for name in ("refused", "unreachable") if (number := getattr(counts, name))]
    left = f"; {counts.waiting:,} still to be evaluated" if counts.waiting else ""
    click.echo(f"job {job.id}: {counts.evaluated:,} of {counts.total:,} URLs evaluated: {', '.join(parts)}{left}")
    if results["waiting"] or results["audit"]:
        session.say(f"bailiwick review list --job {job.id}")
    if not is_finished and counts.waiting:
        session.say(f"bailiwick evaluate goes on with it; bailiwick job show {job.id}")


def print_dry(
    session: Session, pages: Sequence[tuple[PageUrl, str]], profile: str, ways: "tuple[Resolve, ...]", *, as_json: bool
) -> int:
    """Evaluate without a job: nothing of it is kept but facts of domains, and the trail tells of what was fetched."""
    return asyncio.run(_dry(session, pages, profile, ways, as_json=as_json))


async def _dry(
    session: Session, pages: Sequence[tuple[PageUrl, str]], profile: str, ways: "tuple[Resolve, ...]", *, as_json: bool
) -> int:
    from bailiwick.model.profile_files import load_profile
    from bailiwick.pipeline.evaluating import Evaluator

    app = session.app
    with app.database.begin() as conn:
        actor = app.actor(conn)
    evaluator = Evaluator(app, load_profile(profile, app.place.profiles), actor, ways, awaits_crawls=False)
    failures = 0
    try:
        for page, given in pages:
            found = await evaluator.evaluate(_claimed(app, page, given))
            failures += isinstance(found, Settled)
            _print_dry(evaluator.bands, given, found, as_json=as_json)
    finally:
        await evaluator.close()
    return 1 if failures == len(pages) else 0


def _claimed(app: "App", page: PageUrl, given: str) -> ClaimedUrl:
    with app.database.read() as conn:
        domain = find(conn, page.domain)
    return ClaimedUrl(
        id=0,
        job_id=0,
        domain_id=domain.id if domain else 0,
        url=given,
        path=page.path,
        path_hash=hash_of(page.path),
        tries=0,
        name=page.domain.name,
        base_url=domain.base_url if domain else None,
        approval=domain.approval if domain else "pending_review",
        standing=domain.standing if domain else "discovered",
        asked_seconds=None,
    )


def _print_dry(bands: Bands, given: str, found: NewEvaluation | Settled, *, as_json: bool) -> None:
    if isinstance(found, Settled):
        if as_json:
            click.echo(json.dumps({"url": given, "state": found.state, "why": found.why}, ensure_ascii=False))
        else:
            click.echo(f"error: {printable(given)} cannot be evaluated: {printable(found.why or '')}", err=True)
        return
    band = bands.band(found.confidence)
    if as_json:
        row = {**_row(found), "band": band.name, "action": band.action.value}
        click.echo(json.dumps(row, ensure_ascii=False))
        return
    score = click.style(f"{found.confidence:.2f}", bold=True)
    click.echo(f"{score}  {printable(found.name)}  {band.name}: {band.action.replace('_', ' ')}")
    show_layers(found)
    click.echo(printable(f"  {found.reasoning}"))


def _row(found: NewEvaluation) -> Row:
    return {
        "url": found.url,
        "name": found.name,
        "title": found.title,
        "profile": found.profile,
        "confidence": found.confidence,
        "evidence_confidence": found.evidence_confidence,
        "learned_probability": found.learned_probability,
        "reasoning": found.reasoning,
        "layer1_results": found.layer1.stored(),
        "layer2_results": found.layer2.stored(),
        "layer3_results": found.layer3.stored(),
        "layer3_by": found.layer3_by,
        "sophistication_signals": dict(found.layer3.scores()),
        "evidence": _proofs(found),
        "policy_version": found.policy_version,
    }


def _proofs(found: NewEvaluation) -> dict[str, JsonValue]:
    return {
        layer: {name: [proof.stored() for proof in some] for name, some in proofs.items()}
        for layer, proofs in found.proofs.items()
    }


def _stored_row(kept: RowMapping) -> Row:
    names = (
        "id", "url", "name", "title", "profile", "confidence", "evidence_confidence", "learned_probability",
        "reasoning",
        "layer1_results", "layer2_results", "layer3_results", "layer3_by", "sophistication_signals", "evidence",
        "policy_version", "band", "action",
    )  # fmt: skip
    return {name: kept[name] for name in names}


def _coloured(word: str) -> str:
    said, colour = _WORDS[word]
    return click.style(said.ljust(16), fg=colour)
