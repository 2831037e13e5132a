"""`bailiwick export`: pages, items, candidates, evaluations and more as files for other programs."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bailiwick.base.errors import UsageError
from bailiwick.cli.context import Session, pass_session, text
from bailiwick.cli.progress import progress
from bailiwick.cli.times import moment
from bailiwick.model.items import ItemKind

if TYPE_CHECKING:
    from bailiwick.query.export.service import Exported, Request

_KINDS = ("pages", "items", "images", "products", "candidates", "evaluations", "domains")
_FORMATS = ("jsonl", "csv", "parquet", "warc")
_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".warc": "warc",
    ".gz": "warc",
}


@click.command()
@click.argument("what", type=click.Choice(_KINDS))
@click.option("--format", "format_", type=click.Choice(_FORMATS), help="Default: by the file's name, else jsonl.")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to; - is standard output, for jsonl and csv.")
@click.option("--domain", "domains", type=text, multiple=True, help="Only of this domain, or of these.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice([kind.value for kind in ItemKind]),
    help="Only items of this kind.",
)
@click.option("--status", "statuses", type=text, multiple=True, help="Only candidates or evaluations of this status.")
@click.option("--relevant", is_flag=True, help="Only what is relevant by its profile.")
@click.option(
    "--since",
    metavar="TIME|last",
    help="Only what is new or changed since then; last: since the last export of --name.",
)
@click.option("--name", type=text, metavar="NAME", help="Remember under this name how far the export came.")
@click.option("--force", is_flag=True, help="Replace the file, and begin anew where another export left a part.")
@pass_session
def export(  # noqa: PLR0913 - one option each
    session: Session,
    *,
    what: str,
    format_: str | None,
    output: str,
    force: bool,
    domains: tuple[str, ...],
    kinds: tuple[str, ...],
    statuses: tuple[str, ...],
    relevant: bool,
    since: str | None,
    name: str | None,
) -> None:
    """Write pages, items, candidates, evaluations and more to a file, or to other programs.

    A file appears whole under its name, or not at all. An export that was interrupted goes on where it was when the
    same command is given again. What changes while it runs may be in it or not; --since last brings it the next time.
    """
    from bailiwick.query.export.rows import Which
    from bailiwick.query.export.service import Request

    _check(what, since, name, kinds=kinds, relevant=relevant)
    _check_statuses(what, statuses)
    which = Which(
        domain_ids=_domain_ids(session, domains),
        item_kinds=kinds,
        states=statuses,
        only_relevant=relevant,
        since=moment(since) if since and since != "last" else None,
    )
    request = Request(what, format_ or format_of(output), which, since=since, name=name)
    done = _to_stdout(session, request) if output == "-" else to_path(session, request, Path(output), force=force)
    if done.resumed_at:
        session.say(f"went on after the {done.resumed_at:,} rows of an earlier run")
    if done.missing:
        session.say(f"{done.missing:,} stored bodies are gone or damaged and were left out")
    session.say(f"{done.rows - done.missing:,} {what} exported" + ("" if output == "-" else f" to {output}"))


def _check(what: str, since: str | None, name: str | None, *, kinds: tuple[str, ...], relevant: bool) -> None:
    from bailiwick.query.export.kinds import KINDS

    if kinds and "kind" not in KINDS[what].filters:
        raise UsageError(f"{what} have no --kind", hint="bailiwick export items --kind …")
    if relevant and "relevant" not in KINDS[what].filters:
        raise UsageError(f"{what} have no --relevant", hint="leave it out")
    if since == "last" and name is None:
        raise UsageError("since the last export of which name?", hint="--since last --name NAME")


def _check_statuses(what: str, statuses: tuple[str, ...]) -> None:
    from bailiwick.query.export.kinds import KINDS

    known = KINDS[what].statuses
    if statuses and not known:
        raise UsageError(f"{what} have no --status", hint="bailiwick export candidates --status approved")
    if unknown := [one for one in statuses if one not in known]:
        raise UsageError(f"there are no {what} of the status {unknown[0]!r}", hint=f"there are {', '.join(known)}")


def _to_stdout(session: Session, request: "Request") -> "Exported":
    from bailiwick.query.export.service import encoder_for, to_stream

    if request.format not in ("jsonl", "csv"):
        raise UsageError(f"{request.format} goes to a file", hint="-o FILE")
    encoder = encoder_for(request, lambda: session.app.body_store)
    return to_stream(session.app.database, request, sys.stdout.buffer, encoder)


def to_path(session: Session, request: "Request", path: Path, *, force: bool) -> "Exported":
    """Into a file, with a progress bar."""
    from bailiwick.query.export.service import encoder_for, to_file

    if path.is_dir():
        raise UsageError(f"{path} is a directory", hint=f"-o {path / f'{request.kind}.{request.format}'}")
    database = session.app.database
    encoder = encoder_for(request, lambda: session.app.body_store)
    with progress(f"exporting {request.kind}", total=_about_how_many(session, request)) as advance:
        return to_file(database, request, path, encoder, force=force, advance=advance)


def _about_how_many(session: Session, request: "Request") -> int | None:
    """For the bar only."""
    from bailiwick.query.export.rows import about_how_many

    if request.which.domain_ids:
        return None
    with session.app.database.read() as conn:
        return about_how_many(conn, request.source)


def _domain_ids(session: Session, names: tuple[str, ...]) -> tuple[int, ...]:
    from bailiwick.cli.acting import find_named

    if not names:
        return ()
    with session.app.database.read() as conn:
        return tuple(find_named(conn, name, session.app).id for name in names)


def format_of(output: str) -> str:
    """By the file's name."""
    return _SUFFIXES.get(Path(output).suffix.lower(), "jsonl")
