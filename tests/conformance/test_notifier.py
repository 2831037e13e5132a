"""What every Notifier must do, on every channel."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from bailiwick.backends.notifier_apprise import AppriseNotifier
from bailiwick.backends.notifier_webhook import Webhook
from bailiwick.base.review_sections import NotifySettings
from bailiwick.base.sections import NetSettings
from bailiwick.net.guard import Guard
from bailiwick.ports import Notice, NoticeReply, Notifier
from tests.backends.message_servers import Mails, closed_port, mail_server, silent_server, webhook_server

SECRET = "Zx9-geheim"
Story = Callable[[Notifier], Awaitable[Any]]


@dataclass
class Channel:
    """A channel with a server behind it that takes messages, that is silent, or that is not there."""

    name: str
    received: Callable[[], int]
    make: Callable[[int], Notifier]
    port: int
    recipient: str | None

    def notice(self, title: str = "Title", body: str = "Body") -> Notice:
        return Notice(self.name, title, body, self.recipient)


def play(notifier: Notifier, story: Story) -> Any:
    async def whole() -> Any:
        try:
            return await story(notifier)
        finally:
            await notifier.close()

    return asyncio.run(whole())


@pytest.fixture(params=["email", "slack", "other"])
def channel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Channel]:
    name = str(request.param)
    monkeypatch.setenv("WORD", SECRET)
    with ExitStack() as stack:
        if name == "email":
            mails = stack.enter_context(mail_server(Mails(account=("me", SECRET))))
            yield Channel(name, lambda: len(mails.received), _mailing, mails.port, "ann@mail.test")
            return
        posts = stack.enter_context(webhook_server())
        port = int(posts.url.rpartition(":")[2])

        def telling(port: int) -> Notifier:
            monkeypatch.setenv("URLS", f"json://127.0.0.1:{port}/{SECRET}")
            return _posting(port) if name == "slack" else _other()

        recipient = "json 1" if name == "other" else None
        yield Channel(name, lambda: len(posts.received), telling, port, recipient)


def _mailing(port: int) -> Notifier:
    settings = NotifySettings(
        smtp_host="127.0.0.1",
        smtp_port=port,
        smtp_security="none",
        smtp_user="me",
        smtp_password_env="WORD",
        timeout_seconds=1,
    )
    return AppriseNotifier(settings, NetSettings(), None)


def _posting(port: int) -> Notifier:
    url = f"http://127.0.0.1:{port}/services/{SECRET}"
    hook = Webhook(url, NetSettings(), guard=Guard(allow_private=True), timeout_seconds=1)
    return AppriseNotifier(NotifySettings(), NetSettings(), hook)


def _other() -> Notifier:
    return AppriseNotifier(NotifySettings(urls_env="URLS", timeout_seconds=1), NetSettings(), None)


def test_a_message_goes_out_once(channel: Channel) -> None:
    reply = play(channel.make(channel.port), lambda notifier: notifier.send(channel.notice()))
    assert reply == NoticeReply(is_sent=True)
    assert channel.received() == 1


def test_no_text_makes_it_raise_and_it_can_be_closed_between(channel: Channel) -> None:
    texts = [
        "",
        "x" * 50_000,
        "日本語 \u202e & <!channel>",
        "a\r\nBcc: eve@evil.test\r\n\r\nb",
        "'; drop table",
        "\x00\x1b[2J",
    ]

    async def story(notifier: Notifier) -> None:
        for text in texts[:3]:
            reply = await notifier.send(channel.notice(text, text))
            assert reply.is_sent or reply.why
        await notifier.close()
        await notifier.close()
        for text in texts[3:]:
            assert (await notifier.send(channel.notice(text, text or "b"))).is_sent

    play(channel.make(channel.port), story)


@pytest.mark.parametrize("kind", ["closed", "silent"])
def test_a_server_that_does_not_answer_is_given_up_with_a_reason(channel: Channel, kind: str) -> None:
    with silent_server() as silent:
        start = time.monotonic()
        notifier = channel.make(silent if kind == "silent" else closed_port())
        reply = play(notifier, lambda notifier: notifier.send(channel.notice()))
    assert not reply.is_sent
    assert reply.why
    assert SECRET not in reply.why
    assert time.monotonic() - start < 12
    assert channel.received() == 0


def test_whoever_no_longer_waits_gets_away_at_once(channel: Channel) -> None:
    async def story(notifier: Notifier) -> float:
        waiting = asyncio.create_task(notifier.send(channel.notice()))
        await asyncio.sleep(0.05)
        start = time.monotonic()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return time.monotonic() - start

    with silent_server() as silent:
        assert play(channel.make(silent), story) < 1
