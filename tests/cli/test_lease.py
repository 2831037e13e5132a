"""Leases as an operator sees and ends them."""

from pathlib import Path

from sqlalchemy import text

from bailiwick.db.engine import Database
from tests.cli.domain_tools import add_member, done, explained, leased, shown
from tests.cli.tools import Ran, bailiwick


def lease(*arguments: str, cwd: Path) -> Ran:
    return bailiwick("lease", *arguments, cwd=cwd)


def test_leases_by_worker_and_what_is_left(land: Path, store: Database) -> None:
    empty = lease("list", cwd=land)
    assert (empty.code, empty.out, empty.err) == (0, "", "no leases\n")
    names = ("a.leases.org", "b.lease.org", "c.rented.org", "d.rented.org", "e.free.org")
    done("submit", *names, "--approve", cwd=land)
    for name, worker in zip(names, ("w1", "w1", "w2", "w3"), strict=False):
        leased(store, name, worker)
    with store.begin() as conn:
        conn.execute(text("update crawl_queue set wake_at = bailiwick_now() - interval '1 minute' where worker = 'w2'"))

    rows = lease("list", "--json", cwd=land).rows
    assert [(row["worker"], row["leases"], row["expired"]) for row in rows[:3]] == [
        ("w1", 2, 0), ("w2", 1, 1), ("w3", 1, 0),
    ]  # fmt: skip
    assert rows[3:] == [{"crawl": "pending", "claimable": 1}]
    plain = lease("list", cwd=land).out.splitlines()
    assert plain[0].split() == ["WORKER", "LEASES", "EARLIEST", "EXPIRY", "EXPIRED"]
    assert plain[-1].split() == ["pending", "1"]
    first = lease("list", "--limit", "2", "--json", cwd=land)
    assert first.err == "more: bailiwick lease list --limit 2 --json --after w2\n"
    assert [row["worker"] for row in lease("list", "--after", "w2", "--json", cwd=land).rows] == ["w3"]
    held = lease("list", "--worker", "w1", "--json", cwd=land).rows
    assert [(row["domain"], row["expired"], row["wanted"]) for row in held] == [
        ("a.leases.org", False, "run"), ("b.lease.org", False, "run"),
    ]  # fmt: skip

    assert explained("a.leases.org", land)["rule"] == "leased"
    done("suspend", "a.leases.org", "--reason", "stop it", cwd=land)
    assert lease("list", "--worker", "w1", "--json", cwd=land).rows[0]["wanted"] == "stop"

    released = lease("release", "https://b.lease.org/", "--reason", "it hangs", cwd=land)
    assert (released.code, released.out) == (0, "b.lease.org: the lease of w1 is ended\n")
    event = shown("b.lease.org", land)["events"][0]
    assert (event["did"], event["reason"]) == ("release_lease", "it hangs")
    assert explained("b.lease.org", land)["rule"] == "may_be_crawled"
    again = lease("release", "b.lease.org", cwd=land)
    assert (again.code, "error: b.lease.org is not leased" in again.err) == (1, True)
    assert lease("release", "nowhere.org", cwd=land).code == 1
    add_member(store, "mere", "submitter")
    assert bailiwick("--as", "mere", "lease", "release", "d.rented.org", cwd=land).code == 2
