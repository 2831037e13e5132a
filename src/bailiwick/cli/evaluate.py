"""`bailiwick evaluate`: URLs in; three layers of evidence, a confidence and what follows from it out."""

import asyncio
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from bailiwick.base.errors import NameRefusedError, UsageError
from bailiwick.cli.context import Session, json_option, pass_session, profile_option, text
from bailiwick.cli.evaluation_rows import print_dry, print_outcome, print_summary
from bailiwick.cli.progress import progress
from bailiwick.model.urls import PageUrl, UrlRules

if TYPE_CHECKING:
    from bailiwick.net.guard import Resolve
    from bailiwick.pipeline.evaluation_run import Run
    from bailiwick.score.jobs import EvaluationJob

_BATCH = 1000
_SHOWN_LINES = 200
_TOLD_MISTAKES = 5
_MOST_JOBS = 1000
_INTERRUPTED = 130


@click.command()
@click.argument("sources", metavar="[URL…|FILE|-]", nargs=-1)
@profile_option
@click.option("--name", type=text, help="What to call the job. Default: its first URL or file.")
@click.option("--dry-run", is_flag=True, help="Evaluate and show, and store no result.")
@click.option("--queue-only", is_flag=True, help="Make the job and leave it to others: bailiwick evaluate works on it.")
@click.option(
    "--no-crawl", is_flag=True, help="Do not crawl pages of approved domains here: whoever crawls brings them."
)
@click.option(
    "--resolve", "resolves", multiple=True, metavar="H:P:A", help="Host H, port P is at address A, as in curl."
)
@json_option
@pass_session
def evaluate(  # noqa: PLR0913 - one option each
    session: Session,
    *,
    sources: tuple[str, ...],
    profile: str,
    name: str | None,
    dry_run: bool,
    queue_only: bool,
    no_crawl: bool,
    resolves: tuple[str, ...],
    as_json: bool,
) -> int:
    """Evaluate URLs: three layers of evidence, one confidence, and the band that decides what follows.

    \b
    bailiwick evaluate https://example.org/write-for-us --profile link-vetting
    bailiwick evaluate urls.txt --json
    bailiwick evaluate https://example.org/ --dry-run

    A page that was crawled is taken from there; a page of an approved domain is crawled first of all; of any other
    domain at most ten polite requests are sent, and none to one that was rejected. High confidence approves, low
    rejects, the rest waits for a person: bailiwick review list.

    The URLs are a job: bailiwick job pause|resume|cancel|delete. The same command goes on with one that was
    interrupted; without URLs, all unfinished jobs are worked on.
    """
    from bailiwick.net.guard import Resolve

    ways = tuple(Resolve.parse(one) for one in resolves)
    app = session.app.create()
    app.say_what_is_missing()
    if dry_run:
        if not sources:
            raise UsageError("there is no URL", hint="bailiwick evaluate https://example.org/ --dry-run")
        return print_dry(session, _pages(session, sources), profile, ways, as_json=as_json)
    found = [_job(session, sources, profile, name)] if sources else _unfinished(session)
    if queue_only:
        for one in found:
            click.echo(f"job {one.id} ({one.name}) waits: bailiwick evaluate works on it")
        return 0
    return max((_work(session, one, ways, crawls=not no_crawl, as_json=as_json) for one in found), default=0)


def _unfinished(session: Session) -> "list[EvaluationJob]":
    from bailiwick.score import jobs

    with session.app.database.read() as conn:
        found = jobs.unfinished(conn, limit=_MOST_JOBS)
    if not found:
        click.echo("nothing is to be evaluated", err=True)
    return found


# Which URLs


@dataclass
class _Given:
    """The lines of what was given, which can be read twice; what is no URL is told once."""

    session: Session
    rules: UrlRules
    spooled: Path | None = None
    mistakes: list[str] = field(default_factory=list)
    wrong: int = 0

    def pages(self, sources: Iterable[str]) -> Iterator[tuple[PageUrl, str]]:
        self.wrong, self.mistakes = 0, []
        for source in sources:
            if source == "-" and self.spooled is not None:
                yield from self._of_file(self.spooled, "standard input")
            elif source.startswith(("http://", "https://")):
                yield PageUrl.parse(source, rules=self.rules), source
            elif Path(source).is_file():
                yield from self._of_file(Path(source), source)
            else:
                yield self._typed(source)

    def _typed(self, source: str) -> tuple[PageUrl, str]:
        try:
            page = PageUrl.parse(source, rules=self.rules)
        except NameRefusedError as error:
            raise UsageError(
                f"{source} is neither a URL nor a file: {error.message}", hint="bailiwick evaluate https://example.org/"
            ) from None
        return page, f"https://{page}"

    def _of_file(self, path: Path, called: str) -> Iterator[tuple[PageUrl, str]]:
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                yield from self._of_lines(file, called)
        except OSError as error:
            raise UsageError(f"cannot read {called}: {error.strerror}") from error

    def _of_lines(self, lines: TextIO, called: str) -> Iterator[tuple[PageUrl, str]]:
        for number, line in enumerate(lines, 1):
            given = line.strip()
            if not given or given.startswith("#"):
                continue
            try:
                page = PageUrl.parse(given, rules=self.rules)
            except NameRefusedError as error:
                self.wrong += 1
                if len(self.mistakes) < _TOLD_MISTAKES:
                    self.mistakes.append(f"{called}, line {number}: {error.message}")
                continue
            yield page, given if "://" in given else f"https://{page}"


