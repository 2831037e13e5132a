"""Real servers on loopback that take messages: mail by aiosmtpd, webhooks by HTTP; and one that says nothing."""

import asyncio
import email
import email.policy
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.backends.local_server import Handler, local_server


@dataclass
class Mails:
    """A mail server: what came in, and what it answers next (then 250)."""

    port: int = 0
    account: tuple[str, str] | None = None
    tls: ssl.SSLContext | None = None
    answers: list[str] = field(default_factory=list)
    refuse_login: str | None = None
    received: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    logins: list[tuple[str, str]] = field(default_factory=list)
    were_secure: list[bool] = field(default_factory=list)

    async def handle_DATA(self, _server: SMTP, session: Session, envelope: Envelope) -> str:
        if self.account is not None and not session.authenticated:
            return "530 log in first"
        answer = self.answers.pop(0) if self.answers else "250 taken"
        if answer.startswith("250"):
            policy = email.policy.default
            self.received.append(email.message_from_bytes(envelope.original_content or b"", policy=policy))  # type: ignore[arg-type]
            self.recipients += envelope.rcpt_tos
            self.were_secure.append(session.ssl is not None)
        return answer

    def login(self, _server: SMTP, _session: Session, _envelope: Envelope, _kind: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        given = (data.login.decode(), data.password.decode())
        self.logins.append(given)
        if given == self.account and self.refuse_login is None:
            return AuthResult(success=True)
        # Servers have been seen to repeat what they were given.
        return AuthResult(success=False, handled=False, message=self.refuse_login)

    def protocol(self) -> SMTP:
        wants_login = self.account is not None
        return SMTP(
            self,
            tls_context=self.tls,
            require_starttls=self.tls is not None,
            auth_require_tls=self.tls is not None,
            authenticator=self.login if wants_login else None,
            hostname="mail.test",
        )


@contextmanager
def mail_server(mails: Mails) -> Iterator[Mails]:
    """Serve until the block ends."""
    ready, stops = threading.Event(), []
    connections: list[SMTP] = []

    def connected() -> SMTP:
        connections.append(mails.protocol())
        return connections[-1]

    async def serve() -> None:
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        stops.append(lambda: loop.call_soon_threadsafe(over.set))
        server = await loop.create_server(connected, "127.0.0.1", 0)
        mails.port = server.sockets[0].getsockname()[1]
        ready.set()
        await over.wait()
        server.close()
        for connection in connections:
            if connection.transport is not None:
                connection.transport.abort()
        await asyncio.sleep(0)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(10)
    try:
        yield mails
    finally:
        stops[0]()
        thread.join()


@contextmanager
def silent_server() -> Iterator[int]:
    """Connections are taken, and nothing is ever said; gives the port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def closed_port() -> int:
    """Where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@dataclass(frozen=True)
class Says:
    status: int = 200
    body: bytes = b"ok"
    headers: dict[str, str] = field(default_factory=dict)
    after_seconds: float = 0.0


@dataclass
class Posts:
    """A webhook's server: what came in, and what it answers next (then 200)."""

    url: str = ""
    answers: list[Says] = field(default_factory=list)
    received: list[tuple[str, bytes]] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [json.loads(body)["text"] for _, body in self.received]


@contextmanager
def webhook_server(answers: list[Says] | None = None) -> Iterator[Posts]:
    posts = Posts(answers=answers or [])

    class Hook(Handler):
        def do_POST(self) -> None:
            posts.received.append((self.path, self.request_body()))
            self.say(posts.answers.pop(0) if posts.answers else Says())

    with local_server(Hook) as url:
        posts.url = url
        yield posts
