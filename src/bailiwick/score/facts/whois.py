"""Asks WHOIS about a registration: from server to server, each connection guarded (P7)."""

import asyncio
import re

from bailiwick.net.guard import Guard
from bailiwick.score.facts.connecting import Connector, failure_words
from bailiwick.score.facts.known import Registration, Untold
from bailiwick.score.facts.turns import Turns
from bailiwick.score.facts.whois_reading import (
    WhoisAnswer,
    asks_for_less,
    decoded,
    names_it,
    read_whois,
    referral,
    silence_words,
)

MAX_ANSWER_BYTES = 256_000
MAX_REFERRALS = 3
_PORT = 43
_SERVER = re.compile(
    r"(?P<host>(?:[a-z0-9_][a-z0-9_-]{0,62}\.)*[a-z0-9][a-z0-9-]{0,62})(?::(?P<port>[0-9]{1,5}))?", re.IGNORECASE
)
_QUESTIONS = {"whois.jprs.jp": "{}/e", "whois.verisign-grs.com": "domain {}", "whois.denic.de": "-T dn,ace {}"}
"""Servers that answer better to another question: in English, about domains only, about more than the status."""
_MISSING = {
    "registered_on": "WHOIS tells no date of registration",
    "expires_on": "WHOIS tells no date of expiry",
    "registrar": "WHOIS names no registrar",
    "is_private": "WHOIS says nothing about the registrant",
}


class Whois:
    """Asks one server, and those that it refers to."""

    def __init__(self, connector: Connector, guard: Guard, turns: Turns, *, server: str, seconds: float) -> None:
        self._connector, self._guard, self._turns = connector, guard, turns
        self._root, self._seconds = server.lower(), seconds
        self._registries: dict[str, str] = {}
        """By the end of names, so that the root is asked once for each."""

    async def ask(self, name: str) -> Registration | Untold:
        """What the first server that knows the name says, completed by those that it refers to."""
        end = name.rpartition(".")[2]
        server: str | None = self._registries.get(end, self._root)
        asked: set[str] = set()
        known, teller, last = WhoisAnswer(), "", Untold("no server knows the name")
        while server is not None and server not in asked and len(asked) <= MAX_REFERRALS:
            asked.add(server)
            text = await self._answer(server, name)
            if isinstance(text, Untold):
                self._registries.pop(end, None)
                return _registration(known, teller, text) if known.says_something else text
            read = await asyncio.to_thread(_read, text, name)
            if server == self._root and read is None and (registry := referral(text)) is not None:
                self._registries[end] = registry
            if read is not None and read.says_something:
                known, teller = _completed(known, read), teller or server
            last = Untold(f"{server}: {silence_words(text)}")
            server = None if known.says_all else referral(text)
        return _registration(known, teller, None) if known.says_something else last

    async def _answer(self, server: str, name: str) -> str | Untold:
        """The text of one server."""
        place = self._place(server)
        if place is None:
            return Untold(f"{server[:80]} is no WHOIS server that is asked")
        host, port = place
        if not await self._turns.wait(host):
            return Untold(f"{host} is asked too much at the moment", is_passing=True)
        question = _QUESTIONS.get(host, "{}").format(name)
        try:
            async with asyncio.timeout(self._seconds):
                body = await self._exchange(host, port, question.encode() + b"\r\n")
        except (OSError, ValueError) as error:
            return Untold(failure_words(error, f"{host}:{port}", self._seconds))
        if len(body) > MAX_ANSWER_BYTES:
            return Untold(f"the answer of {host} is longer than {MAX_ANSWER_BYTES:,} bytes")
        text = decoded(body)
        if asks_for_less(text) and not names_it(text, name):
            await self._turns.hold(host)
        return text

    async def _exchange(self, host: str, port: int, question: bytes) -> bytes:
        reader, writer = await self._connector.open(host, port)
        try:
            writer.write(question)
            await writer.drain()
            body = bytearray()
            while len(body) <= MAX_ANSWER_BYTES and (piece := await reader.read(65_536)):
                body += piece
            return bytes(body)
        finally:
            writer.transport.abort()

    def _place(self, server: str) -> tuple[str, int] | None:
        """Host and port. Where others refer to: a whole name and WHOIS's own port, or what the operator has opened."""
        found = _SERVER.fullmatch(server)
        if found is None:
            return None
        host, port = found["host"], int(found["port"] or _PORT)
        is_open = server == self._root or self._guard.known_address(host, port) is not None
        if not 1 <= port <= 65_535 or not (is_open or (port == _PORT and "." in host)):
            return None
        return host, port


def _read(text: str, name: str) -> WhoisAnswer | None:
    """None: it is not about this name, but perhaps about its end."""
    return read_whois(text, name) if names_it(text, name) else None


def _completed(known: WhoisAnswer, read: WhoisAnswer) -> WhoisAnswer:
    """What came first counts: the registry is asked before its registrars."""
    return WhoisAnswer(
        registered_on=known.registered_on or read.registered_on,
        expires_on=known.expires_on or read.expires_on,
        registrar=known.registrar or read.registrar,
        is_private=read.is_private if known.is_private is None else known.is_private,
    )


def _registration(known: WhoisAnswer, teller: str, failure: Untold | None) -> Registration:
    """`failure` is why a server that may know more did not answer."""
    why_not = {key: why if failure is None else failure.why for key, why in _MISSING.items()}
    missing = {key: why for key, why in why_not.items() if getattr(known, key) is None}
    return Registration(
        known.registered_on, known.expires_on, known.registrar, known.is_private, "whois", missing, teller,
        is_partial=failure is not None,
    )  # fmt: skip
