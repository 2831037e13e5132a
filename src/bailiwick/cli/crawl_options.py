"""The options by which a crawl is limited: the same for `crawl` and `job create`."""

from collections.abc import Callable
from functools import wraps
from math import isfinite
from typing import TYPE_CHECKING, TypeVar

import click

from bailiwick.base.errors import UsageError

if TYPE_CHECKING:
    from bailiwick.crawl.jobs import JobOptions

R = TypeVar("R")
BUDGET = click.IntRange(0, 10**12)
_ALL = -1


class Depth(click.ParamType[int]):
    """A number of links from the start page, or `all`."""

    name = "N|all"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value).lower()
        if text == "all":
            return _ALL
        if text.isascii() and text.isdigit() and int(text[:5]) <= 1000:
            return int(text)
        raise self.fail(f"{value!r} is neither a number from 0 to 1000 nor all", param, ctx)


_OPTIONS = (
    click.option("--max-pages", type=BUDGET, metavar="N", help="Pages of each domain; 0 is all of them."),
    click.option(
        "--depth", "max_depth", type=Depth(), metavar="N|all", help="Links from the start page; 0 is that page only."
    ),
    click.option(
        "--delay", "delay_seconds", type=click.FloatRange(0, 86400), metavar="S",
        help="Seconds between two requests to a domain.",
    ),
    click.option("--max-requests", type=BUDGET, metavar="N", help="Requests to each domain; 0 is no limit."),
    click.option(
        "--include", multiple=True, metavar="P",
        help="Fetch pages only where one of these patterns fits: /docs/, /blog/*/en, print=, re:^/20\\d\\d/.",
    ),
    click.option("--exclude", multiple=True, metavar="P", help="Do not fetch pages where one of these patterns fits."),
    click.option(
        "--scope", type=click.Choice(["domain", "site"]), default="domain", show_default=True,
        help="site: hosts of the same site are admitted and crawled, too.",
    ),
)  # fmt: skip


def limited(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command these options; it gets them as one argument, `options`: a function, for what it needs is heavy."""

    @wraps(command)
    def with_options(*arguments: object, **given: object) -> R:
        asked = {name: given.pop(name) for name in _NAMES}
        return command(*arguments, options=lambda: _job_options(asked), **given)

    for option in reversed(_OPTIONS):
        with_options = option(with_options)
    return with_options


_NAMES = ("max_pages", "max_depth", "delay_seconds", "max_requests", "include", "exclude", "scope")


def _job_options(asked: dict[str, object]) -> "JobOptions":
    """Those that were given."""
    from bailiwick.crawl.jobs import ALL_DEPTHS, JobOptions

    delay = asked["delay_seconds"]
    if isinstance(delay, float) and not isfinite(delay):
        raise UsageError("--delay is a number of seconds")
    if asked["max_depth"] == _ALL:
        asked = asked | {"max_depth": ALL_DEPTHS}
    return JobOptions.model_validate({k: v for k, v in asked.items() if v not in (None, (), "domain")})
