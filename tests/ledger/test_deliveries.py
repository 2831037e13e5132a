"""Messages under way: claimed for a time, tried again ever later, given up in the end, never lost."""

import threading
from datetime import timedelta

from sqlalchemy import Connection, text, update

from bailiwick.db.engine import Database
from bailiwick.db.tables import deliveries as table
from bailiwick.db.tables import members
from bailiwick.ledger import deliveries
from bailiwick.ledger.deliveries import Delivery
from tests.ledger.tools import make_member
from tests.registry.tools import shift_clock


def claim(database: Database, worker: str = "w", *, max_tries: int = 3) -> list[Delivery]:
    with database.begin() as conn:
        return deliveries.claim(conn, worker, seconds=90, max_tries=max_tries)


def one(conn: Connection) -> Delivery:
    [found] = deliveries.listing(conn)
    return found


def test_a_message_waits_is_claimed_by_one_and_sent(database: Database) -> None:
    with database.begin() as conn:
        deliveries.enqueue(conn, "email", "queue_threshold", "50 wait\r\n now", "Look", recipient="a@b.test")
        assert deliveries.is_any_due(conn)
    [mine] = claim(database)
    assert (mine.title, mine.body, mine.recipient, mine.tries) == ("50 wait now", "Look", "a@b.test", 1)
    assert claim(database, "other") == []
    with database.begin() as conn:
        assert not deliveries.is_any_due(conn)
        assert deliveries.sent(conn, [mine.id], "other") == 0
        assert deliveries.sent(conn, [mine.id], "w") == 1
        done = one(conn)
        assert (done.state, done.sent_at is not None, deliveries.counts(conn)) == (
            "sent",
            True,
            {"waiting": 0, "failed": 0},
        )


def test_what_its_transaction_does_not_commit_is_never_sent(database: Database) -> None:
    with database.begin() as conn:
        deliveries.enqueue(conn, "slack", "queue_threshold", "t", "b")
        conn.rollback()
    assert claim(database) == []


def test_it_is_tried_ever_later_and_given_up(database: Database) -> None:
    with database.begin() as conn:
        deliveries.enqueue(conn, "slack", "queue_threshold", "t", "b")
    pauses = []
    for tries in (1, 2, 3):
        [mine] = claim(database)
        assert mine.tries == tries
        with database.begin() as conn:
            over = deliveries.failed(conn, [mine.id], "w", "no answer", max_tries=3)
            now = conn.execute(text("select bailiwick_now()")).scalar_one()
            pauses.append(one(conn).next_at - now)
            assert (one(conn).state, over) == (("failed", 1) if tries == 3 else ("waiting", 0))
        assert claim(database) == []
        shift_clock(database, f"{tries} days")
    assert pauses[:2] == [timedelta(minutes=1), timedelta(minutes=4)]
    with database.begin() as conn:
        assert (one(conn).error, deliveries.counts(conn)["failed"]) == ("no answer", 1)
        assert deliveries.retry(conn, [one(conn).id + 1]) == []
        assert deliveries.retry(conn) == [one(conn).id]
    [again] = claim(database)
    assert again.tries == 1


def test_a_pause_that_the_server_asks_for_is_kept(database: Database) -> None:
    with database.begin() as conn:
        deliveries.enqueue(conn, "slack", "queue_threshold", "t", "b")
    [mine] = claim(database)
    with database.begin() as conn:
        deliveries.failed(conn, [mine.id], "w", "429", max_tries=3, pause_seconds=1000)
        now = conn.execute(text("select bailiwick_now()")).scalar_one()
        assert one(conn).next_at - now == timedelta(seconds=1000)


def test_the_claim_of_a_dead_sender_ends_and_after_so_many_the_message_is_given_up(database: Database) -> None:
    with database.begin() as conn:
        deliveries.enqueue(conn, "slack", "queue_threshold", "t", "b")
    for day in (1, 2):
        [mine] = claim(database, f"dead {day}", max_tries=2)
        assert claim(database, "alive", max_tries=2) == []
        shift_clock(database, f"{day} days")
    assert claim(database, "alive", max_tries=2) == []
    with database.begin() as conn:
        assert deliveries.sent(conn, [mine.id], "dead 2") == 0
        assert (one(conn).state, one(conn).error) == ("failed", deliveries._DEAD)


