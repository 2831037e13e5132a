"""No other site can send a form in a member's name: every route that takes something in wants our word."""

import pytest

from bailiwick.web import forgery
from tests.web.tools import HOST, Browser, Land

FOREIGN = (
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": f"https://{HOST}"},
    {"origin": f"http://{HOST}:9999"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
)


def forms(land: Land) -> list[str]:
    """The path of every route that takes a POST."""
    found = [path.format(name="example.org", verb="suspend", number=1, word="x") for path in land.routes("POST")]
    assert len(found) >= 13
    return found


def refused(land: Land, who: Browser, fields: dict[str, str], headers: dict[str, str] | None = None) -> None:
    before = land.state()
    for path in forms(land):
        answer = who.post(path, data=fields, headers=headers)
        assert answer.status_code == 403, (path, fields, headers)
        assert "did not come from a page of this session" in answer.text
        assert "set-cookie" not in answer.headers or "bailiwick=" not in answer.headers["set-cookie"]
    assert land.state() == before


@pytest.fixture(scope="module", autouse=True)
def _domain(land: Land) -> None:
    land.admitted("example.org")


def fields_of(land: Land) -> dict[str, str]:
    """Good values for every form there is."""
    more = {"name": "mallory", "role": "admin", "password": "evil horse battery", "again": "evil horse battery"}
    return more | {"version": str(land.version("example.org")), "reason": "because", "url": "new.example"}


def test_a_form_without_the_word_changes_nothing(land: Land) -> None:
    refused(land, land.browser("admin"), fields_of(land))


def test_a_form_with_anothers_word_changes_nothing(land: Land) -> None:
    for word in (land.browser("reviewer").word, land.browser().word, forgery.masked(""), "", "A" * 88, "ä", "=" * 9):
        refused(land, land.browser("admin"), fields_of(land) | {"word": word})


@pytest.mark.parametrize("headers", FOREIGN, ids=lambda one: "-".join(*one.items()).replace("/", "_"))
def test_a_form_from_elsewhere_changes_nothing_even_with_the_word(land: Land, headers: dict[str, str]) -> None:
    admin = land.browser("admin")
    refused(land, admin, fields_of(land) | {"word": admin.word}, headers)


def test_the_word_is_not_taken_from_the_address_or_from_another_kind_of_body(land: Land) -> None:
    admin = land.browser("admin")
    before = land.state()
    assert admin.post(f"/members?word={admin.word}&name=x&role=admin").status_code == 403
    assert admin.post("/members", json={"word": admin.word, "name": "x", "role": "admin"}).status_code == 403
    assert (
        admin.post("/members", content=f"word={admin.word}", headers={"content-type": "text/plain"}).status_code == 403
    )
    files = {"word": ("word.txt", admin.word.encode())}
    assert admin.post("/members", files=files).status_code == 400
    assert land.state() == before


def test_nobody_who_is_not_logged_in_gets_by_with_a_word_of_their_own(land: Land) -> None:
    stranger = land.browser()
    fields = fields_of(land) | {"word": stranger.word}
    before = land.state()
    for path in forms(land):
        answer = stranger.post(path, data=fields)
        assert answer.status_code in (303, 403, 404), path
        if answer.status_code == 303:
            assert answer.headers["location"] == "/login"
    assert land.state() == before


def test_a_form_of_ours_is_taken_from_a_browser_that_says_where_it_is_from(land: Land) -> None:
    admin = land.browser("admin")
    headers = {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}
    for told in (headers, headers | {"origin": "null"}, {}):
        fields = {"word": admin.word, "version": str(land.version("example.org")), "reason": "seen"}
        answer = admin.post("/domains/example.org/do/note", data=fields, headers=told)
        assert answer.status_code == 303


def test_nothing_changes_by_looking(land: Land) -> None:
    admin = land.browser("admin")
    before = land.state()
    for path in forms(land):
        assert admin.get(path).status_code in (200, 303, 404, 405), path
    for path in ("/domains/example.org/do/suspend", "/logout", "/members/viewer/disable"):
        assert admin.get(path).status_code == 405
    assert land.state() == before


def test_the_word_looks_another_way_on_each_page_and_is_one_on_each(land: Land) -> None:
    admin = land.browser("admin")
    pages = [admin.get("/members").text for _ in range(2)]
    words = [{part.split('"')[0] for part in page.split('name="word" value="')[1:]} for page in pages]
    assert [len(found) for found in words] == [1, 1]
    assert words[0] != words[1]
    for page in pages:
        assert admin.cookies["bailiwick"] not in page
