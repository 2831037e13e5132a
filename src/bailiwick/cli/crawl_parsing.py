"""How a crawl keeps step with the parsing beside it: it fetches no more than can be parsed, and waits for the rest."""

import time

import click

from bailiwick.app import App
from bailiwick.cli.progress import progress
from bailiwick.extract.queue import backlog
from bailiwick.pipeline.tally import Tally

_LOOK_SECONDS = 0.25
_STALLED_SECONDS = 120.0


class Parsing:
    """The parse process of this command, as seen from the crawl."""

    def __init__(self, app: App, tally: Tally, jobs: list[int] | None) -> None:
        self._app, self.tally, self._jobs = app, tally, jobs
        self._most = app.settings.parse.max_backlog
        self.waiting = 0
        """Pages that waited to be parsed when somebody looked last."""
        tally.order(jobs)
        app.say_what_is_missing()

    def is_too_much(self) -> bool:
        """Whether so many pages wait to be parsed that no more are to be fetched."""
        return self.look() >= self._most

    def look(self) -> int:
        """Counted no further than the crawl fetches ahead."""
        with self._app.database.read() as conn:
            self.waiting = backlog(conn, self._jobs, most=self._most)
        return self.waiting


def finish(parsing: Parsing, *, quiet: bool) -> bool:
    """Wait until everything that was fetched is parsed. False: somebody said stop.

    If nothing moves for two minutes it is left to `bailiwick parse`.
    """
    done, moved_at = parsing.tally.pages, time.monotonic()
    total = parsing.look() + done
    try:
        with progress("parsing", total=total) as advance:
            while parsing.look():
                if parsing.tally.pages != done:
                    done, moved_at = parsing.tally.pages, time.monotonic()
                    advance(done)
                elif time.monotonic() - moved_at > _STALLED_SECONDS:
                    click.echo(f"{parsing.waiting:,} pages still wait to be parsed: bailiwick parse", err=True)
                    return True
                time.sleep(_LOOK_SECONDS)
        time.sleep(_LOOK_SECONDS)  # the last pages are counted a moment after they are written
    except KeyboardInterrupt:
        if not quiet:
            click.echo(f"{parsing.waiting:,} pages wait to be parsed: bailiwick parse", err=True)
        return False
    return True
