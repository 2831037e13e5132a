"""A socket to one of several addresses, each checked by the guard before anything is sent there (P7)."""

import socket
from collections.abc import Sequence

import aiohappyeyeballs

from bailiwick.net.guard import Guard
from bailiwick.net.resolver import Place

_SECOND_ADDRESS_SECONDS = 0.25


async def connected(guard: Guard, places: Sequence[Place]) -> socket.socket:
    """To the first that answers; the next one is tried beside a slow one. OSError if none does. Limit the time."""
    try:
        return await aiohappyeyeballs.start_connection(
            places, happy_eyeballs_delay=_SECOND_ADDRESS_SECONDS, socket_factory=guard.open_socket
        )
    except RuntimeError as error:  # uvloop's, in place of some OSErrors
        raise OSError(str(error)) from error
