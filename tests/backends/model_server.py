"""A server on loopback that speaks chat completions as the real ones do, and does what it is told to."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from bailiwick.base.sections import ModelSettings
from tests.backends.local_server import Handler, local_server

KEY_NAME, KEY = "TEST_MODEL_KEY", "sk-test-only"


@dataclass(frozen=True)
class Said:
    """One answer of the server."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    after_seconds: float = 0.0


def completion(content: str | None, *, finish: str = "stop", refusal: str | None = None, tokens: int = 100) -> Said:
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "small",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "logprobs": None,
                "message": {"role": "assistant", "content": content, "refusal": refusal},
            }
        ],
        "usage": {"prompt_tokens": tokens, "completion_tokens": 20, "total_tokens": tokens + 20},
    }
    return Said(body=json.dumps(body).encode())


def judged(score: float, reason: str = "It names a deadline.") -> Said:
    return completion(json.dumps({"score": score, "reason": reason}))


def fault(status: int, **headers: str) -> Said:
    body = {"error": {"message": f"no, {KEY} will not do", "type": "x", "param": None, "code": None}}
    return Said(status, json.dumps(body).encode(), {name.replace("_", "-"): value for name, value in headers.items()})


class ModelServer:
    """Answers with what is in `says`, one after the other, the last one for ever. Keeps every request."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.says: list[Said] = [judged(0.9)]
        self.requests: list[dict[str, Any]] = []
        self.times: list[float] = []

    def settings(self, **changed: object) -> ModelSettings:
        given: dict[str, object] = {
            "base_url": self.url, "name": "small", "api_key_env": KEY_NAME, "timeout_seconds": 5, "max_retries": 1,
            "price_in_per_million": 1, "price_out_per_million": 10,
        }  # fmt: skip
        return ModelSettings.model_validate({**given, **changed})

    def answer(self, path: str, authorization: str | None, request: dict[str, Any]) -> Said:
        self.requests.append(request)
        self.times.append(time.monotonic())
        if path != "/v1/chat/completions":
            return fault(404)
        if authorization != f"Bearer {KEY}":
            return fault(401)
        schema = request["response_format"]["json_schema"]
        if request["response_format"]["type"] != "json_schema" or schema["schema"]["additionalProperties"] is not False:
            return fault(400)
        return self.says.pop(0) if len(self.says) > 1 else self.says[0]


def _handler(served: Callable[[], ModelServer]) -> type[Handler]:
    class Asked(Handler):
        def do_POST(self) -> None:
            request = json.loads(self.request_body())
            self.say(served().answer(self.path, self.headers["authorization"], request))

    return Asked


@contextmanager
def model_server() -> Iterator[ModelServer]:
    with local_server(_handler(lambda: served)) as url:
        served = ModelServer(f"{url}/v1")
        yield served
