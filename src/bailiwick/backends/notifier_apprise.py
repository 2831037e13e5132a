"""Messages to people: e-mail and further services by Apprise in a child process, Slack by its webhook, guarded."""

import asyncio
import json
import re
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from dataclasses import dataclass
from importlib.util import find_spec

from bailiwick.backends.notifier_child import Mail, Order
from bailiwick.backends.notifier_webhook import Webhook
from bailiwick.base.children import end_child
from bailiwick.base.errors import SettingsError
from bailiwick.base.review_sections import NotifySettings
from bailiwick.base.sections import FromEnvironment, NetSettings
from bailiwick.ports import Notice, NoticeReply

_MISSING = 'Apprise is not installed: pip install "bailiwick[notify]"'
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9]{1,29})://.")
_ANSWER_BYTES = 65_536
_START_SECONDS = 45.0
"""What the child may need to start and to load Apprise, before the time of its first delivery begins: on a busy
machine ten times what it is on an idle one. A claim lasts longer than both (`pipeline.delivering`).
"""
_ENDED = "the process that delivers ended"
_NOT_STARTED = f"the process that delivers did not start in {_START_SECONDS:g} s: nothing was sent"


@dataclass(frozen=True, slots=True)
class _Other:
    """One further service: its address, and what may be shown of it."""

    name: str
    url: str


class AppriseNotifier:
    """The default `Notifier`. One message at a time."""

    def __init__(self, settings: NotifySettings, net: NetSettings, webhook: Webhook | None) -> None:
        self._settings, self._net, self._webhook = settings, net, webhook
        self._child: Process | None = None

    @property
    def others(self) -> tuple[str, ...]:
        return tuple(other.name for other in self._others())

    async def send(self, notice: Notice) -> NoticeReply:
        try:
            if notice.channel == "slack":
                return await self._post(notice)
            return await self._order(notice)
        except SettingsError as error:
            return NoticeReply(is_sent=False, why=f"{error.message}; {error.hint}" if error.hint else error.message)

    async def close(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await end_child(child)

    async def _post(self, notice: Notice) -> NoticeReply:
        if self._webhook is None:
            return NoticeReply(is_sent=False, why="review.notifications.slack_webhook_url is not set")
        return await self._webhook.post(notice.title, notice.body)

    async def _order(self, notice: Notice) -> NoticeReply:
        order = Order(
            mail=self._mail(notice) if notice.channel == "email" else None,
            url=self._url(notice) if notice.channel == "other" else None,
            title=notice.title,
            body=notice.body,
            seconds=self._settings.timeout_seconds,
            extra_ca=str(self._net.extra_ca_file.absolute()) if self._net.extra_ca_file is not None else None,
        )
        if find_spec("apprise") is None:
            raise SettingsError(_MISSING)
        why = await self._asked(order)
        return NoticeReply(is_sent=why is None, why=why or "")

    async def _asked(self, order: Order) -> str | None:
        """What the child says of it. Whoever waits no longer, for whatever reason, ends the child."""
        seconds = self._settings.timeout_seconds
        late = _NOT_STARTED
        try:
            orders, answers = await self._started()
            late = f"it was not delivered in {seconds:g} s"
            async with asyncio.timeout(seconds):
                orders.write(json.dumps(order).encode() + b"\n")
                await orders.drain()
                line = await answers.readline()
        except TimeoutError:
            await self.close()
            return late
        except (OSError, ValueError):
            await self.close()
            return _ENDED
        except BaseException:
            await self.close()
            raise
        if not line:
            await self.close()
            return _ENDED
        why: str | None = json.loads(line)["why"]
        return why

    async def _started(self) -> tuple[asyncio.StreamWriter, asyncio.StreamReader]:
        if self._child is None:
            # Its own session: what ends a command at a terminal must not end a message that is half sent.
            self._child = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "bailiwick.backends.notifier_child",
                stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True, limit=_ANSWER_BYTES,
            )  # fmt: skip
            async with asyncio.timeout(_START_SECONDS):
                await _pipes(self._child)[1].readline()
        return _pipes(self._child)

    def _mail(self, notice: Notice) -> Mail:
        settings = self._settings
        if settings.smtp_host is None:
            raise SettingsError("there is no mail server: notify.smtp_host is not set")
        if notice.recipient is None:
            raise SettingsError("the message has no recipient")
        return Mail(
            host=settings.smtp_host,
            port=settings.smtp_port,
            security=settings.smtp_security,
            user=settings.smtp_user,
            password=_password(settings.smtp_password_env),
            sender=settings.sender or f"bailiwick@{_own_name()}",
            recipient=notice.recipient,
        )

    def _url(self, notice: Notice) -> str:
        known = {other.name: other.url for other in self._others()}
        if notice.recipient not in known:
            raise SettingsError(f"{self._settings.urls_env or 'notify.urls_env'} holds no {notice.recipient} any more")
        return known[notice.recipient]

    def _others(self) -> list[_Other]:
        variable = self._settings.urls_env
        if variable is None:
            return []
        return [_other(variable, at, url) for at, url in enumerate(FromEnvironment(env=variable).read().split(), 1)]


def _other(variable: str, at: int, url: str) -> _Other:
    """Named by its kind and its place: `ntfy 2`."""
    found = _SCHEME.match(url)
    if found is None:
        raise SettingsError(f"number {at} in {variable} is no address of Apprise", hint="ntfy://…, discord://…")
    return _Other(f"{found[1].lower()} {at}", url)


def _password(variable: str | None) -> str | None:
    if variable is None:
        return None
    found = FromEnvironment(env=variable).read()
    if not found.isascii():
        raise SettingsError(f"{variable} holds characters besides ASCII, which no login to a mail server can send")
    return found


def _pipes(child: Process) -> tuple[asyncio.StreamWriter, asyncio.StreamReader]:
    if child.stdin is None or child.stdout is None:
        raise OSError("a child without pipes")
    return child.stdin, child.stdout


def _own_name() -> str:
    name = socket.getfqdn()
    return name if "." in name else "localhost.localdomain"
