"""Judges relevance by a language model where the profile wants it: remembered, within a budget, never in the way.

Whatever goes wrong, the local score stands, and its reason says why no model was heard.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from decimal import Decimal

from pydantic import ValidationError
from sqlalchemy import Connection

from bailiwick.base.clock import Clock, SystemClock
from bailiwick.base.sections import ModelSettings
from bailiwick.extract.model_calls import Call, CallKey, Spent, record_call, remembered_answer, spent_today
from bailiwick.extract.relevance.prompt import RelevanceAnswer, prompt_version, question
from bailiwick.model.content import Content, Relevance, RelevanceSource
from bailiwick.model.profiles import ModelUse, Profile
from bailiwick.ports import LanguageModel, ModelQuestion, ModelReply

_CHARACTERS_A_TOKEN = 3
"""For the estimate before a call. Text of few letters a token (Chinese) costs more; the next call knows."""
_MILLION = Decimal(1_000_000)


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

    def refusal(self, spent: Spent, asked: ModelQuestion[RelevanceAnswer]) -> str | None:
        """Why a call may not be made, counting it at the most that it may take."""
        tokens_in = (len(asked.instructions) + len(asked.material)) // _CHARACTERS_A_TOKEN
        if spent.tokens + tokens_in + asked.max_output_tokens > self.tokens:
            return f"today's {self.tokens:,} tokens are used up"
        cost = self.cost(tokens_in, asked.max_output_tokens)
        if self.money == 0 or spent.money + cost > self.money:
            return f"today's money ({self.money:f}) is spent"
        return None


class ModelJudge:
    """Judges pages of one profile. One a process: it remembers that a model is down, so that pages need not wait.

    `begin` opens a short transaction of its own for each look and each record: none is open while the model thinks.
    Processes that ask at the same moment may pass the day's budget by the calls they have under way, not by more.
    """

    def __init__(
        self,
        profile: Profile,
        model: LanguageModel,
        budget: Budget,
        *,
        begin: Callable[[], AbstractContextManager[Connection]],
        clock: Clock | None = None,
    ) -> None:
        self._profile, self._model, self._budget = profile, model, budget
        self._begin, self._clock = begin, clock or SystemClock()
        self._prompt_version = prompt_version(profile, budget.max_input_chars)
        self._silent_until, self._silent_why = float("-inf"), ""

    def judge(self, content: Content, local: Relevance) -> Relevance:
        """The model's judgement where the profile asks for one and it can be had; else the local one."""
        if not self._wants(local):
            return local
        key = CallKey(content.content_hash, f"relevance:{self._profile.name}", self._model.name, self._prompt_version)
        asked = question(self._profile, content, self._budget.max_input_chars)
        with self._begin() as conn:
            known = _answer(remembered_answer(conn, key))
            refusal = None if known else self._refusal(conn, asked)
        if known is not None:
            return self._judged(known)
        if refusal is not None:
            return _unheard(local, refusal)
        return self._ask(asked, key, local)

    def _wants(self, local: Relevance) -> bool:
        policy = self._profile.model
        if local.source is RelevanceSource.ALL or policy.use is ModelUse.OFF:
            return False
        return policy.use is ModelUse.ALWAYS or abs(local.score - self._profile.relevance_threshold) <= policy.margin

    def _refusal(self, conn: Connection, asked: ModelQuestion[RelevanceAnswer]) -> str | None:
        if self._clock.monotonic() < self._silent_until:
            return self._silent_why
        return self._budget.refusal(spent_today(conn), asked)

    def _ask(self, asked: ModelQuestion[RelevanceAnswer], key: CallKey, local: Relevance) -> Relevance:
        reply = self._model.ask(asked)
        with self._begin() as conn:
            record_call(conn, key, self._call(reply))
        if reply.pause_seconds:
            self._silent_until, self._silent_why = self._clock.monotonic() + reply.pause_seconds, reply.why
        return self._judged(reply.answer) if reply.answer is not None else _unheard(local, reply.why)

    def _call(self, reply: ModelReply[RelevanceAnswer]) -> Call:
        return Call(
            reply.outcome,
            None if reply.answer is None else reply.answer.model_dump(mode="json"),
            reply.tokens_in,
            reply.tokens_out,
            self._budget.cost(reply.tokens_in, reply.tokens_out),
            reply.milliseconds,
        )

    def _judged(self, answer: RelevanceAnswer) -> Relevance:
        return Relevance(
            answer.score,
            is_relevant=answer.score >= self._profile.relevance_threshold,
            reason=f"{answer.reason} (by {self._model.name})",
            source=RelevanceSource.MODEL,
        )


def _answer(kept: object) -> RelevanceAnswer | None:
    """A remembered answer, checked like a fresh one."""
    if kept is None:
        return None
    try:
        return RelevanceAnswer.model_validate(kept)
    except ValidationError:
        return None


def _unheard(local: Relevance, why: str) -> Relevance:
    return replace(local, reason=f"{local.reason}; no model was heard: {why}")
