"""What is live: one publisher looks at the database and makes each fragment once; every open page gets it."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from sqlalchemy import Connection, RowMapping

from bailiwick.accounts import sessions
from bailiwick.accounts.sessions import Session
from bailiwick.base.errors import BailiwickError
from bailiwick.base.telemetry import LogEvent, logger
from bailiwick.db.engine import Database
from bailiwick.registry import overview, watching
from bailiwick.registry.overview import Overview
from bailiwick.registry.watching import Now

TILES = "tiles"
DOMAIN = "domain:"
MOST_TOPICS = 4
MOST_STREAMS = 1000
_MOST_A_SESSION = 25
_TICK_SECONDS = 1.0
_OVERVIEW_SECONDS = 5.0
_SESSIONS_SECONDS = 5.0
_SILENCE_SECONDS = 15.0
_SAMPLES = 150

Render = Callable[[str, Mapping[str, object]], str]


@dataclass(frozen=True, slots=True)
class Picture:
    """All that the tiles show."""

    now: Now
    overview: Overview
    samples: tuple[float, ...]


@dataclass
class DomainPicture:
    """Where one watched domain is, and how fast it goes."""

    row: RowMapping
    rate: float
    samples: tuple[float, ...]


@dataclass(eq=False)
class Stream:
    """One open page: what it wants, and what it has not been sent yet. Newer fragments replace older ones."""

    topics: tuple[str, ...]
    session: Session
    waiting: dict[str, bytes] = field(default_factory=dict)
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    is_over: bool = False

    def offer(self, topic: str, fragment: bytes) -> None:
        self.waiting[topic] = fragment
        self.woken.set()

    def end(self) -> None:
        self.is_over = True
        self.woken.set()


@dataclass
class _Pace:
    """Counts of one domain over the last seconds."""

    seen: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=60))

    def add(self, count: int) -> None:
        self.seen.append((time.monotonic(), count))

    def rates(self) -> tuple[float, ...]:
        pairs = list(self.seen)
        # Results are written every few seconds: a rate over four of them does not jump.
        return tuple(max(0.0, (b[1] - a[1]) / max(b[0] - a[0], 0.001)) for a, b in zip(pairs, pairs[4:], strict=False))


class Publisher:
    """Looks once a second while anybody watches, and remembers the last minutes for the charts."""

    def __init__(self, database: Database, render: Render) -> None:
        self._database, self._render = database, render
        self._streams: set[Stream] = set()
        self._samples: deque[float] = deque(maxlen=_SAMPLES)
        self._sent: dict[str, bytes] = {}
        self._paces: dict[str, _Pace] = {}
        self._overview: tuple[float, Overview] | None = None
        self._checked = 0.0
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def open_streams(self) -> int:
        return len(self._streams)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    def close(self) -> None:
        """End every stream: a server that stops waits for its connections."""
        self._is_closed = True
        for stream in list(self._streams):
            stream.end()

    async def stop(self) -> None:
        self.close()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def picture(self, conn: Connection) -> Picture:
        """What the tiles show now, for a page that is made at this moment."""
        return Picture(*self._look(conn), tuple(self._samples))

    def domain(self, row: RowMapping) -> DomainPicture:
        """The same for one domain; the rate is known once somebody has watched it for a while."""
        pace = self._paces.get(str(row["name"]))
        rates = pace.rates() if pace is not None else ()
        return DomainPicture(row, rates[-1] if rates else 0.0, rates)

    def admits(self, session_hash: bytes) -> bool:
        """Whether there is room for one more stream."""
        mine = Counter(stream.session.token_hash for stream in self._streams)[session_hash]
        return not self._is_closed and len(self._streams) < MOST_STREAMS and mine < _MOST_A_SESSION

    async def follow(self, topics: tuple[str, ...], session: Session) -> AsyncIterator[bytes]:
        """A stream's bytes, until it is over."""
        stream = Stream(topics, session)
        self._streams.add(stream)
        try:
            yield b"retry: 3000\n\n"
            for topic in topics:
                if topic in self._sent:
                    stream.offer(topic, self._sent[topic])
            while not stream.is_over:
                try:
                    async with asyncio.timeout(_SILENCE_SECONDS):
                        await stream.woken.wait()
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                stream.woken.clear()
                fragments, stream.waiting = stream.waiting, {}
                for fragment in fragments.values():
                    yield fragment
            yield b"event: over\ndata: over\n\n"
        finally:
            self._streams.discard(stream)

    async def _run(self) -> None:
        while True:
            begun = time.monotonic()
            try:
                for topic, fragment in (await asyncio.to_thread(self._tick)).items():
                    for stream in self._streams:
                        if topic in stream.topics:
                            stream.offer(topic, fragment)
            except BailiwickError as error:
                logger().warning(LogEvent.LIVE_FAILED, error=error.message)
            except Exception as error:  # noqa: BLE001 - the top of a loop
                logger().error(LogEvent.LIVE_FAILED, error=f"{type(error).__name__}: {error}")
            await asyncio.sleep(max(0.05, _TICK_SECONDS - (time.monotonic() - begun)))

    def _tick(self) -> dict[str, bytes]:
        """One look; the fragments that have changed since the last one."""
        streams = list(self._streams)
        wanted = {topic for stream in streams for topic in stream.topics}
        watched = {topic.removeprefix(DOMAIN) for topic in wanted if topic.startswith(DOMAIN)}
        made: dict[str, str] = {}
        with self._database.read() as conn:
            now, seen = self._look(conn)
            self._samples.append(now.rate)
            if TILES in wanted:
                made[TILES] = self._render("_tiles.html", {"picture": Picture(now, seen, tuple(self._samples))})
            for row in watching.progress_of(conn, watched) if watched else ():
                self._paces.setdefault(row["name"], _Pace()).add(row["pages_crawled"] or 0)
                made[DOMAIN + row["name"]] = self._render("_progress.html", {"picture": self.domain(row)})
            self._end_revoked(conn, streams)
        for name in self._paces.keys() - watched:
            del self._paces[name]
        changed = {topic: _event(topic, html) for topic, html in made.items()}
        changed = {topic: event for topic, event in changed.items() if self._sent.get(topic) != event}
        self._sent = {topic: event for topic, event in (self._sent | changed).items() if topic in wanted}
        return changed

    def _look(self, conn: Connection) -> tuple[Now, Overview]:
        """The counts are a little older than the rest: they cost most."""
        clock = time.monotonic()
        known = self._overview
        if known is None or clock - known[0] >= _OVERVIEW_SECONDS:
            known = self._overview = (clock, overview.overview(conn))
        return watching.now(conn), known[1]

    def _end_revoked(self, conn: Connection, streams: list[Stream]) -> None:
        """A session that was ended elsewhere sees no more, nor does one whose member has another role now."""
        clock = time.monotonic()
        if not streams or clock - self._checked < _SESSIONS_SECONDS:
            return
        self._checked = clock
        roles = sessions.still_open(conn, {stream.session.token_hash for stream in streams})
        for stream in streams:
            role = roles.get(stream.session.token_hash)
            if role is not stream.session.actor.role and self._task is not None:
                self._task.get_loop().call_soon_threadsafe(stream.end)


def _event(topic: str, html: str) -> bytes:
    lines = "".join(f"data: {line}\n" for line in html.splitlines() if line.strip())
    return f"event: {topic}\n{lines}\n".encode()
