"""Lists of the queue: filters, orders and pages; one entry with its evidence; figures."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from bailiwick.base.errors import NotFoundError
from bailiwick.db.engine import Database
from bailiwick.review import decisions, listing, queue
from bailiwick.review.detail import detail
from bailiwick.review.figures import Reviewer, figures
from bailiwick.review.listing import Entry, Order, Which, entries, place_of
from tests.review.test_decisions import reviewers
from tests.review.tools import LAYER1, LAYER2, LAYER3, SETTINGS, job, queued, routed, urls

SCORES = (0.7, 0.31, 0.55, 0.55, 0.4, 0.79)


@pytest.mark.parametrize("order", ["age", "information", "score"])
def test_pages_of_a_list_are_the_list(database: Database, order: Order) -> None:
    with database.begin() as conn:
        queued(conn, SCORES)
        whole = entries(conn, Which(), order=order, limit=50)
        assert len(whole) == len(SCORES)
        paged: list[Entry] = []
        while page := entries(conn, Which(), order=order, limit=2, after=place_of(paged[-1], order) if paged else None):
            paged += page
        assert paged == whole
        if order == "score":
            assert [one.confidence_score for one in whole] == sorted(SCORES, reverse=True)
        if order == "information":
            assert [one.confidence_score for one in whole[:2]] == [0.55, 0.55]
            assert whole[0].id < whole[1].id


def test_filters(database: Database) -> None:
    with database.begin() as conn:
        ada, _ = reviewers(conn)
        all_of_them = queued(conn, SCORES)
        other = job(conn, "other")
        [url] = urls(conn, 1, domain="else.example", job_id=other)
        routed(conn, url, 0.6)
        old = "update review_queue set is_stale = true, queued_at = now() - interval '9 days' where id = :i"
        conn.execute(text(old), {"i": all_of_them[0].id})

        def found(**which: object) -> list[float]:
            return [one.confidence_score for one in entries(conn, Which(**which), limit=50)]  # type: ignore[arg-type]

        assert found(band="low") == [0.31, 0.4]
        assert found(job_id=other) == [0.6]
        assert found(domain_id=url.domain_id) == [0.6]
        assert found(least=0.55, most=0.6) == [0.55, 0.55, 0.6]
        assert found(is_stale=True) == found(before=datetime.now(UTC) - timedelta(days=7)) == [0.7]
        assert found(band="no such") == []
        decisions.approve(conn, all_of_them[1], ada, SETTINGS)
        decisions.reject(conn, all_of_them[2], ada, SETTINGS, notes="no")
        assert found(state="approved") == [0.31]
        assert found(state="rejected") == [0.55]
        assert found(state="reviewed") == [0.55, 0.31], "the newest decision first"
        assert len(found()) == 5
        assert listing.job_id(conn, "other") == listing.job_id(conn, str(other)) == other
        for unknown in ("none", "999999", "9" * 40):
            with pytest.raises(NotFoundError):
                listing.job_id(conn, unknown)


def test_one_entry_with_its_evidence_and_its_domain(database: Database) -> None:
    with database.begin() as conn:
        ada, _ = reviewers(conn)
        near, far, mine = queued(conn, (0.62, 0.31, 0.6))
        decisions.approve(conn, near, ada, SETTINGS, notes="good")
        decisions.reject(conn, far, ada, SETTINGS, notes="bad")
        routed(conn, urls(conn, 1)[0], 0.95)
        whole = detail(conn, mine)
        assert (whole.layer1, whole.layer2, whole.layer3) == (LAYER1, LAYER2, LAYER3)
        assert whole.proofs["layer2"]["write_for_us"][0].text == "Write for us!"
        assert whole.decided == {"approved": 2, "rejected": 1}
        assert [(one.id, one.state, one.reviewer_notes) for one in whole.similar] == [
            (near.id, "approved", "good"),
            (far.id, "rejected", "bad"),
        ]
        with pytest.raises(NotFoundError, match="no entry 12345"):
            listing.get(conn, 12345)


def test_figures(database: Database) -> None:
    with database.begin() as conn:
        ada, bob = reviewers(conn)
        one, two, three, four = queued(conn, (0.6, 0.6, 0.6, 0.6))
        decisions.approve(conn, one, ada, SETTINGS)
        decisions.reject(conn, two, ada, SETTINGS, notes="no")
        queue.claim(conn, three.id, bob, SETTINGS)
        conn.execute(text("update review_queue set is_stale = true where id = :i"), {"i": four.id})
        routed(conn, urls(conn, 1)[0], 0.9)
        now = figures(conn)
        assert (now.waiting, now.stale, now.claimed, now.oldest) == (2, 1, 1, three.queued_at)
        assert now.results == {"approved": {"band": 1, "person": 1}, "rejected": {"person": 1}}
        assert now.reviewers == [Reviewer("ada", 1, 1)]
