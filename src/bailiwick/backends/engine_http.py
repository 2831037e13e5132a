"""One request to a search engine's JSON API: bounded in time and size, and whatever comes of it is a value."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from bailiwick.base.discovery_sections import EngineSettings
from bailiwick.base.errors import SettingsError
from bailiwick.base.sections import FromEnvironment
from bailiwick.model.discovery import MAX_SNIPPET_CHARS, MAX_TITLE_CHARS, MAX_URL_CHARS
from bailiwick.net.gates import retry_after
from bailiwick.ports import EngineAnswer, EngineHit, EngineOutcome, EngineQuestion

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

MAX_BODY_BYTES = 4_000_000
LONGEST_PAUSE_SECONDS = 3600.0
# Markup goes when a hit is cleaned; what is kept here leaves room for it.
_MARKUP_FACTOR = 10

Json: TypeAlias = object
"""What `json.loads` gives. Strangers wrote it: every part is looked at before it is used."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call of an API. The key is no part of it: it stands in the service's headers."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Received:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    is_cut: bool = False
    """There was more than is read."""

    def json(self) -> Json:
        """The body as JSON. ValueError if it is none."""
        try:
            return json.loads(self.content)
        except RecursionError:
            raise ValueError("nested too deeply") from None


class UnreadableError(Exception):
    """An answer that is not of the API's form."""


Read: TypeAlias = Callable[[Json], EngineAnswer]
"""Makes an answer of the body; UnreadableError if it is not of the documented form."""
Explain: TypeAlias = Callable[[Received], EngineAnswer | None]
"""What a status means with this vendor; None: what it means everywhere."""


class Service:
    """Where an engine answers, and what every request to it carries. May be asked by many tasks of one loop."""

    def __init__(self, name: str, settings: EngineSettings, headers: Mapping[str, str]) -> None:
        if settings.base_url is None:
            raise SettingsError(
                f"the engine {name} is not set up: {name}.base_url is not set",
                hint=f"export BAILIWICK_{name.upper()}_BASE_URL=…",
            )
        authority = settings.base_url.partition("//")[2].partition("/")[0]
        if "@" in authority and "Authorization" in headers:
            raise SettingsError(
                f"{name}.base_url holds a name and a password, and there is a key besides",
                hint="leave one of the two out: both stand in the same header",
            )
        self._name, self._settings, self._headers = name, settings, dict(headers)
        self._base = settings.base_url.rstrip("/")
        self._host = authority.rpartition("@")[2]  # shown, so without what may be a password
        self._session: ClientSession | None = None

    async def ask(self, request: Request, read: Read, explain: Explain = lambda _: None) -> EngineAnswer:
        start = time.monotonic()
        try:
            received = await self._send(request)
            answer = explain(received) or self._answer(received, read)
            status: int | None = received.status
        except _NoAnswerError as error:
            answer, status = EngineAnswer(EngineOutcome.FAILED, why=str(error)), None
        return replace(answer, status=status, milliseconds=round((time.monotonic() - start) * 1000))

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _send(self, request: Request) -> Received:
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers={"Accept": "application/json", "User-Agent": "bailiwick", **self._headers},
                timeout=aiohttp.ClientTimeout(total=self._settings.timeout_seconds),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        try:
            # Redirects are not followed: the operator named this endpoint and no other.
            async with self._session.request(
                request.method,
                f"{self._base}{request.path}",
                params=request.query,
                json=request.body,
                allow_redirects=False,
            ) as response:
                return await _received(response)
        except TimeoutError:
            raise _NoAnswerError(f"{self._name} did not answer in {self._settings.timeout_seconds:g} s") from None
        except ValueError:  # of the URL, which no pattern of a setting knows all about
            raise _NoAnswerError(f"{self._name}.base_url is no address that can be asked") from None
        except (aiohttp.ClientConnectorError, ConnectionRefusedError):
            raise _NoAnswerError(f"{self._name} cannot be reached at {self._host}") from None
        except (aiohttp.ClientError, OSError) as error:
            raise _NoAnswerError(f"the connection to {self._name} broke ({type(error).__name__})") from None

    def _answer(self, received: Received, read: Read) -> EngineAnswer:
        if not 200 <= received.status < 300:
            return self._fault(received)
        if received.is_cut:
            why = f"{self._name} answered with more than {MAX_BODY_BYTES:,} bytes"
            return EngineAnswer(EngineOutcome.INVALID, why=why)
        try:
            return read(received.json())
        except ValueError:
            return EngineAnswer(EngineOutcome.INVALID, why=f"{self._name} did not answer in JSON")
        except UnreadableError as error:
            return EngineAnswer(EngineOutcome.INVALID, why=f"{self._name} does not answer as documented: {error}")

    def _fault(self, received: Received) -> EngineAnswer:
        """A status mapped once. The service's own words are left out: it may repeat what it was sent."""
        name, status = self._name, received.status
        pause = pause_of(received)
        if status in (401, 403):
            return EngineAnswer(EngineOutcome.REFUSED, why=refused_key(name, self._settings, status))
        if status == 402:
            why = f"what was paid for at {name} is used up (402)"
            return spent(why)
        if status == 429:
            return EngineAnswer(
                EngineOutcome.LIMITED, why=f"the rate limit of {name} is reached (429)", pause_seconds=pause
            )
        if status == 408 or status >= 500:
            return EngineAnswer(EngineOutcome.FAILED, why=f"{name} answered {status}", pause_seconds=pause)
        if 300 <= status < 400:
            why = f"{name} answered with a redirect ({status}): name where it leads in {name}.base_url"
        elif status == 404:
            why = f"there is no search at {name}.base_url ({status})"
        else:
            why = f"{name} does not take this question ({status})"
        return EngineAnswer(EngineOutcome.INVALID, why=why)


