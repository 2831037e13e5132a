"""The months of the fetch log: made ahead, filled with what came before them, safe twice and at once."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection, text

from bailiwick.crawl import upkeep
from bailiwick.db.engine import Database
from bailiwick.ledger import partitions
from tests.crawl.desk_tools import at_once, batch, beside, blocked, fetched, flushed, hold, plant, rows, value
from tests.registry.tools import sound


def set_clock(database: Database, moment: str) -> None:
    """The database's clock stands still at this moment."""
    with database.bare() as conn:
        conn.execute(
            text(
                "create or replace function bailiwick_now() returns timestamptz language sql stable parallel safe "
                f"return timestamptz '{moment}'"
            )
        )


def log(conn: Connection, *moments: str) -> None:
    sql = """insert into fetch_log (fetched_at, domain_id, path_hash, run_id, lease_no, outcome, bytes)
             values (:at, 1, 2, 3, 4, 'ok', 5)"""
    for moment in moments:
        conn.execute(text(sql), {"at": moment})


def places(conn: Connection) -> dict[str, list[str]]:
    """Where the rows are, by partition."""
    found: dict[str, list[str]] = {}
    sql = "select tableoid::regclass::text as part, fetched_at from fetch_log order by fetched_at"
    for row in rows(conn, sql):
        found.setdefault(row.part, []).append(f"{row.fetched_at.astimezone(UTC):%Y-%m-%d %H:%M}")
    return found


def months(conn: Connection) -> list[str]:
    return sorted(partitions.names(conn, "fetch_log"))


def kept(database: Database) -> int:
    with database.begin() as conn:
        return upkeep.run_once(conn)


def test_this_month_and_the_next_are_made_once(database: Database) -> None:
    set_clock(database, "2027-05-20 12:00+00")
    assert kept(database) == 2
    assert kept(database) == 0
    with database.read() as conn:
        assert months(conn) == ["fetch_log_202705", "fetch_log_202706"]
    set_clock(database, "2027-06-01 00:00+00")
    assert kept(database) == 1
    with database.read() as conn:
        assert months(conn) == ["fetch_log_202705", "fetch_log_202706", "fetch_log_202707"]
    set_clock(database, "2027-11-03 00:00+00")
    assert kept(database) == 2, "months in which nobody worked are left out"


def test_december_and_january(database: Database) -> None:
    set_clock(database, "2027-12-31 23:59:59+00")
    with database.begin() as conn:
        log(conn, "2027-11-30 23:59+00", "2027-12-01 00:00+00", "2027-12-31 23:59+00", "2028-01-01 00:00+00",
            "2028-01-31 23:59+00", "2028-02-01 00:00+00")  # fmt: skip
    assert kept(database) == 2
    with database.read() as conn:
        assert places(conn) == {
            "fetch_log_default": ["2027-11-30 23:59", "2028-02-01 00:00"],
            "fetch_log_202712": ["2027-12-01 00:00", "2027-12-31 23:59"],
            "fetch_log_202801": ["2028-01-01 00:00", "2028-01-31 23:59"],
        }
    set_clock(database, "2028-01-01 00:00+00")
    assert kept(database) == 1
    with database.read() as conn:
        assert places(conn)["fetch_log_202802"] == ["2028-02-01 00:00"]


@pytest.mark.parametrize(
    "moment", ["2028-01-31 12:00+00", "2028-02-29 12:00+00", "2027-03-31 23:00-02", "2027-08-31 00:30+14"]
)
def test_the_ends_of_months(database: Database, moment: str) -> None:
    """By UTC, whatever the session's time zone is."""
    set_clock(database, moment)
    at = datetime.fromisoformat(moment).astimezone(UTC)
    following = (at.replace(day=1) + timedelta(days=40)).replace(day=1)
    with database.begin() as conn:
        conn.execute(text("set local timezone = 'Pacific/Kiritimati'"))
        assert upkeep.run_once(conn) == 2
        assert months(conn) == [f"fetch_log_{at:%Y%m}", f"fetch_log_{following:%Y%m}"]


def test_rows_that_came_before_the_partition_move(database: Database) -> None:
    with sound(database) as conn:
        [held] = hold(conn, "example.org")
        plant(conn, held.id, "/", "/b")
    flushed(database, batch(held, 1, fetched("/")))
    with sound(database) as conn:
        before = rows(conn, "select * from fetch_log")
        assert value(conn, "select count(*) from fetch_log_default") == 1
    assert kept(database) == 2
    flushed(database, batch(held, 2, fetched("/b")))
    with sound(database) as conn:
        assert value(conn, "select count(*) from fetch_log_default") == 0
        month = f"fetch_log_{value(conn, 'select bailiwick_now()').astimezone(UTC):%Y%m}"
        assert value(conn, f"select count(*) from {month}") == 2
        assert before[0] in rows(conn, "select * from fetch_log")
        assert value(conn, "select pages_done from run_domains") == 2


def test_a_month_is_found_by_domain(database: Database) -> None:
    """A new partition has the index of the table."""
    assert kept(database) == 2
    with database.begin() as conn:
        conn.execute(text("set local enable_seqscan = off"))
        plan = rows(conn, "explain select * from fetch_log where domain_id = 7 and fetched_at > now()")
        assert not [line for (line,) in plan if "Seq Scan" in line]


def test_two_at_once_make_each_month_once(database: Database) -> None:
    made: list[int] = []
    assert at_once(*(lambda: made.append(kept(database)),) * 4) == []
    assert sorted(made) == [0, 0, 0, 2]


def test_a_row_that_is_written_at_the_same_moment_is_not_in_the_way(database: Database) -> None:
    """A flush has written to the default partition and has not committed yet when the month is made."""
    made: list[int] = []
    with database.begin() as conn:
        log(conn, str(value(conn, "select bailiwick_now()")))
        with beside(lambda: made.append(kept(database))) as other:
            for _ in range(100):
                other.join(0.05)
                if blocked(database) or not other.is_alive():
                    break
            conn.commit()
    assert made == [2]
    with database.read() as conn:
        assert value(conn, "select count(*) from fetch_log") == 1
        assert value(conn, "select count(*) from fetch_log_default") == 0


def test_flushes_go_on_while_a_month_is_made(database: Database) -> None:
    """Nobody fails for it: neither who writes nor who makes room."""
    with sound(database) as conn:
        held = hold(conn, "a.org", "b.org")
        for one in held:
            plant(conn, one.id, "/")
        now = value(conn, "select bailiwick_now()").astimezone(UTC)
        conn.execute(text("update crawl_queue set wake_at = bailiwick_now() + interval '3 years'"))

    def flushes(mine: int) -> None:
        for number in range(1, 26):
            answers = flushed(database, batch(held[mine], number, fetched("/", state="fetched")))
            assert answers[held[mine].id].is_held

    def keeps() -> None:
        for ahead in range(1, 7):  # the clock jumps: each time the month that is written to is missing
            set_clock(database, f"{now + timedelta(days=61 * ahead):%Y-%m-%d %H:%M}+00")
            assert kept(database) == 2

    raised = at_once(lambda: flushes(0), lambda: flushes(1), keeps)
    assert raised == []
    with database.read() as conn:
        assert len(months(conn)) == 12
        assert value(conn, "select count(*) from fetch_log") == 50
