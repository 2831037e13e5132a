"""Automatic decisions that people look at: a share by chance, the result as it was until somebody decides otherwise."""

from itertools import pairwise

import pytest
from sqlalchemy import Connection, text

from bailiwick.accounts.members import local_admin
from bailiwick.base.review_sections import ReviewSettings
from bailiwick.db.engine import Database
from bailiwick.learn import examples
from bailiwick.model.states import Role
from bailiwick.registry import trust
from bailiwick.review import decisions, listing
from bailiwick.review.figures import Audits, figures, results_of_job
from bailiwick.review.listing import Entry, Which
from bailiwick.review.routing import is_audited
from tests.ledger.tools import make_member
from tests.review.tools import SETTINGS, routed, urls, waiting

ALL = ReviewSettings(audit_share=1)


def results(conn: Connection) -> list[tuple[str, str]]:
    return [tuple(row) for row in conn.execute(text("select status, reason from url_results order by url_id"))]


def audits(conn: Connection) -> list[Entry]:
    return listing.entries(conn, Which(is_audit=True), limit=100)


def test_a_share_is_chosen_by_chance_and_always_the_same() -> None:
    pages = [f"https://site.example/{n}" for n in range(20_000)]
    shares = (0.0, 0.01, 0.05, 0.5, 1.0)
    chosen = [{page for page in pages if is_audited(page, share)} for share in shares]
    assert [not chosen[0], chosen[-1] == set(pages)] == [True, True]
    assert all(smaller <= larger for smaller, larger in pairwise(chosen))
    for share, found in zip(shares, chosen, strict=True):
        # Five standard deviations of a fair draw.
        assert abs(len(found) - share * len(pages)) <= 5 * (share * (1 - share) * len(pages)) ** 0.5


def test_only_what_a_band_decided_alone_is_audited_and_its_result_stands(database: Database) -> None:
    with database.begin() as conn:
        found = [routed(conn, url, score, ALL) for url, score in zip(urls(conn, 3), (0.9, 0.6, 0.1), strict=True)]
        assert [(one.status, one.reason) for one in found] == [
            ("approved", "band"),
            ("waiting", "band"),
            ("rejected", "band"),
        ]
        assert results(conn) == [("approved", "band"), ("rejected", "band")]
        assert [(one.confidence_score, one.state) for one in audits(conn)] == [(0.9, "waiting"), (0.1, "waiting")]
        assert [one.confidence_score for one in listing.entries(conn, Which(is_audit=False), limit=9)] == [0.6]
        assert results_of_job(conn, audits(conn)[0].job_id) == {
            "approved": 1, "rejected": 1, "waiting": 1, "audit": 2,
        }  # fmt: skip


def test_none_without_a_share_and_none_of_what_is_trusted(database: Database) -> None:
    with database.begin() as conn:
        for url in urls(conn, 3):
            routed(conn, url, 0.9)
        trust.add_rule(conn, ".trusted.example", local_admin(conn), reason=None)
        for url in urls(conn, 3, domain="a.trusted.example"):
            routed(conn, url, 0.1, ALL)
        assert audits(conn) == []
        assert results(conn)[3:] == [("approved", "trusted_domain")] * 3


def test_the_queues_limit_holds_for_audits_too(database: Database) -> None:
    limited = ReviewSettings(audit_share=1, queue_size_limit=2)
    with database.begin() as conn:
        found = [routed(conn, url, 0.9, limited) for url in urls(conn, 4)]
        assert {one.status for one in found} == {"approved"}
        assert results(conn) == [("approved", "band")] * 4
    assert waiting(database) == 2


@pytest.mark.parametrize("takes_back", ["undo", "requeue"])
def test_a_decision_replaces_the_result_and_taken_back_the_bands_stands_again(
    database: Database, takes_back: str
) -> None:
    with database.begin() as conn:
        ada = make_member(conn, "ada", Role.ADMIN)
        for url, score in zip(urls(conn, 2), (0.9, 0.1), strict=True):
            routed(conn, url, score, ALL)
        high, low = audits(conn)
        high = decisions.reject(conn, high, ada, SETTINGS, notes="sells links")
        decisions.reject(conn, low, ada, SETTINGS, notes="so it is")
        assert results(conn) == [("rejected", "person"), ("rejected", "person")]
        assert figures(conn).audits == Audits(waiting=0, agreed=1, overruled=1)
        told = "select details->>'audit' from events where subject_kind = 'review_queue' and verb = 'reject'"
        assert conn.execute(text(told)).scalars().all() == ["true", "true"]
        if takes_back == "undo":
            decisions.undo(conn, high.id, ada, SETTINGS)
        else:
            decisions.requeue(conn, high.id, ada, SETTINGS, reason="a second look")
        assert results(conn) == [("approved", "band"), ("rejected", "person")]
        assert [one.id for one in audits(conn)] == [high.id]


def test_what_people_say_to_an_audit_is_learned_from(database: Database) -> None:
    with database.begin() as conn:
        ada = make_member(conn, "ada", Role.ADMIN)
        for url in urls(conn, 2):
            routed(conn, url, 0.9, ALL)
        first, second = audits(conn)
        decisions.reject(conn, first, ada, SETTINGS, notes="no")
        decisions.approve(conn, second, ada, SETTINGS)
        found = examples.gather(conn, "review", "general")
    assert [(one.is_wanted, one.confidence, one.is_guided) for one in found] == [
        (False, 0.9, False),
        (True, 0.9, False),
    ]
