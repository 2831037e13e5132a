"""Every plug-in point, in one place. Each is a Protocol with a conformance suite in `tests/conformance`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from pydantic import BaseModel

if TYPE_CHECKING:  # a crawl has to do with none of them, and starts often
    from sqlalchemy import Connection

    from bailiwick.model.discovery import Case, Opinion
    from bailiwick.model.search import PageKey, SearchAnswer, SearchDocument, SearchQuery


@dataclass(frozen=True, slots=True)
class BodyRef:
    """Where a body lies: written to the page's row by the flush that makes it true."""

    pack_id: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class StoredBody:
    """An answer as it was stored: status line and raw headers, the body with its content coding removed."""

    domain_id: int
    path_hash: int
    head: bytes
    body: bytes


class BodyStore(Protocol):
    """Bodies, written once and read by reference. One writer a process; what was put is safe after `sync`."""

    def put(self, stored: StoredBody, body_hash: bytes | None = None) -> BodyRef:
        """Append a body. Not safe against a crash before `sync`. DiskLowError when there is no room.

        `body_hash` is the SHA-256 of the body, from whoever knows it already.
        """
        ...

    def sync(self) -> None:
        """Make everything put so far survive a power cut. Called once a flush, before its transaction."""
        ...

    def get(self, ref: BodyRef) -> StoredBody:
        """Read one body. NotFoundError if there is no such record any more; BodyDamagedError if it cannot be read."""
        ...

    def close(self) -> None:
        """Sync, and give up whatever is held open. Safe to call again."""
        ...


class FailureKind(StrEnum):
    """Why there was no answer."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    BROKEN = "broken"
    """The answer was no HTTP, or ended early."""
    ENCODING = "encoding"
    """The body's content coding is unknown or damaged."""
    REFUSED = "refused"
    """The guard said no."""
    NOT_SENT = "not_sent"
    """Nothing was sent: the sender's permission had ended."""


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """One GET. `may_send` is asked at the moment of writing; a no leaves it unsent."""

    url: str
    turn: "SendTurn"
    headers: Mapping[str, str] = field(default_factory=dict)
    wants_body: Callable[[int, str], bool] = lambda _status, _content_type: True
    """Asked with status and media type: a body that nobody wants is not read."""


@dataclass(frozen=True, slots=True)
class FetchAnswer:
    """What a server said. `head` is status line and headers as they came."""

    url: str
    status: int
    head: bytes
    headers: Mapping[str, str]
    body: bytes | None
    """None: not wanted. Content coding removed."""
    is_truncated: bool
    bytes_received: int
    milliseconds: int


@dataclass(frozen=True, slots=True)
class FetchFailure:
    """No answer, and why."""

    url: str
    kind: FailureKind
    message: str
    milliseconds: int


class SendTurn(Protocol):
    """The sender's permission: asked right before the request is written."""

    def sending(self) -> bool:
        """Whether it may be written now; from then on it counts as sent."""
        ...


class Fetcher(Protocol):
    """Fetches one thing. Follows no redirects, keeps no cookies, never raises for what a server does."""

    async def fetch(self, request: FetchRequest) -> FetchAnswer | FetchFailure:
        """One request, bounded in time and size."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class ModelOutcome(StrEnum):
    """What a question to a language model came to."""

    ANSWERED = "answered"
    REFUSED = "refused"
    """The model, or a filter before it, would not answer."""
    INVALID = "invalid"
    """What came back is not of the asked form, or was cut off."""
    FAILED = "failed"
    """No answer came: unreachable, too slow, over a limit, key refused."""


Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ModelQuestion(Generic[Answer]):
    """One question. `instructions` are ours and are obeyed; `material` is a stranger's and is only judged."""

    instructions: str
    material: str
    form: type[Answer]
    max_output_tokens: int = 500


@dataclass(frozen=True, slots=True)
class ModelReply(Generic[Answer]):
    """An answer of the asked form, or why there is none; and what it took, which is paid for either way."""

    outcome: ModelOutcome
    answer: Answer | None = None
    why: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    milliseconds: int = 0
    pause_seconds: float = 0.0
    """How long it is of no use to ask anything again: a rate limit, a key that is refused, a server that is gone."""


class LanguageModel(Protocol):
    """Answers questions in a given form. Never raises for what the service behind it does."""

    @property
    def name(self) -> str:
        """Which model answers: part of what an answer is remembered by."""
        ...

    def ask(self, question: ModelQuestion[Answer]) -> ModelReply[Answer]:
        """One answer, bounded in time, retries included. Safe to call from several threads."""
        ...

    def close(self) -> None:
        """Close all connections. Safe to call again."""


