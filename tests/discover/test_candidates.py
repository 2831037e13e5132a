"""Candidates through the database: every permitted move, every other refused, people's decisions as labels."""

import itertools

import pytest
from sqlalchemy import Connection, text

from bailiwick.accounts.members import local_admin
from bailiwick.accounts.service import set_email
from bailiwick.base.errors import BailiwickError, ConflictError, IllegalMoveError, UsageError
from bailiwick.db.engine import Database
from bailiwick.discover import candidates
from bailiwick.discover.candidates import Candidate, Which
from bailiwick.extract.queue import SQL
from bailiwick.ledger import deliveries
from bailiwick.model.states import Role
from bailiwick.model.transitions import CANDIDATE
from tests.discover.tools import run
from tests.ledger.tools import make_member
from tests.query.content_tools import Made, domain, key_of, parsed

FINDS = {"https://good.example/grants": 0.9, "https://good.example/a": 0.7, "https://poor.example/": 0.2}


def waiting(conn: Connection, name: str = "good.example/grants") -> Candidate:
    """The candidate, its page crawled."""
    found = conn.execute(
        text(
            "update candidates set state = 'pending_review', crawled_at = bailiwick_now() where name = :n returning id"
        ),
        {"n": name},
    ).scalar_one()
    return candidates.get(conn, found)


def test_a_reviewer_takes_decides_and_leaves_a_label(database: Database) -> None:
    run(database, FINDS)
    with database.begin() as conn:
        me = local_admin(conn)
        one = candidates.assign(conn, waiting(conn), me)
        assert (one.state, one.assignee) == ("in_review", me.name)
        one = candidates.release(conn, one, me)
        assert (one.state, one.assignee) == ("pending_review", None)
        one = candidates.approve(conn, candidates.assign(conn, one, me), me, notes="gives money")
        assert (one.state, one.reviewer, one.review_notes) == ("approved", me.name, "gives money")
        other = candidates.assign(conn, waiting(conn, "good.example/a"), me)
        with pytest.raises(UsageError, match="reason"):
            candidates.reject(conn, other, me, notes=" ")
        other = candidates.reject(conn, other, me, notes="a shop")
        rows = conn.execute(text("select task, subject, is_wanted, reason, material from labels order by id")).all()
        assert [(row.task, row.subject, row.is_wanted, row.reason) for row in rows] == [
            ("candidate", "https://good.example/grants", True, "gives money"),
            ("candidate", "https://good.example/a", False, "a shop"),
        ]
        assert rows[0].material["judge_scores"][0]["judge_name"] == "title"
        verbs = conn.execute(text("select verb from events where machine = 'candidate' order by id")).scalars().all()
        assert verbs == ["assign", "release", "assign", "approve", "assign", "reject"]


def test_two_reviewers_at_once_one_is_told(database: Database) -> None:
    run(database, FINDS)
    with database.begin() as conn:
        ada, bob = make_member(conn, "ada", Role.REVIEWER), make_member(conn, "bob", Role.REVIEWER)
        seen = waiting(conn)
        held = candidates.assign(conn, seen, ada)
    with database.begin() as conn, pytest.raises(ConflictError, match="assign by ada"):
        candidates.assign(conn, seen, bob)
    with database.begin() as conn, pytest.raises(ConflictError, match="in review by ada"):
        candidates.approve(conn, held, bob, notes=None)


def test_who_may_only_look_may_not_decide(database: Database) -> None:
    run(database, FINDS)
    with database.begin() as conn:
        viewer = make_member(conn, "vera", Role.VIEWER)
        with pytest.raises(IllegalMoveError):
            candidates.assign(conn, waiting(conn), viewer)


def test_who_ordered_the_discovery_does_not_decide_once_there_are_others(database: Database) -> None:
    run(database, FINDS)
    with database.begin() as conn:
        me = local_admin(conn)
        first, second = waiting(conn), waiting(conn, "good.example/a")
        candidates.approve(conn, candidates.assign(conn, first, me), me, notes=None)
        details = conn.execute(text("select details from events where verb = 'approve'")).scalar_one()
        assert details == {"verified_items": 0, "self_approved": True}
        held = candidates.assign(conn, second, me)
        ada = make_member(conn, "ada", Role.REVIEWER)
        with pytest.raises(UsageError, match=r"submitted candidate \d+ \(good\.example/a\)"):
            candidates.reject(conn, held, me, notes="no")
        free = candidates.release(conn, held, ada)
        with pytest.raises(UsageError, match="submitted candidate"):
            candidates.assign(conn, free, me)
        assert candidates.reject(conn, candidates.assign(conn, free, ada), ada, notes="no").reviewer == "ada"


def verified(conn: Connection) -> list[str]:
    query = "select data ->> 'name' from items where verified_at is not null order by 1"
    return list(conn.execute(text(query)).scalars())


def test_approval_verifies_programmes_and_contacts_of_the_candidate(database: Database) -> None:
    run(database, FINDS)
    with database.begin() as conn:
        good = domain(conn, "good.example")
        mine = [("funding_programme", {"name": "Mine"}), ("contact", {"name": "Jo"}), ("article", {"name": "News"})]
        parsed(conn, good, "/grants", Made("Before.", items=[("contact", {"name": "Who has left"})]))
        parsed(conn, good, "/grants", Made("Grants.", items=mine))
        parsed(conn, good, "/a", Made("A.", items=[("funding_programme", {"name": "Another candidate's"})]))
        parsed(conn, good, "/contact", Made("Contact.", items=[("contact", {"name": "Ann"})]))
        parsed(conn, domain(conn, "other.example"), "/", Made("Other.", items=[("contact", {"name": "Eve"})]))
        me = local_admin(conn)
        candidates.reject(conn, candidates.assign(conn, waiting(conn, "good.example/a"), me), me, notes="no")
        assert verified(conn) == []
        candidates.approve(conn, candidates.assign(conn, waiting(conn), me), me, notes=None)
        assert verified(conn) == ["Ann", "Jo", "Mine"]
        details = conn.execute(text("select details from events where verb = 'approve'")).scalar_one()
        assert details["verified_items"] == 3


