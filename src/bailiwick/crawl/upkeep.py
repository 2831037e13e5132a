"""The fetch log's months: made a month ahead by whoever crawls."""

from datetime import date, timedelta

from sqlalchemy import Connection, text

from bailiwick.ledger import partitions


def run_once(conn: Connection) -> int:
    """Make this month's and the next month's partition of the log. Safe at any time and twice. How many were made?"""
    conn.execute(text("select pg_advisory_xact_lock(hashtext('bailiwick.fetch_log'))"))
    month = partitions.today(conn).replace(day=1)
    existing = partitions.names(conn, "fetch_log")
    missing = [start for start in (month, _next(month)) if _name(start) not in existing]
    for start in missing:
        partitions.create(conn, "fetch_log", "fetched_at", _name(start), since=start, until=_next(start))
    return len(missing)


def _name(month: date) -> str:
    return f"fetch_log_{month:%Y%m}"


def _next(month: date) -> date:
    return (month + timedelta(days=32)).replace(day=1)