@contextmanager
def _given(session: Session, sources: tuple[str, ...]) -> Iterator[_Given]:
    rules = UrlRules(allow_private=session.app.settings.names.allow_private)
    if "-" not in sources:
        yield _Given(session, rules)
        return
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".txt") as spool:
        for line in sys.stdin:
            spool.write(line)
        spool.flush()
        yield _Given(session, rules, Path(spool.name))


def _pages(session: Session, sources: tuple[str, ...]) -> list[tuple[PageUrl, str]]:
    with _given(session, sources) as given:
        found = list(given.pages(sources))
        _tell_mistakes(given)
    return found


def _tell_mistakes(given: _Given) -> None:
    for mistake in given.mistakes:
        click.echo(f"left out: {mistake}", err=True)
    if given.wrong > len(given.mistakes):
        click.echo(f"left out: {given.wrong - len(given.mistakes):,} more lines that are no URLs", err=True)


def _job(session: Session, sources: tuple[str, ...], profile: str, name: str | None) -> "EvaluationJob":
    """The job of these URLs: the one that was interrupted, or a new one."""
    from bailiwick.model.profile_files import load_profile
    from bailiwick.score import jobs

    app = session.app
    load_profile(profile, app.place.profiles)
    with _given(session, sources) as given:
        mark = jobs.OrderMark(profile)
        for page, _ in given.pages(sources):
            mark.add(str(page))
        if not mark.urls:
            _tell_mistakes(given)
            raise UsageError("there is no URL", hint="one URL a line; lines that start with # are left out")
        with app.database.begin() as conn:
            actor = app.actor(conn)
            known = jobs.open_job(conn, str(mark))
            job = known or jobs.create(conn, name or _called(sources, mark.urls), profile, str(mark), actor)
        if known is not None:
            session.say(f"going on with job {known.id} ({known.name})")
        if not job.is_filled:
            with progress("taking in URLs", total=mark.urls) as advance:
                done, pages = 0, given.pages(sources)
                while batch := list(islice(pages, _BATCH)):
                    with app.database.begin() as conn:
                        jobs.add_urls(conn, job, batch, actor)
                    advance(done := done + len(batch))
            with app.database.begin() as conn:
                jobs.filled(conn, job)
        _tell_mistakes(given)
    return job


def _called(sources: tuple[str, ...], urls: int) -> str:
    first = "standard input" if sources[0] == "-" else sources[0]
    return f"evaluate {first}" + (f" and {urls - 1:,} more" if urls > 1 and len(sources) > 1 else "")


# At work


def _work(session: Session, job: "EvaluationJob", ways: "tuple[Resolve, ...]", *, crawls: bool, as_json: bool) -> int:
    from bailiwick.pipeline.evaluation_run import Watch, run_job
    from bailiwick.score import jobs

    app, interrupted = session.app, False
    with app.database.read() as conn:
        total = jobs.counts(conn, job.id).total
    if job.state == "paused":
        click.echo(f"job {job.id} is paused: bailiwick job resume {job.id}", err=True)
        return 0

    async def listen(run: "Run") -> None:
        def stop() -> None:
            nonlocal interrupted
            interrupted = True
            session.say("stopping: finishing what is under way (the same command goes on)")
            run.stop()

        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)

    with ExitStack() as stack:
        advance = stack.enter_context(progress("evaluating", total=total))
        watch = Watch(counted=lambda counts: advance(counts.total - counts.waiting))
        if as_json or total <= _SHOWN_LINES:
            watch.saw = lambda url, outcome: print_outcome(app, url, outcome, as_json=as_json)
        is_finished = run_job(app, job, watch, resolves=ways, crawls=crawls, listen=listen)
    if not as_json:
        print_summary(session, job, is_finished=is_finished)
    return _INTERRUPTED if interrupted else 0