def write_item(conn: Connection, snapshot_id: int | None, name: str, kind: str = "contact") -> None:
    """As the parse stage does."""
    key = key_of(domain(conn, "good.example"), "/grants")
    row = {
        "snapshot_id": snapshot_id, "domain_id": key.domain_id, "path_hash": key.path_hash, "kind": kind,
        "position": 0, "data": f'{{"name": "{name}"}}', "confidence": 0.9, "extractor": "x", "extractor_version": 1,
        "content_hash": name.encode(), "fields": "{}",
    }  # fmt: skip
    conn.exec_driver_sql(SQL["write_items"], {column: [value] for column, value in row.items()})


def test_what_was_verified_stays_so_as_long_as_the_page_says_the_same(database: Database) -> None:
    run(database, FINDS)
    with database.begin() as conn:
        good, me = domain(conn, "good.example"), local_admin(conn)
        first = parsed(conn, good, "/grants", Made("Grants."))
        write_item(conn, first, "Jo")
        candidates.approve(conn, candidates.assign(conn, waiting(conn), me), me, notes=None)
        write_item(conn, first, "Jo")
        assert verified(conn) == ["Jo"], "the same content again"
        second = parsed(conn, good, "/grants", Made("Grants, and a word more."))
        write_item(conn, second, "Jo")
        assert verified(conn) == ["Jo", "Jo"], "in other content"
        write_item(conn, second, "Ann")
        assert verified(conn) == ["Jo"], "somebody else"


_UNDECIDED = "reviewed_by = null, reviewed_at = null"
_COLUMNS = {
    "in_review": f"assigned_to = 1, assigned_at = bailiwick_now(), {_UNDECIDED}",
    "approved": "reviewed_by = 1, reviewed_at = bailiwick_now()",
    "rejected": "reviewed_by = 1, reviewed_at = bailiwick_now(), review_notes = 'no'",
}


def set_state(conn: Connection, name: str, state: str) -> int:
    columns = _COLUMNS.get(state, f"assigned_to = null, assigned_at = null, {_UNDECIDED}")
    return conn.execute(
        text(f"update candidates set state = '{state}', {columns} where name = :name"), {"name": name}
    ).rowcount


def test_the_database_permits_the_tables_moves_alone(database: Database) -> None:
    run(database, FINDS)
    permitted: list[tuple[str, str]] = []
    refused: list[str] = []
    for before, after in itertools.permutations(CANDIDATE.states, 2):
        name = "poor.example/" if before == "skipped_low_confidence" else "good.example/grants"
        with database.begin() as conn:
            conn.execute(text("set local session_replication_role = replica"))  # to the start, whatever the way
            assert set_state(conn, name, before) == 1
        try:
            with database.begin() as conn:
                set_state(conn, name, after)
        except BailiwickError as error:
            refused.append(error.message)
        else:
            permitted.append((before, after))
    assert all("cannot go from" in message for message in refused)
    assert permitted == [
        (before, after)
        for before, after in itertools.permutations(CANDIDATE.states, 2)
        if any(move.target == after for move in CANDIDATE.moves(before))
    ]


def test_the_database_keeps_the_rules(database: Database) -> None:
    run(database, FINDS)
    for change, rule in (
        ("confidence = 0.5", "skipped exactly if"),
        ("confidence = 1.5", "from 0 to 1"),
        ("position = 0", "starts at 1"),
        ("reviewed_by = 1, reviewed_at = bailiwick_now()", "reviewer and a time"),
    ):
        with pytest.raises(BailiwickError, match=rule), database.begin() as conn:
            conn.execute(text(f"update candidates set {change} where name = 'good.example/grants'"))


def test_lists_are_ranked_filtered_and_paged(database: Database) -> None:
    ran = run(database, FINDS)
    with database.read() as conn:
        everything = candidates.ranked(conn, Which(), limit=10)
        assert [one.confidence for one in everything] == [0.9, 0.7, 0.2]
        first = candidates.ranked(conn, Which(session_id=ran.session.id), limit=1)
        rest = candidates.ranked(conn, Which(), limit=10, after=(first[0].confidence, first[0].id))
        assert [one.confidence for one in rest] == [0.7, 0.2]
        assert [one.domain for one in candidates.ranked(conn, Which(state="skipped_low_confidence"), limit=9)] == [
            "poor.example"
        ]
        assert len(candidates.ranked(conn, Which(least=0.5), limit=9)) == 2


def test_who_started_the_session_is_told_of_decisions(database: Database) -> None:
    run(database, FINDS)
    with database.begin() as conn:
        me = local_admin(conn)
        set_email(conn, me.name, "me@mail.test", me)
        approved = candidates.assign(conn, waiting(conn), me)
        assert deliveries.listing(conn) == []
        candidates.approve(conn, approved, me, notes=None)
        rejected = candidates.assign(conn, waiting(conn, "good.example/a"), me)
        candidates.reject(conn, rejected, me, notes="a shop")
        second, first = deliveries.listing(conn)
        assert {found.recipient for found in (first, second)} == {"me@mail.test"}
        assert first.title == f"Candidate {approved.id} (good.example) is approved"
        assert first.body == "https://good.example/grants"
        assert second.title == f"Candidate {rejected.id} (good.example) is rejected"
        assert second.body == "https://good.example/a\na shop"
