"""`bailiwick member`: the people who may log in, and what they may do."""

import click

from bailiwick.accounts import links, service
from bailiwick.accounts.service import Member
from bailiwick.base.errors import UsageError
from bailiwick.cli.acting import needed_reason_option, reason_option
from bailiwick.cli.context import Session, json_option, limit_option, pass_session, say_more, text
from bailiwick.cli.output import Row, show_rows, stamp
from bailiwick.model.states import Role
from bailiwick.web import PORT

_COLUMNS = ("name", "role", "state", "can_log_in", "has_email", "since")
_role = click.Choice([str(role) for role in service.ROLES])
_url_option = click.option(
    "--url", default=f"http://127.0.0.1:{PORT}", show_default=True, help="Where people reach the web interface."
)


@click.group()
def member() -> None:
    """Invite, list and disable the people who may log in."""


@member.command()
@click.argument("name", type=text)
@click.option("--role", type=_role, default="reviewer", show_default=True,
              help="submitter: hands in, sees own; viewer: sees all; reviewer: decides; admin: all.")  # fmt: skip
@_url_option
@pass_session
def add(session: Session, *, name: str, role: str, url: str) -> None:
    """Add a member, and print the link by which they set their password.

    The link works once, for seven days. Pass it on by a way that only they can read.
    """
    app = session.app.create()
    with app.database.begin() as conn:
        word = service.add(conn, name, Role(role), app.actor(conn))
    session.say(f"{name} is added as {role}; this link sets the password, once, within 7 days:")
    click.echo(_link(url, word))


@member.command("list")
@click.option("--after", type=text, metavar="NAME", help="Go on after this one: the next page.")
@limit_option
@json_option
@click.pass_context
@pass_session
def list_(session: Session, ctx: click.Context, *, after: str | None, limit: int, as_json: bool) -> None:
    """List members, page by page, by name."""
    with session.app.database.read() as conn:
        rows = [_row(known) for known in service.listing(conn, limit=limit, after=after)]
    show_rows(rows, _COLUMNS, as_json=as_json, empty="no members yet")
    say_more(session, ctx, rows, "name")


@member.command()
@click.argument("name", type=text)
@needed_reason_option
@pass_session
def disable(session: Session, *, name: str, reason: str) -> None:
    """Disable a member: logged out everywhere, and unable to act. What they did stays."""
    app = session.app
    with app.database.begin() as conn:
        now = service.disable(conn, name, app.actor(conn), reason=reason)
    click.echo(f"{now.name} is disabled")


@member.command()
@click.argument("name", type=text)
@reason_option
@pass_session
def enable(session: Session, *, name: str, reason: str | None) -> None:
    """Let a disabled member act again."""
    app = session.app
    with app.database.begin() as conn:
        now = service.enable(conn, name, app.actor(conn), reason=reason)
    click.echo(f"{now.name} is active")


@member.command()
@click.argument("name", type=text)
@click.argument("new_role", metavar="ROLE", type=_role)
@reason_option
@pass_session
def role(session: Session, *, name: str, new_role: str, reason: str | None) -> None:
    """Give a member another role: submitter, viewer, reviewer or admin."""
    app = session.app
    with app.database.begin() as conn:
        now = service.set_role(conn, name, Role(new_role), app.actor(conn), reason=reason)
    click.echo(f"{now.name} is {now.role}")


@member.command("reset-password")
@click.argument("name", type=text)
@_url_option
@pass_session
def reset_password(session: Session, *, name: str, url: str) -> None:
    """Void a member's password and sessions, and print the link that sets a new one.

    The link works once, for a day.
    """
    app = session.app
    with app.database.begin() as conn:
        word = service.reset_password(conn, name, app.actor(conn))
    session.say(f"{name} is logged out; this link sets a new password, once, within {links.HOURS[links.Kind.RESET]} h:")
    click.echo(_link(url, word))


@member.command()
@click.argument("name", type=text)
@click.argument("address", type=text, required=False)
@click.option("--remove", is_flag=True, help="Forget the address, and what waits to be sent to it.")
@pass_session
def email(session: Session, *, name: str, address: str | None, remove: bool) -> None:
    """Say where a member is told what was decided about what they handed in.

    Members can do so for themselves, admins for everybody. The audit trail does not show the address.
    """
    if (address is None) != remove:
        raise UsageError("give an address, or --remove", hint="bailiwick member email NAME somebody@example.org")
    app = session.app
    with app.database.begin() as conn:
        now = service.set_email(conn, name, address, app.actor(conn))
    click.echo(f"{now.name} is told of decisions by e-mail" if now.has_email else f"{now.name} has no e-mail address")


def _row(known: Member) -> Row:
    return {
        "name": known.name,
        "role": known.role,
        "state": known.state,
        "can_log_in": known.has_password and known.state == "active",
        "has_email": known.has_email,
        "since": stamp(known.created_at),
    }


def _link(url: str, word: str) -> str:
    return f"{url.rstrip('/')}/welcome/{word}"
