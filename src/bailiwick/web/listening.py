"""The socket that the web interface is served on. Apart, because the small parent opens it: it must import little."""

import socket

from bailiwick.base.errors import ServerMissingError, UsageError

_BACKLOG = 1024


def bind(host: str, port: int) -> socket.socket:
    """The socket to serve on. Errors say what is in the way."""
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as error:
        raise UsageError(f"{host} is no address of this machine: {error}", hint="--host 127.0.0.1") from error
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise ServerMissingError(
            f"cannot serve on {host} port {port}: {error.strerror}", hint="take another one: --port N, 0 for any"
        ) from error
    return made


def address_of(bound: socket.socket) -> str:
    """What to type into a browser."""
    host, port = bound.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        host = "localhost"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
