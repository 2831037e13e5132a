"""Thresholds of the review queue: one message a crossing, by whatever many writers at once."""

import threading
from collections.abc import Callable

import pytest
from sqlalchemy import Connection, text

from bailiwick.base.review_sections import NotificationSettings
from bailiwick.db.engine import Database
from bailiwick.ledger import deliveries
from bailiwick.review import crossings

MAIL = {"email_recipient": "boss@mail.test", "email_threshold": 5}
HOOK = {"slack_webhook_url": "https://hooks.slack.test/services/T/B/hush", "slack_threshold": 3}

_ADD = """
insert into review_queue (name, url, job_id, url_id, evaluation_id, domain_id, profile, confidence_band,
                          confidence_score, information, state, submitted_by)
select 'x', 'https://x.test/', 1, :first + n, 1, 1, 'general', 'medium', 0.5, 0.5, 'waiting', 1
from generate_series(1, :count) as n
"""
_DECIDE = """
update review_queue set state = 'approved', reviewed_at = now(), reviewed_by = 1, review_decision = 'approved'
where id in (select id from review_queue where reviewed_at is null order by id limit :count for update skip locked)
"""


def settings(**given: object) -> NotificationSettings:
    return NotificationSettings.model_validate(given)


def add(conn: Connection, count: int = 1, *, first: int = 0) -> None:
    """URLs that wait; the rows that they belong to are left out."""
    conn.execute(text("set local session_replication_role = replica"))
    start = first or conn.execute(text("select coalesce(max(url_id), 0) from review_queue")).scalar_one()
    conn.execute(text(_ADD), {"first": start, "count": count})


def decide(conn: Connection, count: int = 1) -> None:
    conn.execute(text("set local session_replication_role = replica"))
    assert conn.execute(text(_DECIDE), {"count": count}).rowcount == count


def change(database: Database, deed: Callable[[Connection], None], wanted: NotificationSettings) -> list[str]:
    """Do it, and say which channels were told."""
    with database.begin() as conn:
        before = {found.id for found in deliveries.listing(conn, limit=1000)}
        deed(conn)
        crossings.check(conn, wanted)
        return sorted(found.channel for found in deliveries.listing(conn, limit=1000) if found.id not in before)


def test_each_threshold_has_its_own_crossing(database: Database) -> None:
    both = settings(**MAIL, **HOOK)
    told = [change(database, add, both) for _ in range(7)]
    assert told == [[], [], ["slack"], [], ["email", "other"], [], []]
    down = [change(database, decide, both) for _ in range(5)]
    assert down == [[]] * 5
    assert change(database, lambda conn: add(conn, 4), both) == ["email", "other", "slack"]
    with database.read() as conn:
        found = deliveries.listing(conn)
    assert {row.recipient for row in found if row.channel == "email"} == {"boss@mail.test"}
    assert not any("hush" in f"{row.recipient}{row.title}{row.body}" for row in found)
    assert found[-1].title == "3 URLs wait for review"


def test_at_the_threshold_counts_and_one_below_counts_as_fallen(database: Database) -> None:
    mail = settings(**MAIL)
    assert change(database, lambda conn: add(conn, 5), mail) == ["email", "other"]
    assert change(database, lambda conn: add(conn, 2), mail) == []
    assert change(database, lambda conn: decide(conn, 2), mail) == []  # five wait: still there
    assert change(database, add, mail) == []
    assert change(database, lambda conn: decide(conn, 2), mail) == []
    assert change(database, add, mail) == ["email", "other"]


def test_a_change_that_is_taken_back_crossed_nothing(database: Database) -> None:
    mail = settings(**MAIL)
    with database.begin() as conn:
        add(conn, 5)
        crossings.check(conn, mail)
        conn.rollback()
    assert change(database, lambda conn: add(conn, 4), mail) == []
    assert change(database, add, mail) == ["email", "other"]


def test_settings_that_change_are_felt_with_the_next_change(database: Database) -> None:
    assert change(database, lambda conn: add(conn, 4), settings(**MAIL)) == []
    assert change(database, add, settings(**HOOK)) == ["slack"]  # the mail's default threshold is 50
    assert change(database, add, settings()) == []
    assert change(database, add, settings(**HOOK)) == ["slack"]  # a webhook that is set anew is told how things stand
    lower = settings(**MAIL | {"email_threshold": 8}, **HOOK)
    assert change(database, add, lower) == ["email", "other"]
    assert change(database, add, settings(**MAIL | {"email_threshold": 10}, **HOOK)) == []
    assert change(database, add, settings(**MAIL | {"email_threshold": 10}, **HOOK)) == ["email", "other"]


@pytest.mark.parametrize("threads", [8])
def test_many_writers_cross_once_up_and_once_after_every_fall(database: Database, threads: int) -> None:
    wanted = settings(**MAIL | {"email_threshold": 20}, **HOOK | {"slack_threshold": 33})

    def together(deed: Callable[[Connection], None], times: int) -> None:
        errors: list[BaseException] = []

        def work() -> None:
            try:
                for _ in range(times):
                    with database.begin() as conn:
                        deed(conn)
                        crossings.check(conn, wanted)
            except BaseException as error:  # noqa: BLE001 - told by the test's own thread
                errors.append(error)

        workers = [threading.Thread(target=work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert not errors

    numbers = iter(range(1, 100_000))
    lock = threading.Lock()

    def add_one(conn: Connection) -> None:
        with lock:
            first = next(numbers)
        add(conn, first=first)

    for round_ in (1, 2):
        together(add_one, 5)  # 0 to 40
        with database.read() as conn:
            told = [found.channel for found in deliveries.listing(conn, limit=1000)]
        assert [told.count(channel) for channel in ("email", "other", "slack")] == [round_] * 3
        together(decide, 5)  # 40 to 0
        with database.read() as conn:
            assert len(deliveries.listing(conn, limit=1000)) == 3 * round_
            assert conn.execute(text("select count(*) from review_queue where reviewed_at is null")).scalar_one() == 0


def test_the_count_reads_no_more_than_the_threshold(database: Database) -> None:
    with database.begin() as conn:
        add(conn, 6_000)
        decide(conn, 5_000)
    with database.bare() as conn:
        conn.execute(text("analyze review_queue"))
        query = crossings.count_waiting(50).compile(conn, compile_kwargs={"literal_binds": True})
        plan = "\n".join(conn.execute(text(f"explain (analyze) {query}")).scalars())
    assert "Index" in plan
    assert "rows=50" in plan
    assert "Seq Scan" not in plan
