"""`bailiwick`: the table of contents, and how every command ends.

Nothing heavy is imported here: a command's module is loaded when it is used, so that `--help` is quick.
"""

import gc
import os
import signal
import sys
from importlib import import_module
from typing import NoReturn

import click

from bailiwick import __version__
from bailiwick.base.errors import BailiwickError
from bailiwick.cli.context import Session

_COLLECT_AFTER = 100_000

# name -> (module:command, one line). The lines are compared with the commands' own help by a test.
COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "Discover": {
        "discover": (
            "discover:discover",
            "Find new domains: ask search engines, and judge what they bring before a page is fetched.",
        ),
        "judge": ("judge:judge", "Judge search results from a file: confidence, and each judge's score and reason."),
        "candidate": (
            "candidate:candidate",
            "See what discovery found, why it was judged as it was, and decide about it.",
        ),
    },
    "Review": {
        "evaluate": (
            "evaluate:evaluate",
            "Evaluate URLs: three layers of evidence, one confidence, and the band that decides what follows.",
        ),
        "review": ("review:review", "Decide about evaluated URLs that wait for a person: the review queue."),
        "learn": ("learn:learn", "Learn from people's decisions, so that fewer are needed: train, compare, switch on."),
    },
    "Crawl": {
        "crawl": (
            "crawl:crawl",
            "Crawl domains: fetch their pages politely, store them, follow their links, read their content.",
        ),
        "job": ("job:job", "Create, watch, pause, resume, cancel and delete jobs."),
        "run": ("run:run", "See runs of jobs, and why each domain stopped."),
    },
    "Content": {
        "extract": (
            "extract:extract",
            "Show everything that one page gives: content, markdown, relevance with its reason, items.",
        ),
        "parse": ("parse:parse", "Parse pages that were fetched: content, relevance, markdown and items."),
        "changes": ("changes:changes", "Show which pages hold something else than before, and what."),
        "image": ("image:image", "See the images of pages: which are kept, where they are seen, which look alike."),
        "search": ("search:search", "Find pages and items by their words."),
        "item": ("item:item", "See items: products, services, contacts and whatever else pages describe."),
        "contact": ("contact:contact", "List contacts that pages give, and forget personal data."),
        "export": (
            "export:export",
            "Write pages, items, candidates, evaluations and more to a file, or to other programs.",
        ),
    },
    "Domains": {
        "domain": ("domain:domain", "Submit, decide on, list and look after domains."),
        "url": ("url:url", "Hand in single pages to be crawled, and list those that deserve a look."),
        "explain": (
            "explain:explain",
            "Say which rule decides whether a domain is crawled now, and what would change it.",
        ),
        "lease": ("lease:lease", "See who crawls which domains, and end leases."),
    },
    "Look": {
        "serve": ("serve:serve", "Serve the web interface, and crawl and parse what is approved and due."),
        "status": ("status:status", "Show what is going on, on one screen."),
        "events": ("events:events", "Show the audit trail: who did what, when and why."),
        "doctor": ("doctor:doctor", "Check that everything Bailiwick needs is in order."),
    },
    "Set up": {
        "member": ("member:member", "Invite, list and disable the people who may log in."),
        "notify": (
            "notify:notify",
            "See and send what people are told: of decisions, and when many URLs wait for review.",
        ),
        "settings": ("settings:settings", "Show and change settings."),
        "parser": ("parser:parser", "See and try site parsers: page objects of your own for single sites."),
        "profile": ("profile:profile", "See and check profiles: what one use of Bailiwick looks for."),
        "db": ("db:db", "Look after the database."),
        "storage": ("storage:storage", "Look after stored bodies and images, and the room they take."),
        "completion": ("completion:completion", "Print the script that completes commands and options in your shell."),
    },
    "Learn": {
        "demo": ("demo:demo", "Take a guided tour in a directory of its own."),
    },
}


class ReaderGone(Exception):  # noqa: N818 - no error: `bailiwick events | head` has seen enough
    """Nobody reads our output any more."""


