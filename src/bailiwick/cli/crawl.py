"""`bailiwick crawl`: fetch what is wanted, watch it, stop it, go on."""

import gc
import os
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING

import click

from bailiwick.base.errors import UsageError
from bailiwick.cli.context import Session, json_option, pass_session, profile_option
from bailiwick.cli.crawl_options import limited

if TYPE_CHECKING:
    from bailiwick.crawl.jobs import JobOptions


@click.command()
@click.argument("seeds", metavar="[SEED…]", nargs=-1)
@limited
@click.option(
    "--time", "time_seconds", type=click.FloatRange(min=0.1), metavar="S", help="Seconds for the whole command."
)
@profile_option
@click.option(
    "--resolve", "resolves", multiple=True, metavar="H:P:A", help="Host H, port P is at address A, as in curl."
)
@click.option("--user-agent", metavar="UA", help="Who to say we are, instead of Bailiwick and crawl.contact.")
@click.option("--no-parse", is_flag=True, help="Only fetch and store; bailiwick parse reads the content later.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="At the end, write the pages of these domains to FILE (.jsonl, .csv, .parquet, .warc.gz).",
)
@click.option("--dry-run", "is_dry", is_flag=True, help="Only say what would be crawled, and what not and why.")
@click.option("--daemon", is_flag=True, help="Do not end: wait for what becomes due.")
@click.option("--exit-code", is_flag=True, help="End with 3 if there was nothing to do, with 4 if a limit was reached.")
@json_option
@click.pass_context
@pass_session
def crawl(  # noqa: PLR0913 - one for each option
    session: Session,
    ctx: click.Context,
    *,
    seeds: tuple[str, ...],
    options: "Callable[[], JobOptions]",
    time_seconds: float | None,
    profile: str,
    resolves: tuple[str, ...],
    user_agent: str | None,
    no_parse: bool,
    output: str | None,
    is_dry: bool,
    daemon: bool,
    exit_code: bool,
    as_json: bool,
) -> int:
    """Crawl domains: fetch their pages politely, store them, follow their links, read their content.

    SEEDS are domains, URLs, or files of them (- is standard input). What you type is admitted: it needs no review.
    Without seeds, whatever is due is crawled. Stop it at any moment (Ctrl-C); the same command goes on where it was.

    \b
    bailiwick crawl example.org                     1,000 pages, 3 links deep, 2 seconds between requests
    bailiwick crawl seeds.txt --max-pages 0 --depth all
    bailiwick crawl https://example.org/docs/ --depth 1 --delay 5
    bailiwick crawl example.org --include /docs/ --exclude "**/print"
    bailiwick crawl                                 go on with what is due
    """
    from bailiwick.net.guard import Resolve

    addresses = tuple(Resolve.parse(text) for text in resolves)
    _check(user_agent, time_seconds)
    _check_output(output, seeds)
    parent, tally = None, None
    if not is_dry:
        from bailiwick.pipeline.supervisor import supervise
        from bailiwick.pipeline.tally import Tally

        tally = None if no_parse else Tally()
        parent = os.getpid()  # asked for afterwards, it would be another's if the parent is gone already
        part = supervise(lambda text: click.echo(text, err=True), "crawl", *(() if no_parse else ("parse",)))
        if isinstance(part, int):
            return part
        if part == "parse" and tally is not None:
            from bailiwick.pipeline.parsing import parse_beside

            return parse_beside(session.app.create(), tally, parent=parent)
    # Only the child needs what is heavy: the parent stays small. What is loaded now stays, nobody looks through it.
    gc.disable()
    from bailiwick.cli.crawl_run import Asked, run

    gc.freeze()
    gc.enable()

    asked = Asked(
        seeds, options(), profile, addresses, user_agent, time_seconds,
        is_dry=is_dry, stays=daemon, quiet=bool(ctx.find_root().params["quiet"]), as_json=as_json, exit_code=exit_code,
        tally=tally, output=output,
    )  # fmt: skip
    return run(session, asked, parent)


def _check(user_agent: str | None, time_seconds: float | None) -> None:
    if user_agent is not None and not (user_agent.strip() and user_agent.isprintable() and user_agent.isascii()):
        raise UsageError("--user-agent is one line of printable ASCII", hint="Bailiwick (+you@example.org)")
    if time_seconds is not None and not isfinite(time_seconds):
        raise UsageError("--time is a number of seconds")


def _check_output(output: str | None, seeds: tuple[str, ...]) -> None:
    if output is None:
        return
    if not seeds:
        raise UsageError("-o is for seeds", hint=f"bailiwick export pages -o {output} writes all pages")
    if os.path.exists(output):  # noqa: PTH110 - the parent stays small
        raise UsageError(f"{output} is there already", hint="name another file, or move it away")
