"""What every search engine behind HTTP does, against a server that speaks its protocol and one that does not."""

import gzip
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from bailiwick.backends.engine_http import MAX_BODY_BYTES
from bailiwick.base.errors import SettingsError
from bailiwick.ports import EngineOutcome, EngineQuestion
from tests.backends.engine_servers import KEY, KEY_NAME, KINDS, EngineServer, Entry, engine_server, fault, said
from tests.backends.model_server import Said

HOSTILE = [
    Entry(None),
    Entry(""),
    Entry(7),
    Entry("javascript:alert(1)"),
    Entry("data:text/html,<script>alert(1)</script>"),
    Entry("https://long.example/", "T" * 100_000, "S" * 100_000),
    Entry("https://typed.example/", {"a": 1}, ["b"]),
    Entry("https://broken.example/", "half \ud800 a pair", None),
    Entry("https://" + "x" * 100_000),
]


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineServer]:
    monkeypatch.setenv(KEY_NAME, KEY)
    with engine_server(request.param) as serving:
        yield serving


def name_of(server: EngineServer) -> str:
    return server.kind.engine(server.settings()).name


def test_results_come_in_their_order(server: EngineServer) -> None:
    answer = server.ask_one()
    assert (answer.outcome, answer.status, answer.why) == (EngineOutcome.ANSWERED, 200, "")
    assert [hit.url for hit in answer.hits] == [f"https://site{number}.example/grants" for number in (1, 2, 3)]
    assert [hit.title for hit in answer.hits] == ["Grant 1", "Grant 2", "Grant 3"]
    assert {hit.snippet for hit in answer.hits} == {
        "Who may apply &amp; until when." if server.kind.has_snippets else ""
    }


def test_nothing_found_is_an_answer(server: EngineServer) -> None:
    server.web = []
    answer = server.ask_one()
    assert (answer.outcome, answer.hits, answer.has_more) == (EngineOutcome.ANSWERED, (), False)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (401, EngineOutcome.REFUSED),
        (403, EngineOutcome.REFUSED),
        (402, EngineOutcome.LIMITED),
        (429, EngineOutcome.LIMITED),
        (400, EngineOutcome.INVALID),
        (404, EngineOutcome.INVALID),
        (422, EngineOutcome.INVALID),
        (408, EngineOutcome.FAILED),
        (500, EngineOutcome.FAILED),
        (502, EngineOutcome.FAILED),
        (503, EngineOutcome.FAILED),
    ],
)
def test_a_status_is_told_by_its_outcome(server: EngineServer, status: int, outcome: EngineOutcome) -> None:
    server.says = [fault(status)]
    answer = server.ask_one()
    assert (answer.outcome, answer.status, answer.hits) == (outcome, status, ())
    assert str(status) in answer.why
    assert KEY not in answer.why
    assert len(server.requests) == 1, "retries are not the engine's affair"


def test_a_429_says_how_long(server: EngineServer) -> None:
    now = datetime.now(UTC)
    dated = format_datetime(now + timedelta(seconds=30), usegmt=True)
    server.says = [
        fault(429, Retry_After="7"),
        fault(429, Retry_After=dated, Date=format_datetime(now, usegmt=True)),
        fault(503, Retry_After="11"),
        fault(429, Retry_After="99999999"),
        fault(429, Retry_After="soon"),
        fault(429),
    ]
    pauses = [server.ask_one().pause_seconds for _ in range(6)]
    assert pauses == [7, pytest.approx(30, abs=2), 11, 3600, 0, 0]


NO_ANSWERS = [
    b"", b"{", b"<html>Welcome</html>", b"[" * 100_000, b"null", b"[]", b"\xff\xfe\x00",
    b'{"results": 7}', b'{"results": {"a": 1}}', b'{"web": 7}', b'{"web": {"results": null}}',
]  # fmt: skip


@pytest.mark.parametrize("body", NO_ANSWERS)
def test_what_is_not_of_the_form_is_invalid(server: EngineServer, body: bytes) -> None:
    server.says = [Said(200, body)]
    answer = server.ask_one()
    assert (answer.outcome, answer.status, answer.hits) == (EngineOutcome.INVALID, 200, ())
    assert answer.why


def test_an_endless_body_is_not_read(server: EngineServer) -> None:
    server.says = [Said(200, b'{"results": [' + b" " * MAX_BODY_BYTES + b"]}")]
    answer = server.ask_one()
    assert (answer.outcome, answer.why) == (
        EngineOutcome.INVALID, f"{name_of(server)} answered with more than 4,000,000 bytes",
    )  # fmt: skip
    bomb = gzip.compress(b" " * 40_000_000)
    server.says = [Said(200, bomb, {"content-encoding": "gzip"})]
    assert server.ask_one().outcome is EngineOutcome.INVALID


def test_a_slow_one_is_given_up_on(server: EngineServer) -> None:
    server.says = [Said(200, b"{}", after_seconds=1.5)]
    answer = server.ask_one(timeout_seconds=0.2)
    assert (answer.outcome, answer.status) == (EngineOutcome.FAILED, None)
    assert answer.why == f"{name_of(server)} did not answer in 0.2 s"
    assert answer.milliseconds < 1400


def test_one_that_is_gone_is_a_value(server: EngineServer) -> None:
    answer = server.ask_one(base_url="http://127.0.0.1:9")
    assert answer.outcome is EngineOutcome.FAILED
    assert answer.why == f"{name_of(server)} cannot be reached at 127.0.0.1:9"


