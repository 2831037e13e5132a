"""Partitions by time, made before they are needed. What comes too early or too late is in the default one meanwhile."""

from datetime import UTC, date, datetime

from sqlalchemy import Connection, text


def names(conn: Connection, table: str) -> set[str]:
    """The partitions of a table, the default one aside."""
    found = conn.execute(
        text("select inhrelid::regclass::text from pg_inherits where inhparent = cast(:table as regclass)"),
        {"table": table},
    ).scalars()
    return set(found) - {f"{table}_default"}


def create(conn: Connection, table: str, column: str, name: str, *, since: date, until: date) -> None:
    """One partition; rows that fell into the default one meanwhile move into it. Writers wait for that long."""
    conn.execute(text(f"lock table only {table} in share row exclusive mode"))
    conn.execute(text(f"create table {name} (like {table} including defaults including constraints)"))
    conn.execute(
        text(f"with old as (delete from {table}_default where {column} >= :since and {column} < :until returning *) "  # noqa: S608
             f"insert into {name} select * from old"),
        {"since": _midnight(since), "until": _midnight(until)},
    )  # fmt: skip
    bounds = f"from ('{since} 00:00+00') to ('{until} 00:00+00')"
    conn.execute(text(f"alter table {table} attach partition {name} for values {bounds}"))


def today(conn: Connection) -> date:
    """By the database's clock."""
    found: date = conn.execute(text("select (bailiwick_now() at time zone 'UTC')::date")).scalar_one()
    return found


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
