"""What other bands would have done with past evaluations."""

from bailiwick.accounts.members import local_admin
from bailiwick.approve import service
from bailiwick.base.bands import Band, BandAction, Bands
from bailiwick.db.engine import Database
from bailiwick.registry.records import get_by_id
from bailiwick.review.preview import preview, waiting_by_band
from tests.review.tools import BANDS, routed, urls

APPROVE, REVIEW, REJECT = BandAction.AUTO_APPROVE, BandAction.MANUAL_REVIEW, BandAction.REJECT
SCORES = (0.0, 0.29, 0.3, 0.5, 0.6, 0.7, 0.75, 0.79999, 0.8, 1.0)
WIDER = Bands.of(
    (
        Band(name="top", min=0.7, max=1, action=APPROVE),
        Band(name="medium", min=0.4, max=0.69, action=REVIEW),
        Band(name="none", min=0, max=0.39, action=REJECT),
    )
)


def test_how_many_would_have_gone_elsewhere(database: Database) -> None:
    with database.begin() as conn:
        for url, score in zip(urls(conn, len(SCORES)), SCORES, strict=True):
            routed(conn, url, score)
        for url in urls(conn, 2):
            routed(conn, url, 0.75, profile="own")
        [trusted] = urls(conn, 1, domain="trusted.example")
        service.set_trust(conn, get_by_id(conn, trusted.domain_id), local_admin(conn), trusted=True, reason=None)
        routed(conn, trusted, 0.75)
        found = preview(conn, WIDER, own=["own"])
        assert (found.total, found.elsewhere) == (10, 4)
        assert found.by_action() == {(REVIEW, APPROVE): 3, (REVIEW, REJECT): 1}
        assert {(s.band, s.new_band): s.count for s in found.shifts} == {
            ("auto_reject", "none"): 2,
            ("low", "none"): 1,
            ("medium", "medium"): 2,
            ("medium", "top"): 3,
            ("high", "top"): 2,
        }
        assert found.line() == (
            "of 10 past evaluations 4 would have gone elsewhere: "
            "3 manual_review → auto_approve, 1 manual_review → reject"
        )
        assert preview(conn, WIDER, own=[]).elsewhere == 6
        same = preview(conn, BANDS, own=[])
        assert (same.elsewhere, same.line()) == (0, "of 12 past evaluations 0 would have gone elsewhere")
        # The database's cut points are those of the program: each score in the same band.
        assert {s.new_band: s.count for s in preview(conn, BANDS, own=["own"]).shifts} == {
            band.name: sum(BANDS.band(score) is band for score in SCORES) for band in BANDS.written
        }
        only = Bands.of((Band(name="all", min=0, max=1, action=REVIEW),))
        assert preview(conn, only, own=["own"]).by_action() == {(APPROVE, REVIEW): 2, (REJECT, REVIEW): 2}
        assert waiting_by_band(conn) == {"low": 1, "medium": 7}


def test_nothing_to_look_back_at(database: Database) -> None:
    with database.begin() as conn:
        assert preview(conn, WIDER, own=[]).line() == "of 0 past evaluations 0 would have gone elsewhere"
