"""Turns at registries: one question each delay to each of them, over all processes of the database."""

import asyncio

from sqlalchemy import Connection, text

from bailiwick.base.errors import NameRefusedError
from bailiwick.db.engine import Database
from bailiwick.model.names import DomainName
from bailiwick.net.gates import LONGEST_HOLD_SECONDS

_LONGEST_WAIT_SECONDS = 60.0
_LONGEST_WAIT_TURNS = 10
_HOLD_SECONDS = 60.0
"""For who says that we ask too much, and not how long to wait."""


class Turns:
    """Hands out turns. May be asked by many tasks at once."""

    def __init__(self, database: Database, *, delay_seconds: float) -> None:
        self._database = database
        self._delay = delay_seconds
        self._longest = max(_LONGEST_WAIT_SECONDS, _LONGEST_WAIT_TURNS * delay_seconds)

    async def wait(self, host: str) -> bool:
        """Wait for the next turn. False: it is too far off, and nothing was reserved."""
        seconds = await asyncio.to_thread(self._reserve, host)
        if seconds is None:
            return False
        if seconds > 0:
            await asyncio.sleep(seconds)
        return True

    async def hold(self, host: str, seconds: float | None = None) -> None:
        """The registry asked to be left alone for a while."""
        held = min(_HOLD_SECONDS if seconds is None else seconds, LONGEST_HOLD_SECONDS)
        await asyncio.to_thread(self._hold, host, held)

    def _reserve(self, host: str) -> float | None:
        with self._database.begin() as conn:
            return reserve(conn, host, delay_seconds=self._delay, longest_seconds=self._longest)

    def _hold(self, host: str, seconds: float) -> None:
        with self._database.begin() as conn:
            conn.execute(_HOLD, {"gate": gate_of(host), "seconds": seconds})


def reserve(conn: Connection, host: str, *, delay_seconds: float, longest_seconds: float) -> float | None:
    """Reserve the next question: in how many seconds it may be asked. None: later than the longest, nothing is.

    The caller commits at once: others wait for it.
    """
    given = {"gate": gate_of(host), "delay": delay_seconds, "longest": longest_seconds}
    seconds: float | None = conn.execute(_RESERVE, given).scalar_one_or_none()
    return None if seconds is None else max(seconds, 0.0)


def gate_of(host: str) -> str:
    """The gate's name. Not the host's own: that one paces the crawl of its pages, this one the questions to it."""
    try:
        return f"registry:{DomainName.parse(host, allow_private=True).host}"
    except NameRefusedError:
        return f"registry:{host.lower()}"


# A clock that was set back makes no pause longer than it was when it was written.
_RESERVE = text("""
    insert into host_gates as g (host, next_at, updated_at)
    values (:gate, bailiwick_now() + make_interval(secs => :delay), bailiwick_now())
    on conflict (host) do update
        set next_at = greatest(least(g.next_at, bailiwick_now() + (g.next_at - g.updated_at)), bailiwick_now())
                      + make_interval(secs => :delay),
            updated_at = bailiwick_now()
        where least(g.next_at, bailiwick_now() + (g.next_at - g.updated_at))
              <= bailiwick_now() + make_interval(secs => :longest)
    returning extract(epoch from next_at - bailiwick_now() - make_interval(secs => :delay))::float8""")

_HOLD = text("""
    insert into host_gates as g (host, next_at, updated_at)
    values (:gate, bailiwick_now() + make_interval(secs => :seconds), bailiwick_now())
    on conflict (host) do update
        set next_at = greatest(g.next_at, excluded.next_at), updated_at = bailiwick_now()""")
