"""Merging two records of one domain, and purging one: under the lease, losing nothing that was decided."""

import pytest
from sqlalchemy import select, text

from bailiwick.accounts.members import local_admin
from bailiwick.approve import service as approve
from bailiwick.base.errors import ConflictError
from bailiwick.base.sections import NamesSettings
from bailiwick.db.engine import Database
from bailiwick.db.tables import domains, page_requests
from bailiwick.ledger.events import Subject, latest
from bailiwick.model.names import DomainName
from bailiwick.model.urls import PageUrl
from bailiwick.registry.merge import STRICTNESS, Planned, merge, plan, purge
from bailiwick.registry.records import get
from bailiwick.registry.release import Outcome
from bailiwick.registry.submit import submit_url
from tests.registry.tools import admit, claimed, released, sound

BLOG, SITE = DomainName("blog.example.org"), DomainName("example.org")


def test_the_plan_follows_the_setting(database: Database) -> None:
    with sound(database) as conn:
        admit(conn, "blog.example.org", "example.org", "a.github.io", "x.a.github.io")
        assert list(plan(conn, NamesSettings())) == []
        collapsed = list(plan(conn, NamesSettings(collapse_subdomains=True)))
        assert collapsed == [Planned(BLOG, SITE), Planned(DomainName("x.a.github.io"), DomainName("a.github.io"))]


def test_counters_are_summed_and_wishes_moved_without_doubles(database: Database) -> None:
    with sound(database) as conn:
        me = local_admin(conn)
        admit(conn, "blog.example.org", "example.org")
        for url in ("https://blog.example.org/a", "https://blog.example.org/b", "https://example.org/a"):
            submit_url(conn, PageUrl.parse(url), me)
        old = "update domains set pages_crawled = 5, first_seen_at = '2020-01-01' where name = 'blog.example.org'"
        conn.execute(text(old))
        conn.execute(text("update domains set pages_crawled = 7 where name = 'example.org'"))
        done = merge(conn, Planned(BLOG, SITE), me)
        assert (done.row["pages_crawled"], done.row["first_seen_at"].year) == (12, 2020)
        assert sorted(conn.execute(select(page_requests.c.path)).scalars()) == ["/a", "/b"]
        assert conn.execute(select(domains.c.name)).scalars().all() == ["example.org"]
        merges = [e for e in latest(conn, subject=Subject("domain", "example.org")) if e.verb == "merge"]
        assert [(e.before, e.after) for e in merges] == [("blog.example.org", "example.org")]
        assert latest(conn, subject=Subject("domain", "blog.example.org")) != [], "the trail stays"


@pytest.mark.parametrize("blog", STRICTNESS)
@pytest.mark.parametrize("site", STRICTNESS)
def test_the_stricter_approval_wins(database: Database, blog: str, site: str) -> None:
    with sound(database) as conn:
        me = local_admin(conn)
        for name, state in (("blog.example.org", blog), ("example.org", site)):
            [domain] = admit(conn, name)
            if state != "approved":
                domain = approve.suspend(conn, domain, me, reason=f"{name} suspended")
            if state in ("rejected", "pending_review"):
                domain = approve.reject(conn, domain, me, reason=f"{name} rejected")
            if state == "pending_review":
                from bailiwick.registry.submit import Submission, submit

                submit(conn, Submission(domain.name, context="again"), me)
        done = merge(conn, Planned(BLOG, SITE), me)
        assert done.approval == min(blog, site, key=STRICTNESS.index)


def test_a_blacklist_survives_a_merge(database: Database) -> None:
    with sound(database) as conn:
        me = local_admin(conn)
        [blog, _] = admit(conn, "blog.example.org", "example.org")
        approve.blacklist(conn, blog, me, reason="scam")
        assert merge(conn, Planned(BLOG, SITE), me).refusal == "blacklisted"


def test_the_only_record_is_renamed(database: Database) -> None:
    with sound(database) as conn:
        me = local_admin(conn)
        [blog] = admit(conn, "blog.example.org")
        done = merge(conn, Planned(BLOG, SITE), me)
        assert (done.id, str(done.name), done.row["shared_key"]) == (blog.id, "example.org", "example.org")
        assert len(claimed(conn)) == 1


def test_neither_touches_a_domain_that_is_being_crawled(database: Database) -> None:
    with sound(database) as conn:
        me = local_admin(conn)
        [blog, _] = admit(conn, "blog.example.org", "example.org")
        [lease] = claimed(conn, among=[blog.id])
        with pytest.raises(ConflictError, match="is being crawled"):
            merge(conn, Planned(BLOG, SITE), me)
        with pytest.raises(ConflictError, match="is being crawled"):
            purge(conn, blog, me, reason=None)
        released(conn, lease, Outcome("active"))
        purge(conn, get(conn, BLOG), me, reason="asked to")
        assert not released(conn, lease, Outcome("active"))


def test_purging_removes_content_and_keeps_decisions(database: Database) -> None:
    with sound(database) as conn:
        me = local_admin(conn)
        admit(conn, "example.org")
        submit_url(conn, PageUrl.parse("https://example.org/a"), me)
        conn.execute(text("update domains set pages_crawled = 5, image_yield_rate = 2"))
        done = purge(conn, get(conn, SITE), me, reason="they asked")
        assert (done.approval, done.row["pages_crawled"], done.row["image_yield_rate"]) == ("approved", 0, None)
        assert conn.execute(select(page_requests)).all() == []
        event = latest(conn, subject=Subject("domain", "example.org"))[0]
        assert (event.verb, event.reason) == ("purge", "they asked")
