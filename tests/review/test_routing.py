"""Where scores lead: by bands, by trust, by the room that there is; once, however often it is asked for."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from pydantic import ValidationError
from sqlalchemy import Connection, text

from bailiwick.accounts.members import local_admin, system_actor
from bailiwick.approve import service
from bailiwick.base.bands import Band, BandAction, Bands
from bailiwick.base.errors import NotAllowedError
from bailiwick.base.review_sections import ReviewSettings
from bailiwick.db.engine import Database
from bailiwick.model.layers import DomainAge, Layer1Results
from bailiwick.model.states import Role
from bailiwick.registry import trust
from bailiwick.registry.records import get_by_id
from bailiwick.review import decisions
from bailiwick.review.routing import TakenIn, information, take_in_overflow
from tests.ledger.tools import make_member
from tests.review.tools import BANDS, LAYER1, LAYER2, LAYER3, SETTINGS, Url, queued, routed, urls, waiting


def results(conn: Connection) -> list[tuple[str, str, str | None]]:
    rows = conn.execute(text("select status, reason, reviewer_notes from url_results order by url_id")).all()
    return [tuple(row) for row in rows]


def test_each_band_leads_where_it_says(database: Database) -> None:
    with database.begin() as conn:
        found = [
            routed(conn, url, score) for url, score in zip(urls(conn, 5), (0.9, 0.795, 0.8, 0.3, 0.1), strict=True)
        ]
        assert [(one.band, one.status, one.reason) for one in found] == [
            ("high", "approved", "band"),
            ("medium", "waiting", "band"),  # not rounded to 0.8
            ("high", "approved", "band"),
            ("low", "waiting", "band"),
            ("auto_reject", "rejected", "band"),
        ]
        assert results(conn) == [("approved", "band", None), ("approved", "band", None), ("rejected", "band", None)]
        rows = conn.execute(text("select confidence_band, confidence_score, state, is_stale from review_queue")).all()
        assert [tuple(row) for row in rows] == [("medium", 0.795, "waiting", False), ("low", 0.3, "waiting", False)]


def test_layers_are_kept_as_they_are_written(database: Database) -> None:
    with database.begin() as conn:
        [url] = urls(conn, 1)
        routed(conn, url, 0.6, title="A \x00 title", reasoning="half \ud800 a letter")
        row = conn.execute(text("select * from evaluations")).one()
    assert row.layer1_results == LAYER1.stored()
    assert row.layer2_results == LAYER2.stored()
    assert row.layer3_results == LAYER3.stored()
    assert row.sophistication_signals == {
        "design_quality": 0.7,
        "content_originality": 0.6,
        "authority_indicators": 0.4,
        "professional_presentation": 0.65,
    }
    assert row.evidence == {
        "layer2": {"write_for_us": [{"url": "https://site.example/write", "text": "Write for us!"}]}
    }
    assert (row.title, row.reasoning) == ("A   title", "half   a letter")
    assert (bytes(row.embedding), bytes(row.body_hash)) == (b"\x01\x02", b"body")


def test_layers_that_do_not_hold_are_refused(database: Database) -> None:
    broken = Layer1Results.model_construct(**{**dict(LAYER1), "domain_age": DomainAge.model_construct(passed=True)})
    with database.begin() as conn, pytest.raises(ValidationError, match="not checked"):
        routed(conn, urls(conn, 1)[0], 0.6, layer1=broken)


def test_again_it_is_as_it_was(database: Database) -> None:
    """A worker that was killed after its commit does the same once more."""
    with database.begin() as conn:
        pages = urls(conn, 4)
        tight = ReviewSettings(queue_size_limit=1)
        scores = (0.9, 0.6, 0.6, 0.1)
        first = [routed(conn, url, score, tight) for url, score in zip(pages, scores, strict=True)]
    with database.begin() as conn:
        again = [routed(conn, url, 0.5, tight) for url in pages]
        assert again == first
        assert [one.status for one in again] == ["approved", "waiting", "queue_overflow", "rejected"]
        counts = "select (select count(*) from evaluations), (select count(*) from review_queue)"
        assert tuple(conn.execute(text(counts)).one()) == (4, 1)


def test_one_that_was_rolled_back_is_done_anew(database: Database) -> None:
    with database.begin() as conn:
        [url] = urls(conn, 1)
    with database.begin() as conn, conn.begin_nested() as nested:
        routed(conn, url, 0.6)
        nested.rollback()
    with database.begin() as conn:
        assert routed(conn, url, 0.6).status == "waiting"


def test_two_workers_with_the_same_url_make_one(database: Database) -> None:
    with database.begin() as conn:
        [url] = urls(conn, 1)
        local_admin(conn)
    start = Barrier(4)

    def work(score: float) -> tuple[int, str]:
        start.wait(20)
        with database.begin() as conn:
            done = routed(conn, url, score)
            return done.evaluation_id, done.status

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, (0.9, 0.6, 0.6, 0.1)))
    assert len(set(found)) == 1
    assert waiting(database) <= 1


@pytest.mark.parametrize("score", [0.95, 0.6, 0.1])
def test_a_trusted_domain_never_enters_the_queue(database: Database, score: float) -> None:
    with database.begin() as conn:
        marked, ruled, plain = (urls(conn, 1, domain=name)[0] for name in ("a.example", "b.gov", "c.example"))
        admin = local_admin(conn)
        service.set_trust(conn, get_by_id(conn, marked.domain_id), admin, trusted=True, reason=None)
        trust.add_rule(conn, ".gov", admin, reason=None)
        found = [routed(conn, url, score) for url in (marked, ruled, plain)]
        assert [one.reason for one in found] == ["trusted_domain", "trusted_domain", "band"]
        assert [one.status for one in found[:2]] == ["approved", "approved"]
        assert [one.action for one in found[:2]] == [BANDS.band(score).action] * 2
        assert conn.execute(text("select count(*) from evaluations")).scalar_one() == 3


def test_trust_in_a_domain_that_was_turned_away_since_says_nothing(database: Database) -> None:
    with database.begin() as conn:
        [url] = urls(conn, 1)
        admin = local_admin(conn)
        service.set_trust(conn, get_by_id(conn, url.domain_id), admin, trusted=True, reason=None)
        service.suspend(conn, get_by_id(conn, url.domain_id), admin, reason="hacked")
        assert routed(conn, url, 0.6).status == "waiting"


def test_the_limit_is_exact_with_eight_writers(database: Database) -> None:
    limit, writers, each = 25, 8, 12
    tight = ReviewSettings(queue_size_limit=limit)
    with database.begin() as conn:
        local_admin(conn)
        pages = urls(conn, writers * each)
    start = Barrier(writers)

    def work(mine: Sequence[Url]) -> list[str]:
        start.wait(20)
        done = []
        for n in range(0, len(mine), 3):  # some transactions hold several
            with database.begin() as conn:
                done += [routed(conn, url, 0.6, tight).status for url in mine[n : n + 3]]
        return done

    with ThreadPoolExecutor(writers) as pool:
        parts = [pages[n * each : (n + 1) * each] for n in range(writers)]
        statuses = [status for part in pool.map(work, parts) for status in part]
    assert (statuses.count("waiting"), waiting(database)) == (limit, limit)
    assert statuses.count("queue_overflow") == writers * each - limit
    with database.read() as conn:
        assert set(results(conn)) == {("queue_overflow", "queue_full", "the queue holds 25 of 25")}


def test_overflow_is_taken_in_as_far_as_there_is_room_the_oldest_first(database: Database) -> None:
    tight = ReviewSettings(queue_size_limit=2)
    with database.begin() as conn:
        admin = local_admin(conn)
        pages = urls(conn, 6)
        for url in pages:
            routed(conn, url, 0.6, tight)
        assert take_in_overflow(conn, lambda _: BANDS, tight, admin, limit=9) == TakenIn(0, 0)
        wider = ReviewSettings(queue_size_limit=4)
        assert take_in_overflow(conn, lambda _: BANDS, wider, admin, limit=1) == TakenIn(1, 0)
        assert take_in_overflow(conn, lambda _: BANDS, wider, admin, limit=9) == TakenIn(1, 0)
        inside = conn.execute(text("select url_id from review_queue order by url_id")).scalars().all()
        assert inside == [url.id for url in pages[:4]]
        assert [row[0] for row in results(conn)] == ["queue_overflow"] * 2
        service.set_trust(conn, get_by_id(conn, pages[0].domain_id), admin, trusted=True, reason=None)
        assert take_in_overflow(conn, lambda _: BANDS, SETTINGS, admin, limit=9) == TakenIn(0, 2)
        assert results(conn) == [("approved", "trusted_domain", None)] * 2
        told = conn.execute(text("select details from events where verb = 'requeue' order by id")).scalars().all()
        assert told == [{"queued": 1, "approved": 0}, {"queued": 1, "approved": 0}, {"queued": 0, "approved": 2}]
        with pytest.raises(NotAllowedError):
            take_in_overflow(conn, lambda _: BANDS, SETTINGS, make_member(conn, "vera", Role.VIEWER), limit=1)


def test_two_who_take_in_overflow_at_once_take_each_url_once(database: Database) -> None:
    with database.begin() as conn:
        admin = local_admin(conn)
        for url in urls(conn, 12):
            routed(conn, url, 0.6, ReviewSettings(queue_size_limit=1))
    wider = ReviewSettings(queue_size_limit=7)

    def take(_: int) -> int:
        with database.begin() as conn:
            return take_in_overflow(conn, lambda _: BANDS, wider, admin, limit=9).queued

    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(take, range(3))) == 6
    assert waiting(database) == 7


def test_a_decision_makes_room(database: Database) -> None:
    tight = ReviewSettings(queue_size_limit=1)
    with database.begin() as conn:
        [entry] = queued(conn, settings=tight)
        decisions.approve(conn, entry, local_admin(conn), tight)
        assert routed(conn, urls(conn, 1)[0], 0.6, tight).status == "waiting"


def test_information_is_most_where_it_could_go_either_way() -> None:
    assert information(0.1, 0.5, BANDS) == 1
    assert information(0.1, 0.9, BANDS) == pytest.approx(0.2)
    assert information(0.55, None, BANDS) == pytest.approx(1)  # in the middle between 0.3 and 0.8
    assert information(0.3, None, BANDS) == 0
    assert information(0.675, None, BANDS) == pytest.approx(0.5)
    odd = Bands.of(
        (
            Band(name="a", min=0, max=0.5, action=BandAction.AUTO_APPROVE),
            Band(name="b", min=0.51, max=1, action=BandAction.MANUAL_REVIEW),
        )
    )
    assert information(0.75, None, odd) == 0.5
    everything = Bands.of((Band(name="all", min=0, max=1, action=BandAction.MANUAL_REVIEW),))
    assert information(0.5, None, everything) == 1


def test_the_system_is_a_submitter_like_others(database: Database) -> None:
    with database.begin() as conn:
        [entry] = queued(conn, submitted_by=system_actor(conn).id)
        assert entry.submitter == "system"
