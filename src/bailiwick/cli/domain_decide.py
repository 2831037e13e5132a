"""`bailiwick domain approve` and the other decisions: one verb a command, each on as many domains as are named."""

from datetime import UTC

import click
from sqlalchemy import Connection, func, select

from bailiwick.approve import service
from bailiwick.base.errors import UsageError
from bailiwick.cli.acting import (
    for_each_domain,
    names_argument,
    needed_reason_option,
    outlook,
    reason_option,
)
from bailiwick.cli.context import Session, pass_session, text
from bailiwick.ledger.events import Actor
from bailiwick.registry.records import Domain
from bailiwick.registry.trust import suffix_of


@click.command()
@names_argument
@reason_option
@click.option("--include-subdomains", is_flag=True, help="Trust all names under it too, by a rule for .NAME.")
@pass_session
def approve(session: Session, *, names: tuple[str, ...], reason: str | None, include_subdomains: bool) -> int:
    """Approve domains that wait for review. From now on they are crawled."""

    def deed(conn: Connection, domain: Domain, actor: Actor) -> str:
        now = service.approve(conn, domain, actor, reason=reason, include_subdomains=include_subdomains)
        under = f"; names under {suffix_of(now.name.host)} are trusted" if include_subdomains else ""
        return f"{now.name} is approved{outlook(now)}{under}"

    return for_each_domain(session, names, deed)


@click.command()
@names_argument
@needed_reason_option
@pass_session
def reject(session: Session, *, names: tuple[str, ...], reason: str) -> int:
    """Reject domains that wait for review or are suspended. They may be submitted again with --context."""

    def deed(conn: Connection, domain: Domain, actor: Actor) -> str:
        return f"{service.reject(conn, domain, actor, reason=reason).name} is rejected: {reason}"

    return for_each_domain(session, names, deed)


@click.command()
@names_argument
@needed_reason_option
@pass_session
def suspend(session: Session, *, names: tuple[str, ...], reason: str) -> int:
    """Stop crawling approved domains until they are resumed. A worker that is at one stops within seconds."""

    def deed(conn: Connection, domain: Domain, actor: Actor) -> str:
        return f"{service.suspend(conn, domain, actor, reason=reason).name} is suspended: {reason}"

    return for_each_domain(session, names, deed)


@click.command()
@names_argument
@reason_option
@pass_session
def resume(session: Session, *, names: tuple[str, ...], reason: str | None) -> int:
    """Take suspended domains up again."""

    def deed(conn: Connection, domain: Domain, actor: Actor) -> str:
        now = service.resume(conn, domain, actor, reason=reason)
        return f"{now.name} is approved again{outlook(now)}"

    return for_each_domain(session, names, deed)


@click.command()
@names_argument
@reason_option
@click.option("--lift", is_flag=True, help="Take them off the blacklist: back to the standing before.")
@pass_session
def blacklist(session: Session, *, names: tuple[str, ...], reason: str | None, lift: bool) -> int:
    """Blacklist domains (with --reason), or --lift that. Blacklisted domains are never crawled."""
    if not lift and not reason:
        raise UsageError("blacklist needs a reason", hint='say why: --reason "…", or --lift it')

    def deed(conn: Connection, domain: Domain, actor: Actor) -> str:
        if lift:
            now = service.lift_blacklist(conn, domain, actor, reason=reason)
            return f"{now.name} is no longer blacklisted: its standing is {now.standing}{outlook(now)}"
        return f"{service.blacklist(conn, domain, actor, reason=reason or '').name} is blacklisted: {reason}"

    return for_each_domain(session, names, deed)


@click.command("no-funds")
@names_argument
@click.option("--year", type=click.IntRange(2020, 2100), help="The year without funds. Default: this year.")
@reason_option
@pass_session
def no_funds(session: Session, *, names: tuple[str, ...], year: int | None, reason: str | None) -> int:
    """Mark domains as having nothing to find in a year. They come back by themselves."""

    def deed(conn: Connection, domain: Domain, actor: Actor) -> str:
        which = year or conn.execute(select(func.bailiwick_now())).scalar_one().astimezone(UTC).year
        now = service.mark_no_funds(conn, domain, actor, year=which, reason=reason)
        return f"{now.name} has no funds in {which}; it comes back by itself in {which + 1}"

    return for_each_domain(session, names, deed)


@click.command()
@click.argument("name")
@click.argument("words", metavar="TEXT", type=text)
@pass_session
def note(session: Session, *, name: str, words: str) -> int:
    """Add a line to a domain's notes."""

    def deed(conn: Connection, domain: Domain, actor: Actor) -> str:
        return f"noted on {service.note(conn, domain, actor, text=words).name}: {words.strip()}"

    return for_each_domain(session, [name], deed)


@click.command()
@names_argument
@reason_option
@pass_session
def recrawl(session: Session, *, names: tuple[str, ...], reason: str | None) -> int:
    """Make every known page of approved domains due now."""

    def deed(conn: Connection, domain: Domain, actor: Actor) -> str:
        now = service.recrawl(conn, domain, actor, reason=reason)
        return f"{now.name}: every known page is asked for again{outlook(now)}"

    return for_each_domain(session, names, deed)


@click.command()
@names_argument
@reason_option
@pass_session
def reset(session: Session, *, names: tuple[str, ...], reason: str | None) -> int:
    """Like recrawl, and forget cooldown and errors. For blocked and unreachable domains."""

    def deed(conn: Connection, domain: Domain, actor: Actor) -> str:
        now = service.reset(conn, domain, actor, reason=reason)
        return f"{now.name}: cooldown, errors and retries are forgotten{outlook(now)}"

    return for_each_domain(session, names, deed)
