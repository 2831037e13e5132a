"""`bailiwick domain import`: lists of domains, in batches that each commit. What names no domain goes to a file."""

import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import click

from bailiwick.app import App
from bailiwick.base.errors import UsageError
from bailiwick.cli.acting import warn
from bailiwick.cli.context import Session, pass_session, profile_option, text
from bailiwick.cli.progress import Advance, progress
from bailiwick.ledger.events import Actor
from bailiwick.registry.imports import Import, add_all, record_import
from bailiwick.registry.seeds import Reject, Seed, read_seeds

_LONGEST_READ = 20_001
"""More than `read_seeds` takes of a line, so that it refuses it; a file without line ends does not fill the memory."""
_LINES_A_STEP = 1_000
_WARNINGS = 10
_STDIN = Path("-")


@click.command("import")
@click.argument("files", metavar="FILE…|-", nargs=-1, required=True, type=click.Path(allow_dash=True, path_type=Path))
@click.option("--approve", is_flag=True, help="Without review: an admin's own seeds.")
@click.option("--source", type=text, help="Where the list is from. Default: the file's name and date.")
@profile_option
@pass_session
def import_(session: Session, *, files: tuple[Path, ...], approve: bool, source: str | None, profile: str) -> None:
    """Import domains from files, or from standard input (-). Known domains stay as they are.

    A file has one domain or URL a line (# begins a comment), or is a Tranco list (rank,domain) or a Majestic one (a
    header with GlobalRank and Domain). Lines that name no domain go into FILE.rejects.tsv, with the reason. A name
    that comes twice is known the second time. Doing it again is safe.
    """
    for file in files:
        if file != _STDIN and (not file.exists() or file.is_dir()):
            raise UsageError(f"there is no file {file}")
    app = session.app.create()
    for file in files:
        incoming = _Incoming(app, Import(source or _source(file), approve=approve, profile=profile), file)
        incoming.run()
        incoming.report()


class _Incoming:
    """One list on its way in, and what has come of it so far."""

    def __init__(self, app: App, how: Import, file: Path) -> None:
        self._app, self._how, self._file = app, how, file
        self._added = self._known = self._rejected = self._warned = 0
        self._first_warnings: list[str] = []
        self._rejects: TextIO | None = None

    def run(self) -> None:
        """Take in the whole list. If it is broken off, the batches before stay, and the trail has them too."""
        app, complete = self._app, False
        with app.database.begin() as conn:
            actor = app.actor(conn)
        try:
            with _opened(self._file) as stream, progress(self._how.source, total=_size(self._file)) as advance:
                seeds = self._seeds(_lines(stream, advance))
                for batch in add_all(app.database.begin_patiently, seeds, self._how, actor, app.settings.priority):
                    self._added += batch.added
                    self._known += batch.known
            complete = True
        finally:
            if self._rejects:
                self._rejects.close()
            if complete or self._added:
                self._record(actor)

    def report(self) -> None:
        warn(self._first_warnings)
        if self._warned > len(self._first_warnings):
            warn([f"{self._warned - len(self._first_warnings):,} more names like these"])
        counts = f"{self._added:,} added, {self._known:,} known, {self._rejected:,} rejected"
        click.echo(f"{self._how.source}: {counts}")
        if self._rejects:
            click.echo(f"rejected lines are in {self._rejects.name}", err=True)

    def _seeds(self, lines: Iterable[str]) -> Iterator[Seed]:
        names = self._app.settings.names
        for seed in read_seeds(lines, allow_private=names.allow_private, collapse_subdomains=names.collapse_subdomains):
            if isinstance(seed, Reject):
                self._reject(seed)
                continue
            if "xn--" in seed.name.name and (warnings := seed.name.warnings):
                self._warned += len(warnings)
                self._first_warnings += warnings[: _WARNINGS - len(self._first_warnings)]
            yield seed

    def _reject(self, reject: Reject) -> None:
        if self._rejects is None:
            self._rejects = _writable(self._file)
            self._rejects.write("line\twhy\ttext\n")
        self._rejected += 1
        self._rejects.write(f"{reject.line_number}\t{_escaped(reject.why)}\t{_escaped(reject.text)}\n")

    def _record(self, actor: Actor) -> None:
        counts = {"added": self._added, "known": self._known, "rejected": self._rejected}
        with self._app.database.begin() as conn:
            record_import(conn, self._how, actor, **counts)


def _source(file: Path) -> str:
    """The list's name and date: which edition of it this was."""
    if file == _STDIN:
        return f"stdin {datetime.now(UTC):%Y-%m-%d}"
    changed = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    return f"{_escaped(file.name)} {changed:%Y-%m-%d}"


def _opened(file: Path) -> TextIO:
    """As text, whatever it holds: what is not UTF-8 becomes a character that no name has."""
    source, close = (sys.stdin.fileno(), False) if file == _STDIN else (file, True)
    try:
        return open(source, encoding="utf-8-sig", errors="replace", closefd=close)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error


def _size(file: Path) -> int | None:
    return file.stat().st_size if file != _STDIN and file.is_file() else None


def _lines(stream: TextIO, advance: Advance) -> Iterator[str]:
    """The lines, each as far as it can matter; the rest of a longer one is passed over."""
    seekable = stream.seekable()
    for number in range(sys.maxsize):
        line = stream.readline(_LONGEST_READ)
        if not line:
            return
        yield line
        while len(line) == _LONGEST_READ and not line.endswith("\n"):
            line = stream.readline(_LONGEST_READ)
        if seekable and number % _LINES_A_STEP == 0:
            advance(stream.buffer.tell())


def _writable(file: Path) -> TextIO:
    """The file for rejects: beside the list; here if the list is no file or that place is not ours to write."""
    name = f"{'stdin' if file == _STDIN else file.name}.rejects.tsv"
    places = [file.with_name(name), Path(name)] if file.is_file() else [Path(name)]
    for place in places:
        try:
            return place.open("w", encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            why = error.strerror
    raise UsageError(f"cannot write {name}: {why}", hint="rejected lines go there")


def _escaped(text: str) -> str:
    """One cell of a line: no tab, line end or other control character."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
