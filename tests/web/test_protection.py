"""What every request passes and every answer carries."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from starlette.types import Message

from bailiwick.base.errors import ServerMissingError
from bailiwick.web.protection import LARGEST_BODY, own_hosts
from tests.servers import TestServers
from tests.web.tools import HOST, PASSWORD, Land, land_at

POLICY = {
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
    "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
}  # fmt: skip


def guarded(headers: object) -> None:
    told = dict(headers)  # type: ignore[call-overload]
    assert set(told["content-security-policy"].split("; ")) == POLICY
    assert told["x-content-type-options"] == "nosniff"
    assert told["x-frame-options"] == "DENY"
    assert told["referrer-policy"] == "same-origin"
    assert told["cross-origin-opener-policy"] == told["cross-origin-resource-policy"] == "same-origin"
    assert "camera=()" in told["permissions-policy"]
    assert "server" not in told
    assert told["cache-control"] in ("no-store", "public, max-age=31536000, immutable")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/login", 200), ("/", 303), ("/nothing", 404), ("/domains/", 307), ("/logout", 405), ("/healthz", 200),
        ("/readyz", 200), ("/metrics", 200), ("/static/x/app.js", 404), ("/domains?q=%00", 404), ("/%00", 404),
        ("/login?next=a&next=b", 200),
    ],
)  # fmt: skip
def test_every_kind_of_answer_has_the_headers(land: Land, path: str, status: int) -> None:
    answer = land.browser().get(path)
    assert answer.status_code == status
    guarded(answer.headers)


def test_refusals_and_static_files_have_the_headers(land: Land) -> None:
    browser = land.browser("viewer")
    assert browser.get("/members").status_code == 403
    guarded(browser.get("/members").headers)
    guarded(browser.post("/login").headers)
    for name in ("app.js", "app.css", "icon.svg", "htmx.js"):
        answer = browser.get(land.site.assets.url(name))
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        guarded(answer.headers)
        assert (
            browser.get(land.site.assets.url(name), headers={"accept-encoding": "identity"}).content == answer.content
        )


def test_a_fault_of_ours_has_the_headers_and_tells_no_trace(land: Land, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("secret inside")

    monkeypatch.setattr("bailiwick.web.dashboard.latest", fail)
    answer = land.browser("admin").get("/")
    assert answer.status_code == 500
    guarded(answer.headers)
    assert "secret inside" not in answer.text
    assert "Something went wrong in Bailiwick itself." in answer.text


def test_what_the_database_says_is_not_for_strangers(land: Land, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ServerMissingError("no connection to /secret/socket")

    monkeypatch.setattr("bailiwick.accounts.links.look", fail)
    answer = land.browser().get("/welcome/x")
    assert answer.status_code == 503
    assert "/secret/socket" not in answer.text
    assert "/secret/socket" in land.browser("admin").get("/welcome/x").text


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:8300", "", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1:8300@evil",
    "localhost:x", "localhost:80/evil", "localhost:@evil.example", "[::2]", "[::1", "127.0.0.1 evil", "0.0.0.0",
])  # fmt: skip
def test_a_server_asked_by_another_name_does_not_answer(land: Land, host: str) -> None:
    for path in ("/login", "/healthz", "/metrics", land.site.assets.url("app.js")):
        answer = land.browser("admin").get(path, headers={"host": host})
        assert answer.status_code == 421, host
        guarded(answer.headers)
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("host", ["localhost", "LocalHost:8300", "127.0.0.1:1", "[::1]:8300", "[::1]", "localhost."])
def test_a_server_on_loopback_is_asked_by_these_names(land: Land, host: str) -> None:
    assert land.browser().get("/healthz", headers={"host": host}).status_code == 200


def test_an_operator_adds_names() -> None:
    assert own_hosts("0.0.0.0", ["Crawl.Example"]) == {"localhost", "127.0.0.1", "::1", "crawl.example"}
    assert "192.0.2.1" in own_hosts("192.0.2.1", [])
    assert "box" in own_hosts("Box", [])


@pytest.mark.parametrize("length", [str(LARGEST_BODY + 1), "-1", "x", "9" * 30, "²"])
def test_a_body_that_says_it_is_too_large_is_refused(land: Land, length: str) -> None:
    headers = {"content-length": length.encode("latin-1"), "content-type": "application/x-www-form-urlencoded"}
    answer = land.browser().post("/login", content=b"x=1", headers=headers)
    assert answer.status_code == 413
    guarded(answer.headers)


def test_a_body_that_goes_on_is_refused_whatever_it_said(land: Land) -> None:
    browser = land.browser("admin")

    async def endless(start: bytes) -> AsyncIterator[bytes]:
        yield start
        for _ in range(70):
            yield b"x" * 1000

    starts = {
        "application/x-www-form-urlencoded": b"name=",
        "multipart/form-data; boundary=b": b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n',
    }
    for kind, start in starts.items():
        answer = browser.post("/members", content=endless(start), headers={"content-type": kind})
        assert answer.status_code == 413, kind
        guarded(answer.headers)


def test_a_form_with_too_many_fields_or_broken_parts_is_refused(land: Land) -> None:
    browser = land.browser("admin")
    many = {f"f{n}": "x" for n in range(60)} | {"word": browser.word}
    assert browser.post("/members", data=many).status_code == 400
    broken = {"content-type": "multipart/form-data; boundary=b"}
    assert browser.post("/members", content=b"--b\r\nnonsense", headers=broken).status_code in (400, 403)
    assert browser.post("/members", content=b"x", headers={"content-type": "multipart/form-data"}).status_code == 400


def cookies_of(land: Land, scheme: str) -> list[str]:
    browser = land.browser(scheme=scheme)
    page = browser.get("/login")
    word = page.text.partition('name="word" value="')[2].partition('"')[0]
    answer = browser.post("/login", data={"word": word, "name": "viewer", "password": PASSWORD})
    assert answer.status_code == 303
    return [*page.headers.get_list("set-cookie"), *answer.headers.get_list("set-cookie")]


def test_cookies_are_for_this_server_alone(land: Land) -> None:
    given = cookies_of(land, "http")
    assert {cookie.partition("=")[0] for cookie in given} == {"bailiwick", "bailiwick-device", "bailiwick-form"}
    for cookie in given:
        parts = {part.strip().lower() for part in cookie.split(";")[1:]}
        assert {"httponly", "samesite=lax", "path=/"} <= parts
        assert not any(part.startswith("domain") for part in parts)
        assert "secure" not in parts


def test_over_tls_cookies_are_bound_to_it(land: Land) -> None:
    given = cookies_of(land, "https")
    assert {cookie.partition("=")[0] for cookie in given} == {
        "__Host-bailiwick", "__Host-bailiwick-device", "__Host-bailiwick-form"
    }  # fmt: skip
    for cookie in given:
        assert "; secure" in cookie.lower()
    secure = land.browser("viewer", scheme="https")
    answer = secure.get("/account")
    assert answer.status_code == 200
    assert answer.headers["strict-transport-security"] == "max-age=31536000"
    plain = land.browser(scheme="https")
    plain.cookies.set("bailiwick", land.browser("viewer").cookies["bailiwick"], domain=HOST)
    assert plain.get("/account").status_code == 303


def test_a_client_that_says_it_came_by_tls_is_not_believed(land: Land) -> None:
    answer = land.browser().get("/login", headers={"x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.1"})
    assert "__Host-" not in answer.headers["set-cookie"]
    assert "strict-transport-security" not in answer.headers


def test_the_figures_are_for_this_machine(land: Land) -> None:
    assert land.browser(address="192.0.2.9").get("/metrics").status_code == 403
    assert land.browser(address="not an address").get("/metrics").status_code == 403
    assert land.browser(address="::1").get("/metrics").status_code == 200
    # By a proxy on this machine of which nobody told us, its address is everybody's.
    assert land.browser().get("/metrics", headers={"x-forwarded-for": "192.0.2.9"}).status_code == 403


@pytest.mark.usefixtures("_cheap")
def test_figures_for_everybody_if_the_operator_says_so(servers: TestServers, tmp_path: Path) -> None:
    with servers.cloned("pg18") as url, land_at(tmp_path, url, metrics_public=True) as land:
        assert land.browser(address="192.0.2.9").get("/metrics").status_code == 200


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    from bailiwick.base import telemetry
    from bailiwick.base.sections import LogSettings

    caplog.set_level(logging.DEBUG)
    telemetry.configure(LogSettings(), verbosity=2)
    yield caplog
    telemetry.configure(LogSettings())


def test_no_secret_is_logged(
    land: Land, logged: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    capfd.readouterr()
    browser, admin = land.browser(), land.browser("admin")
    assert browser.log_in("reviewer").status_code == 303
    browser.log_in("reviewer", "the wrong secret")
    page = admin.send("/members/submitter/reset").text
    link = page.partition("/welcome/")[2].partition("<")[0]
    guest = land.browser()
    guest.get(f"/welcome/{link}")
    guest.send(f"/welcome/{link}", password="my own secret word", again="my own secret word")
    monkeypatch.setattr("bailiwick.web.domains.submitted_by", lambda *_, **__: 1 / 0)
    assert browser.get("/mine").status_code == 500
    ours = [record.getMessage() for record in logged.records if record.name != "httpx"]
    told = "".join((*capfd.readouterr(), *ours))
    assert "request.answered" in told
    assert "ZeroDivisionError" in told
    kept = [browser.cookies["bailiwick"], browser.cookies["bailiwick-device"], admin.cookies["bailiwick"]]
    for secret in (PASSWORD, "the wrong secret", "my own secret word", link, browser.word, *kept):
        assert secret not in told


def test_a_websocket_gets_nothing(land: Land) -> None:
    sent: list[Message] = []

    async def ask() -> None:
        async def receive() -> Message:
            return {"type": "websocket.connect"}

        async def send(message: Message) -> None:
            sent.append(message)
            await asyncio.sleep(0)

        scope = {"type": "websocket", "path": "/live", "headers": [], "query_string": b"", "scheme": "ws",
                 "server": (HOST, 1), "client": (HOST, 2), "subprotocols": []}  # fmt: skip
        await land.asgi(scope, receive, send)

    land.runner.run(ask())
    assert [message["type"] for message in sent] == ["websocket.close"]
