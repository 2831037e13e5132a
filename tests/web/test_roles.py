"""Who may see and do what: every route for every role; and nobody gets further by forged fields."""

from collections.abc import Iterator

import pytest

from bailiwick.model.states import Role
from tests.web.tools import Land

WHO = (None, "submitter", "viewer", "reviewer", "admin")
DOMAIN = "roles.example"

# path -> status for a stranger, a submitter, a viewer, a reviewer, an admin. The domain is nobody's of them.
SEEN = {
    "/healthz": (200, 200, 200, 200, 200),
    "/readyz": (200, 200, 200, 200, 200),
    "/metrics": (200, 200, 200, 200, 200),
    "/login": (200, 303, 303, 303, 303),
    "/welcome/{word}": (404, 404, 404, 404, 404),
    "/": (303, 303, 200, 200, 200),
    "/live?topic=nothing": (303, 400, 400, 400, 400),
    "/live/now?topic=tiles": (303, 403, 200, 200, 200),
    "/domains": (303, 403, 200, 200, 200),
    "/approved": (303, 403, 200, 200, 200),
    "/mine": (303, 200, 200, 200, 200),
    "/domains/{name}": (303, 404, 200, 200, 200),
    "/domains/{name}/items": (303, 404, 200, 200, 200),
    "/domains/{name}/pages": (303, 404, 200, 200, 200),
    "/review": (303, 403, 200, 200, 200),
    "/submit": (303, 200, 403, 200, 200),
    "/members": (303, 403, 403, 403, 200),
    "/account": (303, 200, 200, 200, 200),
    "/suggest": (404, 404, 404, 404, 404),
    "/domains/{name}/images": (303, 404, 200, 200, 200),
    "/domains/{name}/images/{digest}.webp": (303, 404, 404, 404, 404),
    "/static/{digest}/{name}": (404, 404, 404, 404, 404),
}
DONE = {
    "/login": (403, 403, 403, 403, 403),
    "/welcome/{word}": (404, 404, 404, 404, 404),
    "/domains/{name}/do/{verb}": (303, 404, 403, 303, 303),
    "/domains/{name}/configuration": (303, 404, 403, 303, 303),
    "/submit": (303, 303, 403, 303, 303),
    "/members": (303, 403, 403, 403, 200),
    "/members/{name}/reset": (303, 403, 403, 403, 200),
    "/members/{name}/role": (303, 403, 403, 403, 303),
    "/members/{name}/disable": (303, 403, 403, 403, 303),
    "/members/{name}/enable": (303, 403, 403, 403, 303),
    "/account/password": (303, 400, 400, 400, 400),
    "/account/sessions/{number}/end": (303, 404, 404, 404, 404),
    "/suggest": (404, 404, 404, 404, 404),
    "/logout": (303, 303, 303, 303, 303),
}
FORBIDDEN_TO_REVIEWERS = ("blacklist", "lift", "admit", "merge", "process", "start", "block", "retry", "nothing")


@pytest.fixture(scope="module", autouse=True)
def _domain(land: Land) -> None:
    land.admitted(DOMAIN)


def cells(table: dict[str, tuple[int, ...]]) -> Iterator[tuple[str, str | None, int]]:
    return ((path, who, status) for path, row in table.items() for who, status in zip(WHO, row, strict=True))


def test_every_route_stands_in_the_table(land: Land) -> None:
    assert {path.partition("?")[0] for path in SEEN} == set(land.routes("GET"))
    assert set(DONE) == set(land.routes("POST"))
    assert not [land.routes(method) for method in ("PUT", "PATCH", "DELETE") if land.routes(method)]


@pytest.mark.parametrize("who", WHO, ids=str)
def test_each_sees_what_is_for_them(land: Land, who: str | None) -> None:
    browser = land.browser(who)
    for path, _, status in (cell for cell in cells(SEEN) if cell[1] == who):
        answer = browser.get(path.format(name=DOMAIN, word="x", digest="x"))
        assert answer.status_code == status, path
        if status == 403:
            assert DOMAIN not in answer.text


@pytest.mark.parametrize("who", WHO, ids=str)
def test_each_does_what_is_for_them(land: Land, who: str | None) -> None:
    browser, patient = land.browser(who), f"patient-of-{who}".lower()
    land.member(patient)
    fields = {
        "name": "nobody", "password": "wrong", "again": "wrong", "old": "wrong", "role": "viewer", "reason": "why not",
        "url": f"by-{who}.example", "max_crawl_depth": 2, "crawl_delay_seconds": 1.5, "max_concurrent_requests": 1,
        "max_pages_per_run": 10, "depth": 2,
    }  # fmt: skip
    for path, _, status in (cell for cell in cells(DONE) if cell[1] == who):
        name = patient if path.startswith("/members") else DOMAIN
        whom = {"name": f"made-by-{who}"} if path == "/members" else {}
        more = {"version": land.version(DOMAIN)} | whom
        answer = browser.send(path.format(name=name, word="x", verb="note", number=10**15), **(fields | more))
        assert answer.status_code == status, path


