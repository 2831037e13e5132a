"""Priority: worked examples of the formula, and scoring anew in batches that nobody has to wait for."""

import json
from collections.abc import Mapping

from sqlalchemy import Connection, text

from bailiwick.base.sections import PrioritySettings
from bailiwick.db.engine import Database
from bailiwick.registry.priority import Counts, run_once, weights
from tests.registry.tools import admit, claimed, faults

SETTINGS = PrioritySettings()
NOW = "2026-02-05T12:00:00Z"

# Specification 002 section 6.2 with DESIGN section 12's rank. Each line is computed by hand: the columns of the domain
# that matter, its score, and its step of 40 points.
EXAMPLES: dict[str, tuple[dict[str, object], int, int]] = {
    # Nothing is known: 0.
    "new and unranked": ({}, 0, 0),
    # 1000 - 100 * log10(1) = 1000; 1000 / 40 = 25.
    "rank 1": ({"seed_rank": 1}, 1000, 25),
    # 1000 - 100 * 0.30103 = 969.9; 970 / 40 = 24.25.
    "rank 2": ({"seed_rank": 2}, 970, 24),
    # 1000 - 100 * 1 = 900; 900 / 40 = 22.5.
    "rank 10": ({"seed_rank": 10}, 900, 22),
    # 1000 - 100 * 4 = 600; 600 / 40 = 15.
    "rank 10,000": ({"seed_rank": 10_000}, 600, 15),
    # 1000 - 100 * 6 = 400; 400 / 40 = 10.
    "rank 1,000,000": ({"seed_rank": 1_000_000}, 400, 10),
    # 1000 - 100 * 9.33193 = 66.8; 67 / 40 = 1.7. The worst rank that fits still counts more than none.
    "the worst rank": ({"seed_rank": 2**31 - 1}, 67, 1),
    # 2 * 1000 (the specification's own example); 2000 / 40 = 50.
    "two images a page": ({"image_yield_rate": 2.0}, 2000, 50),
    # (100 - 40) * 2 = 120; 120 / 40 = 3.
    "60 pages remain": ({"pages_discovered": 100, "pages_crawled": 40}, 120, 3),
    # min(10000 - 0, 500) * 2 = 1000; 1000 / 40 = 25.
    "very many pages remain": ({"pages_discovered": 10_000}, 1000, 25),
    # max(5 - 8, 0) * 2 = 0: more fetched than known (redirects, say) takes nothing off.
    "more crawled than discovered": ({"pages_discovered": 5, "pages_crawled": 8}, 0, 0),
    # -0.5 * 500 = -250 (the specification's own example); the lowest step is 0.
    "half of it errors": ({"error_rate": 0.5}, -250, 0),
    # 30 * 5 = 150 (the specification's own example); 150 / 40 = 3.75.
    "30 days stale": ({"last_crawled_at": "2026-01-06T12:00:00Z"}, 150, 3),
    # 7.8 * 5 = 39: one short of the next step. 7 days and 19.2 hours before noon is 16:48.
    "nearly 8 days stale": ({"last_crawled_at": "2026-01-28T16:48:00Z"}, 39, 0),
    # 8 * 5 = 40; 40 / 40 = 1.
    "8 days stale": ({"last_crawled_at": "2026-01-28T12:00:00Z"}, 40, 1),
    # A clock that was put back takes nothing off: max(-1, 0) * 5 = 0.
    "crawled tomorrow": ({"last_crawled_at": "2026-02-06T12:00:00Z"}, 0, 0),
    # 1000 - 100 * 2 = 800; 1.5 * 1000 = 1500; 200 * 2 = 400; -0.1 * 500 = -50; 10 * 5 = 50; sum 2700; / 40 = 67.5.
    "all of it": (
        {
            "seed_rank": 100,
            "image_yield_rate": 1.5,
            "pages_discovered": 300,
            "pages_crawled": 100,
            "error_rate": 0.1,
            "last_crawled_at": "2026-01-26T12:00:00Z",
        },
        2700,
        67,
    ),
    # 5 * 1000 = 5000; 5000 / 40 = 125: the highest step is 99.
    "off the scale": ({"image_yield_rate": 5.0}, 5000, 99),
}


def _score(conn: Connection, domain: Mapping[str, object], settings: PrioritySettings = SETTINGS) -> tuple[int, int]:
    """(score, step) of a domain that has these columns, at NOW."""
    row = {"pages_discovered": 0, "pages_crawled": 0, **domain}
    query = text(
        """select score, priority_step(score, cast(:weights as jsonb)) from (
               select domain_score(jsonb_populate_record(null::domains, cast(:row as jsonb)),
                                   cast(:weights as jsonb), cast(:now as timestamptz)) as score) as scored"""
    )
    values = {"row": json.dumps(row), "weights": weights(settings), "now": NOW}
    score, step = conn.execute(query, values).one()
    return score, step


def test_worked_examples(database: Database) -> None:
    with database.read() as conn:
        found = {what: _score(conn, domain) for what, (domain, _, _) in EXAMPLES.items()}
    assert found == {what: (score, step) for what, (_, score, step) in EXAMPLES.items()}


def test_every_weight_is_a_setting(database: Database) -> None:
    """The example with everything in it, one weight changed at a time; 2700 before."""
    domain, score, _ = EXAMPLES["all of it"]
    changed = {
        ("rank", 2.0): score + 800,
        ("yields", 100.0): score - 1350,
        ("remaining", 0.0): score - 400,
        ("remaining_cap", 50): score - 300,
        ("error", 5000.0): score - 450,
        ("stale_day", 0.5): score - 45,
    }
    with database.read() as conn:
        found = {
            (name, value): _score(conn, domain, PrioritySettings(**{name: value}))[0]  # type: ignore[arg-type]
            for name, value in changed
        }
        assert found == changed
        assert _score(conn, domain, PrioritySettings(step=100)) == (score, 27)


