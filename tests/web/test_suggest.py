"""The public page: it tells nobody what we have, and takes only so much."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.accounts.members import local_admin
from bailiwick.approve import service
from bailiwick.ledger import settings as kept
from bailiwick.model.names import DomainName
from bailiwick.registry import trust
from bailiwick.registry.records import get
from tests.servers import TestServers
from tests.web.tools import Land, land_at

WORD = 'name="word" value="'


def switch(land: Land, on: bool) -> None:
    with land.app.database.begin() as conn:
        kept.put(conn, land.app.loaded, "web.public_submission", on, local_admin(conn))


@pytest.fixture(scope="module")
def public(servers: TestServers, tmp_path_factory: pytest.TempPathFactory, _cheap: None) -> Iterator[Land]:
    """A site that takes suggestions, a few from each address."""
    root: Path = tmp_path_factory.mktemp("public")
    with servers.cloned("pg18") as url, land_at(root, url, public_per_hour=3) as land:
        switch(land, True)
        yield land


def test_there_is_no_such_page_until_the_operator_wants_it(land: Land) -> None:
    stranger = land.browser()
    assert stranger.get("/suggest").status_code == 404
    assert stranger.send("/suggest", url="early.example").status_code == 404
    switch(land, True)
    assert stranger.get("/suggest").status_code == 200
    assert stranger.send("/suggest", url="early.example").status_code == 200
    switch(land, False)
    assert stranger.send("/suggest", url="late.example").status_code == 404
    assert land.do("select name from domains") == [("early.example",)]


def answered(land: Land, name: str, address: str) -> tuple[str, str]:
    """The page without what is random in it; and the receipt."""
    answer = land.browser(address=address).send("/suggest", url=name, context="please")
    assert answer.status_code == 200
    page = answer.text
    receipt = page.partition('<span class="secret">')[2].partition("<")[0]
    start = page.index(WORD) + len(WORD)
    return (page[:start] + page[page.index('"', start) :]).replace(receipt, "RECEIPT"), receipt


def test_the_answer_is_the_same_whatever_we_have(public: Land) -> None:
    land = public
    known = ("approved", "rejected", "suspended", "blacklisted", "pending", "trusted")
    land.admitted(*(f"{name}.example" for name in known if name not in ("rejected", "pending")))
    for name in ("rejected", "pending"):
        assert land.browser("admin").send("/submit", url=f"{name}.example", depth=1).status_code == 303
    with land.app.database.begin() as conn:
        admin = land.member("admin")
        of = {name: get(conn, DomainName(f"{name}.example")) for name in known}
        service.reject(conn, of["rejected"], admin, reason="no")
        service.suspend(conn, of["suspended"], admin, reason="no")
        service.blacklist(conn, of["blacklisted"], admin, reason="no")
        service.set_trust(conn, of["trusted"], admin, trusted=True, reason=None)
        trust.add_rule(conn, ".gov.example", admin, reason="x")
    before = land.do("select name, approval, standing, version from domains order by name")
    pages, receipts = set(), set()
    for n, name in enumerate((*known, "brand-new", "fresh.gov", "brand-new")):
        page, receipt = answered(land, f"{name}.example", f"192.0.2.{n}")
        pages.add(page)
        receipts.add(receipt)
        last = "select details ->> 'receipt' from events where subject_name = :name order by id desc limit 1"
        assert land.value(last, name=f"{name}.example") == receipt
    assert len(pages) == 1
    assert len(receipts) == 9
    after = {row.name: row for row in land.do("select name, approval, standing, version from domains")}
    assert [tuple(after[row.name]) for row in before] == [tuple(row) for row in before]
    assert after["brand-new.example"].approval == "pending_review"
    assert after["fresh.gov.example"].approval == "approved"


def test_one_address_suggests_only_so_much(public: Land) -> None:
    here = public.browser(address="198.51.100.1")
    answers = [here.send("/suggest", url=f"n{n}.example") for n in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert int(answers[-1].headers["retry-after"]) > 60
    other_device = public.browser(address="198.51.100.1")
    assert other_device.send("/suggest", url="n9.example").status_code == 429
    assert public.browser(address="198.51.100.2").send("/suggest", url="n10.example").status_code == 200
    six = [public.browser(address=f"2001:db8::{n}").send("/suggest", url=f"six{n}.example") for n in range(4)]
    assert [answer.status_code for answer in six] == [200, 200, 200, 429]
    assert public.value("select count(*) from domains where name in ('n3.example', 'n9.example', 'six3.example')") == 0


@pytest.mark.parametrize("url", [
    "", "localhost", "127.0.0.1", "http://[::1]/", "a b", "x" * 3000, "javascript:alert(1)", "file:///etc/passwd",
    "<script>", "\x00", "http://user:pass@", "com", "..", "http://169.254.169.254/", "\ud7ff.example/\u202e",
])  # fmt: skip
def test_what_is_no_domain_is_refused_and_leaves_nothing(public: Land, url: str) -> None:
    before = public.value("select count(*) from events")
    answer = public.browser(address="203.0.113.1").send("/suggest", url=url, context="<script>alert(1)</script>")
    assert answer.status_code in (400, 200)
    assert "<script>alert" not in answer.text
    if answer.status_code == 400:
        assert public.value("select count(*) from events") == before


def test_a_stranger_governs_nothing_by_more_fields(public: Land) -> None:
    stranger = public.browser(address="203.0.113.7")
    assert (
        stranger.send("/suggest", url="plain.example", admit="yes", depth=900, approval="approved").status_code == 200
    )
    row = public.do("select approval, max_crawl_depth, submitter_type from domains where name = 'plain.example'")
    assert row == [("pending_review", 3, "public_user")]
