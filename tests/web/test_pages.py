"""The pages as people use them: lists and their next pages, forms and what they say, and nonsense in addresses."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from selectolax.lexbor import LexborHTMLParser

from bailiwick.approve import verbs
from bailiwick.base.sections import DatabaseSettings
from bailiwick.db.external import ExternalServer
from bailiwick.model.names import DomainName
from bailiwick.model.states import Role
from bailiwick.model.transitions import APPROVAL, CRAWL
from bailiwick.model.urls import hash_of
from bailiwick.registry.records import Domain, get
from tests.web.tools import ROLES, Land

HTMX = {"HX-Request": "true"}


def links(page: str) -> list[str]:
    """Names of domains in the order in which the page lists them."""
    tree = LexborHTMLParser(page)
    found = [str(a.attributes["href"]) for a in tree.css("main td.whole a, main h2 a, tr > td.whole > a")]
    return list(dict.fromkeys(href.removeprefix("/domains/") for href in found if href.startswith("/domains/")))


def more(page: str) -> str | None:
    found = re.search(r'<a class="button quiet" href="([^"]+)"[^>]*>(?:More|Next page|Older)</a>', page)
    return found[1].replace("&amp;", "&") if found else None


def submitted(land: Land, prefix: str, count: int, who: str = "admin") -> list[str]:
    names = [f"{prefix}{n:03}.example" for n in range(count)]
    land.do("insert into domains (name, site, shared_key, approval, submitted_by, submitter_type, first_seen_at) "
            "select n, n, n, 'pending_review', :by, 'public_user', now() + ordinality * interval '1 second' "
            "from unnest(cast(:names as text[])) with ordinality as t (n, ordinality)",
            names=names, by=land.member(who).id)  # fmt: skip
    land.do("insert into crawl_queue (domain_id, key_hash) select id, id from domains where name = any(:names)",
            names=names)  # fmt: skip
    return names


def test_the_submit_form_says_what_specification_000_wants(land: Land) -> None:
    admin, reviewer = land.browser("admin"), land.browser("reviewer")
    answer = reviewer.send("/submit", url="https://Spec.Example/path?x=1", context="State directory", depth=5)
    assert answer.headers["location"] == "/domains/spec.example"
    page = reviewer.get("/domains/spec.example").text
    assert "spec.example is submitted for review." in page
    assert "a depth of 5 can be slow" in page
    assert "spec.example is submitted" not in reviewer.get("/domains/spec.example").text
    again = reviewer.send("/submit", url="spec.example", depth=3)
    assert (again.status_code, "Already submitted for review." in again.text) == (409, True)
    answer = admin.send("/domains/spec.example/do/approve", version=land.version("spec.example"))
    assert "Crawling started. Check back in a few minutes." in admin.get(answer.headers["location"]).text
    again = reviewer.send("/submit", url="spec.example", depth=3)
    assert "Already approved, would you like to re-crawl it?" in again.text
    assert 'action="/domains/spec.example/do/recrawl"' in again.text
    for url in ("not a domain", "", "127.0.0.1"):
        refused = reviewer.send("/submit", url=url, context="kept", depth=3)
        assert refused.status_code == 400
        assert "kept" in refused.text
    for depth in ("-1", "1001", "x", "99999999999", "٣"):
        assert reviewer.send("/submit", url="deep.example", depth=depth).status_code == 400
    assert land.do("select 1 from domains where name = 'deep.example'") == []


def test_a_submitter_learns_nothing_of_others_domains(land: Land) -> None:
    land.admitted("private.example")
    admin = land.browser("admin")
    admin.send("/domains/private.example/do/suspend", version=land.version("private.example"), reason="between us")
    answer = land.browser("submitter").send("/submit", url="private.example", depth=3)
    assert answer.status_code == 409
    assert "between us" not in answer.text
    assert "See it" not in answer.text


def test_a_rejected_domain_comes_back_with_context(land: Land) -> None:
    land.member("comes-back")
    admin, submitter = land.browser("admin"), land.browser("comes-back")
    submitter.send("/submit", url="again.example", depth=3)
    admin.send("/domains/again.example/do/reject", version=1, reason="not yet")
    assert "not yet" in submitter.get("/mine").text
    assert submitter.send("/submit", url="again.example", depth=3).status_code == 409
    assert submitter.send("/submit", url="again.example", context="now", depth=3).status_code == 303
    assert land.value("select approval from domains where name = 'again.example'") == "pending_review"


def test_the_review_list_is_paged_the_longest_waiting_first(land: Land) -> None:
    land.do("update domains set approval = 'approved' where approval = 'pending_review'")
    names = submitted(land, "wait", 60)
    reviewer = land.browser("reviewer")
    seen, path = [], "/review"
    while path:
        page = reviewer.get(path).text
        seen += links(page)
        path = more(page) or ""
    assert seen == names
    viewer = land.browser("viewer").get("/review").text
    assert "/do/approve" not in viewer
    land.do("update domains set approval = 'approved' where name = any(:names)", names=names)


def test_the_list_of_domains_is_filtered_sorted_paged_and_counted(land: Land) -> None:
    names = submitted(land, "list", 120)
    land.do("update domains set priority_score = id where name = any(:names)", names=names)
    viewer = land.browser("viewer")
    seen, path = [], "/domains?q=list"
    while path:
        answer = viewer.get(path, headers=HTMX if seen else {})
        assert {"hx-request", "cookie"} <= {part.strip().lower() for part in answer.headers["vary"].split(",")}
        seen += links(answer.text if not seen else f"<table>{answer.text}</table>")
        path = more(answer.text) or ""
    assert seen == names
    first = viewer.get("/domains?q=list").text
    assert "120 domains" in first
    assert "<html" in first
    fragment = viewer.get("/domains?q=list", headers=HTMX).text
    assert "120 domains" in fragment
    assert "<html" not in fragment
    assert "<table" not in viewer.get("/domains?q=list&after=list010.example", headers=HTMX).text
    restored = viewer.get("/domains?q=list", headers=HTMX | {"HX-History-Restore-Request": "true"}).text
    assert "<html" in restored
    assert links(viewer.get("/domains?q=LIST0&sort=priority").text)[0] == "list099.example"
    assert links(viewer.get("/domains?q=list119&approval=approved").text) == []
    assert links(viewer.get("/domains?q=list119&approval=pending_review").text) == ["list119.example"]
    assert "No such domains." in viewer.get("/domains?q=%25").text
    land.do("update domains set approval = 'approved' where name = any(:names)", names=names)
    approved = viewer.get("/approved?sort=priority").text
    assert "list119.example" in links(approved)
    assert "/do/suspend" not in approved
    assert "/do/suspend" in land.browser("reviewer").get("/approved?sort=priority").text


def test_ones_own_list_is_paged(land: Land) -> None:
    names = submitted(land, "mine", 70, "hands-in-many")
    submitter = land.browser("hands-in-many")
    first = submitter.get("/mine").text
    second = submitter.get(more(first) or "").text
    assert links(first) + links(second) == names[::-1]


def test_members_are_paged_whatever_they_are_called(land: Land) -> None:
    for n in range(60):
        land.do("insert into members (name, role, state) values (:name, 'viewer', 'active')", name=f"b&c#{n:02}=%")
    admin = land.browser("admin")
    first = admin.get("/members").text
    second = admin.get(more(first) or "").text
    shown = [
        node.text().split()[0] for page in (first, second) for node in LexborHTMLParser(page).css("td:first-child")
    ]
    assert len([name for name in shown if name.startswith("b&c#")]) == 60


@pytest.mark.parametrize("view", ["fetched", "errors", "waiting", "refused"])
def test_the_pages_of_a_domain_are_paged(land: Land, view: str) -> None:
    name = f"pages-{view}.example"
    land.admitted(name)
    id_ = land.value("select id from domains where name = :name", name=name)
    state, now = {"waiting": "pending", "errors": "failed"}.get(view, "fetched"), datetime.now(UTC)
    for n in range(120):
        page = {"domain_id": id_, "path_hash": hash_of(f"/p{n:03}")}
        if view == "refused":
            land.insert("refused_links", path=f"/p{n:03}", rule="calendar", **page)
            continue
        land.insert("pages", path=f"/p{n:03}", state=state, last_error="e", **page)
        if view != "waiting":
            at, outcome = now - timedelta(seconds=n // 3), "server_error" if view == "errors" else "ok"
            land.insert("fetch_log", fetched_at=at, run_id=1, lease_no=1, outcome=outcome, **page)
    seen: list[str] = []
    where = f"/domains/{name}/pages?view={view}"
    viewer, turns = land.browser("viewer"), 0
    while where:
        page = viewer.get(where).text
        seen += re.findall(r'class="whole path">(/p\d+)', page)
        where, turns = more(page) or "", turns + 1
    assert turns == 3
    assert sorted(seen) == [f"/p{n:03}" for n in range(120)]
    assert viewer.get(f"/domains/{name}/pages?view={view}&path=p000").status_code == 200


_REASONS = {
    "review_reason": "r", "blacklist_reason": "r", "blacklisted_by": 1, "blacklisted_at": datetime.now(UTC),
    "no_funds_year": 2090, "failure_reason": "r", "block_reason": "r",
}  # fmt: skip


@pytest.mark.parametrize("approval", APPROVAL.states)
def test_a_button_is_there_if_and_only_if_it_works(land: Land, approval: str) -> None:
    """Of these standings people's moves differ. Each verb that is offered is tried, and taken back."""
    name, submitter = f"axes-{approval.replace('_', '-')}.example", land.member("submitter").id
    land.admitted(name)
    for standing in ("discovered", "processing", "no_funds_this_year", "blacklisted"):
        for crawl in CRAWL.states:
            land.change(name, approval=approval, standing=standing, crawl=crawl, **_REASONS, submitted_by=submitter)
            with land.app.database.begin() as conn:
                domain = get(conn, DomainName(name))
                for role in (Role.SUBMITTER, Role.ADMIN):
                    for verb in verbs.possible(domain, role).values():
                        with conn.begin_nested() as tried:
                            verb.do(conn, domain, land.member(role), reason="why not")
                            tried.rollback()
            if (standing, crawl) in (("discovered", "pending"), ("blacklisted", "exhausted")):
                _compare(land, domain)


