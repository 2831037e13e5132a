"""Forgetting: out of items of all history and what was made of them; it does not come back; the trail tells no data."""

import json
from pathlib import Path

import pytest
from sqlalchemy import text

from bailiwick.accounts.members import local_admin as admin
from bailiwick.base.errors import NotAllowedError, UsageError
from bailiwick.db.engine import Database
from bailiwick.extract.forgetting import evidence_without_forgotten, forget, preview, understood
from bailiwick.ledger.events import Actor, latest
from bailiwick.model.items import Item, ItemKind
from bailiwick.model.layers import Proof
from bailiwick.model.states import Role
from bailiwick.review import listing
from bailiwick.review.detail import detail
from bailiwick.review.listing import Which
from tests.extract.tools import Shelved, found, parsed, rows, shelved
from tests.review.tools import routed, urls

URL = "https://example.org/team"
JO = {"url": URL, "email": "jo@oak.org", "telephone": "+4930123456", "name": "Jo Doe", "role": "Director"}
AL = {"url": URL, "email": "al@oak.org", "name": "Al Roe"}


def contact(data: dict[str, str], position: int = 0) -> Item:
    return Item(ItemKind.CONTACT, position, dict(data), 0.9, "contact", 1)


def service(**more: str) -> Item:
    data = {"url": URL, "name": "Choir for all", "email": "jo@oak.org", "description": "Ask Jo Doe.", **more}
    return Item(ItemKind.SERVICE, 0, dict(data), 0.9, "service", 1)


@pytest.fixture
def shelf(database: Database, tmp_path: Path) -> Shelved:
    return shelved(database, tmp_path)


def everything(database: Database) -> str:
    with database.read() as conn:
        told = [
            rows(conn, f"select * from {table}")
            for table in ("items", "item_rejects", "outbox", "events", "forgotten", "model_calls")
        ]
    return str(told)


def kept(database: Database) -> list[tuple[object, ...]]:
    with database.read() as conn:
        return rows(conn, "select kind, data from items order by kind, position, id")


def forgotten(database: Database, *given: str) -> None:
    with database.begin() as conn:
        forget(conn, understood(given), admin(conn), reason="asked by mail")


def test_contacts_of_all_history_are_removed(database: Database, shelf: Shelved) -> None:
    for words in ("first words", "other words"):
        shelf.put("/team", words.encode())
        parsed(database, {"/team": found(words, items=[contact(JO), contact(AL, 1)])})
    forgotten(database, "jo@oak.org")
    assert [data["name"] for _, data in kept(database)] == ["Al Roe", "Al Roe"]  # type: ignore[call-overload,index]
    assert "Jo Doe" not in everything(database)
    assert "4930123456" not in everything(database)


def test_evidence_of_evaluations_is_cleaned_and_stays_so(database: Database) -> None:
    told = {"layer2": {"author_bio": (Proof(url=URL, text="By Jo Doe, Director"), Proof(url=URL, text="jo@oak.org"))}}
    with database.begin() as conn:
        first, second = urls(conn, 2)
        routed(conn, first, 0.6, proofs=told, reasoning="For it: written by Jo Doe.", title="Jo Doe at work")
        routed(conn, second, 0.6)
        untouched = rows(conn, f"select * from evaluations where url_id = {second.id}")
        done = forget(conn, understood(["jo@oak.org", "Jo Doe"]), admin(conn))
        assert done.evaluations == 1
        [entry] = [one for one in listing.entries(conn, Which(), limit=9) if one.url_id == first.id]
        shown = detail(conn, entry)
        assert [proof.text for proof in shown.proofs["layer2"]["author_bio"]] == [
            "By [removed], Director",
            "[removed]",
        ]
        assert (entry.reasoning, entry.title) == ("For it: written by [removed].", "[removed] at work")
        assert rows(conn, f"select * from evaluations where url_id = {second.id}") == untouched
        for proof in evidence_without_forgotten(conn, told)["layer2"]["author_bio"]:
            assert "Jo Doe" not in proof.text
            assert "jo@oak.org" not in proof.text


def test_out_of_other_items_the_value_is_taken(database: Database, shelf: Shelved) -> None:
    shelf.put("/choir", b"x")
    parsed(database, {"/choir": found("words", items=[service()])})
    with database.read() as conn:
        [(before,)] = rows(conn, "select content_hash from items")
    forgotten(database, "jo@oak.org", "Jo Doe")
    with database.read() as conn:
        [(data, after)] = rows(conn, "select data, content_hash from items")
    assert data == {"url": URL, "name": "Choir for all", "description": "Ask [removed]."}
    assert before != after


def test_an_item_that_is_nothing_without_it_goes(database: Database, shelf: Shelved) -> None:
    shelf.put("/jo", b"x")
    parsed(database, {"/jo": found("words", items=[service(name="Jo Doe")])})
    forgotten(database, "Jo Doe")
    assert kept(database) == []


def test_it_does_not_come_back(database: Database, shelf: Shelved) -> None:
    forgotten(database, "jo@oak.org", "Jo Doe", "+49 30 123456")
    shelf.put("/team", b"anew")
    items = [
        contact({"url": URL, "email": "JO@oak.org"}),
        contact({"url": URL, "telephone": "+4930123456"}, 1),
        contact(AL, 2),
        service(),
    ]
    parsed(database, {"/team": found("words", items=items)})
    assert [(kind, data) for kind, data in kept(database)] == [
        ("contact", AL),
        ("service", {"url": URL, "name": "Choir for all", "description": "Ask [removed]."}),
    ]


