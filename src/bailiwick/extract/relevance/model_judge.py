"""Judges relevance by a language model where the profile wants it.

Whatever goes wrong, the local score stands, and its reason says why no model was heard.
"""

from dataclasses import replace

from bailiwick.base.clock import Clock
from bailiwick.evidence.asking import Asker, Begin, Budget
from bailiwick.evidence.model_calls import CallKey
from bailiwick.extract.relevance.prompt import RelevanceAnswer, prompt_version, question
from bailiwick.model.content import Content, Relevance, RelevanceSource
from bailiwick.model.profiles import ModelUse, Profile
from bailiwick.ports import LanguageModel

__all__ = ["Budget", "ModelJudge"]


class ModelJudge:
    """Judges pages of one profile."""

    def __init__(
        self,
        profile: Profile,
        model: LanguageModel,
        budget: Budget,
        *,
        begin: Begin,
        clock: Clock | None = None,
    ) -> None:
        self._profile = profile
        self._asker = Asker(model, budget, begin=begin, clock=clock)
        self._prompt_version = prompt_version(profile, budget.max_input_chars)

    def judge(self, content: Content, local: Relevance) -> Relevance:
        """The model's judgement where the profile asks for one and it can be had; else the local one."""
        if not self._wants(local):
            return local
        name = self._asker.model_name
        key = CallKey(content.content_hash, f"relevance:{self._profile.name}", name, self._prompt_version)
        heard = self._asker.ask(question(self._profile, content, self._asker.budget.max_input_chars), key)
        return self._judged(heard.answer) if heard.answer is not None else _unheard(local, heard.why)

    def _wants(self, local: Relevance) -> bool:
        policy = self._profile.model
        if local.source is RelevanceSource.ALL or policy.use is ModelUse.OFF:
            return False
        return policy.use is ModelUse.ALWAYS or abs(local.score - self._profile.relevance_threshold) <= policy.margin

    def _judged(self, answer: RelevanceAnswer) -> Relevance:
        return Relevance(
            answer.score,
            is_relevant=answer.score >= self._profile.relevance_threshold,
            reason=f"{answer.reason} (by {self._asker.model_name})",
            source=RelevanceSource.MODEL,
        )


def _unheard(local: Relevance, why: str) -> Relevance:
    return replace(local, reason=f"{local.reason}; no model was heard: {why}")