def _compare(land: Land, domain: Domain) -> None:
    """The page has the buttons of what is offered, and all else is refused."""
    for role in ROLES:
        browser, offered = land.browser(role), verbs.possible(domain, role)
        page = browser.get(f"/domains/{domain.name}").text
        assert set(re.findall(rf'action="/domains/{domain.name}/do/([a-z_]+)"', page)) == set(offered)
        for verb in verbs.VERBS.keys() - offered.keys():
            answer = browser.send(f"/domains/{domain.name}/do/{verb}", version=domain.version, reason="x")
            assert answer.status_code in (403, 409), (domain, role, verb)


def test_a_decision_on_what_has_changed_is_refused(land: Land) -> None:
    land.admitted("stale.example")
    one, other = land.browser("reviewer"), land.browser("admin")
    version = land.version("stale.example")
    assert one.send("/domains/stale.example/do/note", version=version, reason="first").status_code == 303
    for path in ("do/suspend", "do/note", "configuration"):
        answer = other.send(f"/domains/stale.example/{path}", version=version, reason="second")
        assert answer.status_code == 409
        assert "has changed since you looked" in answer.text
    for version in ("", "x", "-1", "1 or 1=1"):
        assert other.send("/domains/stale.example/do/suspend", version=version, reason="x").status_code == 409
    now = land.version("stale.example")
    assert other.send("/domains/stale.example/do/suspend", version=now, reason=" \t").status_code == 400
    assert other.send("/domains/stale.example/do/resume", version=now).status_code == 409
    assert (
        other.send("/domains/stale.example/do/suspend", version=now, reason="x", next="/approved").headers["location"]
        == "/approved"
    )


