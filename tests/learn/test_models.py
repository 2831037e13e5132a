"""Models through the database: trained on real rows, switched on and off by admins alone, every act in the trail."""

from datetime import UTC, datetime, timedelta
from functools import cache

import pytest
from sqlalchemy import Connection, insert, text

from bailiwick.accounts.members import local_admin
from bailiwick.base.bands import Bands
from bailiwick.base.errors import ConflictError, NotAllowedError, NotFoundError, SettingsError, UsageError
from bailiwick.db.engine import Database
from bailiwick.db.tables import labels
from bailiwick.learn import models
from bailiwick.learn.drift import drift
from bailiwick.learn.examples import gather
from bailiwick.learn.models import Made, Model
from bailiwick.learn.scorer import active_scorer
from bailiwick.learn.training import fit_model, train
from bailiwick.ledger.events import latest
from bailiwick.model.states import Role
from tests.learn.tools import BANDS, examples, keep_review, keep_scored
from tests.ledger.tools import make_member


@cache
def made() -> Made:
    """Fitted once for all servers."""
    return fit_model("review", "general", examples(110), BANDS)


def trained(conn: Connection, times: int = 1) -> list[Model]:
    """Versions of one model."""
    return [models.keep(conn, made(), local_admin(conn)) for _ in range(times)]


def test_training_on_rows_and_predicting_by_what_is_kept(database: Database) -> None:
    given = examples(110)
    with database.begin() as conn:
        me = local_admin(conn)
        keep_review(conn, given, me)
        model = train(conn, "review", "general", BANDS, me)
    with database.read() as conn:
        assert active_scorer(conn, "review", "general") is None, "nothing is used before an admin says so"
        assert models.get(conn, model.id) == model
    assert (model.version, model.state, model.labels, model.trained_by) == (1, "trained", 110, me.name)
    assert model.report.wanted == sum(one.is_wanted for one in given)
    assert (model.form, model.report) == (made().form, made().report), "rows say what the examples say"
    with database.begin() as conn:
        models.activate(conn, model, me, reason="saves half")
        used = active_scorer(conn, "review", "general")
        assert used is not None
        assert (used.id, used.version) == (model.id, 1)
        assert active_scorer(conn, "review", "funding") is None
        assert active_scorer(conn, "candidate", "general") is None
    sides = [(used.probability(one.signals, one.embedding) >= 0.5) == one.is_wanted for one in given]
    assert sum(sides) > 0.8 * len(given)
    reasons = used.top_signals(given[0].signals, given[0].embedding, most=2)
    assert len(reasons) == 2


def test_only_one_is_used_and_every_act_has_its_event(database: Database) -> None:
    with database.begin() as conn:
        me = local_admin(conn)
        first, second = trained(conn, 2)
        assert (first.version, second.version) == (1, 2)
        first = models.activate(conn, first, me)
        second = models.activate(conn, second, me, reason="better")
        assert [(m.id, m.state) for m in models.listed(conn)] == [(second.id, "active"), (first.id, "retired")]
        assert (second.activated_by, second.activated_at is not None) == (me.name, True)
        models.retire(conn, second, me, reason="enough")
        assert active_scorer(conn, "review", "general") is None
        again = models.activate(conn, models.get(conn, first.id), me)
        assert again.state == "active", "what was retired can be used again"
        trail = [
            (e.subject.name, e.verb, e.before, e.after, e.reason) for e in latest(conn) if e.subject.kind == "model"
        ]
    one, two = "review/general/1", "review/general/2"
    assert trail[::-1] == [
        (one, "train", None, "trained", None),
        (two, "train", None, "trained", None),
        (one, "activate", "trained", "active", None),
        (one, "retire", "active", "retired", "version 2 is used instead"),
        (two, "activate", "trained", "active", "better"),
        (two, "retire", "active", "retired", "enough"),
        (one, "activate", "retired", "active", None),
    ]


