"""What every request passes first: the name by which we were asked, the size of a body; and every answer's headers."""

import ipaddress
import re
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 64_000
_TOO_LARGE = f"A form has {LARGEST_BODY:,} bytes at most."
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\s:/@\\?#\[\]]+?)\.?)(?::\d{1,5})?", re.ASCII)
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class Protection:
    """One ASGI layer around everything."""

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = Headers(scope=scope)
        send = _with_headers(send, is_secure=scope["scheme"] == "https")
        # A page elsewhere could have its own name resolve to loopback (DNS rebinding): it cannot forge this header.
        if _host(asked.get("host", "")) not in self._hosts:
            answer = PlainTextResponse("This server has another name. An operator can add it: web.hosts\n", 421)
            await answer(scope, receive, send)
            return
        if (length := _length(asked)) is None or length > LARGEST_BODY:
            await PlainTextResponse(_TOO_LARGE + "\n", 413)(scope, receive, send)
            return
        # No text in the database can hold this character, so nothing that we have has it in its name.
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:
            await PlainTextResponse("There is no such page.\n", 404)(scope, receive, send)
            return
        await self._app(scope, _bounded(receive), send)


def own_hosts(bound_to: str, more: Iterable[str]) -> set[str]:
    """The names by which this server may be asked."""
    names = {"localhost", "127.0.0.1", "::1", *(name.lower().strip("[]") for name in more)}
    try:
        if not ipaddress.ip_address(bound_to).is_unspecified:
            names.add(bound_to.lower())
    except ValueError:
        names.add(bound_to.lower())
    return names


def _host(header: str) -> str:
    """The host of a Host header, without port and brackets."""
    found = _HOST.fullmatch(header.strip().lower())
    return (found[1] or found[2]) if found else ""


def _length(asked: Headers) -> int | None:
    """How long the body says it is; None if that is no number."""
    given = asked.get("content-length", "0")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 20 else None


def _bounded(receive: Receive) -> Receive:
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > LARGEST_BODY:
            raise HTTPException(413, _TOO_LARGE)
        return message

    return bounded


def _with_headers(send: Send, *, is_secure: bool) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
            if is_secure:
                headers.setdefault("Strict-Transport-Security", "max-age=31536000")
        await send(message)

    return with_headers
