"""A child process that sends messages by Apprise, one after another: orders in, on stdin; what came of each, out.

A process of its own, because a service may hang, print or log what it likes; whoever started it ends it then. Secrets
come by stdin and stay here: what Apprise says of a failure is cleared of them before it goes out. It ends with its
parent, and by an alarm if nobody ends it.
"""

import base64
import json
import logging
import os
import re
import signal
import ssl
import sys
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any, TypedDict
from urllib.parse import quote, unquote

_GRACE_SECONDS = 5.0
_WHY_CHARS = 300
_LEAST_SECRET_CHARS = 4
_SOCKET = "Socket Exception: "
_HIDDEN = "***"


class Mail(TypedDict):
    """What an e-mail needs."""

    host: str
    port: int
    security: str
    user: str | None
    password: str | None
    sender: str
    recipient: str


class Order(TypedDict):
    """One message: by `mail`, or to Apprise's `url`."""

    mail: Mail | None
    url: str | None
    title: str
    body: str
    seconds: float
    extra_ca: str | None


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a message under way is its sender's to end
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    import_module("apprise.plugins.email")
    sink.write(b"ready\n")
    sink.flush()
    for line in source:
        order: Order = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, order["seconds"] + _GRACE_SECONDS)
        why = deliver(order)
        signal.setitimer(signal.ITIMER_REAL, 0)
        sink.write(json.dumps({"why": why}).encode() + b"\n")
        sink.flush()


def deliver(order: Order) -> str | None:
    """None if it went out, else why not."""
    heard = _Heard()
    log = logging.getLogger("apprise")
    log.setLevel(logging.DEBUG)
    log.addHandler(heard)
    try:
        is_sent = _notify(order)
    except Exception as error:  # noqa: BLE001 - one service's fault must not end the others
        return _cleared(f"unexpected {type(error).__name__}: {error}", order)
    finally:
        log.removeHandler(heard)
    return None if is_sent else _cleared("; ".join(heard.words) or "it was not taken", order)


def _notify(order: Order) -> bool:
    from apprise import Apprise, AppriseAsset, NotifyFormat

    # Limits of time are ours: Apprise would leave what hangs to a thread. Nothing is kept on disk.
    asset = AppriseAsset(
        app_id="Bailiwick", app_desc="Bailiwick", async_mode=False, service_timeout=0, storage_mode="memory"
    )
    told = Apprise(asset=asset)
    if order["mail"] is not None:
        _trust_besides(order["extra_ca"])
        added = told.add(_service(order["mail"], order["seconds"], asset))
    else:
        added = told.add(order["url"] or "")
    return added and bool(told.notify(title=order["title"], body=order["body"], body_format=NotifyFormat.TEXT))


def _service(mail: Mail, seconds: float, asset: Any) -> Any:
    from apprise.plugins.email import NotifyEmail

    service: Any = NotifyEmail(  # type: ignore[no-untyped-call]
        host=mail["host"],
        smtp_host=mail["host"],
        port=mail["port"],
        secure_mode={"starttls": "starttls", "tls": "ssl", "none": "insecure"}[mail["security"]],
        from_addr=mail["sender"],
        asset=asset,
        format="text",
    )
    # Set, not parsed: it takes the address o'hara@… for one of hara@…, and a % in a password for the start of a code.
    service.user, service.password = mail["user"], mail["password"]
    service.from_addr = ["Bailiwick", mail["sender"]]
    service.targets = [(False, mail["recipient"])]
    service.socket_connect_timeout = seconds
    return service


@cache
def _trust_besides(file: str | None) -> None:
    """Certificate authorities of the operator's own; Apprise has no place to name them."""
    if file is None:
        return
    usual = ssl.create_default_context

    def trusting(*arguments: Any, **named: Any) -> ssl.SSLContext:
        context = usual(*arguments, **named)
        context.load_verify_locations(file)
        return context

    ssl.create_default_context = trusting


class _Heard(logging.Handler):
    """What Apprise says of a failure: its warnings, and the words of a mail server."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.words: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        if record.levelno >= logging.WARNING or said.startswith(_SOCKET):
            self.words.append(said.removeprefix(_SOCKET))


def _cleared(said: str, order: Order) -> str:
    """Without what is secret, in any of the spellings in which it may come back."""
    for secret in sorted(set(_secrets(order)), key=len, reverse=True):
        said = said.replace(secret, _HIDDEN)
    return " ".join("".join(c if c.isprintable() else " " for c in said).split())[:_WHY_CHARS]


def _secrets(order: Order) -> Iterable[str]:
    mail = order["mail"]
    if mail is not None and mail["password"]:
        user, word = mail["user"] or "", mail["password"]
        yield from (word, quote(word), quote(word, safe=""), repr(word)[1:-1])
        for sent in (word, f"\0{user}\0{word}", f"{user}\0{user}\0{word}"):
            yield base64.b64encode(sent.encode()).decode()
    if order["url"] is not None:
        # Any part of such an address may be a token, the host too: only its scheme is shown.
        scheme, _, rest = order["url"].partition("://")
        for part in (rest, *re.split(r"[/:@?&=,#]+", rest)):
            if len(part) >= _LEAST_SECRET_CHARS and part != scheme:
                yield from (part, unquote(part), quote(part, safe=""))


if __name__ == "__main__":
    main()
