"""`bailiwick domain trust`: the flag of a domain, and the rules by suffix."""

import click
from sqlalchemy import Connection

from bailiwick.approve import service
from bailiwick.base.errors import UsageError
from bailiwick.cli.acting import for_each, for_each_domain, reason_option
from bailiwick.cli.context import Session, json_option, limit_option, pass_session, say_more, text
from bailiwick.cli.output import Row, show_rows, stamp
from bailiwick.ledger.events import Actor
from bailiwick.registry import trust as rules
from bailiwick.registry.records import Domain


@click.command()
@click.argument("names", metavar="[NAME…]", nargs=-1)
@click.option("--suffix", type=text, multiple=True, help="Admit all names under a suffix on first sight: .gov")
@click.option("--off", is_flag=True, help="Take the trust away. What was approved by it stays approved.")
@click.option("--list", "listing", is_flag=True, help="Show the rules by suffix.")
@reason_option
@click.option("--after", type=text, help="With --list: go on after this suffix.")
@limit_option
@json_option
@click.pass_context
@pass_session
def trust(  # noqa: PLR0913 - one command, three uses
    session: Session,
    ctx: click.Context,
    *,
    names: tuple[str, ...],
    suffix: tuple[str, ...],
    off: bool,
    listing: bool,
    reason: str | None,
    after: str | None,
    limit: int,
    as_json: bool,
) -> int:
    """Trust domains, or all names under a --suffix. Trusting a domain that waits for review approves it."""
    if sum(map(bool, (names, suffix, listing))) != 1:
        raise UsageError("give names, or --suffix, or --list", hint="bailiwick domain trust --suffix .gov")
    if listing:
        _list(session, ctx, limit=limit, after=after, as_json=as_json)
        return 0
    if suffix:
        return _rules(session, suffix, off=off, reason=reason)
    return _flags(session, names, off=off, reason=reason)


def _flags(session: Session, names: tuple[str, ...], *, off: bool, reason: str | None) -> int:
    def deed(conn: Connection, domain: Domain, actor: Actor) -> str:
        now = service.set_trust(conn, domain, actor, trusted=not off, reason=reason)
        return f"{now.name} is no longer trusted" if off else f"{now.name} is trusted and {now.approval}"

    return for_each_domain(session, names, deed)


def _rules(session: Session, suffixes: tuple[str, ...], *, off: bool, reason: str | None) -> int:
    app = session.app.create()

    def act(given: str) -> str:
        suffix = rules.suffix_of(given)
        with app.database.begin() as conn:
            actor = app.actor(conn)
            if off:
                was = rules.remove_rule(conn, suffix, actor, reason=reason)
                return f"{suffix} is no longer trusted" if was else f"there was no rule for {suffix}"
            new = rules.add_rule(conn, suffix, actor, reason=reason)
            return f"names under {suffix} are {'' if new else 'already '}trusted: they are admitted on first sight"

    return for_each(suffixes, act)


def _list(session: Session, ctx: click.Context, *, limit: int, after: str | None, as_json: bool) -> None:
    with session.app.database.read() as conn:
        rows: list[Row] = [
            {"suffix": rule.suffix, "made_by": rule.made_by, "made_at": stamp(rule.made_at), "reason": rule.reason}
            for rule in rules.list_rules(conn, limit=limit, after=after)
        ]
    show_rows(rows, ("suffix", "made_by", "made_at", "reason"), as_json=as_json, empty="no suffix is trusted")
    say_more(session, ctx, rows, "suffix")
