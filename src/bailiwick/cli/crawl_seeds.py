"""Seeds on the command line: domains, URLs, or files of them; admitted, or told why not."""

import sys
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from bailiwick.base.errors import NameRefusedError, UsageError
from bailiwick.cli.acting import warn
from bailiwick.cli.output import printable

if TYPE_CHECKING:
    from bailiwick.app import App
    from bailiwick.crawl.seeds import Admitted, StartPage

BATCH = 5000
_SHOWN_REFUSALS = 20


def start_pages(app: "App", given: Iterable[str]) -> "Iterator[StartPage]":
    """Every seed that was typed, or stands in a file that was named; what names none is told and left out."""
    for text in given:
        if text == "-":
            yield from _from_lines(app, sys.stdin, "standard input")
        elif _is_file(text):
            try:
                with Path(text).open(encoding="utf-8", errors="replace") as file:
                    yield from _from_lines(app, file, text)
            except OSError as error:
                raise UsageError(f"cannot read {text}: {error.strerror}") from error
        else:
            try:
                yield _start_page(app, text)
            except NameRefusedError as error:
                hint = f"{error.hint}; there is no file by that name either" if error.hint else None
                raise NameRefusedError(error.message, hint=hint) from error


_FILE_ENDINGS = (".txt", ".csv", ".tsv", ".lst", ".list", ".urls")


def _is_file(text: str) -> bool:
    """Whether a seed is the name of a file; one that looks like it and is not there is an error, not a domain."""
    try:
        if Path(text).is_file():
            return True
        is_folder = Path(text).is_dir()
    except OSError:  # too long for a name
        return False
    if is_folder and "." not in text.strip("./"):
        raise UsageError(f"{text} is a directory", hint="give a file of seeds, a domain or a URL")
    if text.startswith(("./", "../", "/")) or text.lower().endswith(_FILE_ENDINGS):
        raise UsageError(f"there is no file {text}", hint="give a file of seeds, a domain or a URL")
    return False


def _start_page(app: "App", text: str) -> "StartPage":
    from bailiwick.crawl.seeds import StartPage
    from bailiwick.model.names import DomainName
    from bailiwick.model.urls import PageUrl, UrlRules

    names = app.settings.names
    name = DomainName.parse(text, allow_private=names.allow_private, collapse_subdomains=names.collapse_subdomains)
    page = PageUrl.parse(text, rules=UrlRules(allow_private=names.allow_private))
    return StartPage(name, page.path if page.domain == name else "/")


def _from_lines(app: "App", file: TextIO, source: str) -> "Iterator[StartPage]":
    from bailiwick.crawl.seeds import StartPage
    from bailiwick.registry.seeds import Seed, read_seeds

    lines = iter(file)
    begins, first = next(((n, line) for n, line in enumerate(lines, 1) if line.strip() and line[0] != "#"), (1, ""))
    whole = _chain(first, lines)
    if "," in first:  # a ranked list
        names = app.settings.names
        for seed in read_seeds(whole, allow_private=names.allow_private, collapse_subdomains=names.collapse_subdomains):
            if isinstance(seed, Seed):
                yield StartPage(seed.name)
            else:
                warn([f"{source}, line {begins + seed.line_number - 1}: {seed.why}"])
        return
    for number, line in enumerate(whole, start=begins):
        text = line.partition(" #")[0].strip()
        if text and not text.startswith("#"):
            try:
                yield _start_page(app, text)
            except NameRefusedError as error:
                warn([f"{source}, line {number}: {error.message}"])


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    if first:
        yield first
    while part := list(islice(rest, 1000)):
        yield from part


def admit_seeds(app: "App", pages: "list[StartPage]", *, profile: str) -> "Admitted":
    """Admit what an admin typed; UsageError if it names nothing."""
    if not pages:
        raise UsageError("the seeds name no domain", hint="give a domain, a URL or a file of them")
    from bailiwick.crawl.seeds import Admitted, Vouch, admit

    def admit_part(part: "list[StartPage]") -> Admitted:
        with app.database.begin() as conn:
            return admit(conn, part, Vouch(app.actor(conn), app.settings.priority, profile=profile))

    done = Admitted()
    for start in range(0, len(pages), BATCH):
        done.extend(app.patiently(partial(admit_part, pages[start : start + BATCH])))
    return done


def tell_refused(admitted: "Admitted") -> None:
    for refused in admitted.refused[:_SHOWN_REFUSALS]:
        change = f"  ({refused.change})" if refused.change else ""
        click.echo(f"{printable(refused.name.name)} is not crawled: {printable(refused.says)}{change}", err=True)
    if len(admitted.refused) > _SHOWN_REFUSALS:
        rest = len(admitted.refused) - _SHOWN_REFUSALS
        click.echo(f"… and {rest:,} more (bailiwick explain NAME says why)", err=True)