GOOD = {"max_crawl_depth": 3, "crawl_delay_seconds": 2, "max_concurrent_requests": 5, "max_pages_per_run": 1000,
        "scrape_frequency_hours": ""}  # fmt: skip
BAD = {
    "max_crawl_depth": ("-1", "1001", "", "x", "1.5", "9" * 30, "٣"),
    "crawl_delay_seconds": ("-1", "86401", "", "x", "nan", "inf", "1e99"),
    "max_concurrent_requests": ("0", "1001", "-1", ""),
    "max_pages_per_run": ("-1", "99999999999", ""),
    "scrape_frequency_hours": ("0", "87601", "-1", "x"),
}


def test_the_configuration_keeps_its_bounds(land: Land) -> None:
    land.admitted("bounds.example")
    reviewer, path = land.browser("reviewer"), "/domains/bounds.example/configuration"
    version = land.version("bounds.example")
    for name, values in BAD.items():
        for value in values:
            answer = reviewer.send(path, version=version, **(GOOD | {name: value}))
            assert answer.status_code in (400, 422), (name, value)
    assert land.version("bounds.example") == version
    wanted = {"max_crawl_depth": 0, "crawl_delay_seconds": 0.5, "max_concurrent_requests": 1, "max_pages_per_run": 0,
              "scrape_frequency_hours": 24}  # fmt: skip
    assert reviewer.send(path, version=version, **wanted).status_code == 303
    kept = land.do(f"select {', '.join(wanted)} from domains where name = 'bounds.example'")
    assert tuple(kept[0]) == tuple(wanted.values())
    assert "24" in reviewer.get("/domains/bounds.example").text
    assert reviewer.send(path, version=land.version("bounds.example"), **GOOD).status_code == 303
    assert land.value("select scrape_frequency_hours from domains where name = 'bounds.example'") is None


