"""Asking one engine: pages, turns, patience, and what ends it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from bailiwick.discover.asking import Asker, Call, Ended, Found
from bailiwick.discover.gates import Closed, Limits
from bailiwick.ports import EngineAnswer, EngineHit, EngineOutcome, EngineQuestion

LIMITS = Limits(per_minute=60, per_day=100, price=0.01, max_retries=2)


def page(*urls: str, more: bool = True) -> EngineAnswer:
    return EngineAnswer(EngineOutcome.ANSWERED, tuple(EngineHit(url) for url in urls), more, status=200)


def fault(outcome: EngineOutcome, pause: float = 0.0) -> EngineAnswer:
    return EngineAnswer(outcome, why=f"it {outcome}", status=500, pause_seconds=pause)


FAILED, LIMITED = fault(EngineOutcome.FAILED), fault(EngineOutcome.LIMITED, 5)


@dataclass
class ScriptedEngine:
    """Answers with what is in `says`, then with nothing more."""

    says: list[Any]
    page_size: int = 2
    most_pages: int | None = None
    name: str = "scripted"
    questions: list[EngineQuestion] = field(default_factory=list)

    async def ask(self, question: EngineQuestion) -> EngineAnswer:
        self.questions.append(question)
        said = self.says.pop(0) if self.says else page(more=False)
        if isinstance(said, Exception):
            raise said
        answer: EngineAnswer = said(question) if callable(said) else said
        return answer

    async def close(self) -> None:
        pass


@dataclass
class PlainGate:
    """So many turns, so many seconds apart."""

    turns: int = 1_000
    spacing: float = 1.0
    closed: Closed = Closed.QUOTA
    taken: int = 0
    held: list[float] = field(default_factory=list)

    def reserve(self, engine: str, limits: Limits) -> float | Closed:
        if self.taken >= self.turns:
            return self.closed
        self.taken += 1
        return 0.0 if self.taken == 1 else self.spacing

    def hold(self, engine: str, seconds: float) -> None:
        self.held.append(seconds)


@dataclass
class Stage:
    """One engine, asked by one asker; what it slept and recorded."""

    engine: ScriptedEngine
    gate: PlainGate = field(default_factory=PlainGate)
    limits: Limits | None = LIMITS
    slept: list[float] = field(default_factory=list)
    recorded: list[Call] = field(default_factory=list)

    def ask(self, *queries: str, wanted: int = 10, at_once: bool = False) -> list[Found]:
        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)

        async def record(call: Call, _answer: EngineAnswer) -> None:
            self.recorded.append(call)

        async def story() -> list[Found]:
            asker = Asker(self.engine, self.gate, limits=self.limits, record=record, sleep=sleep)
            if at_once:
                return list(await asyncio.gather(*(asker.ask(query, wanted) for query in queries)))
            return [await asker.ask(query, wanted) for query in queries]

        return asyncio.run(story())


def ask(*says: Any, wanted: int = 10, **stage: Any) -> tuple[Found, Stage]:
    set_up = Stage(ScriptedEngine(list(says)), **stage)
    [found] = set_up.ask("q", wanted=wanted)
    return found, set_up


def urls_of(found: Found) -> list[tuple[int, str]]:
    return [(placed.position, placed.hit.url) for placed in found.hits]


def test_positions_go_on_over_pages() -> None:
    found, stage = ask(page("a", "b"), page("c", more=False))
    assert urls_of(found) == [(1, "a"), (2, "b"), (3, "c")]
    assert (found.engine, found.query, found.ended) == ("scripted", "q", Ended.NO_MORE)
    assert stage.engine.questions == [EngineQuestion("q", 1, 2), EngineQuestion("q", 2, 2)]
    assert stage.recorded == list(found.calls) == [
        Call("scripted", "q", 1, EngineOutcome.ANSWERED, 200, 2, 0.01),
        Call("scripted", "q", 2, EngineOutcome.ANSWERED, 200, 1, 0.01),
    ]  # fmt: skip


def test_an_engine_may_say_the_position_itself() -> None:
    found, _ = ask(EngineAnswer(EngineOutcome.ANSWERED, (EngineHit("a", position=40), EngineHit("b"))))
    assert urls_of(found) == [(40, "a"), (2, "b")]


def test_it_ends_with_enough() -> None:
    found, stage = ask(page("a", "b"), page("c", "d"), wanted=3)
    assert (urls_of(found), found.ended) == ([(1, "a"), (2, "b"), (3, "c")], Ended.ENOUGH)
    assert len(stage.engine.questions) == 2
    assert ask(wanted=0)[0].ended is Ended.ENOUGH


def test_it_asks_for_no_more_than_it_wants() -> None:
    _, stage = ask(page("a"), wanted=1)
    assert stage.engine.questions == [EngineQuestion("q", 1, 1)]


def test_it_ends_with_an_empty_page() -> None:
    assert ask(page("a", "b"), page())[0].ended is Ended.NO_MORE


def test_it_ends_when_nothing_is_new() -> None:
    found, stage = ask(page("a", "b"), page("b", "a"), page("c"))
    assert (found.ended, len(stage.engine.questions)) == (Ended.NOTHING_NEW, 2)


def test_a_local_engine_is_read_to_its_end() -> None:
    found, stage = ask(page("a", "a"), page("a", "a"), page("b", more=False), limits=None)
    assert (len(found.hits), found.ended) == (5, Ended.NO_MORE)
    assert (stage.gate.taken, stage.slept, {call.cost for call in found.calls}) == (0, [], {0.0})


def test_every_request_waits_for_its_turn() -> None:
    _, stage = ask(page("a", "b"), page("c", "d"), page("e", "f", more=False), gate=PlainGate(spacing=7))
    assert (stage.gate.taken, stage.slept) == (3, [0, 7, 7])


def test_failures_are_tried_again_ever_later() -> None:
    found, stage = ask(FAILED, FAILED, page("a", more=False))
    assert (found.ended, len(found.hits)) == (Ended.NO_MORE, 1)
    assert stage.slept == [0, 1, 1, 2, 1], "back-off of 1 and 2 s, each followed by a turn"
    assert [call.outcome for call in found.calls] == ["failed", "failed", "answered"]
    assert stage.gate.taken == 3, "a retry counts"


def test_retries_end() -> None:
    found, _ = ask(page("a", "b"), FAILED, FAILED, FAILED, page("c"))
    assert (found.ended, found.why, len(found.calls)) == (Ended.FAILED, "it failed", 4)
    assert urls_of(found) == [(1, "a"), (2, "b")], "what it had before stays"


def test_a_pause_is_kept_by_everybody() -> None:
    found, stage = ask(LIMITED, page("a", more=False))
    assert (found.ended, stage.gate.held, 5 in stage.slept) == (Ended.NO_MORE, [5], True)


def test_a_pause_is_kept_also_after_the_last_try() -> None:
    stage = Stage(ScriptedEngine([LIMITED, LIMITED, LIMITED, page("a", more=False)]))
    first, second = stage.ask("one", "two")
    assert (first.ended, second.ended) == (Ended.LIMITED, Ended.NO_MORE)
    assert stage.gate.held == [5, 5, 5], "the next query waits for its turn until the pause is over"


def test_a_long_pause_holds_for_other_sessions_too() -> None:
    assert ask(fault(EngineOutcome.LIMITED, 900))[1].gate.held == [900]


def test_whoever_has_paid_anew_need_not_wait() -> None:
    used_up = replace(fault(EngineOutcome.LIMITED, 3600), is_spent=True)
    found, stage = ask(used_up)
    assert (found.ended, stage.gate.held) == (Ended.LIMITED, [])


def test_a_long_pause_ends_the_engine_for_the_session() -> None:
    stage = Stage(ScriptedEngine([fault(EngineOutcome.LIMITED, 61)]))
    first, second = stage.ask("one", "two")
    assert (first.ended, second.ended) == (Ended.LIMITED, Ended.LIMITED)
    assert (first.why, second.why) == ("it limited", "it limited")
    assert (len(stage.engine.questions), second.calls) == (1, ())
    assert max(stage.slept) <= 1


def test_a_refusal_ends_the_engine_at_once() -> None:
    stage = Stage(ScriptedEngine([fault(EngineOutcome.REFUSED)]))
    assert [found.ended for found in stage.ask("one", "two")] == [Ended.REFUSED, Ended.REFUSED]
    assert len(stage.engine.questions) == 1


def test_an_invalid_answer_ends_this_query_alone() -> None:
    stage = Stage(ScriptedEngine([fault(EngineOutcome.INVALID), page("a", more=False)]))
    assert [found.ended for found in stage.ask("one", "two")] == [Ended.INVALID, Ended.NO_MORE]
    assert len(stage.engine.questions) == 2


@pytest.mark.parametrize(
    ("closed", "ended", "why"),
    [
        (Closed.QUOTA, Ended.QUOTA, "the quota of 100 requests a day to scripted is used up"),
        (
            Closed.BUSY,
            Ended.LIMITED,
            "all turns at scripted of the next 600 s are taken, or it asked for a longer pause",
        ),
    ],
)
def test_without_a_turn_it_ends_and_says_why(closed: Closed, ended: Ended, why: str) -> None:
    found, stage = ask(page("a", "b"), page("c", "d"), gate=PlainGate(turns=1, closed=closed))
    assert (found.ended, found.why, len(found.hits)) == (ended, why, 2)
    assert stage.recorded[-1] == Call("scripted", "q", 2, EngineOutcome.LIMITED, why=why), "it cost nothing"
    assert len(stage.engine.questions) == 1


def test_an_engine_that_breaks_is_a_failure() -> None:
    found, _ = ask(RuntimeError("with a secret"), ValueError("x"), KeyError("y"))
    assert (found.ended, found.why) == (Ended.FAILED, "scripted broke: KeyError")


def test_more_than_a_page_is_cut() -> None:
    found, _ = ask(page("a", "b", "c", "d", more=False))
    assert len(found.hits) == 2


def test_many_queries_at_once_share_the_quota() -> None:
    says: list[Callable[[EngineQuestion], EngineAnswer]] = [lambda q: page(f"{q.text} {q.page}")] * 500
    stage = Stage(ScriptedEngine(list(says)), gate=PlainGate(turns=17))
    found = stage.ask(*(f"q{at}" for at in range(10)), wanted=100, at_once=True)
    assert {each.ended for each in found} == {Ended.QUOTA}
    assert len(stage.engine.questions) == sum(len(each.hits) for each in found) == 17
    assert len([call for call in stage.recorded if call.outcome is EngineOutcome.ANSWERED]) == 17


def test_what_was_answered_before_an_interruption_is_not_asked_again() -> None:
    engine, gate = ScriptedEngine([page("c", more=False)]), PlainGate()
    kept = {("scripted", "q", 1): page("a", "b")}

    async def story() -> Found:
        return await Asker(engine, gate, limits=LIMITS, kept=kept).ask("q", 9)

    found = asyncio.run(story())
    assert urls_of(found) == [(1, "a"), (2, "b"), (3, "c")]
    assert ([call.page for call in found.calls], gate.taken) == ([2], 1), "nobody's turn was taken for it"