def test_a_viewer_changes_nothing(land: Land) -> None:
    viewer = land.browser("viewer")
    before = land.state()
    for path in land.routes("POST"):
        if path != "/logout":
            for verb in ("approve", "suspend", "recrawl", "refresh", "reset", "trust", "note", "blacklist", "resubmit"):
                where = path.format(name=DOMAIN, verb=verb, number=10**9, word="x")
                answer = viewer.send(where, version=land.version(DOMAIN), reason="x", url="viewed.example", depth=1)
                assert answer.status_code >= 400, where
                if "{verb}" not in path:
                    break
    assert land.state() == before


@pytest.mark.parametrize("verb", FORBIDDEN_TO_REVIEWERS)
def test_a_reviewer_does_not_get_further_by_the_name_of_a_verb(land: Land, verb: str) -> None:
    reviewer = land.browser("reviewer")
    before = land.state()
    answer = reviewer.send(f"/domains/{DOMAIN}/do/{verb}", version=land.version(DOMAIN), reason="x")
    assert answer.status_code in (403, 404, 409)
    assert land.state()[0][1:] == before[0][1:]


def test_a_submitter_sees_and_moves_only_their_own(land: Land) -> None:
    mine, others = land.browser("submitter"), land.browser("admin")
    assert mine.send("/submit", url="own.example", depth=3).status_code == 303
    assert others.send("/submit", url="other.example", depth=3, context="hush").status_code == 303
    assert mine.get("/domains/own.example").status_code == 200
    listed = mine.get("/mine").text
    assert "own.example" in listed
    assert "other.example" not in listed
    for name in ("other.example", "not-there.example"):
        topic = f"domain:{name}"
        for path in (f"/domains/{name}", f"/domains/{name}/pages?view=refused", f"/domains/{name}/pages?path=/",
                     f"/live?topic={topic}", f"/live/now?topic={topic}"):  # fmt: skip
            answer = mine.get(path)
            assert answer.status_code == 404, path
            assert "hush" not in answer.text
        answer = mine.send(f"/domains/{name}/do/recrawl", version=1)
        assert answer.status_code == 404
    assert mine.get("/live/now?topic=domain:own.example").status_code == 200
    # Both answers are the same, so nobody can ask which domains there are.
    first, second = (mine.get(f"/domains/{name}").text for name in ("other.example", "nosuch.example"))
    assert strip(first, "other.example") == strip(second, "nosuch.example")


def strip(page: str, name: str) -> str:
    start = page.index('name="word" value="')
    return (page[:start] + page[start + 110 :]).replace(name, "NAME")


def test_a_submitter_may_recrawl_their_own_and_nothing_more(land: Land) -> None:
    mine, name = land.browser("submitter"), "approved-own.example"
    assert mine.send("/submit", url=name, depth=3).status_code == 303
    for verb in ("approve", "trust", "reject", "note"):
        assert mine.send(f"/domains/{name}/do/{verb}", version=land.version(name), reason="x").status_code == 403
    assert land.browser("admin").send(f"/domains/{name}/do/approve", version=land.version(name)).status_code == 303
    assert mine.send(f"/domains/{name}/do/recrawl", version=land.version(name)).status_code == 303
    wanted = {"max_crawl_depth": 1, "crawl_delay_seconds": 0, "max_concurrent_requests": 9, "max_pages_per_run": 0}
    answer = mine.send(f"/domains/{name}/configuration", version=land.version(name), **wanted)
    assert answer.status_code == 403


@pytest.mark.parametrize("who", ["submitter", "reviewer"])
def test_only_an_admin_admits_without_review(land: Land, who: str) -> None:
    name = f"admit-{who}.example"
    assert land.browser(who).send("/submit", url=name, depth=3, admit="yes").status_code == 303
    assert land.value("select approval from domains where name = :name", name=name) == "pending_review"


def test_an_admin_admits_without_review(land: Land) -> None:
    assert land.browser("admin").send("/submit", url="admit.example", depth=3, admit="yes").status_code == 303
    assert land.value("select approval from domains where name = 'admit.example'") == "approved"


def test_nobody_becomes_or_touches_the_system(land: Land) -> None:
    admin = land.browser("admin")
    land.member("climber")
    assert admin.send("/members/climber/role", role="system").status_code == 400
    assert admin.send("/members", name="second-system", role="system").status_code == 400
    assert admin.send("/members", name="system", role="admin").status_code == 409
    for path in ("/members/system/role", "/members/system/disable", "/members/system/reset", "/members/System/enable"):
        assert admin.send(path, role="viewer", reason="x").status_code in (400, 404), path
    assert land.do("select name from members where role = 'system'") == [("system",)]
    assert land.value("select password_hash from members where name = 'system'") is None


def test_a_change_of_role_is_felt_by_the_next_request(land: Land) -> None:
    land.member("rising", Role.SUBMITTER)
    browser, admin = land.browser("rising"), land.browser("admin")
    assert browser.get("/domains").status_code == 403
    assert admin.send("/members/rising/role", role="reviewer").status_code == 303
    assert browser.get("/domains").status_code == 200
    assert admin.send("/members/rising/role", role="submitter").status_code == 303
    assert browser.get("/domains").status_code == 403


def test_the_last_admin_cannot_lock_everybody_out(land: Land) -> None:
    admin = land.browser("admin")
    assert admin.send("/members/admin/role", role="viewer").status_code == 409
    assert admin.send("/members/admin/disable", reason="x").status_code == 409
    assert admin.get("/members").status_code == 200
