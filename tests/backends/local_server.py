"""A small HTTP server on loopback for servers that speak somebody's protocol: answers are given, slow ones wait."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol


class Said(Protocol):
    """What is answered."""

    @property
    def status(self) -> int: ...
    @property
    def body(self) -> bytes: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def after_seconds(self) -> float: ...


class Handler(BaseHTTPRequestHandler):
    """A request's handler: subclasses find out what to say."""

    protocol_version = "HTTP/1.1"

    def request_body(self) -> bytes:
        return self.rfile.read(int(self.headers["content-length"]))

    def say(self, said: Said) -> None:
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


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        pass


@contextmanager
def local_server(handler: type[Handler]) -> Iterator[str]:
    """Serve until the block ends; gives the server's URL."""
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
