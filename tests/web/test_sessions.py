"""Sessions in the browser: new words at log-in, and an end that is felt at once."""

from hashlib import sha256

import pytest

from bailiwick.model.states import Role
from bailiwick.web import forgery
from tests.web.tools import HOST, PASSWORD, Browser, Land

NEW = "a better horse battery"


def is_in(browser: Browser) -> bool:
    return browser.get("/account").status_code == 200


@pytest.fixture
def somebody(land: Land, request: pytest.FixtureRequest) -> str:
    """A member of this test's own."""
    name = f"m-{sha256(request.node.name.encode()).hexdigest()[:16]}"
    land.member(name, Role.REVIEWER)
    return name


def test_words_that_were_planted_before_the_login_are_not_the_session_afterwards(land: Land, somebody: str) -> None:
    victim, planted = land.browser(), "planted-" + "x" * 35
    for name in ("bailiwick", "bailiwick-form", "bailiwick-device"):
        victim.cookies.set(name, planted, domain=HOST)
    fields = {"name": somebody, "password": PASSWORD, "word": forgery.masked(planted)}
    assert victim.post("/login", data=fields).status_code == 303
    assert is_in(victim)
    assert planted not in (victim.cookies["bailiwick"], victim.cookies["bailiwick-device"])
    attacker = land.browser()
    attacker.cookies.set("bailiwick", planted, domain=HOST)
    assert not is_in(attacker)


def test_logging_in_ends_the_session_that_was_there(land: Land, somebody: str) -> None:
    browser = land.browser("viewer")
    before = browser.cookies["bailiwick"]
    assert browser.log_in(somebody).status_code == 303
    assert is_in(browser)
    old = land.browser()
    old.cookies.set("bailiwick", before, domain=HOST)
    assert not is_in(old)


def test_logging_out_ends_the_session_and_not_only_its_cookie(land: Land, somebody: str) -> None:
    browser, copy, other = land.browser(somebody), land.browser(), land.browser(somebody)
    copy.cookies.set("bailiwick", browser.cookies["bailiwick"], domain=HOST)
    assert is_in(copy)
    answer = browser.send("/logout")
    assert answer.headers["location"] == "/login"
    assert "bailiwick" not in browser.cookies
    assert not is_in(copy)
    assert is_in(other)


def test_a_disabled_member_is_out_at_once_and_enabling_brings_no_session_back(land: Land, somebody: str) -> None:
    browser, admin = land.browser(somebody), land.browser("admin")
    assert admin.send(f"/members/{somebody}/disable", reason="left").status_code == 303
    assert not is_in(browser)
    assert land.browser().log_in(somebody).status_code == 403
    assert admin.send(f"/members/{somebody}/enable").status_code == 303
    assert not is_in(browser)
    assert land.browser().log_in(somebody).status_code == 303


def test_a_reset_voids_password_and_sessions_and_shows_a_link_that_works_once(land: Land, somebody: str) -> None:
    browser, admin = land.browser(somebody), land.browser("admin")
    page = admin.send(f"/members/{somebody}/reset")
    link = page.text.partition('<p class="secret">')[2].partition("</p>")[0]
    assert link.startswith(f"http://{HOST}/welcome/")
    assert not is_in(browser)
    assert land.browser().log_in(somebody).status_code == 403
    way = link.removeprefix(f"http://{HOST}")
    guest = land.browser()
    assert guest.get(way).status_code == 200
    assert guest.send(way, password=NEW, again="another").status_code == 400
    assert guest.send(way, password="short", again="short").status_code == 400
    assert guest.send(way, password=NEW, again=NEW, name="admin").status_code == 303
    assert guest.get("/account").text.count(somebody) >= 1
    assert land.browser().get(way).status_code == 404
    assert land.browser().send(way, password=NEW, again=NEW).status_code == 404
    assert land.browser().log_in(somebody, NEW).status_code == 303
    assert link.rsplit("/", 1)[1] not in admin.get("/members").text