class Contents(click.Group):
    """A group whose commands are loaded on use and listed by topic."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return [name for topic in COMMANDS.values() for name in topic]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        for topic in COMMANDS.values():
            if cmd_name in topic:
                module, _, attribute = topic[cmd_name][0].partition(":")
                command: click.Command = getattr(import_module(f"bailiwick.cli.{module}"), attribute)
                return command
        return None

    def invoke(self, ctx: click.Context) -> object:
        """Run the command. Before click does: it would end the program with 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ReaderGone from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for topic, commands in COMMANDS.items():
            with formatter.section(topic):
                formatter.write_dl([(name, line) for name, (_, line) in commands.items()])


EPILOG = """\b
Exit codes: 0 a normal end, 1 error, 2 wrong usage, 5 a server is missing, 130 interrupted.
Data lives in .bailiwick/, looked for from here upward; bailiwick.toml beside it holds settings."""


@click.group(
    cls=Contents,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option(
    "--home", type=click.Path(file_okay=False), envvar="BAILIWICK_HOME", help="Use the project in this directory."
)
@click.option("--as", "acting_as", metavar="NAME", envvar="BAILIWICK_AS", help="Act as this member instead of you.")
@click.option("-v", "--verbose", count=True, help="Log more to stderr; twice for everything.")
@click.option("-q", "--quiet", is_flag=True, help="No progress messages on stderr.")
@click.version_option(__version__, prog_name="bailiwick")
@click.pass_context
def cli(ctx: click.Context, *, home: str | None, acting_as: str | None, verbose: int, quiet: bool) -> None:
    """Find, judge, approve and crawl web domains, and keep what they hold fresh.

    Each domain is a governed, resumable thing. Everything runs on a real PostgreSQL that needs no set-up.
    """
    ctx.obj = Session(home=home, acting_as=acting_as, verbosity=verbose, quiet=quiet)
    ctx.call_on_close(ctx.obj.close)


_interrupted: list[int] = []


def run() -> NoReturn:
    """The program's entry point: run the command, then end with the promised exit code."""
    # Loading a command makes objects by the hundred thousand, and none of them is garbage: looking for it costs a sixth
    # of a command's start. Whatever runs for hours sets its own limit (`pipeline.process`).
    gc.set_threshold(_COLLECT_AFTER, 10, 10)
    signal.signal(signal.SIGINT, _interrupt)
    sys.exit(main(sys.argv[1:]))


def _interrupt(number: int, _frame: object) -> NoReturn:
    # Remembered, because a library that is cleaning up may turn the exception into another one.
    _interrupted.append(number)
    raise KeyboardInterrupt


def main(arguments: list[str]) -> int:
    """Run one command; the exit code tells how it ended. Users never see a stack trace unless they ask (-v)."""
    try:
        outcome = cli.main(arguments, prog_name="bailiwick", standalone_mode=False)
        sys.stdout.flush()
    except (BrokenPipeError, ReaderGone):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still in the buffer goes nowhere
        return 0
    except (click.Abort, KeyboardInterrupt):
        return _failed("interrupted", None, 130)
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "bailiwick"
        usage = isinstance(error, click.UsageError)
        return _failed(error.format_message(), f"{where} --help" if usage else None, 2 if usage else 1)
    except Exception as error:  # noqa: BLE001 - the last net: a clear line instead of a trace
        return _failed("interrupted", None, 130) if _interrupted else _explained(error, arguments)
    return outcome if isinstance(outcome, int) else 0


def _failed(message: str, hint: str | None, code: int) -> int:
    click.echo(f"error: {message}", err=True)
    if hint:
        click.echo(f"hint: {hint}", err=True)
    return code


def _explained(error: Exception, arguments: list[str]) -> int:
    if isinstance(error, BailiwickError):
        return _failed(error.message, error.hint, error.exit_code)
    if any(argument in ("-v", "-vv", "--verbose") for argument in arguments):
        import traceback

        traceback.print_exception(error)
    hint = "this is a fault of Bailiwick; bailiwick -v … shows the details to report"
    return _failed(f"unexpected {type(error).__name__}: {error}", hint, 1)