def test_decisions_for_one_person_go_together_and_nothing_else_does(database: Database) -> None:
    with database.begin() as conn:
        for n in range(3):
            deliveries.enqueue(conn, "email", "decision", f"t{n}", "b", recipient="a@b.test")
            deliveries.enqueue(conn, "email", "decision", f"o{n}", "b", recipient="c@b.test")
            deliveries.enqueue(conn, "email", "queue_threshold", f"q{n}", "b", recipient="a@b.test")
    titles = []
    while mine := claim(database):
        titles.append([found.title for found in mine])
    assert sorted(titles) == [["o0", "o1", "o2"], ["q0"], ["q1"], ["q2"], ["t0", "t1", "t2"]]


def test_many_senders_get_each_message_once(database: Database) -> None:
    with database.begin() as conn:
        for n in range(40):
            deliveries.enqueue(conn, "slack", "queue_threshold", f"t{n}", "b")
    got: list[str] = []

    def work(name: str) -> None:
        while mine := claim(database, name):
            got.extend(found.title for found in mine)

    threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == sorted(f"t{n}" for n in range(40))


def test_a_message_to_all_others_becomes_one_to_each_or_none(database: Database) -> None:
    for others in (["ntfy 1", "discord 2"], []):
        with database.begin() as conn:
            deliveries.enqueue(conn, "other", "queue_threshold", "t", "b")
        [mine] = claim(database)
        with database.begin() as conn:
            deliveries.spread(conn, mine, "somebody else", others)
            assert len(deliveries.listing(conn)) == 1
            deliveries.spread(conn, mine, "w", others)
            assert [found.recipient for found in reversed(deliveries.listing(conn))] == others
            conn.execute(table.delete())


def test_what_is_given_back_has_not_been_tried(database: Database) -> None:
    with database.begin() as conn:
        deliveries.enqueue(conn, "slack", "queue_threshold", "t", "b")
    [mine] = claim(database)
    with database.begin() as conn:
        deliveries.release(conn, [mine.id], "w")
    [again] = claim(database)
    assert again.tries == 1


def test_members_are_told_where_they_left_an_address(database: Database) -> None:
    with database.begin() as conn:
        ann, bob = make_member(conn, "ann"), make_member(conn, "bob")
        assert not deliveries.tell_member(conn, ann.id, "t", "b")
        conn.execute(update(members).values(email="x@b.test").where(members.c.id.in_([ann.id, bob.id])))
        conn.execute(update(members).values(state="disabled").where(members.c.id == bob.id))
        assert deliveries.tell_member(conn, ann.id, "t", "b")
        assert not deliveries.tell_member(conn, bob.id, "t", "b")
        found = one(conn)
        assert (found.channel, found.kind, found.recipient) == ("email", "decision", "x@b.test")
        assert deliveries.forget(conn, "x@b.test") == 0  # it is still somebody's
        conn.execute(update(members).values(email=None))
        assert deliveries.forget(conn, "x@b.test") == 1


def test_what_was_sent_goes_after_its_time_and_failures_stay(database: Database) -> None:
    with database.begin() as conn:
        for _ in range(3):
            deliveries.enqueue(conn, "slack", "queue_threshold", "t", "b")
    first, second = claim(database)[0], claim(database)[0]
    with database.begin() as conn:
        deliveries.sent(conn, [first.id], "w")
        deliveries.failed(conn, [second.id], "w", "no", max_tries=1)
        assert deliveries.sweep(conn, keep_days=14) == 0
    shift_clock(database, "15 days")
    with database.begin() as conn:
        assert deliveries.sweep(conn, keep_days=14) == 1
        assert [found.state for found in deliveries.listing(conn)] == ["waiting", "failed"]
        assert [found.id for found in deliveries.listing(conn, state="failed")] == [second.id]
        assert deliveries.listing(conn, before_id=second.id) == []
