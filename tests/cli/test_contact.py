"""`bailiwick contact`: lists of contacts, and forgetting them."""

from pathlib import Path

import pytest

from bailiwick.db.engine import Database
from tests.cli.tools import bailiwick
from tests.query.content_tools import Made, domain, parsed

JO = {
    "url": "https://oak.org/team",
    "email": "jo@oak.org",
    "telephone": "+4930123456",
    "name": "Jo Doe",
    "role": "Director",
}
AL = {"url": "https://oak.org/team", "email": "al@oak.org", "name": "Al Roe"}
CHOIR = {"url": "https://oak.org/", "name": "Choir", "email": "jo@oak.org"}
IDA = {"url": "https://elm.org/", "email": "ida@elm.org"}


@pytest.fixture(scope="module", autouse=True)
def content(store: Database) -> None:
    with store.begin() as conn:
        oak, elm = domain(conn, "oak.org"), domain(conn, "elm.org")
        parsed(conn, oak, "/team", Made("Our team.", title="Team", items=[("contact", JO), ("contact", AL)]))
        parsed(conn, oak, "/", Made("Welcome.", title="Oak", items=[("service", CHOIR)]))
        parsed(conn, elm, "/", Made("Elm.", title="Elm", items=[("contact", IDA)]))


def names(land: Path, *options: str) -> list[str]:
    return [row["email"] for row in bailiwick("contact", "list", "--json", *options, cwd=land).rows]


def test_lists_and_forgetting(land: Path) -> None:
    """One story: what is forgotten is not in the lists any more."""
    _look(land)
    _forget(land)


def _look(land: Path) -> None:
    assert names(land) == ["jo@oak.org", "al@oak.org", "ida@elm.org"]
    assert names(land, "--domain", "elm.org") == ["ida@elm.org"]
    assert names(land, "--page", "https://oak.org/team") == ["jo@oak.org", "al@oak.org"]
    assert names(land, "--page", "https://oak.org/") == []
    shown = bailiwick("contact", "list", "--limit", "1", cwd=land)
    assert "Jo Doe" in shown.out
    assert "more: bailiwick contact list --limit 1 --after" in shown.err


def _forget(land: Path) -> None:
    asked = bailiwick("contact", "forget", "jo@oak.org", cwd=land, stdin="n\n")
    assert asked.code == 130
    assert "Forget 1 value in 2 items of 2 pages?" in asked.err
    assert len(names(land)) == 3
    assert bailiwick("search", "Director", "--json", cwd=land).rows
    done = bailiwick("contact", "forget", "jo@oak.org", "--yes", "--reason", "asked", cwd=land)
    assert (done.code, done.out) == (0, "forgotten: 1 item removed, 1 changed, on 2 pages\n")
    assert "texts of pages and their stored bodies" in done.err
    assert "bailiwick domain purge" in done.err
    assert names(land) == ["al@oak.org", "ida@elm.org"]
    assert bailiwick("search", "Director", "--json", cwd=land).rows == []
    events = bailiwick("events", "--json", "--limit", "1", cwd=land).out
    assert "forget" in events
    assert "jo@oak.org" not in events


def test_what_is_nobody(land: Path) -> None:
    ran = bailiwick("contact", "forget", "Jo", "--yes", cwd=land)
    assert ran.code == 2
    assert "hint: jo@example.org" in ran.err
