"""Asks a language model for what stages want to know: remembered, within the day's budget, never in the way.

One a process and profile: it remembers that a model is down, so that pages need not wait.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic

from pydantic import JsonValue, ValidationError
from sqlalchemy import Connection

from bailiwick.base.clock import Clock, SystemClock
from bailiwick.base.sections import ModelSettings
from bailiwick.evidence.model_calls import Call, CallKey, Spent, record_call, remembered_answer, spent_today
from bailiwick.ports import Answer, LanguageModel, ModelQuestion, ModelReply

Begin = Callable[[], AbstractContextManager[Connection]]
_CHARACTERS_A_TOKEN = 3
"""For the estimate before a call. Text of few letters a token (Chinese) costs more; the next call knows."""
_MILLION = Decimal(1_000_000)
_SPENT_SECONDS = 60.0
"""How long a day's budget that is used up counts as used up, without a look: more may be granted, or a day begin."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be used in a day, and what tokens cost."""

    tokens: int
    money: Decimal
    price_in: Decimal
    price_out: Decimal
    max_input_chars: int

    @classmethod
    def of(cls, settings: ModelSettings) -> "Budget":
        return cls(
            settings.max_tokens_per_day,
            Decimal(str(settings.max_money_per_day)),
            Decimal(str(settings.price_in_per_million)),
            Decimal(str(settings.price_out_per_million)),
            settings.max_input_chars,
        )

    def cost(self, tokens_in: int, tokens_out: int) -> Decimal:
        return (tokens_in * self.price_in + tokens_out * self.price_out) / _MILLION

    def refusal(self, spent: Spent, asked: ModelQuestion[Any]) -> str | None:
        """Why a call may not be made, counting it at the most that it may take."""
        tokens_in = (len(asked.instructions) + len(asked.material)) // _CHARACTERS_A_TOKEN
        if spent.tokens + tokens_in + asked.max_output_tokens > self.tokens:
            return f"today's {self.tokens:,} tokens are used up"
        cost = self.cost(tokens_in, asked.max_output_tokens)
        if self.money == 0 or spent.money + cost > self.money:
            return f"today's money ({self.money:f}) is spent"
        return None


@dataclass(frozen=True, slots=True)
class Heard(Generic[Answer]):
    """An answer, or why there is none."""

    answer: Answer | None
    why: str = ""


class Asker:
    """Asks one model.

    `begin` opens a short transaction of its own for each look and each record: none is open while the model thinks.
    Processes that ask at the same moment may pass the day's budget by the calls they have under way, not by more.
    """

    def __init__(self, model: LanguageModel, budget: Budget, *, begin: Begin, clock: Clock | None = None) -> None:
        self._model, self.budget, self._begin, self._clock = model, budget, begin, clock or SystemClock()
        self._silent_until, self._silent_why = float("-inf"), ""
        self._spent_until = float("-inf")
        self._is_failing = False

    @property
    def model_name(self) -> str:
        return self._model.name

    @property
    def is_resting(self) -> bool:
        """Whatever is asked now, there will be no answer: the model is down, or the day's budget is used up."""
        return self._clock.monotonic() < max(self._silent_until, self._spent_until)

    @property
    def is_failing(self) -> bool:
        """It was so at the last question, whether or not it still is."""
        return self._is_failing

    def ask(self, asked: ModelQuestion[Answer], key: CallKey) -> Heard[Answer]:
        """The answer that is remembered, or a new one."""
        with self._begin() as conn:
            known = _valid(asked.form, remembered_answer(conn, key))
            refusal = None if known else self._refusal(conn, asked)
        if known is not None:
            return Heard(known)
        if refusal is not None:
            self._is_failing = True
            return Heard(None, refusal)
        reply = self._model.ask(asked)
        with self._begin() as conn:
            record_call(conn, key, self._call(reply))
        if reply.pause_seconds:
            self._silent_until, self._silent_why = self._clock.monotonic() + reply.pause_seconds, reply.why
        self._is_failing = reply.pause_seconds > 0
        return Heard(reply.answer, reply.why)

    def _refusal(self, conn: Connection, asked: ModelQuestion[Any]) -> str | None:
        if self._clock.monotonic() < self._silent_until:
            return self._silent_why
        refusal = self.budget.refusal(spent_today(conn), asked)
        if refusal is not None:
            self._spent_until = self._clock.monotonic() + _SPENT_SECONDS
        return refusal

    def _call(self, reply: ModelReply[Answer]) -> Call:
        return Call(
            reply.outcome,
            None if reply.answer is None else reply.answer.model_dump(mode="json"),
            reply.tokens_in,
            reply.tokens_out,
            self.budget.cost(reply.tokens_in, reply.tokens_out),
            reply.milliseconds,
        )


def _valid(form: type[Answer], kept: JsonValue) -> Answer | None:
    """A remembered answer, checked like a fresh one."""
    if kept is None:
        return None
    try:
        return form.model_validate(kept)
    except ValidationError:
        return None
