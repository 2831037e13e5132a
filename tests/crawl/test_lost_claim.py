"""A claim whose COMMIT was done and not answered: the worker holds what it does not know of."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection

from bailiwick.base.errors import ServerMissingError
from bailiwick.crawl.desk import Desk
from bailiwick.db.engine import Database
from tests.crawl.desk_tools import desk_of, rows
from tests.registry.tools import admit, sound


def _lose_the_next_answer(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = database.begin

    @contextmanager
    def lossy() -> Iterator[Connection]:
        monkeypatch.setattr(database, "begin", begin)
        with begin() as conn:
            yield conn
        raise ServerMissingError("the database went away")

    monkeypatch.setattr(database, "begin", lossy)


def _held(database: Database) -> list[tuple[str, int, int]]:
    with sound(database) as conn:
        sql = """select d.name, q.lease_no, q.crashes from crawl_queue q join domains d on d.id = q.domain_id
                 where q.worker = 'w1' and q.wake_at > bailiwick_now() order by d.name"""
        return [tuple(row) for row in rows(conn, sql)]


def _claimed(desk: Desk, limit: int, *known: int) -> list[tuple[str, int]]:
    return sorted((one.lease.name.name, one.lease.lease_no) for one in desk.claim(limit, None, known))


def test_what_a_lost_claim_took_is_claimed_again_at_once(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would have waited for the end of its lease, half an hour by default, and the crawl with it."""
    with sound(database) as conn:
        admit(conn, "a.org", "b.org", "c.org")
    desk = desk_of(database)
    [mine] = desk.claim(1, None)
    _lose_the_next_answer(database, monkeypatch)
    with pytest.raises(ServerMissingError):
        desk.claim(2, None, [mine.lease.domain_id])
    assert len(_held(database)) == 3
    again = _claimed(desk, 5, mine.lease.domain_id)
    assert [number for _, number in again] == [2, 2]
    assert mine.lease.name.name not in dict(again)
    # Nobody sent anything under the lost leases, but who comes after an unreleased one waits a full delay.
    assert [crashes for name, _, crashes in _held(database) if name in dict(again)] == [1, 1]
    assert _claimed(desk, 5, mine.lease.domain_id) == []
    assert len(_held(database)) == 3