def test_a_broken_body_is_a_value(server: EngineServer) -> None:
    server.says = [Said(200, b"no gzip", {"content-encoding": "gzip"})]
    assert server.ask_one().outcome is EngineOutcome.FAILED


def test_redirects_are_not_followed(server: EngineServer) -> None:
    server.says = [said({}, 302, Location=f"{server.url}/elsewhere")]
    answer = server.ask_one()
    assert (answer.outcome, len(server.requests)) == (EngineOutcome.INVALID, 1)
    assert f"{name_of(server)}.base_url" in answer.why


def test_hostile_results_are_counted_and_bounded(server: EngineServer) -> None:
    server.web = HOSTILE
    answer = server.ask_one()
    assert answer.outcome is EngineOutcome.ANSWERED
    assert len(answer.hits) == len(HOSTILE), "each is there to be refused by name"
    assert [hit.url for hit in answer.hits[:3]] == ["", "", ""]
    for hit in answer.hits:
        assert (len(hit.url) <= 4_001, len(hit.title) <= 5_000, len(hit.snippet) <= 20_000) == (True, True, True)


def test_more_than_was_asked_for_is_bounded(server: EngineServer) -> None:
    page_size = server.kind.engine(server.settings()).page_size
    rows = [{"url": f"https://s{number}.example/"} for number in range(500)]
    server.says = [said({"type": "search", "results": rows, "web": {"results": rows}})]
    assert len(server.ask_one().hits) == page_size


def test_rows_that_are_none_are_counted(server: EngineServer) -> None:
    rows = [None, 1, "https://a.example/", [], {}]
    server.says = [said({"type": "search", "results": rows, "web": {"results": rows}})]
    assert [hit.url for hit in server.ask_one().hits] == [""] * 5


@pytest.mark.parametrize("text", ["", "  ", "a\x00b", "half \ud800 a pair", "x" * 2_001])
def test_a_query_that_none_takes_is_not_sent(server: EngineServer, text: str) -> None:
    assert server.ask_one(text).outcome is EngineOutcome.INVALID
    assert server.requests == []


def test_any_other_query_arrives_as_it_is(server: EngineServer) -> None:
    text = 'a&b=c "ü" 日本 +1 %20 #x'
    server.ask_one(text)
    [asked] = server.requests
    assert {**asked.body, **asked.query}.get("query", asked.query.get("q")) == text


def test_pages_from_zero_are_refused(server: EngineServer) -> None:
    answers = server.ask(EngineQuestion("a", 0), EngineQuestion("a", 1, 0), EngineQuestion("a", -1))
    assert {answer.outcome for answer in answers} == {EngineOutcome.INVALID}


def test_a_wrong_key_is_named_by_its_variable_alone(
    server: EngineServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if name_of(server) == "searxng":
        server.says = [fault(401)]
    monkeypatch.setenv(KEY_NAME, "bw-wrong")
    with caplog.at_level(logging.DEBUG):
        answer = server.ask_one()
    assert answer.outcome is EngineOutcome.REFUSED
    assert answer.why.startswith(f"{name_of(server)} refused the key of {KEY_NAME} (4")
    assert "bw-wrong" not in caplog.text + answer.why + repr(server.settings())
    [asked] = server.requests
    assert "bw-wrong" not in f"{asked.path} {asked.query} {asked.body}", "no key in a URL or a body"


def test_a_missing_key_is_told_when_it_is_opened(server: EngineServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_NAME)
    with pytest.raises(SettingsError, match=f"{name_of_kind(server)} needs a key: .*{KEY_NAME} is not set") as raised:
        server.kind.engine(server.settings())
    assert raised.value.hint == f"export {KEY_NAME}=…"
    for value in ("", " ", "ключ"):
        monkeypatch.setenv(KEY_NAME, value)
        with pytest.raises(SettingsError, match=f"{KEY_NAME} holds none"):
            server.kind.engine(server.settings())


def name_of_kind(server: EngineServer) -> str:
    return next(name for name, kind in KINDS.items() if kind is server.kind)


def test_a_key_that_is_not_named_is_missed_too(server: EngineServer) -> None:
    if server.kind is KINDS["searxng"]:
        server.kind.engine(server.settings(api_key_env=None))
        with pytest.raises(SettingsError, match=r"searxng\.base_url is not set"):
            server.kind.engine(server.settings(base_url=None))
        return
    with pytest.raises(SettingsError, match=r"api_key_env is not set"):
        server.kind.engine(server.settings(api_key_env=None))


def test_a_password_in_the_address_is_not_shown(server: EngineServer) -> None:
    address = "http://user:secret@127.0.0.1:9"
    if server.kind is KINDS["searxng"]:
        answer = server.ask_one(base_url=address, api_key_env=None)
        assert answer.why == "searxng cannot be reached at 127.0.0.1:9"
    elif server.kind.engine not in (KINDS["brave"].engine, KINDS["browserbase"].engine):
        with pytest.raises(SettingsError, match="a name and a password"):
            server.kind.engine(server.settings(base_url=address))


def test_an_address_that_is_none_is_a_value(server: EngineServer) -> None:
    for address in ("http://:0", "http://a:99999", "http://[::1", "http://a..b/", "http://%"):
        try:
            answer = server.ask_one(base_url=address)
        except SettingsError:
            continue
        assert answer.outcome is EngineOutcome.FAILED
