"""Lists of domains: every format, every bad line, and a known domain is never touched."""

from sqlalchemy import select

from bailiwick.accounts.members import local_admin, system_actor
from bailiwick.approve import service as approve
from bailiwick.base.sections import PrioritySettings
from bailiwick.db.engine import Database
from bailiwick.db.tables import domains
from bailiwick.ledger.events import Subject, latest
from bailiwick.model.names import DomainName
from bailiwick.registry import trust
from bailiwick.registry.imports import Import, add_batch, record_import
from bailiwick.registry.records import get
from bailiwick.registry.seeds import Reject, Seed, read_seeds
from tests.registry.tools import admit, claimed, sound

PRIORITY = PrioritySettings()


def _read(*lines: str) -> list[Seed | Reject]:
    return list(read_seeds(lines, allow_private=False, collapse_subdomains=False))


def test_plain_lines_comments_and_urls() -> None:
    found = _read("# seeds", "", "Example.ORG", " https://www.example.com/path?x=1 ", "münchen.de\n")
    assert [str(seed.name) for seed in found if isinstance(seed, Seed)] == [
        "example.org", "example.com", "xn--mnchen-3ya.de",
    ]  # fmt: skip


def test_tranco_and_majestic() -> None:
    assert _read("1,google.com", "2,example.org") == [
        Seed(DomainName("google.com"), 1), Seed(DomainName("example.org"), 2),
    ]  # fmt: skip
    majestic = _read("GlobalRank,TldRank,Domain,TLD", "7,1,example.org,org", '8,2,"example.com",com')
    assert majestic == [Seed(DomainName("example.org"), 7), Seed(DomainName("example.com"), 8)]


def test_bad_lines_are_told_by_number() -> None:
    found = _read("ok.org", "not a name", "127.0.0.1", "localhost", "x" * 30_000, "5,", "1,also-ok.org", "a\x00b.org")
    rejects = [r for r in found if isinstance(r, Reject)]
    assert [r.line_number for r in rejects] == [2, 3, 4, 5, 6, 8]
    assert all(r.why for r in rejects)
    assert len(found) - len(rejects) == 2


def _seeds(*names: str) -> list[Seed]:
    return [Seed(DomainName.parse(name), rank) for rank, name in enumerate(names, start=1)]


def test_an_import_adds_what_is_new_and_leaves_what_is_known_alone(database: Database) -> None:
    with sound(database) as conn:
        me = local_admin(conn)
        [domain] = admit(conn, "known.org")
        approve.suspend(conn, domain, me, reason="x")
        before = dict(get(conn, domain.name).row)
        how = Import("tranco_20261101", approve=True)
        assert add_batch(conn, _seeds("known.org", "new.org", "new.org", "other.org"), how, me, PRIORITY) == 2
    with sound(database) as conn:
        me = local_admin(conn)
        assert add_batch(conn, _seeds("known.org", "new.org"), how, me, PRIORITY) == 0
        after = dict(get(conn, domain.name).row)
        assert after == before
        new = get(conn, DomainName("new.org")).row
        assert (new["approval"], new["source"], new["seed_rank"], new["submitter_type"]) == (
            "approved", "tranco_20261101", 2, "admin",
        )  # fmt: skip
        assert new["priority_score"] == 970
        record_import(conn, how, me, added=2, known=1, rejected=0)
        [event] = latest(conn, subject=Subject("import", "tranco_20261101"))
        assert event.details == {"added": 2, "known": 1, "rejected": 0, "approved": True}
        assert [str(lease.name) for lease in claimed(conn)] == ["new.org", "other.org"]


def test_an_import_leaves_domains_pending_but_for_the_trusted(database: Database) -> None:
    with sound(database) as conn:
        me = local_admin(conn)
        trust.add_rule(conn, ".gov", me, reason=None)
        names = ("a.gov", "b.gov.org", "c.org", "gov.org")
        assert add_batch(conn, _seeds(*names), Import("list"), system_actor(conn), PRIORITY) == 4
        rows = conn.execute(select(domains.c.name, domains.c.approval, domains.c.is_trusted).order_by("name")).all()
        assert [tuple(row) for row in rows] == [
            ("a.gov", "approved", True), ("b.gov.org", "pending_review", False),
            ("c.org", "pending_review", False), ("gov.org", "pending_review", False),
        ]  # fmt: skip
