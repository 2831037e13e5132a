"""Acting on named domains: each in a transaction of its own, one line said about each, errors told and gone on from."""

from collections.abc import Callable, Sequence

import click
from sqlalchemy import Connection

from bailiwick.app import App
from bailiwick.base.errors import BailiwickError, BrokenRuleError, DatabaseError, IllegalMoveError, SchemaError
from bailiwick.cli.context import Session, text
from bailiwick.cli.output import printable
from bailiwick.ledger.events import Actor, Subject, latest
from bailiwick.model.names import DomainName
from bailiwick.registry.explain import explain_refusal
from bailiwick.registry.records import Domain, find, get

Deed = Callable[[Connection, Domain, Actor], str]
"""What is done to a domain; the answer is the line that says what is now so."""


names_argument = click.argument("names", metavar="NAME…", nargs=-1, required=True)
reason_option = click.option("--reason", type=text, help="Why, for the audit trail.")
needed_reason_option = click.option("--reason", type=text, required=True, help="Why, for the audit trail (required).")
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")


def for_each_domain(session: Session, names: Sequence[str], deed: Deed) -> int:
    """Do it to each known domain that is named. Returns the exit code: see `for_each`."""
    app = session.app

    def act(given: str) -> str:
        with app.database.begin() as conn:
            domain = find_named(conn, given, app)
            actor = app.actor(conn)
            try:
                return deed(conn, domain, actor)
            except BailiwickError as error:
                raise _about(conn, domain, error) from error

    return for_each(names, act)


def for_each(given: Sequence[str], act: Callable[[str], str]) -> int:
    """Act on each thing given and print the line that comes of it; an error is told, and the next one is tried.

    Returns the exit code: 0, or 1 if any failed (of a single one: its own). What concerns the database or the
    schema as a whole is raised: it would fail for all of them.
    """
    codes: list[int] = []
    for thing in dict.fromkeys(given):
        try:
            click.echo(printable(act(thing)))
        except BailiwickError as error:
            if error.retryable or isinstance(error, SchemaError):
                raise
            codes.append(error.exit_code)
            tell(error, about=thing)
    return codes[0] if codes and len(given) == 1 else int(bool(codes))


def tell(error: BailiwickError, *, about: str) -> None:
    """An error that does not end the command. What the database says does not name its subject."""
    subject = f"{about}: " if isinstance(error, BrokenRuleError | DatabaseError) else ""
    click.echo(f"error: {printable(subject + error.message)}", err=True)
    if error.hint:
        click.echo(f"hint: {printable(error.hint)}", err=True)


def warn(warnings: Sequence[str]) -> None:
    for warning in warnings:
        click.echo(f"warning: {printable(warning)}", err=True)


def find_named(conn: Connection, given: str, app: App) -> Domain:
    """The record of a domain that is named as a person would. NameRefusedError, NotFoundError.

    As it stands first: a private name or a sub-domain that came in under other settings can still be named.
    """
    exact = DomainName.parse(given, allow_private=True)
    return find(conn, exact) or get(conn, app.domain_name(given))


def outlook(domain: Domain) -> str:
    """What an approved domain can expect now."""
    if domain.refusal is None:
        return "; it is due for crawling"
    return f"; it is not crawled now: {explain_refusal(domain).says}"


def _about(conn: Connection, domain: Domain, error: BailiwickError) -> BailiwickError:
    """The error with the domain's name in it; of a move that is not possible, also what happened before."""
    message = error.message if domain.name.name in error.message else f"{domain.name}: {error.message}"
    if isinstance(error, IllegalMoveError):
        last = next(iter(latest(conn, subject=Subject("domain", domain.name.name), limit=1)), None)
        why = f" ({last.reason})" if last and last.reason else ""
        message += f"; last: {last.verb} by {last.actor}{why}" if last else ""
    return type(error)(message, hint=error.hint)
