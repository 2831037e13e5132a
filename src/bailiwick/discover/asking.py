"""One engine, asked for the results of one query: page by page, in its turn, with patience."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from bailiwick.discover.gates import Closed, Gate, Limits
from bailiwick.ports import EngineAnswer, EngineHit, EngineOutcome, EngineQuestion, SearchEngine

LONGEST_PAUSE_SECONDS = 60.0
"""Whoever asks for a longer pause is not asked again in this session."""
_FIRST_BACKOFF_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Call:
    """One question to one engine, for the record; also one that was not sent because there was no turn for it."""

    engine: str
    query: str
    page: int
    outcome: EngineOutcome
    status: int | None = None
    hits: int = 0
    cost: float = 0.0
    milliseconds: int = 0
    why: str = ""


class Ended(StrEnum):
    """Why an engine was asked no further for a query."""

    ENOUGH = "enough"
    NO_MORE = "no_more"
    """The engine has no further page, or its last one was empty."""
    NOTHING_NEW = "nothing_new"
    """A page had only what earlier pages had."""
    QUOTA = "quota"
    LIMITED = "limited"
    REFUSED = "refused"
    INVALID = "invalid"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PlacedHit:
    """A hit and its position from 1, over all pages, or as the engine itself says."""

    position: int
    hit: EngineHit


@dataclass(frozen=True, slots=True)
class Found:
    """What one engine has for one query. What it had before it failed stays."""

    engine: str
    query: str
    ended: Ended
    why: str = ""
    hits: tuple[PlacedHit, ...] = ()
    calls: tuple[Call, ...] = ()


Record: TypeAlias = Callable[[Call, EngineAnswer], Awaitable[None]]
Kept: TypeAlias = Mapping[tuple[str, str, int], EngineAnswer]
"""Answers from before the session was interrupted, by engine, query and page."""
Sleep: TypeAlias = Callable[[float], Awaitable[None]]
_ENDS = {
    EngineOutcome.LIMITED: Ended.LIMITED,
    EngineOutcome.REFUSED: Ended.REFUSED,
    EngineOutcome.INVALID: Ended.INVALID,
    EngineOutcome.FAILED: Ended.FAILED,
}
_AGAIN = (EngineOutcome.LIMITED, EngineOutcome.FAILED)


async def _unrecorded(call: Call, answer: EngineAnswer) -> None:
    """For those who read `Found.calls`."""


@dataclass(slots=True)
class _Tally:
    """What one query has brought so far."""

    query: str
    wanted: int
    hits: list[PlacedHit] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    urls: set[str] = field(default_factory=set)

    def add(self, hits: tuple[EngineHit, ...]) -> bool:
        """Whether there was anything new among them."""
        before, known = len(self.hits), len(self.urls)
        self.hits += [
            PlacedHit(hit.position if hit.position is not None else place, hit)
            for place, hit in enumerate(hits, before + 1)
        ]
        self.urls.update(hit.url for hit in hits)
        return len(self.urls) > known


class Asker:
    """Asks one engine in one session. Many queries may be asked at once; one that ends the engine ends it for all.

    `limits` None means an engine on this machine: it costs nothing, needs no turn, and is read to its end.
    `record` is awaited after every call. Errors of the gate (the database) and of `record` are raised, no others.
    """

    def __init__(
        self,
        engine: SearchEngine,
        gate: Gate,
        *,
        limits: Limits | None,
        record: Record = _unrecorded,
        kept: Kept = MappingProxyType({}),
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._engine, self._gate, self._limits = engine, gate, limits
        self._record, self._kept, self._sleep = record, kept, sleep
        self._turn = asyncio.Lock()
        self._over: tuple[Ended, str] | None = None

    async def ask(self, query: str, wanted: int) -> Found:
        """Up to so many results, with all that was asked for them. Never raises for what the engine does."""
        tally = _Tally(query, wanted)
        ended, why = await self._pages(tally)
        return Found(self._engine.name, query, ended, why, tuple(tally.hits[:wanted]), tuple(tally.calls))

    async def _pages(self, tally: _Tally) -> tuple[Ended, str]:
        page, count = 0, min(tally.wanted, self._engine.page_size)
        while len(tally.hits) < tally.wanted:
            page += 1
            answer = await self._patiently(tally, EngineQuestion(tally.query, page, count))
            if isinstance(answer, tuple):
                return answer
            is_new = tally.add(answer.hits)
            if len(tally.hits) < tally.wanted and not (answer.has_more and answer.hits):
                return Ended.NO_MORE, answer.why
            if self._limits is not None and not is_new:
                return Ended.NOTHING_NEW, answer.why
        return Ended.ENOUGH, ""

    async def _patiently(self, tally: _Tally, question: EngineQuestion) -> EngineAnswer | tuple[Ended, str]:
        """An answer, after some retries perhaps, or why there is none."""
        if (known := self._kept.get((self._engine.name, question.text, question.page))) is not None:
            return known
        retries = self._limits.max_retries if self._limits is not None else 0
        for tried in range(retries + 1):
            if self._over is None:
                await self._wait_for_turn(tally, question)
            if self._over is not None:
                return self._over
            answer = await self._asked(question)
            await self._note(tally, question, answer, cost=self._limits.price if self._limits is not None else 0.0)
            if answer.outcome is EngineOutcome.ANSWERED:
                return answer
            ended = _ENDS[answer.outcome]
            if answer.pause_seconds and not answer.is_spent:  # the engine asked for it, so it holds for every process
                await asyncio.to_thread(self._gate.hold, self._engine.name, answer.pause_seconds)
            if ended is Ended.REFUSED or answer.pause_seconds > LONGEST_PAUSE_SECONDS:
                self._over = ended, answer.why  # for all queries of this session
            elif answer.outcome in _AGAIN and tried < retries:
                await self._sleep(max(answer.pause_seconds, _FIRST_BACKOFF_SECONDS * 2.0**tried))
                continue
            break
        return ended, answer.why

    async def _wait_for_turn(self, tally: _Tally, question: EngineQuestion) -> None:
        if self._limits is None:
            return
        # One at a time: a turn that is taken while another is waited for would only be held up.
        async with self._turn:
            if self._over is not None:
                return
            turn = await asyncio.to_thread(self._gate.reserve, self._engine.name, self._limits)
            if not isinstance(turn, Closed):
                await self._sleep(turn)
                return
            ended, why = _no_turn(turn, self._engine.name, self._limits)
            self._over = ended, why
        await self._note(tally, question, EngineAnswer(EngineOutcome.LIMITED, why=why), cost=0.0)

    async def _asked(self, question: EngineQuestion) -> EngineAnswer:
        try:
            answer = await self._engine.ask(question)
        except Exception as error:  # noqa: BLE001 - one engine must not end the session of all
            why = f"{self._engine.name} broke: {type(error).__name__}"
            return EngineAnswer(EngineOutcome.FAILED, why=why)
        return replace(answer, hits=answer.hits[: self._engine.page_size])

    async def _note(self, tally: _Tally, question: EngineQuestion, answer: EngineAnswer, *, cost: float) -> None:
        call = Call(
            self._engine.name,
            question.text,
            question.page,
            answer.outcome,
            answer.status,
            len(answer.hits),
            cost,
            answer.milliseconds,
            answer.why,
        )
        tally.calls.append(call)
        await self._record(call, answer)


def _no_turn(closed: Closed, engine: str, limits: Limits) -> tuple[Ended, str]:
    if closed is Closed.QUOTA:
        return Ended.QUOTA, f"the quota of {limits.per_day:,} requests a day to {engine} is used up"
    seconds = f"{limits.longest_wait_seconds:,.0f} s"
    return Ended.LIMITED, f"all turns at {engine} of the next {seconds} are taken, or it asked for a longer pause"
