"""`bailiwick demo`: the guided tour."""

import shutil
import tempfile
from pathlib import Path

import click

from bailiwick.base.sections import DatabaseSettings
from bailiwick.db.embedded.server import EmbeddedServer
from bailiwick.demo.tour import run_tour


@click.command()
@click.option(
    "--in", "directory", type=click.Path(file_okay=False, path_type=Path), help="Use this directory and keep it."
)
def demo(*, directory: Path | None) -> None:
    """Take a guided tour in a directory of its own.

    It runs real commands on the embedded database, shows them with their output, and ends by itself.
    """
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        run_tour(directory.absolute(), _echo)
        click.echo(f"kept in {directory}")
        return
    scratch = Path(tempfile.mkdtemp(prefix="bailiwick-demo-"))
    scratch.chmod(0o755)  # the server's own user must get in when root runs this
    try:
        run_tour(scratch, _echo)
    finally:
        EmbeddedServer(scratch / ".bailiwick", DatabaseSettings()).stop()
        shutil.rmtree(scratch, ignore_errors=True)


def _echo(text: str) -> None:
    if text.startswith("#"):
        click.secho(f"\n{text}", fg="cyan", bold=True)
    elif text.startswith("$"):
        click.secho(text, bold=True)
    else:
        click.echo(text.rstrip("\n"))