STRANGE = st.one_of(
    st.text(max_size=60),
    st.integers().map(str),
    st.sampled_from([
        "", "\x00", "%00", "0" * 400, "2026-01-01,1", "2026-01-01T00:00:00+00:00,99999999999999999999", ",", ",,",
        "0001-01-01T00:00:00+23:59,1", "9999-12-31T23:59:59-23:59,1", "2026-01-01T00:00:00,1", "1,2,3", "1,2",
        "9223372036854775808", "-9223372036854775809", "9223372036854775807,9223372036854775807,9223372036854775807",
        "name", "errors", "waiting", "refused", "tiles", "domain:", "domain:x", "nan", "1e9", "\ud7ff", "\u202e", "'",
    ]),
)  # fmt: skip


@given(name=st.sampled_from([
    "/domains?q", "/domains?approval", "/domains?standing", "/domains?crawl", "/domains?sort", "/domains?after",
    "/domains?sort=priority&after", "/domains?sort=last-crawled&after", "/approved?after", "/approved?sort",
    "/mine?after", "/review?after", "/members?after", "/submit?url", "/login?next", "/live/now?topic", "/live?topic",
    "/domains/fuzz.example?before", "/domains/fuzz.example/pages?view", "/domains/fuzz.example/pages?after",
    "/domains/fuzz.example/pages?path", "/domains/fuzz.example/pages?view=errors&after",
    "/domains/fuzz.example/pages?view=waiting&after", "/domains/fuzz.example/pages?view=refused&after",
]), value=STRANGE)  # fmt: skip
@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)
def test_nonsense_in_an_address_is_never_a_fault(land: Land, name: str, value: str) -> None:
    if land.do("select 1 from domains where name = 'fuzz.example'") == []:
        land.admitted("fuzz.example")
    path, _, query = name.partition("?")
    if path == "/live" and value == "tiles":
        return
    *fixed, last = query.split("&")
    params = [*(part.split("=") for part in fixed), (last.split("=")[0], value)]
    if "=" in last:
        params = [last.split("=")]
    answer = land.browser("admin").get(path, params=params)
    assert answer.status_code in (200, 303, 400, 404), (name, value, answer.text)


@given(value=STRANGE.filter(lambda text: "/" not in text))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
def test_nonsense_in_a_path_is_never_a_fault(land: Land, value: str) -> None:
    from urllib.parse import quote

    admin, part = land.browser("admin"), quote(value, safe="")
    for path in (f"/domains/{part}", f"/domains/{part}/pages", f"/welcome/{part}", f"/static/{part}/{part}"):
        assert admin.get(path).status_code in (200, 307, 404, 400), path
    for path in (f"/members/{part}/enable", f"/members/{part}/role", f"/domains/x/do/{part}"):
        assert admin.send(path, role="viewer", version=1).status_code in (303, 307, 400, 404, 405, 409), path


def test_a_machine_can_see_whether_it_is_up_and_ready(land: Land) -> None:
    stranger = land.browser(address="192.0.2.1")
    assert stranger.get("/healthz").text == "ok\n"
    assert stranger.get("/readyz").json() == {"ready": True}


def test_without_its_database_it_is_up_and_not_ready(land: Land) -> None:
    database = land.app.database
    engine, server = database._engine, database.server
    database._engine = None
    database.server = ExternalServer(DatabaseSettings(url="postgresql://nobody@127.0.0.1:1/nothing"))
    try:
        browser = land.browser()
        assert browser.get("/healthz").status_code == 200
        answer = browser.get("/readyz")
        assert answer.status_code == 503
        assert answer.json()["ready"] is False
        assert "nobody" not in answer.text
        for path in ("/domains", "/login", "/metrics", "/welcome/x"):
            browser.cookies.set("bailiwick", "x" * 43, domain="127.0.0.1")
            answer = browser.get(path)
            assert answer.status_code == 503, path
            assert "127.0.0.1:1" not in answer.text
    finally:
        database._engine, database.server = engine, server
    assert land.browser().get("/readyz").status_code == 200


def test_the_figures_can_be_read_and_name_no_domain(land: Land) -> None:
    land.admitted("figured.example")
    browser = land.browser("admin")
    for path in ("/domains/figured.example", "/nothing/figured.example", "/domains/figured.example/pages"):
        browser.get(path)
    figures = '{"pages": 7, "outcomes": {"ok": 5}}'
    land.insert("workers", name="m/b/1/2", machine="m", boot="b", pid=1, process_started=1, figures=figures)
    text = browser.get("/metrics").text
    found = {sample.name: sample for family in text_string_to_metric_families(text) for sample in family.samples}
    assert found["bailiwick_worker_pages_total"].value == 7
    assert found["bailiwick_domains_ready"].value >= 1
    assert "figured" not in text
    routes = {
        sample.labels["route"]
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if "route" in sample.labels
    }
    assert {"/domains/{name}", "/domains/{name}/pages", "none"} <= routes
    assert Role.SYSTEM not in text
