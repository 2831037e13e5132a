"""Sessions: what is judged, what is passed over, who is asked about it; twice, at once, and after a crash."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from bailiwick.accounts.members import local_admin, system_actor
from bailiwick.approve import queue
from bailiwick.approve import service as approve
from bailiwick.base.discovery_sections import DiscoverSettings
from bailiwick.base.errors import ConflictError
from bailiwick.db.engine import Database
from bailiwick.discover import sessions
from bailiwick.discover.asking import Call
from bailiwick.discover.stats import Stats
from bailiwick.model.discovery import Case, Judgment
from bailiwick.model.names import DomainName
from bailiwick.ports import EngineAnswer, EngineHit, EngineOutcome
from bailiwick.registry import trust
from bailiwick.registry.records import get
from bailiwick.registry.submit import Answer, Submission, submit
from tests.discover.tools import by_title, order, run, states
from tests.registry.tools import admit, faults, shift_clock, sound

GOOD, POOR = DomainName("good.example"), DomainName("poor.example")
FINDS = {
    "https://good.example/grants": 0.9,
    "https://good.example/news": 0.2,
    "https://poor.example/": 0.1,
    "https://poor.example/a": 0.2,
    "https://poor.example/b": 0.3,
}


def balanced(stats: Stats) -> bool:
    """Every page found is counted once."""
    parts = (
        stats.candidates_created + stats.skipped_low_confidence + stats.skipped_domain_already_processed
        + stats.skipped_blacklisted + stats.failures
    )  # fmt: skip
    return parts == stats.total_processed


def test_a_session_keeps_what_it_judged_and_rates_its_domains(database: Database) -> None:
    stats = run(database, FINDS).stats
    assert (stats.total_processed, stats.candidates_created, stats.skipped_low_confidence) == (5, 1, 4)
    assert (stats.average_confidence, stats.max_confidence, stats.min_confidence) == (0.9, 0.9, 0.1)
    assert (stats.domains, stats.domains_new, stats.domains_proposed, stats.domains_admitted) == (2, 2, 1, 0)
    assert balanced(stats)
    with sound(database) as conn:
        assert states(conn) == {
            "good.example/grants": "pending_crawl",
            "good.example/news": "skipped_low_confidence",
            "poor.example/": "skipped_low_confidence",
            "poor.example/a": "skipped_low_confidence",
            "poor.example/b": "skipped_low_confidence",
        }
        good, poor = get(conn, GOOD), get(conn, POOR)
        assert (good.approval, good.standing, poor.standing) == (
            "pending_review", "processed_high_quality", "processed_low_quality",
        )  # fmt: skip
        assert (good.row["best_confidence_score"], good.row["processing_count"]) == (0.9, 1)
        assert (good.row["profile"], good.row["submitter_type"]) == ("funding", "system")
        assert good.row["discovery_session_id"] is not None
        # A person is asked about the good one alone.
        assert [one.name for one in queue.waiting(conn, limit=10)] == ["good.example"]
        wishes = conn.execute(text("select kind, path from page_requests")).all()
        assert [tuple(wish) for wish in wishes] == [("candidate", "/grants")]


def test_a_person_who_submits_a_domain_that_was_only_known_is_heard(database: Database) -> None:
    run(database, FINDS)
    with sound(database) as conn:
        done = submit(conn, Submission(POOR, context="I know them"), local_admin(conn))
        assert done.answer is Answer.SUBMITTED
        assert [one.name for one in queue.waiting(conn, limit=10)] == ["good.example", "poor.example"]
        assert submit(conn, Submission(POOR), local_admin(conn)).answer is Answer.ALREADY_PENDING


def test_a_domain_is_judged_once_in_thirty_days(database: Database) -> None:
    run(database, FINDS)
    again = run(database, FINDS, name="other words").stats
    assert (again.skipped_domain_already_processed, again.total_processed, again.domains) == (5, 5, 0)
    same = run(database, FINDS).stats
    assert (same.skipped_domain_already_processed, same.candidates_created) == (5, 0)
    shift_clock(database, "31 days")
    later = run(database, FINDS, name="a month later").stats
    # What is a candidate stays the one that it is; what was skipped is judged anew.
    assert (later.skipped_domain_already_processed, later.skipped_low_confidence, later.domains) == (1, 4, 2)
    assert balanced(again)
    assert balanced(later)
    with sound(database) as conn:
        assert get(conn, GOOD).row["processing_count"] == 2
        assert conn.execute(text("select count(*) from candidates")).scalar_one() == 9


def test_a_skipped_page_can_become_a_candidate_later_and_the_domain_is_proposed_then(database: Database) -> None:
    run(database, {"https://poor.example/": 0.3})
    with sound(database) as conn:
        assert queue.waiting(conn, limit=10) == []
    shift_clock(database, "31 days")
    stats = run(database, {"https://poor.example/": 0.8}, name="later").stats
    assert (stats.candidates_created, stats.domains_proposed) == (1, 1)
    with sound(database) as conn:
        assert [one.name for one in queue.waiting(conn, limit=10)] == ["poor.example"]
        assert get(conn, POOR).standing == "processed_high_quality"


def test_blacklisted_decided_failed_and_without_funds_are_passed_over(database: Database) -> None:
    with sound(database) as conn:
        me = local_admin(conn)
        spam, none, refused = admit(conn, "spam.example", "none.example", "refused.example")
        approve.blacklist(conn, spam, me, reason="spam")
        approve.mark_no_funds(conn, none, me, year=database_year(database), reason=None)
        approve.reject(conn, approve.suspend(conn, refused, me, reason="x"), me, reason="not for us")
    finds = {f"https://{name}.example/": 0.9 for name in ("spam", "none", "refused")}
    stats = run(database, finds).stats
    assert (stats.skipped_blacklisted, stats.skipped_domain_already_processed, stats.domains) == (1, 2, 0)
    shift_clock(database, "366 days")
    later = run(database, finds, name="next year").stats
    assert (later.skipped_blacklisted, later.skipped_domain_already_processed, later.candidates_created) == (1, 1, 1)
    with sound(database) as conn:
        assert get(conn, DomainName("none.example")).standing == "processed_high_quality"


def database_year(database: Database) -> int:
    with database.read() as conn:
        return int(conn.execute(text("select extract(year from bailiwick_now())")).scalar_one())


def broken_about(name: str) -> "object":
    def judge(cases: Sequence[Case]) -> list[Judgment]:
        if any(case.domain.name == name for case in cases):
            raise RuntimeError("out of order")
        return by_title(cases)

    return judge


def test_a_domain_that_cannot_be_judged_takes_nobody_along_and_backs_off(database: Database) -> None:
    judge = broken_about("poor.example")
    stats = run(database, FINDS, judge=judge).stats  # type: ignore[arg-type]
    assert (stats.failures, stats.candidates_created, stats.skipped_low_confidence) == (3, 1, 1)
    assert balanced(stats)
    with sound(database) as conn:
        poor = get(conn, POOR)
        assert poor.standing == "processing_failed"
        assert poor.row["failure_reason"] == "judging failed: RuntimeError: out of order"
    assert run(database, FINDS, name="at once").stats.skipped_domain_already_processed == 5
    shift_clock(database, "61 minutes")
    again = run(database, FINDS, name="an hour later", judge=judge).stats  # type: ignore[arg-type]
    assert (again.failures, again.skipped_domain_already_processed) == (3, 2)
    shift_clock(database, "4 hours")
    assert run(database, FINDS, name="too early").stats.skipped_domain_already_processed == 5
    shift_clock(database, "6 hours")
    assert run(database, FINDS, name="mended").stats.skipped_low_confidence == 3
    with sound(database) as conn:
        assert get(conn, POOR).standing == "processed_low_quality"


def test_a_trust_rule_and_the_operators_setting_admit_at_once(database: Database) -> None:
    with database.begin() as conn:
        trust.add_rule(conn, ".gov.example", local_admin(conn), reason="the state")
    finds = {"https://a.gov.example/": 0.7, "https://b.gov.example/": 0.1, "https://c.example/": 0.95, **FINDS}
    stats = run(database, finds, settings=DiscoverSettings(admit_confidence=0.95)).stats
    assert (stats.domains_admitted, stats.domains_proposed) == (3, 1)
    with sound(database) as conn:
        for name in ("a.gov.example", "b.gov.example", "c.example"):
            assert get(conn, DomainName(name)).approval == "approved"
        told = conn.execute(text("select subject_name, details from events where verb = 'admit' order by 1")).all()
        assert [tuple(row) for row in told] == [
            ("a.gov.example", {"rule": ".gov.example"}),
            ("b.gov.example", {"rule": ".gov.example"}),
            ("c.example", {"confidence": 0.95}),
        ]


def test_a_known_domain_that_waits_is_admitted_by_the_setting_too(database: Database) -> None:
    with database.begin() as conn:
        submit(conn, Submission(GOOD), system_actor(conn))
    run(database, FINDS, settings=DiscoverSettings(admit_confidence=0.9))
    with sound(database) as conn:
        assert get(conn, GOOD).approval == "approved"


def test_an_approved_domain_that_sleeps_is_woken_for_its_candidates(database: Database) -> None:
    with sound(database) as conn:
        [domain] = admit(conn, "good.example")
        conn.execute(
            text("update domains set next_crawl_after = bailiwick_now() + interval '9 days' where id = :id"),
            {"id": domain.id},
        )
        conn.execute(text("update crawl_queue set ready_key = null, wake_at = bailiwick_now() + interval '9 days'"))
    run(database, FINDS)
    with sound(database) as conn:
        assert get(conn, GOOD).refusal is None


def test_sessions_at_once_on_the_same_domains_judge_each_once(database: Database) -> None:
    finds = {f"https://d{n}.example/{page}": 0.9 if n % 2 else 0.1 for n in range(60) for page in range(3)}
    with ThreadPoolExecutor(4) as pool:
        ran = list(pool.map(lambda n: run(database, finds, name=f"session {n}").stats, range(4)))
    assert sum(stats.domains for stats in ran) == 60
    assert sum(stats.candidates_created for stats in ran) == 90
    assert sum(stats.skipped_domain_already_processed for stats in ran) == 3 * 180
    assert all(balanced(stats) for stats in ran)
    with sound(database) as conn:
        counts = "select sum(processing_count), sum(high_quality_candidate_count), sum(low_quality_candidate_count)"
        assert tuple(conn.execute(text(f"{counts} from domains")).one()) == (60, 90, 90)
        assert faults(conn) == []


def test_an_interrupted_session_is_gone_on_with_and_counts_everything_once(database: Database) -> None:
    class Killed(BaseException):
        pass

    seen: list[int] = []

    def dies(cases: Sequence[Case]) -> list[Judgment]:
        seen.append(len(cases))
        if len(seen) == 3:
            raise Killed
        return by_title(cases)

    finds = {f"https://d{n}.example/{page}": 0.9 for n in range(600) for page in range(3)}
    with pytest.raises(Killed):
        run(database, finds, judge=dies)
    with database.begin() as conn:
        [session] = sessions.latest(conn, limit=9)
        assert (session.state, session.stats.candidates_created) == ("running", 1200)
        with pytest.raises(ConflictError, match="is at this already"):
            sessions.begin(conn, order(), local_admin(conn))
        sessions.stop(conn, session.id)
    ran = run(database, finds)
    assert (ran.session.id, ran.stats.candidates_created, ran.stats.total_processed) == (session.id, 1800, 1800)
    assert balanced(ran.stats)
    with database.read() as conn:
        [session] = sessions.latest(conn, limit=9)
        assert (session.state, session.stats.candidates_created) == ("finished", 1800)


def test_answers_are_kept_until_the_session_is_finished(database: Database) -> None:
    answer = EngineAnswer(EngineOutcome.ANSWERED, (EngineHit("https://a.example/", "A\x00\ud800", "b"),), has_more=True)
    with database.begin() as conn:
        session, _ = sessions.begin(conn, order(), local_admin(conn))
        sessions.add_call(conn, session.id, Call("brave", "grants", 1, answer.outcome, hits=1, cost=0.01), answer)
        failed = EngineAnswer(EngineOutcome.LIMITED, why="too often\x00", status=429)
        sessions.add_call(conn, session.id, Call("brave", "grants", 2, failed.outcome, why=failed.why), failed)
        kept = sessions.kept_answers(conn, session.id)
        assert kept == {
            ("brave", "grants", 1): EngineAnswer(
                EngineOutcome.ANSWERED, (EngineHit("https://a.example/", "A?", "b"),), has_more=True
            )
        }
        assert [row.why for row in sessions.failed_calls(conn, session.id, limit=9)] == ["too often"]
        sessions.finish(conn, session.id, Stats(), local_admin(conn))
        assert sessions.kept_answers(conn, session.id) == {}


def taken_over(database: Database) -> int:
    """A session that another process went on with."""
    with database.begin() as conn:
        session, _ = sessions.begin(conn, order(), local_admin(conn))
        conn.execute(text("update discovery_sessions set worker = 'another', seen_at = seen_at - interval '1 hour'"))
    return session.id


def test_who_lost_a_session_leaves_it_to_the_other(database: Database) -> None:
    session_id = taken_over(database)
    with database.begin() as conn:
        sessions.stop(conn, session_id)
        assert sessions.get(conn, session_id).state == "running"
        for write in (
            lambda: sessions.save(conn, session_id, Stats()),
            lambda: sessions.add_call(conn, session_id, Call("brave", "grants", 1, EngineOutcome.FAILED), None),
        ):
            with pytest.raises(ConflictError, match="was taken over"):
                write()


def test_a_session_that_asks_engines_for_long_is_not_given_up(database: Database) -> None:
    with database.begin() as conn:
        session, _ = sessions.begin(conn, order(), local_admin(conn))
        conn.execute(text("update discovery_sessions set seen_at = seen_at - interval '1 hour'"))
        sessions.add_call(conn, session.id, Call("brave", "grants", 1, EngineOutcome.FAILED, cost=0.5), None)
        sessions.add_call(conn, session.id, Call("brave", "grants", 1, EngineOutcome.FAILED, cost=0.25), None)
        silent = conn.execute(text("select bailiwick_now() - seen_at < interval '1 minute' from discovery_sessions"))
        assert silent.scalar_one()
        assert sessions.asked(conn, session.id) == sessions.Asked(2, 0.75)


def test_results_that_are_gone_after_an_interruption_count_for_nothing(database: Database) -> None:
    run(database, FINDS, finishes=False)
    with database.begin() as conn:
        sessions.stop(conn, sessions.latest(conn, limit=1)[0].id)
    stats = run(database, {"https://poor.example/": 0.1}).stats
    assert (stats.skipped_domain_already_processed, stats.total_processed) == (0, 5)
    assert balanced(stats)
