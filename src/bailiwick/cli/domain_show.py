"""`bailiwick domain show`: all that is known of one domain, why it is or is not crawled, and what you can do."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import click
from pydantic import JsonValue
from sqlalchemy import Connection, select

from bailiwick.accounts import members
from bailiwick.app import App
from bailiwick.approve import verbs
from bailiwick.cli.acting import find_named
from bailiwick.cli.context import Session, json_option, pass_session
from bailiwick.cli.domain_lists import minutes, plain
from bailiwick.cli.output import Row, printable, stamp
from bailiwick.crawl import runs
from bailiwick.crawl.explain import refusals
from bailiwick.db.tables import domain_progress
from bailiwick.extract.duplicates import Duplicates
from bailiwick.extract.listing import ContentSummary, summary
from bailiwick.ledger.events import Event, Subject, latest
from bailiwick.model.states import Role
from bailiwick.query.images import listing
from bailiwick.query.images.listing import ImageCounts
from bailiwick.registry.explain import Explanation, explain
from bailiwick.registry.records import Domain

_EVENTS = 10
_SECTIONS = {
    "State": ("approval", "standing", "crawl", "is_trusted", "no_funds_year", "block_reason", "block_reason_code",
              "block_retries", "blacklist_reason", "blacklister", "blacklisted_at", "failure_reason", "retry_after"),
    "Submission and review": ("submitter", "submitter_type", "submission_context", "source", "seed_rank",
                              "first_seen_at", "reviewer", "reviewed_at", "review_reason", "notes"),
    "Configuration": ("site", "base_url", "profile", "max_crawl_depth", "crawl_delay_seconds",
                      "max_concurrent_requests", "max_pages_per_run", "scrape_frequency_hours"),
    "Counters": ("pages_crawled", "pages_discovered", "images_stored", "images_found", "image_yield_rate",
                 "crawl_depth_reached", "total_error_count", "consecutive_error_count", "error_rate",
                 "processing_count", "best_confidence_score", "high_quality_candidate_count",
                 "low_quality_candidate_count"),
    "Schedule": ("priority_score", "last_crawled_at", "next_crawl_after", "worker", "wake_at", "crashes"),
}  # fmt: skip


_PROGRESS = (
    "pages_waiting", "pages_failed", "pages_refused", "requests_made", "bytes_fetched", "outlinks_found",
    "last_request_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Shown:
    domain: Domain
    why: Explanation
    moves: list[str]
    events: list[Event]
    crawl: dict[str, JsonValue]
    refusals: dict[str, int]
    content: ContentSummary
    images: ImageCounts


@click.command()
@click.argument("name")
@json_option
@pass_session
def show(session: Session, *, name: str, as_json: bool) -> None:
    """Show all about one domain, and what you can do.

    Its states, why it is or is not crawled now, the commands that would move it, and its last events.
    """
    app = session.app
    with app.database.read() as conn:
        domain = find_named(conn, name, app)
        trail = latest(conn, subject=Subject("domain", domain.name.name), limit=_EVENTS)
        moves = _moves(domain, _role(app, conn))
        shown = _Shown(
            domain, explain(conn, domain.name), moves, trail, _crawl(conn, domain), refusals(conn, domain.id),
            summary(conn, domain.id), listing.counts(conn, domain.id),
        )  # fmt: skip
    if as_json:
        click.echo(json.dumps(_facts(shown), ensure_ascii=False))
    else:
        click.echo("\n".join(_page(shown)))


def _role(app: App, conn: Connection) -> Role:
    # The member of the operating system's user is an admin, perhaps one that is made only by their first act.
    return members.find(conn, app.acting_as).role if app.acting_as else Role.ADMIN


def _moves(domain: Domain, role: Role) -> list[str]:
    """The commands that would move an axis of this domain, for this role, in the order of the tables."""
    found = [verb for machine, state in verbs.axes(domain) for verb in verbs.moves(domain, machine, state, role)]
    return [f"bailiwick domain {verb.command.format(name=domain.name)}" for verb in found]


def _crawl(conn: Connection, domain: Domain) -> dict[str, JsonValue]:
    """How far the crawl is, at this moment, and what its last run came to."""
    row = conn.execute(select(domain_progress).where(domain_progress.c.domain_id == domain.id)).one_or_none()
    facts: dict[str, JsonValue] = {name: plain(getattr(row, name)) for name in _PROGRESS} if row else {}
    last = next(iter(runs.of_domain(conn, domain.id, limit=1)), None)
    if last is not None:
        facts |= {"last_run": last.run_id, "last_run_job": last.job, "last_run_pages": last.pages_done}
        facts |= {"last_run_stopped": last.stop_reason}
    return facts


def _facts(shown: _Shown) -> Row:
    row = shown.domain.row
    columns: dict[str, JsonValue] = {name: plain(row[name]) for names in _SECTIONS.values() for name in names}
    return {
        "domain": shown.domain.name.name,
        **columns,
        **shown.crawl,
        "refused_by_rule": {**shown.refusals},
        **shown.content.facts(),
        "image_sightings": shown.images.sightings,
        "images_kept": shown.images.images,
        "images_by_outcome": {**shown.images.outcomes},
        "version": shown.domain.version,
        "may_crawl": shown.why.may_crawl,
        "rule": shown.why.rule,
        "says": shown.why.says,
        "change": shown.why.change,
        "moves": [*shown.moves],
        "events": [_event(event) for event in shown.events],
    }


def _event(event: Event) -> dict[str, JsonValue]:
    return {
        "id": event.id,
        "at": stamp(event.at),
        "who": event.actor,
        "did": event.verb,
        "machine": event.machine,
        "before": event.before,
        "after": event.after,
        "reason": event.reason,
    }


def _page(shown: _Shown) -> Iterator[str]:
    why = shown.why
    yield click.style(shown.domain.name.name, bold=True)
    yield from (f"warning: {printable(warning)}" for warning in shown.domain.name.warnings)
    yield f"crawled now: {'yes' if why.may_crawl else 'no'} ({why.rule}): {printable(why.says)}"
    for title, names in _SECTIONS.items():
        yield from _section(title, [(name, plain(shown.domain.row[name])) for name in names])
    yield from _section("Crawl", shown.crawl.items())
    yield from _section("Pages and links refused, by rule", [(name, f"{n:,}") for name, n in shown.refusals.items()])
    yield from _section("Content", _content(shown.content))
    yield from _section("Images", _images(shown.images))
    yield from _list("Near duplicates", _clusters(shown.content.duplicates))
    yield from _list("You can", shown.moves)
    yield from _list("Last events", [_event_line(event) for event in shown.events])


def _content(content: ContentSummary) -> Iterator[tuple[str, JsonValue]]:
    parsed = content.outcomes.get("parsed", 0)
    if not content.outcomes:
        return
    yield "pages_parsed", f"{parsed:,}, {content.relevant:,} relevant"
    for outcome, count in content.outcomes.items():
        if outcome != "parsed":
            yield outcome, f"{count:,} (bailiwick url list --unread)"
    for kind, count in content.items.items():
        yield f"items_{kind}", f"{count:,}"


def _images(images: ImageCounts) -> Iterator[tuple[str, JsonValue]]:
    if images.sightings:
        yield "sightings", f"{images.sightings:,}"
    if images.images:
        yield "images_kept", f"{images.images:,} (bailiwick image list --domain D)"
    for outcome, count in images.outcomes.items():
        yield outcome, f"{count:,} addresses"


def _clusters(duplicates: Duplicates) -> list[str]:
    shown = [
        f"{cluster.pages:,} pages hold nearly the same: " + ", ".join([*map(printable, cluster.examples)])
        + (", …" if cluster.pages > len(cluster.examples) else "")
        for cluster in duplicates.clusters[:5]
    ]  # fmt: skip
    more = len(duplicates.clusters) - len(shown)
    return shown + ([f"… and {more:,} more groups"] if more > 0 else [])


def _section(title: str, facts: Iterable[tuple[str, JsonValue]]) -> Iterator[str]:
    said = [
        (name.removesuffix("_at"), value, name) for name, value in facts if value is not None and value is not False
    ]
    width = max((len(label) for label, _, _ in said), default=0)
    lines = [
        f"{label.replace('_', ' ').ljust(width)}  {printable(str(_for_people(name, value)))}"
        for label, value, name in said
    ]
    yield from _list(title, lines)


def _for_people(name: str, value: JsonValue) -> JsonValue:
    is_time = name.endswith("_at") or name in ("next_crawl_after", "retry_after")
    return f"{minutes(value)} UTC" if is_time else "yes" if value is True else value


def _list(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield click.style(title, bold=True)
        yield from (f"  {line}" for line in lines)


def _event_line(event: Event) -> str:
    change = f"  {event.before or ''} → {event.after}" if event.after is not None else ""
    why = f"  ({event.reason})" if event.reason else ""
    return printable(f"{stamp(event.at)}  {event.actor}  {event.verb}{change}{why}")
