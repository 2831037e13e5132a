"""Phase 2: a candidate whose page was crawled gets what was extracted, and waits for a person."""

from sqlalchemy import Connection, text

from bailiwick.accounts.members import system_actor
from bailiwick.db.engine import Database
from bailiwick.discover import candidates
from bailiwick.discover.candidates import Which
from bailiwick.discover.crawled import run_once
from tests.discover.tools import run, states
from tests.query.content_tools import Made, domain, fetched, parsed

FINDS = {
    "https://good.example/grants": 0.9,
    "https://good.example/old": 0.8,
    "https://good.example/gone": 0.7,
    "https://good.example/later": 0.65,
}
PROGRAMME = {"url": "https://good.example/grants", "name": "Oak Grants", "deadline": "2027-03-31", "amountMax": "5000"}
OTHER = {"url": "https://good.example/p", "name": "Elm Prize"}


def crawl(conn: Connection) -> int:
    good = domain(conn, "good.example")
    items = [("funding_programme", PROGRAMME), ("contact", {"email": "a@good.example", "name": "Jo Doe"})]
    parsed(conn, good, "/grants", Made("Grants for all.", items=items))
    parsed(conn, good, "/p", Made("A prize.", items=[("funding_programme", OTHER)]))
    fetched(conn, good, "/old", last_outcome="redirected", last_status=301)
    fetched(conn, good, "/gone", state="failed", last_outcome="not_found", last_status=404)
    return good


def test_crawled_candidates_move_on_with_their_facts(database: Database) -> None:
    run(database, FINDS)
    with database.begin() as conn:
        assert run_once(conn, system_actor(conn)) is None
        crawl(conn)
    with database.begin() as conn:
        done = run_once(conn, system_actor(conn))
        assert done is not None
        assert done.moved == 2
        assert run_once(conn, system_actor(conn), after=done.last_id) is None
        assert states(conn) == {
            "good.example/grants": "pending_review",
            "good.example/old": "pending_review",
            "good.example/gone": "pending_crawl",
            "good.example/later": "pending_crawl",
        }
        best = candidates.ranked(conn, Which(), limit=1)[0]
        assert best.crawled_at is not None
        assert best.facts == {
            "programmes": [
                {"path": "/grants", "name": "Oak Grants", "deadline": "2027-03-31", "amountMax": "5000",
                 "url": PROGRAMME["url"]},
                {"path": "/p", "name": "Elm Prize", "url": OTHER["url"]},
            ],
            "items": {"contact": 1, "funding_programme": 2},
        }  # fmt: skip
        kept = conn.execute(text("select string_agg(facts::text, '') from candidates")).scalar_one()
        assert "Jo Doe" not in kept
        assert "a@good.example" not in kept
        gone = candidates.ranked(conn, Which(state="pending_crawl"), limit=1)[0]
        assert gone.page_outcome == "not_found"


def test_a_page_that_cannot_be_read_is_looked_at_by_a_person(database: Database) -> None:
    run(database, {"https://good.example/list.xls": 0.9, "https://good.example/empty": 0.8})
    with database.begin() as conn:
        good = domain(conn, "good.example")
        fetched(conn, good, "/list.xls", last_outcome="other_type", last_status=200)
        parsed(conn, good, "/empty", None)
        assert run_once(conn, system_actor(conn)) is not None
        assert set(states(conn).values()) == {"pending_review"}


def test_nobody_moves_while_the_domain_is_being_crawled_or_parsed(database: Database) -> None:
    run(database, FINDS)
    with database.begin() as conn:
        good = crawl(conn)
        conn.execute(
            text("update crawl_queue set worker = 'w', ready_key = null, wake_at = bailiwick_now() + interval '1 hour'"
                 " where domain_id = :id"), {"id": good},
        )  # fmt: skip
        assert run_once(conn, system_actor(conn)) is None
        conn.execute(text("update crawl_queue set worker = null, wake_at = null where domain_id = :id"), {"id": good})
        conn.execute(
            text("insert into parse_queue (domain_id, path_hash, body_hash) values (:id, 1, 'x')"), {"id": good}
        )
        assert run_once(conn, system_actor(conn)) is None
        conn.execute(text("delete from parse_queue"))
        assert run_once(conn, system_actor(conn)) is not None
