"""The OpenAI-compatible back end against a server that speaks the real protocol, by the official client."""

import logging
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from bailiwick.backends.model_openai import open_model
from bailiwick.base.errors import SettingsError
from bailiwick.base.sections import ModelSettings
from bailiwick.extract.relevance.prompt import RelevanceAnswer
from bailiwick.ports import ModelOutcome, ModelQuestion, ModelReply
from tests.backends.model_server import KEY, KEY_NAME, ModelServer, Said, fault, judged, model_server

QUESTION = ModelQuestion("Judge.", "A page.", RelevanceAnswer, max_output_tokens=77)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv(KEY_NAME, KEY)
    with model_server() as serving:
        yield serving


def ask(server: ModelServer, **changed: object) -> ModelReply[RelevanceAnswer]:
    model = open_model(server.settings(**changed))
    assert model is not None
    with closing(model):
        return model.ask(QUESTION)


def test_the_request_is_of_the_protocol(server: ModelServer) -> None:
    reply = ask(server)
    assert reply.answer == RelevanceAnswer(score=0.9, reason="It names a deadline.")
    [request] = server.requests
    assert request["model"] == "small"
    assert request["max_completion_tokens"] == 77
    assert request["messages"] == [{"role": "system", "content": "Judge."}, {"role": "user", "content": "A page."}]
    schema = request["response_format"]["json_schema"]
    assert (schema["strict"], schema["schema"]["required"]) == (True, ["score", "reason"])


def test_a_429_is_waited_for_as_retry_after_says(server: ModelServer) -> None:
    server.says = [fault(429, retry_after="1"), judged(0.4)]
    reply = ask(server)
    assert reply.outcome is ModelOutcome.ANSWERED
    first, second = server.times
    assert second - first >= 0.99


def test_retries_end_and_the_pause_is_what_was_asked_for(server: ModelServer) -> None:
    server.says = [fault(429, retry_after="0.01", retry_after_ms="10"), fault(429, retry_after="120")]
    reply = ask(server)
    assert (reply.outcome, reply.pause_seconds, len(server.requests)) == (ModelOutcome.FAILED, 120, 2)
    assert reply.why == "the model's rate limit is reached (429)"
    server.says = [fault(429, retry_after="99999999")]
    assert ask(server, max_retries=0).pause_seconds == 3600
    server.says = [fault(429, retry_after="Wed, 21 Oct 2026 07:28:00 GMT")]
    assert ask(server, max_retries=0).pause_seconds == 60


def test_a_500_is_tried_again(server: ModelServer) -> None:
    server.says = [fault(500, retry_after_ms="10"), judged(0.4)]
    assert ask(server).outcome is ModelOutcome.ANSWERED
    server.says = [fault(503, retry_after_ms="10")]
    reply = ask(server)
    assert (reply.why, reply.pause_seconds) == ("the model's server answered 503", 30)


def test_a_slow_one_is_given_up_on(server: ModelServer) -> None:
    server.says = [Said(200, b"{}", after_seconds=2)]
    reply = ask(server, timeout_seconds=0.2, max_retries=0)
    assert reply.why == "the model did not answer in 0.2 s"
    assert reply.milliseconds < 1500


def test_a_wrong_key_is_named_by_its_variable_alone(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(KEY_NAME, "sk-wrong")
    with caplog.at_level(logging.DEBUG):
        reply = ask(server)
    assert reply.why == f"the model refused the key of {KEY_NAME} (401)"
    assert reply.pause_seconds == 600
    assert len(server.requests) == 1, "not tried again"
    assert "sk-wrong" not in caplog.text
    assert "sk-wrong" not in repr(server.settings())


def test_a_server_that_is_gone_is_a_value() -> None:
    gone = ModelSettings(base_url="http://127.0.0.1:9/v1", name="small", max_retries=0, timeout_seconds=1)
    model = open_model(gone)
    assert model is not None
    with closing(model):
        assert model.ask(QUESTION).why == "the model cannot be reached"


def test_what_is_not_set_up_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_model(ModelSettings()) is None
    with pytest.raises(SettingsError, match=r"model\.name is not"):
        open_model(ModelSettings(base_url="http://127.0.0.1:9/v1"))
    monkeypatch.delenv(KEY_NAME, raising=False)
    with pytest.raises(SettingsError, match=f"{KEY_NAME} is not set"):
        open_model(ModelSettings(base_url="http://127.0.0.1:9/v1", name="small", api_key_env=KEY_NAME))
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(SettingsError, match="not installed") as raised:
        open_model(ModelSettings(base_url="http://127.0.0.1:9/v1", name="small"))
    assert raised.value.hint == 'pip install "bailiwick[model]"'