def test_a_number_without_its_country_means_those_that_end_like_it(database: Database, shelf: Shelved) -> None:
    shelf.put("/team", b"x")
    parsed(database, {"/team": found("words", items=[contact(JO), contact(AL, 1)])})
    forgotten(database, "030 123456")
    shelf.put("/team", b"y")
    parsed(database, {"/team": found("others", items=[contact(JO)])})
    assert [data for _, data in kept(database)] == [AL]
    with database.begin() as conn, pytest.raises(UsageError, match="without its country"):
        forget(conn, understood(["030 999 888 77"]), admin(conn))


def test_refused_values_answers_and_messages_lose_it_too(database: Database, shelf: Shelved) -> None:
    with database.begin() as conn:
        conn.execute(
            text("""
            insert into item_rejects
                (snapshot_id, domain_id, path_hash, kind, position, value, reason, extractor, extractor_version)
            values (1, 1, 1, 'contact', 0, 'jo@oak.org?', 'no', 'contact', 1)""")
        )
        conn.execute(
            text("insert into outbox (topic, subject_kind, payload) values ('x', 'page', :p)"), {"p": json.dumps(JO)}
        )
        conn.execute(text("insert into model_calls (purpose, model, prompt_version, input_hash, outcome, answer)"
                          " values ('items', 'm', '1', '\\x00', 'answered', :p)"), {"p": json.dumps(JO)})  # fmt: skip
    forgotten(database, "jo@oak.org")
    assert "jo@oak.org" not in everything(database)
    assert "Jo Doe" not in everything(database)


def test_the_trail_tells_who_and_why_and_not_whom(database: Database, shelf: Shelved) -> None:
    shelf.put("/team", b"x")
    parsed(database, {"/team": found("words", items=[contact(JO)])})
    forgotten(database, "jo@oak.org", "Jo Doe")
    with database.read() as conn:
        event = latest(conn, limit=1)[0]
        assert rows(conn, "select kind, octet_length(digest) from forgotten order by kind") == [
            ("email", 16),
            ("name", 16),
        ]
    assert (event.verb, event.reason, event.subject.kind) == ("forget", "asked by mail", "contact")
    touched = {"items_removed": 1, "items_changed": 0, "pages": 1, "evaluations": 0}
    assert event.details == {"values": {"email": 1, "name": 1}, **touched}


def test_a_preview_changes_nothing_and_twice_is_once(database: Database, shelf: Shelved) -> None:
    shelf.put("/team", b"x")
    parsed(database, {"/team": found("words", items=[contact(JO)])})
    with database.begin() as conn:
        assert preview(conn, understood(["jo@oak.org"])).items_removed == 1
    assert len(kept(database)) == 1
    forgotten(database, "jo@oak.org")
    forgotten(database, "jo@oak.org")
    assert kept(database) == []


def test_only_admins(database: Database) -> None:
    with database.begin() as conn, pytest.raises(NotAllowedError):
        forget(conn, understood(["jo@oak.org"]), Actor(1, "rita", Role.REVIEWER))


@pytest.mark.parametrize("given", ["", "Jo", "%", "a@b", "x" * 300, "__ __"])
def test_what_is_nobody(given: str) -> None:
    with pytest.raises(UsageError):
        understood([given])


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("+4930123456", "Ring 030 / 12 34 56 before noon."),
        ("jo@oak.org", "Write to jo (at) oak (dot) org, please."),
        ("Jo Strauß", "Ask Jo Strauß."),
        ("john.doe@oak.org", "Write to john.doe@oak.org."),
    ],
)
def test_values_are_found_as_people_write_them(database: Database, shelf: Shelved, given: str, written: str) -> None:
    shelf.put("/choir", b"x")
    item = Item(ItemKind.SERVICE, 0, {"url": URL, "name": "Choir", "description": written}, 0.9, "service", 1)
    number = contact({**AL, "telephone": "+4930123456"}, 1)
    parsed(database, {"/choir": found("words", items=[item, number])})
    with database.begin() as conn:
        done = preview(conn, understood([given]))
    assert done.items_changed == (0 if given.startswith("+") else 1)
    assert done.items_removed == (1 if given.startswith("+") else 0)


@pytest.mark.parametrize("given", ["0-000-000", "0 000 001", "00000000000"])
def test_a_number_of_zeros_means_nobody(given: str) -> None:
    with pytest.raises(UsageError):
        understood([given])


def test_numbers_of_pages_in_messages_are_none_of_a_person(database: Database, shelf: Shelved) -> None:
    shelf.put("/team", b"x")
    parsed(database, {"/team": found("words", items=[contact({**JO, "telephone": "+4930123456"})])})
    with database.begin() as conn:
        conn.execute(text("update outbox set payload = jsonb_build_object('path_hash', 4930123456, 'snapshot', 1)"))
    forgotten(database, "+4930123456")
    with database.read() as conn:
        assert rows(conn, "select distinct payload ->> 'path_hash' from outbox") == [("4930123456",)]
