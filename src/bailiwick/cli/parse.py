"""`bailiwick parse`: read the content of what was fetched, and read it again."""

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING

import click

from bailiwick.base.errors import UsageError
from bailiwick.cli.context import Session, json_option, pass_session
from bailiwick.cli.progress import progress
from bailiwick.model.items import ItemKind

if TYPE_CHECKING:
    from bailiwick.app import App
    from bailiwick.extract.queue import Again, Requeued
    from bailiwick.extract.stage import ParseProgress, ParseStage

_FRAME_SECONDS = 0.25
_INTERRUPTED = 130
KINDS = ("all", *sorted(kind.value for kind in ItemKind))


@click.command()
@click.option(
    "--reparse",
    "kind",
    type=click.Choice(KINDS),
    metavar="KIND",
    help="Read stored bodies again, without fetching, where the program or the profile has changed since: of profiles "
    "that want this kind of item, or all.",
)
@click.option("--force", is_flag=True, help="With --reparse: also what would come out the same.")
@click.option("--domain", "domains", multiple=True, metavar="D", help="With --reparse: only of this domain.")
@click.option("--daemon", is_flag=True, help="Do not end: wait for more pages.")
@click.option("--no-index", is_flag=True, help="Leave the search index to the next search.")
@json_option
@pass_session
def parse(
    session: Session,
    *,
    kind: str | None,
    force: bool,
    domains: tuple[str, ...],
    daemon: bool,
    no_index: bool,
    as_json: bool,
) -> int:
    """Parse pages that were fetched: content, relevance, markdown and items.

    `bailiwick crawl` does it beside the crawl; this does what is left, or all again with --reparse. Stop it at any
    moment: the same command goes on where it was. A page over which a parser dies or that takes too long is recorded
    (bailiwick url list --unread), and the others go on.

    \b
    bailiwick parse                        what waits
    bailiwick parse --reparse all          again, where the program or the profile has changed
    bailiwick parse --reparse article --force --domain example.org
    """
    if kind is None and (force or domains):
        raise UsageError("--force and --domain go with --reparse", hint="bailiwick parse --reparse all --force")
    app = session.app
    app.patiently(lambda: app.settings)
    if kind is not None:
        _queue_again(app, kind, force=force, names=domains, session=session)
    return _run(app, stays=daemon, no_index=no_index, as_json=as_json)


def _queue_again(app: "App", kind: str, *, force: bool, names: tuple[str, ...], session: Session) -> None:
    from bailiwick.cli.acting import find_named
    from bailiwick.extract.queue import Again, Requeued
    from bailiwick.extract.version import EXTRACTOR_VERSION

    with app.database.read() as conn:
        ids = [find_named(conn, name, app).id for name in names] if names else None
    wanting = [name for name, profile in app.profiles().items() if kind in profile.extractors]
    profiles = None if kind == "all" else wanting
    again = Again(EXTRACTOR_VERSION, app.profile_marks(), ids, profiles, force, app.site_parsers.marks)
    so_far = Requeued()
    with progress("looking for pages", total=None) as advance:
        while not so_far.is_over:
            so_far = app.patiently(partial(_next, app, again, so_far))
            advance(so_far.seen)
    session.say(f"{so_far.added:,} of {so_far.seen:,} stored pages are to be parsed again")


def _next(app: "App", again: "Again", so_far: "Requeued") -> "Requeued":
    from bailiwick.extract.queue import requeue

    with app.database.begin() as conn:
        return requeue(conn, again, so_far)


def _run(app: "App", *, stays: bool, no_index: bool, as_json: bool) -> int:
    from bailiwick.extract.queue import backlog
    from bailiwick.pipeline.indexing import index_all
    from bailiwick.pipeline.parsing import ParseOrder
    from bailiwick.pipeline.parsing import parse as run

    with app.database.read() as conn:
        waiting = backlog(conn)
    app.say_what_is_missing()
    with progress("parsing", total=waiting or None) as advance:

        async def watch(stage: "ParseStage") -> None:
            while True:
                advance(stage.progress.pages)
                await asyncio.sleep(_FRAME_SECONDS)

        done, interrupted = run(app, ParseOrder(stays=stays), watch)
    if not interrupted and not no_index:
        with progress("indexing for search", total=done.pages or None) as advance:
            index_all(app, advance)
    click.echo(json.dumps(facts(done)) if as_json else sentence(done))
    return _INTERRUPTED if interrupted and not stays else 0


def facts(done: "ParseProgress") -> dict[str, object]:
    """For machines."""
    return {
        "pages": done.pages,
        "outcomes": {outcome.value: count for outcome, count in done.outcomes.items()},
        "relevant": done.relevant,
        "changed": done.changed,
        "items": done.items,
    }


def sentence(done: "ParseProgress") -> str:
    """For people."""
    if not done.pages:
        return "nothing waits to be parsed"
    new = f"{done.changed:,} with new content, {done.relevant:,} relevant, {done.items:,} items"
    text = f"{done.pages:,} pages parsed: {new}"
    unread = done.unread
    return f"{text}; {unread:,} could not be read (bailiwick url list --unread)" if unread else text
