"""`bailiwick serve`: the web interface, with a worker beside it."""

import os

import click

from bailiwick.cli.context import Session, pass_session
from bailiwick.web import PORT


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to serve on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="The port; 0 takes any free one."
)
@click.option("--no-worker", is_flag=True, help="Only the web interface: others crawl and parse.")
@click.option(
    "--resolve", "resolves", multiple=True, metavar="H:P:A", help="Host H, port P is at address A, as in curl."
)
@pass_session
def serve(session: Session, *, host: str, port: int, no_worker: bool, resolves: tuple[str, ...]) -> int:
    """Serve the web interface, and crawl and parse what is approved and due.

    The first start prints a link, good for one use, by which you set your name and password. Only this machine can
    reach the server, unless --host says otherwise; then put a proxy with TLS before it and see the settings web.*.
    Stop it with Ctrl-C: what is under way is written first.
    """
    from bailiwick.net.guard import Resolve
    from bailiwick.pipeline.supervisor import INTERRUPTED, supervise
    from bailiwick.web.listening import bind

    addresses = tuple(Resolve.parse(text) for text in resolves)
    bound = bind(host, port)  # here, so that whoever asks while the web is started again only waits
    parent = os.getpid()  # asked for afterwards, it would be another's if the parent is gone already
    part = supervise(lambda text: click.echo(text, err=True), "web", *(() if no_worker else ("worker", "parse")))
    if isinstance(part, int):
        return 0 if part == INTERRUPTED else part

    try:
        if part == "worker":
            from bailiwick.cli.serve_worker import run_worker

            bound.close()
            return run_worker(session, addresses, parent=parent)
        if part == "parse":
            from bailiwick.cli.serve_worker import run_parser

            bound.close()
            return run_parser(session, parent=parent)
        from bailiwick.cli.serve_web import run_web

        return run_web(session, bound, host, has_worker=not no_worker, parent=parent)
    except KeyboardInterrupt:  # told to stop before it could listen: that is no error
        return INTERRUPTED