class SearchIndex(Protocol):
    """Finds pages and items by their words. May be lost: it is made again from the database.

    Writers pass the transaction that also notes how far they have come: an index in the same database writes in it,
    so that both become true together; any other must have written before it returns.
    """

    @property
    def name(self) -> str:
        """Under which the feeder keeps its place. Another name means another index, which is made from the start."""
        ...

    def replace(self, conn: "Connection", pages: "Sequence[PageKey]", documents: "Sequence[SearchDocument]") -> None:
        """From now on these documents are all there is of these pages. Twice is the same as once."""
        ...

    def drop_between(self, conn: "Connection", after: "PageKey", upto: "PageKey", kept: "Sequence[PageKey]") -> int:
        """Forget pages behind `after`, up to and with `upto`, but not those kept; how many documents that were."""
        ...

    def search(self, query: "SearchQuery") -> "SearchAnswer":
        """The best matches. Any text is a question: none is an error. At most 1,000 matches are ranked."""
        ...

    def close(self) -> None:
        """Give up whatever is held open. Safe to call again."""
        ...


class EngineOutcome(StrEnum):
    """What a question to a search engine came to."""

    ANSWERED = "answered"
    """Also where nothing was found."""
    LIMITED = "limited"
    """Asked too often, or what was paid for is used up: again later."""
    REFUSED = "refused"
    """The key is missing, wrong or not good for this."""
    INVALID = "invalid"
    """The engine does not take this question, or what it answered cannot be read."""
    FAILED = "failed"
    """No answer came: unreachable, too slow, an error of its own."""


@dataclass(frozen=True, slots=True)
class EngineQuestion:
    """One page of results to one query."""

    text: str
    page: int = 1
    """From 1."""
    count: int = 20
    """Results wanted on a page; at most the engine's `page_size`."""


@dataclass(frozen=True, slots=True)
class EngineHit:
    """One result as the engine gave it: text of strangers, not yet cleaned, but of bounded length."""

    url: str
    title: str = ""
    snippet: str = ""
    position: int | None = None
    """Where the engine itself says that it stood; None: by its order."""


@dataclass(frozen=True, slots=True)
class EngineAnswer:
    """Results, best first, or why there are none."""

    outcome: EngineOutcome
    hits: tuple[EngineHit, ...] = ()
    has_more: bool = False
    """Another page can be asked for."""
    why: str = ""
    """For people; never holds a key."""
    status: int | None = None
    """Of the HTTP answer, where there was one."""
    pause_seconds: float = 0.0
    """How long it is of no use to ask again (Retry-After)."""
    is_spent: bool = False
    """What was paid for is used up. When it will be of use to ask again, the engine does not know."""
    milliseconds: int = 0


class SearchEngine(Protocol):
    """Answers queries with pages of the web. Never raises for what the service behind it does."""

    @property
    def name(self) -> str:
        """As in `--engine NAME`."""
        ...

    @property
    def page_size(self) -> int:
        """Most results of one question."""
        ...

    @property
    def most_pages(self) -> int | None:
        """Most pages of one query, each a request; None: how many there are shows when they are asked for."""
        ...

    async def ask(self, question: EngineQuestion) -> EngineAnswer:
        """One request, bounded in time and size; no retries, no waiting: `discover` sees to both."""
        ...

    async def close(self) -> None:
        """Close all connections. Safe to call again."""
        ...


class Judge(Protocol):
    """Scores search results by one kind of evidence, on metadata alone. Pure: no network, no database, no clock."""

    @property
    def name(self) -> str:
        """As in a profile's `judges`."""
        ...

    def judge(self, cases: "Sequence[Case]") -> "Sequence[Opinion | None]":
        """One opinion a case, in their order; None where there is nothing to go by (a missing text is no evidence)."""
        ...


@dataclass(frozen=True, slots=True)
class Notice:
    """One message to people."""

    channel: str
    """`email`, `slack` or `other`."""
    title: str
    body: str
    """Plain text."""
    recipient: str | None = None
    """Of `email`: the address. Of `other`: one of the notifier's `others`. Of `slack`: nobody."""


@dataclass(frozen=True, slots=True)
class NoticeReply:
    """Whether it went out, or why not."""

    is_sent: bool
    why: str = ""
    """For people and for the database; never holds a password, a token or the address of a webhook."""
    pause_seconds: float = 0.0
    """How long it is of no use to try again (Retry-After)."""


class Notifier(Protocol):
    """Tells people. Never raises for what a server does."""

    @property
    def others(self) -> tuple[str, ...]:
        """Names of the further services that are told of the queue, without what is secret about them.

        SettingsError if they cannot be read.
        """
        ...

    async def send(self, notice: Notice) -> NoticeReply:
        """One message, bounded in time; no retries: whoever keeps the messages sees to them."""
        ...

    async def close(self) -> None:
        """Give up whatever is held open. Safe to call again."""
        ...