def spent(why: str) -> EngineAnswer:
    """What was paid for is used up: nothing more in this session."""
    return EngineAnswer(EngineOutcome.LIMITED, why=why, pause_seconds=LONGEST_PAUSE_SECONDS, is_spent=True)


class _NoAnswerError(Exception):
    """Nothing came; the text says why."""


def read_key(name: str, settings: EngineSettings) -> str:
    """The key of an engine that needs one. SettingsError says which variable is looked at, never what is in it."""
    variable = settings.api_key_env
    if variable is None:
        raise SettingsError(
            f"the engine {name} needs a key, and {name}.api_key_env is not set",
            hint=f"leave it out to use {name.upper()}_API_KEY",
        )
    try:
        key = FromEnvironment(env=variable).read().strip()
    except SettingsError as error:
        raise SettingsError(f"the engine {name} needs a key: {error.message}", hint=error.hint) from None
    if not key or not key.isascii():
        raise SettingsError(f"the engine {name} needs a key: {variable} holds none", hint=f"export {variable}=…")
    return key


def refused_key(name: str, settings: EngineSettings, status: int) -> str:
    shown = f"the key of {settings.api_key_env}" if settings.api_key_env else "a request without a key"
    return f"{name} refused {shown} ({status})"


def checked(question: EngineQuestion, name: str, *, max_chars: int = 2_000) -> EngineAnswer | None:
    """Why no engine can be asked this; None: it can."""
    why = None
    if not question.text.strip():
        why = "the query is empty"
    elif len(question.text) > max_chars:
        why = f"{name} takes queries of {max_chars:,} characters at most, this one has {len(question.text):,}"
    elif question.page < 1 or question.count < 1:
        why = "pages and results are counted from 1"
    elif not _is_text(question.text):
        why = "the query holds characters that are no text"
    return None if why is None else EngineAnswer(EngineOutcome.INVALID, why=why)


def no_further_page() -> EngineAnswer:
    """What an engine without paging says of every page but the first. It costs no request."""
    return EngineAnswer(EngineOutcome.ANSWERED)


def pause_of(received: Received) -> float:
    """What Retry-After asks for, within reason; 0 if it says nothing."""
    asked = retry_after(received.headers.get("Retry-After"), datetime.now(UTC), received.headers.get("Date"))
    return min(asked or 0.0, LONGEST_PAUSE_SECONDS)


def member(value: Json, name: str) -> Json:
    """A member of an object; UnreadableError if it is none."""
    if not isinstance(value, dict):
        raise UnreadableError(f"no object around {name!r}")
    return value.get(name)


def rows_of(value: Json, name: str) -> list[Json]:
    """The list of this name; UnreadableError if there is none."""
    rows = member(value, name)
    if not isinstance(rows, list):
        raise UnreadableError(f"no list {name!r}")
    return rows


def hit_of(row: Json, *, snippet: str) -> EngineHit:
    """One result. What is missing or of another type is empty, so that it is counted where results are refused."""
    found = row if isinstance(row, dict) else {}
    return bounded_hit(_text(found.get("url")), _text(found.get("title")), _text(found.get(snippet)))


def bounded_hit(url: str, title: str, snippet: str, position: int | None = None) -> EngineHit:
    return EngineHit(
        url[: MAX_URL_CHARS + 1],  # one too many, so that it is refused as too long and not taken for another
        title[: MAX_TITLE_CHARS * _MARKUP_FACTOR],
        snippet[: MAX_SNIPPET_CHARS * _MARKUP_FACTOR],
        position,
    )


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\x00" not in text


async def _received(response: "ClientResponse") -> Received:
    kept = bytearray()
    async for chunk in response.content.iter_chunked(64 * 1024):
        kept += chunk
        if len(kept) > MAX_BODY_BYTES:
            return Received(response.status, response.headers, b"", is_cut=True)
    return Received(response.status, response.headers, bytes(kept))