def test_what_is_no_longer_as_seen_is_not_moved(database: Database) -> None:
    with database.begin() as conn:
        me = local_admin(conn)
        [seen] = trained(conn)
        active = models.activate(conn, seen, me)
        with pytest.raises(ConflictError, match="no longer trained"):
            models.activate(conn, seen, me)
    with database.begin() as conn:
        with pytest.raises(ConflictError, match="in use already"):
            models.activate(conn, active, me)
        with pytest.raises(ConflictError, match="not in use"):
            models.retire(conn, seen, me)
        with pytest.raises(NotFoundError):
            models.get(conn, 10**9)


def test_only_admins_train_and_switch(database: Database) -> None:
    with database.begin() as conn:
        who = make_member(conn, "who", Role.REVIEWER)
        [model] = trained(conn)
        with pytest.raises(NotAllowedError):
            train(conn, "review", "general", BANDS, who)
        with pytest.raises(NotAllowedError):
            models.activate(conn, model, who)
        with pytest.raises(NotAllowedError):
            models.retire(conn, models.activate(conn, model, local_admin(conn)), who)
        assert len(models.listed(conn)) == 1


def test_the_last_decision_about_a_page_counts(database: Database) -> None:
    with database.begin() as conn:
        me = local_admin(conn)
        [one, other] = examples(2)
        keep_review(conn, [one, other, one], me, model_id=4, learned_probability=0.5)
        found = gather(conn, "review", "general")
        assert [example.subject for example in found] == [other.subject, one.subject]
        assert all(example.is_guided for example in found)
        assert found[1].signals == one.signals
        assert len(gather(conn, "review", "general", most=1)) == 1
        with pytest.raises(UsageError, match="no task"):
            gather(conn, "weather", "general")


def test_candidates_speak_by_their_judges_and_their_texts(database: Database) -> None:
    scores = [{"judge_name": "meaning", "score": 0.7, "weight": 1.5}, {"judge_name": "recency", "score": 0.1}]
    material = {"title": "Small grants", "snippet": "for lakes", "confidence": 0.64, "judge_scores": scores}
    nothing = {"title": "", "snippet": "", "confidence": 0.5, "judge_scores": []}
    with database.begin() as conn:
        me = local_admin(conn)
        for number, each in enumerate((material, nothing)):
            values = {"subject": f"https://a.example/{number}", "profile": "funding", "is_wanted": True}
            conn.execute(insert(labels).values(task="candidate", **values, material=each, decided_by=me.id))
        one, other = gather(conn, "candidate", "funding")
    assert (dict(one.signals), one.confidence) == ({"meaning": 0.7, "recency": 0.1}, 0.64)
    assert one.embedding is not None
    assert len(one.embedding) == 512
    assert (dict(other.signals), other.embedding) == ({}, None)


def test_bands_that_are_not_in_order_are_refused() -> None:
    odd = {"high": "reject", "auto_reject": "auto_approve"}
    changed = [
        band.model_validate({**band.model_dump(), "action": odd.get(band.name, band.action)}) for band in BANDS.written
    ]
    with pytest.raises(SettingsError, match="bands in order"):
        fit_model("review", "general", examples(120), Bands.of(changed))


def test_drift_is_read_from_labels(database: Database) -> None:
    now = datetime(2026, 11, 16, 12, tzinfo=UTC)
    with database.begin() as conn:
        me = local_admin(conn)
        keep_review(conn, examples(5), me)
        for days in range(40):
            keep_scored(conn, me, now - timedelta(days=days), 0.9, is_wanted=days % 10 > 0, model_id=1)
        keep_scored(conn, me, now, 0.2, is_wanted=True, model_id=2)
        found = drift(conn, "review", "general")
        assert sum(week.decisions for week in found.weeks) == 41, "what no model scored does not count"
        assert sum(week.decisions for week in drift(conn, "review", "general", model_id=2).weeks) == 1
        assert drift(conn, "candidate", "general").weeks == ()
        kept = conn.execute(text("select count(*) from labels")).scalar_one()
        assert kept == 46
