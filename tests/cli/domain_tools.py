"""What tests of the domain commands share."""

from pathlib import Path
from typing import Any

from sqlalchemy import text

from bailiwick.db.engine import Database
from bailiwick.model.names import DomainName
from bailiwick.registry.leases import Lease
from bailiwick.registry.records import get
from bailiwick.registry.release import Outcome
from tests.cli.tools import Ran, bailiwick
from tests.registry.tools import claimed, released


def domain(*arguments: str, cwd: Path, stdin: str = "", **env: str) -> Ran:
    return bailiwick("domain", *arguments, cwd=cwd, stdin=stdin, **env)


def done(*arguments: str, cwd: Path, stdin: str = "") -> Ran:
    """A domain command that must go well."""
    ran = domain(*arguments, cwd=cwd, stdin=stdin)
    assert ran.code == 0, ran
    return ran


def shown(name: str, cwd: Path) -> dict[str, Any]:
    """What `domain show` knows."""
    [facts] = done("show", name, "--json", cwd=cwd).rows
    return facts


def listed(*arguments: str, cwd: Path) -> list[str]:
    """The names that `domain list` shows."""
    return [row["domain"] for row in done("list", "--json", *arguments, cwd=cwd).rows]


def explained(what: str, cwd: Path) -> dict[str, Any]:
    ran = bailiwick("explain", what, "--json", cwd=cwd)
    assert ran.code == 0, ran
    [facts] = ran.rows
    return facts


def leased(store: Database, name: str, worker: str) -> Lease:
    """A lease on this approved domain."""
    with store.begin() as conn:
        wanted = get(conn, DomainName(name)).id
        [lease] = claimed(conn, worker, 1, among=[wanted])
    return lease


def crawled(store: Database, name: str, outcome: Outcome, *, pages: int = 0, images: int = 0) -> None:
    """What a worker leaves behind after a slice that ended so."""
    lease = leased(store, name, "a-worker")
    with store.begin() as conn:
        conn.execute(
            text("update domain_progress set pages_crawled = :p, pages_discovered = :p, images_stored = :i "
                 "where domain_id = :id"),
            {"p": pages, "i": images, "id": lease.domain_id},
        )  # fmt: skip
        assert released(conn, lease, outcome)


def add_member(store: Database, name: str, role: str) -> None:
    with store.begin() as conn:
        conn.execute(
            text("insert into members (name, role, state) values (:name, :role, 'active')"),
            {"name": name, "role": role},
        )
