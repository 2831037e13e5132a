"""Turns at a search engine: its rate, its daily quota and what it cost, shared by all processes of the database."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from sqlalchemy import Connection, text

from bailiwick.base.discovery_sections import EngineSettings
from bailiwick.db.engine import Database

_LONGEST_WAIT_SECONDS = 600.0
_LONGEST_WAIT_TURNS = 10


@dataclass(frozen=True, slots=True)
class Limits:
    """What an engine may be asked."""

    per_minute: float = 60.0
    per_day: int = 1_000
    price: float = 0.0
    """Of one request."""
    max_retries: int = 2

    @classmethod
    def of(cls, settings: EngineSettings) -> "Limits":
        return cls(
            settings.requests_per_minute,
            settings.requests_per_day,
            settings.price_per_request,
            settings.max_retries,
        )

    @property
    def spacing_seconds(self) -> float:
        return 60.0 / self.per_minute

    @property
    def longest_wait_seconds(self) -> float:
        return max(_LONGEST_WAIT_SECONDS, _LONGEST_WAIT_TURNS * self.spacing_seconds)


class Closed(StrEnum):
    """Why there is no turn."""

    QUOTA = "quota"
    """The requests of this day (UTC) are used up."""
    BUSY = "busy"
    """Others have taken all turns of the next while."""


class Gate(Protocol):
    """Hands out turns."""

    def reserve(self, engine: str, limits: Limits) -> float | Closed:
        """Take the next turn: in how many seconds it is. It counts and costs, whatever comes of it."""
        ...

    def hold(self, engine: str, seconds: float) -> None:
        """Nobody's turn comes before so many seconds are over."""
        ...


class DatabaseGate:
    """Turns by the database's clock, each in a transaction of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def reserve(self, engine: str, limits: Limits) -> float | Closed:
        with self._database.begin() as conn:
            return reserve(conn, engine, limits)

    def hold(self, engine: str, seconds: float) -> None:
        with self._database.begin() as conn:
            conn.execute(_HOLD, {"engine": engine, "seconds": seconds})


def reserve(conn: Connection, engine: str, limits: Limits) -> float | Closed:
    """`Gate.reserve` in a transaction of the caller's, who commits at once: others wait for it."""
    given = {
        "engine": engine,
        "per_day": limits.per_day,
        "price": limits.price,
        "spacing": limits.spacing_seconds,
        "longest": limits.longest_wait_seconds,
    }
    wait: float | None = conn.execute(_RESERVE, given).scalar_one_or_none()
    if wait is not None:
        return max(wait, 0.0)
    # The row is locked, or the quota is 0: what it says is why there was no turn.
    has_quota: bool | None = conn.execute(_HAS_QUOTA, given).scalar_one_or_none()
    return Closed.BUSY if has_quota else Closed.QUOTA


@dataclass(frozen=True, slots=True)
class Usage:
    """What an engine was asked on this day (UTC), and what that cost."""

    calls: int = 0
    cost: float = 0.0


def usage(conn: Connection) -> dict[str, Usage]:
    """Of this day, by engine; those that were not asked are not in it."""
    return {engine: Usage(calls, cost) for engine, calls, cost in conn.execute(_USAGE)}


_USAGE = text("select engine, calls, cost from engine_gates where day >= (bailiwick_now() at time zone 'UTC')::date")

# A day that is over counts from the start; a clock that went back does not open the day before again.
_RESERVE = text("""
    insert into engine_gates as g (engine, day, calls, cost, next_at)
    select :engine, (bailiwick_now() at time zone 'UTC')::date, 1, cast(:price as float8),
           bailiwick_now() + make_interval(secs => :spacing)
    where cast(:per_day as bigint) > 0
    on conflict (engine) do update
        set day = greatest(g.day, excluded.day),
            calls = case when g.day >= excluded.day then g.calls else 0 end + 1,
            cost = case when g.day >= excluded.day then g.cost else 0 end + excluded.cost,
            next_at = greatest(g.next_at, bailiwick_now()) + make_interval(secs => :spacing)
        where (g.day < excluded.day or g.calls < cast(:per_day as bigint))
          and g.next_at <= bailiwick_now() + make_interval(secs => :longest)
    returning extract(epoch from next_at - bailiwick_now() - make_interval(secs => :spacing))::float8""")

_HAS_QUOTA = text("""
    select day < (bailiwick_now() at time zone 'UTC')::date or calls < cast(:per_day as bigint)
    from engine_gates where engine = :engine and cast(:per_day as bigint) > 0""")

_HOLD = text("""
    update engine_gates set next_at = greatest(next_at, bailiwick_now() + make_interval(secs => :seconds))
    where engine = :engine""")
