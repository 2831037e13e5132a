"""What every LanguageModel must do, whatever service is behind it."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
from pydantic import BaseModel, ConfigDict

from bailiwick.backends.model_openai import open_model
from bailiwick.ports import LanguageModel, ModelOutcome, ModelQuestion
from tests.backends.model_server import KEY, KEY_NAME, Said, completion, fault, model_server


class Verdict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    answer: int


QUESTION = ModelQuestion("Add the numbers.", "2 and 2", Verdict)

# What the service does -> what the port says of it.
SERVICE: dict[str, tuple[Said, ModelOutcome]] = {
    "answers": (completion('{"answer": 4}'), ModelOutcome.ANSWERED),
    "answers with other keys": (completion('{"answer": 4, "more": 1}'), ModelOutcome.INVALID),
    "answers in another type": (completion('{"answer": "four"}'), ModelOutcome.INVALID),
    "answers in prose": (completion("It is four."), ModelOutcome.INVALID),
    "answers half a JSON": (completion('{"answer": 4'), ModelOutcome.INVALID),
    "answers with nothing": (completion(None), ModelOutcome.INVALID),
    "is cut off": (completion('{"answer": 4}', finish="length"), ModelOutcome.INVALID),
    "refuses": (completion(None, refusal="I would rather not."), ModelOutcome.REFUSED),
    "filters": (completion("", finish="content_filter"), ModelOutcome.REFUSED),
    "is busy": (fault(429), ModelOutcome.FAILED),
    "is broken": (fault(500), ModelOutcome.FAILED),
    "does not know the model": (fault(404), ModelOutcome.FAILED),
    "does not like the request": (fault(400), ModelOutcome.FAILED),
    "refuses the key": (fault(401), ModelOutcome.FAILED),
    "redirects": (fault(302, location="http://127.0.0.1:9/"), ModelOutcome.FAILED),
    "is no such service": (Said(200, b"<html>Welcome</html>", {"content-type": "text/html"}), ModelOutcome.FAILED),
    "sends nonsense": (Said(200, b'{"choices": 7}'), ModelOutcome.FAILED),
    "has no choices": (Said(200, b'{"id": "x", "choices": []}'), ModelOutcome.INVALID),
    "is slow": (Said(200, b"{}", after_seconds=2.0), ModelOutcome.FAILED),
}


@contextmanager
def _openai(said: Said) -> Iterator[LanguageModel]:
    with model_server() as server:
        server.says = [said]
        model = open_model(server.settings(timeout_seconds=1, max_retries=0))
        assert model is not None
        yield model
        model.close()


IMPLEMENTATIONS = {"openai": _openai}


@pytest.fixture(params=IMPLEMENTATIONS)
def implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(KEY_NAME, KEY)
    return str(request.param)


@pytest.mark.parametrize("does", SERVICE)
def test_whatever_the_service_does_is_a_value(implementation: str, does: str) -> None:
    said, outcome = SERVICE[does]
    with IMPLEMENTATIONS[implementation](said) as model:
        reply = model.ask(QUESTION)
    assert reply.outcome is outcome, reply
    assert (reply.answer == Verdict(answer=4)) == (outcome is ModelOutcome.ANSWERED)
    assert bool(reply.why) == (outcome is not ModelOutcome.ANSWERED)
    assert KEY not in reply.why
    assert reply.milliseconds >= 0


def test_what_it_took_is_told_even_without_an_answer(implementation: str) -> None:
    for does in ("answers", "is cut off", "refuses", "answers in prose"):
        with IMPLEMENTATIONS[implementation](SERVICE[does][0]) as model:
            reply = model.ask(QUESTION)
        assert (reply.tokens_in, reply.tokens_out) == (100, 20)


def test_it_has_a_name_and_closes_twice(implementation: str) -> None:
    with IMPLEMENTATIONS[implementation](SERVICE["answers"][0]) as model:
        assert model.name
        model.close()
        model.close()


def test_several_threads_ask_at_once(implementation: str) -> None:
    outcomes: list[ModelOutcome] = []
    with IMPLEMENTATIONS[implementation](SERVICE["answers"][0]) as model:
        threads = [Thread(target=lambda: outcomes.append(model.ask(QUESTION).outcome)) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert outcomes == [ModelOutcome.ANSWERED] * 12
