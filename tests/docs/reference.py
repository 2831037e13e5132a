"""Writes the generated reference pages: `make docs`. A test compares them with what is committed."""

from collections.abc import Iterator
from pathlib import Path

import click

from bailiwick.base import errors
from bailiwick.base.errors import BailiwickError
from bailiwick.base.sections import CooldownSettings
from bailiwick.base.settings import environment_name, load
from bailiwick.cli.main import cli
from bailiwick.crawl.outcomes import MEANINGS
from bailiwick.crawl.traps.rules import SAYS
from bailiwick.model.states import BIRTH, Machine
from bailiwick.model.transitions import MACHINES
from bailiwick.query.export.kinds import KINDS

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
_NOTICE = "<!-- Written by `make docs`: change the code, not this page. -->\n"


def pages() -> dict[str, str]:
    """File name -> content of every generated page."""
    return {
        "settings.md": _settings(),
        "states.md": _states(),
        "cli.md": _cli(),
        "exit-codes.md": _exit_codes(),
        "outcomes.md": _outcomes(),
        "exports.md": _exports(),
    }


def _settings() -> str:
    lines = [
        f"# Settings\n\n{_NOTICE}",
        "Precedence: environment > `bailiwick.toml` > database > default. `bailiwick settings show` tells each value's",
        "origin, `bailiwick settings set` keeps one in the database (where the last column says yes).\n",
        "| setting | default | environment | in the database | what it does |",
        "| --- | --- | --- | --- | --- |",
    ]
    for s in load(None):
        default = (
            "unset"
            if s.default is None
            else f"`{str(s.default).lower() if isinstance(s.default, bool) else s.default}`"
        )
        kept = "yes" if s.in_database else "no"
        lines.append(f"| `{s.key}` | {default} | `{environment_name(s.key)}` | {kept} | {s.description} |")
    return "\n".join(lines) + "\n"


def _states() -> str:
    parts = [
        f"# States and moves\n\n{_NOTICE}",
        "One function moves a state, by these tables; the database refuses every other move. A move marked with *",
        "needs a reason. `system` stands for policies, workers and duties.\n",
    ]
    return "\n".join(parts) + "\n" + "\n".join(_machine(machine) for machine in MACHINES)


def _machine(machine: Machine) -> str:
    lines = [f"## {machine.name}: {machine.question}\n", f"Kept in `{machine.table}.{machine.column}`.\n"]
    lines += ["```mermaid", "stateDiagram-v2"]
    for t in machine.transitions:
        lines.append(f"    {t.source or '[*]'} --> {t.target}: {t.verb}{'*' if t.needs_reason else ''}")
    lines += ["```\n", "| from | verb | to | who |", "| --- | --- | --- | --- |"]
    for t in machine.transitions:
        source = "(new)" if t.source == BIRTH else t.source
        star = "*" if t.needs_reason else ""
        lines.append(f"| {source} | {t.verb}{star} | {t.target} | {', '.join(sorted(t.who))} |")
    return "\n".join(lines) + "\n"


def _cli() -> str:
    parts = [f"# Command line\n\n{_NOTICE}"]
    for path, command in _commands(cli, "bailiwick"):
        context = click.Context(command, info_name=path, max_content_width=100, terminal_width=100)
        parts.append(f"## `{path}`\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


def _commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _commands(child, f"{path} {name}")


def _exit_codes() -> str:
    lines = [
        f"# Exit codes and errors\n\n{_NOTICE}",
        "| exit code | meaning |\n| --- | --- |",
        "| 0 | every normal end |\n| 1 | an error |\n| 2 | wrong usage or a wrong setting |",
        "| 3 | nothing to do, where `--exit-code` asks for it |",
        "| 4 | a limit was reached, where `--exit-code` asks for it |",
        "| 5 | a server that is needed is missing |\n| 130 | interrupted |\n",
        "An error is two lines on stderr, `error: what` and `hint: what to do`. The API uses the same codes.\n",
        "| error | exit code | HTTP status | worth trying again |\n| --- | --- | --- | --- |",
    ]
    lines += [
        f"| `{kind.code}` | {kind.exit_code} | {kind.http_status} | {'yes' if kind.retryable else 'no'} |"
        for kind in _tree(BailiwickError)
    ]
    return "\n".join(lines) + "\n"


def _outcomes() -> str:
    lines = [
        f"# Outcomes\n\n{_NOTICE}",
        "How one fetch of one page ends, and what follows. A page that waits for a retry is tried again after 5, 20",
        "and 80 seconds, give or take a fifth (`crawl.retry_backoff_seconds`, `crawl.max_retries`), then it failed.",
        "After 20 errors in a row (`crawl.max_domain_errors`), or when no page at all could be fetched, the domain is",
        "blocked (or unreachable) for the cooldown of the most frequent outcome.\n",
        "| outcome | when | the page | an error | reason code of the domain | cooldown, days |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    cooldowns = CooldownSettings()
    words = {"changed": "fetched", "same": "fetched, as before", "retry": "waits for a retry", "failed": "failed"}
    for outcome, meaning in MEANINGS.items():
        days = f"{getattr(cooldowns, f'{meaning.code}_days'):g}" if meaning.code else ""
        error, code = "yes" if meaning.is_error else "no", f"`{meaning.code}`" if meaning.code else ""
        lines.append(f"| `{outcome}` | {meaning.when} | {words[meaning.effect]} | {error} | {code} | {days} |")
    lines += ["\n## Links that do not become pages\n", "| rule | what it says |", "| --- | --- |"]
    lines += [f"| `{rule}` | {words} |" for rule, words in SAYS.items()]
    return "\n".join(lines) + "\n"


def _exports() -> str:
    parts = [
        f"# Exports\n\n{_NOTICE}",
        "What `bailiwick export` writes, column by column. See [search and export](../guides/search-and-export.md).",
        "In JSON lines a time is ISO 8601 in UTC, and what is not known is null. In CSV that is empty, JSON is text;",
        "a text that begins with = + - @, a tab or a return has a ' in front, so that no spreadsheet takes it for a",
        "formula. In Parquet times are microseconds in UTC, and JSON is text. New columns may come at the end.\n",
    ]
    for kind in KINDS.values():
        parts += [
            f"## {kind.name}\n",
            f"One row each: {kind.what}.\n",
            "| column | type | what |",
            "| --- | --- | --- |",
        ]
        parts += [f"| `{column.name}` | {column.type} | {column.what} |" for column in kind.columns]
        parts.append("")
    return "\n".join(parts)


def _tree(kind: type[BailiwickError]) -> Iterator[type[BailiwickError]]:
    if kind.__module__ == errors.__name__:
        yield kind
        for child in kind.__subclasses__():
            yield from _tree(child)


if __name__ == "__main__":
    for name, content in pages().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
        print(f"docs/reference/{name}")
