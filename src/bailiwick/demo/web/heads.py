"""The head of an HTTP/1.1 request: as much of RFC 9112 as a crawler uses."""

from collections.abc import Mapping
from dataclasses import dataclass

MAX_HEAD_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Head:
    """A request without a body. Header names and the host are in lower case, the host without its port."""

    method: str
    host: str
    path: str
    headers: Mapping[str, str]
    keep_alive: bool


def parse_head(raw: bytes) -> Head | None:
    """The head in these bytes (without the empty line at its end); None if it is none, or announces a body."""
    request_line, *lines = raw.decode("latin-1").split("\r\n")
    words = request_line.split(" ")
    if len(words) != 3 or not words[1].startswith("/") or words[2] not in ("HTTP/1.1", "HTTP/1.0"):
        return None
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            return None
        headers[name.lower()] = value.strip()
    if "host" not in headers or "transfer-encoding" in headers or headers.get("content-length", "0") != "0":
        return None
    host = headers["host"].lower().partition(":")[0]  # IPv6 addresses are not served here
    connection = headers.get("connection", "").lower()
    keep_alive = connection != "close" if words[2] == "HTTP/1.1" else connection == "keep-alive"
    return Head(words[0], host, words[1], headers, keep_alive)
