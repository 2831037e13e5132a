"""The web interface of `bailiwick serve`, in a process of its own."""

import ipaddress
import socket

import click

from bailiwick.accounts import service
from bailiwick.accounts.links import HOURS, Kind
from bailiwick.accounts.members import local_admin
from bailiwick.cli.context import Session
from bailiwick.web.listening import address_of
from bailiwick.web.server import serve as serve_on
from bailiwick.web.site import Serving


def run_web(session: Session, bound: socket.socket, host: str, *, has_worker: bool, parent: int) -> int:
    """The web interface, until it is told to stop."""
    app = session.app.create()
    app.patiently(lambda: app.settings)
    address = address_of(bound)
    with app.database.begin() as conn:
        operator = app.actor(conn) if app.acting_as else local_admin(conn)
        word = service.first_link(conn, operator)
    _tell(address, word, host=host)
    serve_on(app, bound, Serving(host, has_worker=has_worker), parent=parent)
    return 0


def _tell(address: str, word: str | None, *, host: str) -> None:
    click.echo(f"Bailiwick is at {address}", err=True)
    if word is not None:
        click.echo(f"set your name and password (once, within {HOURS[Kind.FIRST]} hours): {address}/welcome/{word}")
    try:
        is_open = not ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_open = host != "localhost"
    if is_open:
        click.echo("warning: other machines can reach it, and without TLS others can read along", err=True)
        click.echo("hint: a proxy with TLS on this machine, web.behind_proxy, and its name in web.hosts", err=True)
