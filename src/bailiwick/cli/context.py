"""What every command gets: the App, opened on use, and a voice on stderr."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bailiwick.base.place import Place, find_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiwick.app import App
    from bailiwick.cli.output import Row


class Session:
    """One run of the program."""

    def __init__(self, *, home: str | None, acting_as: str | None, verbosity: int, quiet: bool) -> None:
        self._home, self._acting_as, self._verbosity, self._quiet = home, acting_as, verbosity, quiet

    @cached_property
    def app(self) -> "App":
        """The App of the project at or above the current directory."""
        from bailiwick.app import App
        from bailiwick.base.telemetry import configure

        named = Path(self._home) if self._home else None
        app = App.at(Path.cwd(), home=named, say=self.say, acting_as=self._acting_as)
        configure(app.bootstrap.tree.log, verbosity=self._verbosity)
        return app

    @cached_property
    def place(self) -> Place:
        """The project at or above the current directory, without opening anything."""
        return find_place(Path.cwd(), named=Path(self._home) if self._home else None)

    def say(self, message: str) -> None:
        """Tell what is being done, on stderr."""
        if not self._quiet:
            click.echo(click.style(message, dim=True), err=True)

    def close(self) -> None:
        if "app" in self.__dict__:
            self.app.close()


_BUILT_IN = Path(__file__).parents[1] / "profiles"

pass_session = click.make_pass_decorator(Session)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line, for machines.")
limit_option = click.option(
    "--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="At most this many rows."
)


def say_more(session: Session, ctx: click.Context, rows: "Sequence[Row]", key: str) -> None:
    """The command for the next page of a list, if there may be one: after the last row's key."""
    from bailiwick.cli.output import more_rows

    if rows and (more := more_rows(ctx, rows, str(rows[-1][key]))):
        session.say(f"more: {more}")


def text(given: str) -> str:
    """The type of options whose text the database keeps: valid Unicode."""
    if not given.isascii() and any("\ud800" <= character <= "\udfff" for character in given):
        raise click.BadParameter("this is not valid UTF-8")
    return given


def _known_profile(ctx: click.Context, _option: click.Parameter, name: str) -> str:
    """Refuse a profile that does not exist or is wrong, for every command that takes one."""
    if ctx.resilient_parsing:
        return name
    own = ctx.ensure_object(Session).place.profiles
    # A built-in one needs no look into it, nor what that would import: the parent of a crawl stays small.
    if name in {path.stem for path in _BUILT_IN.glob("*.toml")} and not (own / f"{name}.toml").exists():
        return name
    from bailiwick.base.errors import NotFoundError, UsageError
    from bailiwick.model.profile_files import load_profile

    try:
        load_profile(name, own)
    except NotFoundError as error:
        raise UsageError(error.message, hint=error.hint) from None
    return name


profile_option = click.option(
    "--profile",
    type=text,
    default="general",
    show_default=True,
    callback=_known_profile,
    help="What is looked for in it: see `bailiwick profile list`.",
)
