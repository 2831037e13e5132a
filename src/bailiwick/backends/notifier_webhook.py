"""A message to a Slack channel by its incoming webhook: a POST of `{"text": …}`, which Mattermost and others take, too.

The address is a member's word, not the operator's, so the guard stands before every connection (DESIGN P7), after DNS.
That is why this is our own client and not Apprise's plug-in: its requests choose their addresses themselves, and it
knows hooks.slack.com alone. Redirects are not followed: no webhook needs one.
"""

import asyncio
import json
import re
import ssl
from datetime import UTC, datetime
from typing import cast

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from bailiwick.base.sections import NetSettings
from bailiwick.net.gates import retry_after
from bailiwick.net.guard import AddressRefusedError, Guard, target
from bailiwick.net.resolver import Dns, GuardedResolver
from bailiwick.net.trust import trust
from bailiwick.ports import NoticeReply

LONGEST_PAUSE_SECONDS = 3600.0
_WORD_BYTES = 200
_WORD = re.compile(rb"[a-z]{2,20}(?:_[a-z]{1,20}){1,5}")
"""Slack says what is wrong in one such word: no_service, channel_is_archived, invalid_token."""
_MARKS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class Webhook:
    """Posts to one address. `dns` answers in place of the system's resolver."""

    def __init__(
        self, url: str, net: NetSettings, *, guard: Guard, timeout_seconds: float, dns: Dns | None = None
    ) -> None:
        self._url, self._net, self._guard, self._dns = url, net, guard, dns
        self._seconds = timeout_seconds

    async def post(self, title: str, body: str) -> NoticeReply:
        # Slack's own marks (<!channel>, <http://…|a name>) are escaped: the text is text.
        message = json.dumps({"text": f"*{title.translate(_MARKS)}*\n{body.translate(_MARKS)}"}).encode()
        try:
            url = URL(self._url)
            target.set((url.raw_host or "", url.port or 0))
            async with asyncio.timeout(self._seconds):
                return await self._post(url, message)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            return NoticeReply(is_sent=False, why=_why(error, self._seconds))

    async def _post(self, url: URL, message: bytes) -> NoticeReply:
        connector = aiohttp.TCPConnector(
            resolver=cast("AbstractResolver", GuardedResolver(self._guard, self._dns)),  # in all but name
            socket_factory=self._guard.open_socket,
            ssl=trust(self._net),
            force_close=True,
        )
        async with (
            aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session,
            session.post(
                url,
                data=message,
                headers={"Content-Type": "application/json", "User-Agent": "bailiwick"},
                allow_redirects=False,
            ) as response,
        ):
            return await _reply(response)


async def _reply(response: aiohttp.ClientResponse) -> NoticeReply:
    status = response.status
    if 200 <= status < 300:
        return NoticeReply(is_sent=True)
    if 300 <= status < 400:
        why = f"the webhook answered with a redirect ({status}), which is not followed"
        return NoticeReply(is_sent=False, why=why)
    # One documented word at most: the rest of an answer may repeat what it was sent.
    said = (await response.content.read(_WORD_BYTES)).strip()
    word = f": {said.decode()}" if _WORD.fullmatch(said) else ""
    asked = retry_after(response.headers.get("Retry-After"), datetime.now(UTC), response.headers.get("Date"))
    pause = min(asked or 0.0, LONGEST_PAUSE_SECONDS)
    return NoticeReply(is_sent=False, why=f"the webhook answered {status}{word}", pause_seconds=pause)


def _why(error: BaseException, seconds: float) -> str:
    """In our own words: those of libraries hold the address, which is a secret."""
    inner = getattr(error, "os_error", None) or error.__cause__
    if isinstance(error, AddressRefusedError) or isinstance(inner, AddressRefusedError):
        return "the webhook's address is refused: it is not public (net.allow_private_networks)"
    kinds: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
        (TimeoutError, f"the webhook did not answer in {seconds:g} s"),
        (aiohttp.ClientConnectorDNSError, "the name of the webhook's host is not known"),
        ((aiohttp.ClientSSLError, ssl.SSLError), "there is no secure connection to the webhook"),
        ((aiohttp.InvalidURL, ValueError), "the webhook's address cannot be asked"),
        (aiohttp.ClientConnectorError, "the webhook's host cannot be reached"),
        (BaseException, "the connection to the webhook broke"),
    )
    return next(words for kind, words in kinds if isinstance(error, kind))
