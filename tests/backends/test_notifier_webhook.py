"""The webhook under the guard: what arrives, and which addresses are refused, before and after DNS, and by redirect."""

import asyncio
import json
import socket
from collections.abc import Callable

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from bailiwick.backends.notifier_webhook import Webhook
from bailiwick.base.sections import NetSettings
from bailiwick.net.guard import Guard, Resolve
from bailiwick.ports import NoticeReply
from tests.backends.message_servers import Posts, Says, webhook_server

TOKEN = "T0/B0/hush4711"


class Dns(AbstractResolver):
    """Says that every name is at this address, and how often it was asked."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.asked: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        self.asked.append(host)
        return [ResolveResult(hostname=host, host=self._address, port=port, family=family, proto=0, flags=0)]

    async def close(self) -> None:
        pass


def post(url: str, *, guard: Guard | None = None, dns: Dns | None = None, body: str = "Body") -> NoticeReply:
    async def whole() -> NoticeReply:
        hook = Webhook(url, NetSettings(), guard=guard or Guard(), timeout_seconds=1, dns=dns)
        return await hook.post("Title", body)

    return asyncio.run(whole())


def of(posts: Posts) -> str:
    return f"{posts.url}/services/{TOKEN}"


INSIDE = Guard(allow_private=True)


def test_slack_gets_text_and_none_of_its_marks() -> None:
    with webhook_server() as posts:
        reply = post(of(posts), guard=INSIDE, body="<!channel> & <http://evil.test|bank>\nGrüße")
    assert reply == NoticeReply(is_sent=True)
    [(path, body)] = posts.received
    assert path == f"/services/{TOKEN}"
    text = "*Title*\n&lt;!channel&gt; &amp; &lt;http://evil.test|bank&gt;\nGrüße"
    assert json.loads(body) == {"text": text}


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "169.254.169.254", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1", "0.0.0.0"],
)
def test_an_address_inside_is_refused_unless_allowed(host: str) -> None:
    with webhook_server() as posts:
        port = posts.url.rpartition(":")[2]
        reply = post(f"http://{host}:{port}/services/{TOKEN}")
        assert (reply.is_sent, posts.received) == (False, [])
        assert "refused" in reply.why
        assert TOKEN not in reply.why


@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1"])
def test_no_odd_spelling_gets_inside(host: str) -> None:
    with webhook_server() as posts:
        reply = post(f"http://{host}:{posts.url.rpartition(':')[2]}/services/{TOKEN}")
        assert (reply.is_sent, posts.received) == (False, [])


@pytest.mark.parametrize("address", ["127.0.0.1", "169.254.169.254", "192.168.0.1", "::1"])
def test_a_name_that_leads_inside_is_refused_after_dns(address: str) -> None:
    with webhook_server() as posts:
        port = posts.url.rpartition(":")[2]
        dns = Dns(address)
        reply = post(f"http://hooks.slack.test:{port}/services/{TOKEN}", dns=dns)
        assert dns.asked == ["hooks.slack.test"]
        assert "refused" in reply.why
        assert posts.received == []


def test_a_redirect_is_not_followed_wherever_it_leads() -> None:
    with webhook_server() as inside:
        for status in (301, 302, 303, 307, 308):
            with webhook_server([Says(status, b"", {"Location": of(inside)})]) as posts:
                port = int(posts.url.rpartition(":")[2])
                # The first hop is allowed by name, as a public host would be.
                guard = Guard(resolves=(Resolve.parse(f"hooks.slack.test:{port}:127.0.0.1"),))
                reply = post(f"http://hooks.slack.test:{port}/{TOKEN}", guard=guard)
                assert len(posts.received) == 1
                assert reply.why == f"the webhook answered with a redirect ({status}), which is not followed"
        assert inside.received == []
        reply = post(of(inside), guard=INSIDE)
        assert reply.is_sent


@pytest.mark.parametrize(
    ("says", "why", "pause"),
    [
        (Says(500, b"no"), "the webhook answered 500", 0),
        (Says(404, b"no_service"), "the webhook answered 404: no_service", 0),
        (Says(410, b"channel_is_archived\n"), "the webhook answered 410: channel_is_archived", 0),
        (Says(429, b"", {"Retry-After": "30"}), "the webhook answered 429", 30),
        (Says(429, b"", {"Retry-After": "999999"}), "the webhook answered 429", 3600),
        (Says(403, f"{TOKEN} is not known".encode()), "the webhook answered 403", 0),
        (Says(400, b"x" * 5_000_000), "the webhook answered 400", 0),
        (Says(200, b"ok", {}, 3), "the webhook did not answer in 1 s", 0),
    ],
)
def test_what_a_webhook_answers(says: Says, why: str, pause: float) -> None:
    with webhook_server([says]) as posts:
        reply = post(of(posts), guard=INSIDE)
    assert reply == NoticeReply(is_sent=False, why=why, pause_seconds=pause)


@pytest.mark.parametrize(
    "url",
    [
        lambda posts: posts.url.replace("http:", "https:"),
        lambda _: "http://a name/",
        lambda _: "http://[::1/",
        lambda _: "http://127.0.0.1:1",
        lambda _: "http://127.0.0.1:99999",
        lambda _: "https://no-such-host.invalid",
        lambda _: f"http://{'a' * 300}.test",
    ],
)
def test_no_address_makes_it_raise_or_tell_itself(url: Callable[[Posts], str]) -> None:
    with webhook_server() as posts:
        reply = post(f"{url(posts)}/services/{TOKEN}", guard=INSIDE)
    assert not reply.is_sent
    assert reply.why
    assert not any(part in reply.why for part in (TOKEN, "hush4711", "services"))
