"""A server on loopback that speaks chat completions as the real ones do, and does what it is told to."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bailiwick.base.sections import ModelSettings

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


def _handler(served: Callable[[], ModelServer]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            said = served().answer(self.path, self.headers["authorization"], request)
            if said.after_seconds:
                time.sleep(said.after_seconds)
            try:
                self.send_response(said.status)
                for name, value in {"content-type": "application/json", **said.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(said.body)))
                self.end_headers()
                self.wfile.write(said.body)
            except OSError:
                self.close_connection = True  # the client has given up

        def log_message(self, *_: object) -> None:
            pass

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        pass


@contextmanager
def model_server() -> Iterator[ModelServer]:
    with _Server(("127.0.0.1", 0), _handler(lambda: served)) as server:
        served = ModelServer(f"http://127.0.0.1:{server.server_address[1]}/v1")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