def test_rank_and_step_alone(database: Database) -> None:
    with database.read() as conn:
        ranks = {rank: _value(conn, "rank_score(:x, cast(:w as jsonb))", rank) for rank in (None, 1, 100, 10_000)}
        steps = {
            score: _value(conn, "priority_step(:x, cast(:w as jsonb))", score)
            for score in (-500, -1, 0, 39, 40, 3959, 3960, 3999, 4000, 2**31 - 1)
        }
    assert ranks == {None: 0, 1: 1000, 100: 800, 10_000: 600}
    assert steps == {-500: 0, -1: 0, 0: 0, 39: 0, 40: 1, 3959: 98, 3960: 99, 3999: 99, 4000: 99, 2**31 - 1: 99}


def test_batches_are_bounded_go_on_and_write_only_what_changed(database: Database) -> None:
    with database.begin() as conn:
        ids = [domain.id for domain in admit(conn, *(f"site{n:02}.org" for n in range(25)))]
        # Steps change for three; a rank so bad that its points stay in step 0 changes nothing.
        conn.execute(text("update domains set seed_rank = 1 where id = any(:ids)"), {"ids": [ids[3], ids[12], ids[24]]})
        conn.execute(text("update domains set error_rate = 0.1 where id = :id"), {"id": ids[7]})
        conn.execute(text("update domains set priority_score = 0, priority_computed_at = null"))
    before = _versions(database)
    with database.begin() as conn:
        first = run_once(conn, SETTINGS, batch=10)
        assert first == Counts(looked_at=10, changed=1, last_id=ids[9])
    with database.begin() as conn:
        second = run_once(conn, SETTINGS, after=ids[9], batch=10)
        assert second == Counts(looked_at=10, changed=1, last_id=ids[19])
        third = run_once(conn, SETTINGS, after=ids[19], batch=10)
        assert third == Counts(looked_at=5, changed=1, last_id=ids[24])
        assert run_once(conn, SETTINGS, after=ids[24], batch=10) is None
    after = _versions(database)
    assert {each for each in ids if after[each] != before[each]} == {ids[3], ids[12], ids[24]}
    with database.begin() as conn:
        assert run_once(conn, SETTINGS) == Counts(looked_at=25, changed=0, last_id=ids[24])
        assert faults(conn) == []
        assert {lease.domain_id for lease in claimed(conn, limit=3)} == {ids[3], ids[12], ids[24]}
        scores = conn.execute(text("select priority_score from domains where seed_rank = 1")).scalars().all()
        assert list(scores) == [1000] * 3
    assert _versions(database) != after


def test_scoring_does_not_wait_for_a_claim(database: Database) -> None:
    with database.begin() as conn:
        ids = {domain.id for domain in admit(conn, *(f"site{n}.org" for n in range(6)))}
        conn.execute(text("update domains set seed_rank = 1"))
    with database.begin() as claiming:
        held = {lease.domain_id for lease in claimed(claiming, limit=4)}
        with database.begin() as conn:
            _never_wait(conn)
            counts = run_once(conn, SETTINGS)
        assert counts is not None
        assert (counts.looked_at, counts.changed) == (6, 2), "what the claim holds is left to the next time"
        assert _steps(database) == {each: 0 if each in held else 25 for each in ids}
    with database.begin() as conn:
        counts = run_once(conn, SETTINGS)
        assert counts is not None
        assert counts.changed == 4
        assert faults(conn) == []
    assert set(_steps(database).values()) == {25}


def test_a_claim_does_not_wait_for_scoring(database: Database) -> None:
    with database.begin() as conn:
        ids = [domain.id for domain in admit(conn, *(f"site{n}.org" for n in range(6)))]
        conn.execute(text("update domains set seed_rank = 1 where id = any(:ids)"), {"ids": ids[:2]})
    with database.begin() as scoring:
        counts = run_once(scoring, SETTINGS)
        assert counts is not None
        assert counts.changed == 2
        with database.begin() as conn:
            _never_wait(conn)
            assert {lease.domain_id for lease in claimed(conn)} == set(ids[2:])
    with database.begin() as conn:
        assert {lease.domain_id for lease in claimed(conn)} == set(ids[:2])
        assert faults(conn) == []


def _value(conn: Connection, expression: str, value: int | None) -> object:
    query = text(f"select {expression.replace(':x', 'cast(:x as int)')}")
    return conn.execute(query, {"x": value, "w": weights(SETTINGS)}).scalar_one()


def _never_wait(conn: Connection) -> None:
    conn.execute(text("set local lock_timeout = '100ms'"))


def _versions(database: Database) -> dict[int, tuple[object, ...]]:
    """Who wrote each domain and its place in the queue last, and where to."""
    query = text(
        """select d.id, d.xmin::text, d.ctid::text, q.xmin::text, q.ctid::text
           from domains as d join crawl_queue as q on q.domain_id = d.id"""
    )
    with database.read() as conn:
        return {row.id: tuple(row) for row in conn.execute(query)}


def _steps(database: Database) -> dict[int, int]:
    with database.read() as conn:
        return {row.domain_id: row.prio for row in conn.execute(text("select domain_id, prio from crawl_queue"))}