def test_a_new_password_ends_every_other_session(land: Land, somebody: str) -> None:
    one, other = land.browser(somebody), land.browser(somebody)
    assert one.send("/account/password", old="wrong", password=NEW, again=NEW).status_code == 400
    assert is_in(other)
    assert one.send("/account/password", old=PASSWORD, password=NEW, again=NEW).status_code == 303
    assert is_in(one)
    assert not is_in(other)


def test_the_old_password_cannot_be_guessed_for_ever(land: Land, somebody: str) -> None:
    browser = land.browser(somebody)
    answers = [browser.send("/account/password", old=f"guess {n}", password=NEW, again=NEW) for n in range(15)]
    assert [answer.status_code for answer in answers] == [400] * 10 + [429] * 5
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert browser.send("/account/password", old=PASSWORD, password=NEW, again=NEW).status_code == 429


def test_a_member_ends_their_own_sessions_and_nobody_elses(land: Land, somebody: str) -> None:
    one, other, stranger = land.browser(somebody), land.browser(somebody), land.browser("viewer")
    ids = [row.id for row in land.do(
        "select s.id from sessions s join members m on m.id = s.member_id where m.name = :name order by s.id",
        name=somebody)]  # fmt: skip
    assert stranger.send(f"/account/sessions/{ids[-1]}/end").status_code == 404
    assert is_in(other)
    assert one.send(f"/account/sessions/{ids[-1]}/end").status_code == 303
    assert not is_in(other)
    for number, status in ((10**18, 404), (0, 400), (-1, 400), (10**30, 400), ("x", 400)):
        assert one.send(f"/account/sessions/{number}/end").status_code == status


@pytest.mark.parametrize("late", ["expires_at = now() - interval '1 second', created_at = now() - interval '31 days'",
                                  "seen_at = now() - interval '8 days'"])  # fmt: skip
def test_a_session_ends_by_time_and_by_idleness(land: Land, somebody: str, late: str) -> None:
    browser = land.browser(somebody)
    assert is_in(browser)
    land.do(f"update sessions set {late} where member_id = :id", id=land.member(somebody).id)
    assert not is_in(browser)
    assert browser.get("/domains").headers["location"] == "/login?next=%2Fdomains"


def test_a_session_that_is_used_does_not_become_idle(land: Land, somebody: str) -> None:
    browser = land.browser(somebody)
    land.do(
        "update sessions set seen_at = now() - interval '6 days' where member_id = :id", id=land.member(somebody).id
    )
    assert is_in(browser)
    ago = land.value("select now() - max(seen_at) from sessions where member_id = :id", id=land.member(somebody).id)
    assert ago.total_seconds() < 60


@pytest.mark.parametrize("where", [
    "//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)", "\\\\evil", "/\t/evil.example",
    "/\n/evil", " //evil", "", "evil", "\x00/", "data:text/html,x", "/\u2028/evil",
])  # fmt: skip
def test_nobody_is_sent_elsewhere_after_the_login(land: Land, somebody: str, where: str) -> None:
    browser = land.browser()
    answer = browser.log_in(somebody, next=where)
    assert answer.headers["location"] == "/"
    asked = land.browser(somebody).get("/login", params={"next": where})
    assert asked.status_code in (303, 404)
    assert asked.headers.get("location", "/") == "/"


def test_after_the_login_one_is_where_one_wanted_to_be(land: Land, somebody: str) -> None:
    stranger = land.browser()
    to_login = stranger.get("/domains?q=a&sort=priority").headers["location"]
    assert to_login == "/login?next=%2Fdomains%3Fq%3Da%26sort%3Dpriority"
    assert stranger.get(to_login).status_code == 200
    assert (
        stranger.log_in(somebody, next="/domains?q=a&sort=priority").headers["location"] == "/domains?q=a&sort=priority"
    )
    fragment = stranger.get("/login", params={"next": "/domains?q=中"}, headers={"HX-Request": "true"})
    assert (fragment.status_code, fragment.headers["hx-redirect"]) == (204, "/domains?q=%E4%B8%AD")
