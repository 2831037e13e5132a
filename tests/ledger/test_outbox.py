"""The outbox: no reader misses a message, whatever the writers do; old days go away."""

import random
import threading
import time
from datetime import date, timedelta

from sqlalchemy import text

from bailiwick.db.engine import Database
from bailiwick.ledger import outbox
from bailiwick.ledger.outbox import Message
from bailiwick.ledger.reader import Cursor, end_cursor, rebase

WRITERS, TRANSACTIONS, IN_ONE = 4, 60, 5


def _messages(writer: int, transaction: int) -> list[Message]:
    return [Message("test", "page", None, f"{writer}-{transaction}-{i}") for i in range(IN_ONE)]


def test_no_message_is_missed_with_concurrent_writers(database: Database) -> None:
    """A reader by id alone runs beside ours: it must lose messages, else this test proves nothing."""
    done = threading.Event()

    def write(writer: int) -> None:
        choice = random.Random(writer)
        for transaction in range(TRANSACTIONS):
            with database.begin() as conn:
                outbox.put(conn, _messages(writer, transaction))
                # The ids are taken; others overtake before this commits.
                time.sleep(choice.random() * 0.01)

    safe: list[object] = []
    naive: list[object] = []

    def read() -> None:
        cursor, last_id, finished = Cursor(), 0, False
        while not finished:
            finished = done.is_set()
            with database.read() as conn:
                for message in outbox.take(conn, cursor, limit=10_000):
                    cursor = message.cursor
                    safe.append(message.message.payload)
                by_id = text("select id, payload from outbox where id > :id order by id")
                for row in conn.execute(by_id, {"id": last_id}):
                    last_id = row.id
                    naive.append(row.payload)

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(n,)) for n in range(WRITERS)]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join(60)
    done.set()
    reader.join(60)
    expected = [m.payload for w in range(WRITERS) for t in range(TRANSACTIONS) for m in _messages(w, t)]
    assert sorted(map(str, safe)) == sorted(map(str, expected))
    assert len(naive) < len(expected), "the naive reader lost nothing: writers did not overtake each other"


def test_an_open_transaction_holds_later_messages_back(database: Database) -> None:
    with database.begin() as slow:
        outbox.put(slow, [Message("slow", "page", 1, {})])
        with database.begin() as quick:
            outbox.put(quick, [Message("quick", "page", 2, {})])
        with database.read() as conn:
            assert outbox.take(conn, Cursor()) == []
    with database.read() as conn:
        assert [m.message.topic for m in outbox.take(conn, Cursor())] == ["slow", "quick"]


def test_a_cursor_goes_on_where_it_was(database: Database) -> None:
    for n in range(5):
        with database.begin() as conn:
            outbox.put(conn, [Message("n", "page", n, {})])
    with database.read() as conn:
        first = outbox.take(conn, Cursor(), limit=2)
        rest = outbox.take(conn, Cursor.parse(str(first[-1].cursor)), limit=10)
        assert [m.message.subject_id for m in (*first, *rest)] == [0, 1, 2, 3, 4]
        assert outbox.take(conn, end_cursor(conn)) == []


def _shift_clock(database: Database, days: int) -> None:
    with database.bare() as conn:
        conn.execute(
            text(
                "create or replace function bailiwick_now() returns timestamptz language sql stable parallel safe "
                f"return now() + interval '{days} days'"
            )
        )


def _days(database: Database) -> set[str]:
    query = "select inhrelid::regclass::text from pg_inherits where inhparent = 'outbox'::regclass"
    with database.read() as conn:
        return set(conn.execute(text(query)).scalars()) - {"outbox_default"}


def test_upkeep_makes_days_ahead_moves_rows_into_them_and_drops_old_ones(database: Database) -> None:
    with database.begin() as conn:
        outbox.put(conn, [Message("early", "page", 1, {})])  # before there is any day
        today: date = conn.execute(text("select (now() at time zone 'UTC')::date")).scalar_one()
    with database.begin() as conn:
        assert outbox.run_once(conn, keep_days=14) == outbox.Counts(created=4, dropped=0)
    with database.begin() as conn:
        assert outbox.run_once(conn, keep_days=14) == outbox.Counts(created=0, dropped=0)
        assert conn.execute(text("select count(*) from outbox_default")).scalar_one() == 0
        assert conn.execute(text(f"select topic from outbox_{today:%Y%m%d}")).scalar_one() == "early"
    _shift_clock(database, 16)
    with database.begin() as conn:
        counts = outbox.run_once(conn, keep_days=14)
    later = today + timedelta(days=16)
    assert counts == outbox.Counts(created=4, dropped=2)
    assert f"outbox_{later:%Y%m%d}" in _days(database)
    assert f"outbox_{today:%Y%m%d}" not in _days(database)
    with database.begin() as conn:
        outbox.put(conn, [Message("late", "page", 1, {})])
        assert conn.execute(text(f"select topic from outbox_{later:%Y%m%d}")).scalar_one() == "late"


def test_rows_from_another_clusters_future_become_readable_after_rebase(database: Database) -> None:
    """What a restore brings: transaction numbers that this cluster has not reached."""
    with database.begin() as conn:
        outbox.put(conn, [Message("restored", "page", n, {}) for n in range(3)])
        conn.execute(text("update outbox set xid = '9000000000000'"))
    with database.read() as conn:
        assert outbox.take(conn, Cursor()) == []
    with database.begin() as conn:
        rebase(conn)
    with database.read() as conn:
        assert [m.message.subject_id for m in outbox.take(conn, Cursor())] == [0, 1, 2]
