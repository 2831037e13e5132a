"""Judges a page's relevance on this machine: keywords always, meaning where it is installed. No network, no state."""

from collections.abc import Callable
from typing import TypeAlias

from bailiwick.evidence.embedding import Embedder, shipped_embedder
from bailiwick.evidence.keywords import Evidence, Keywords
from bailiwick.evidence.meaning import Likeness, Meaning
from bailiwick.extract.relevance.subject import Subject
from bailiwick.extract.relevance.weights import KEYWORDS, MEANING
from bailiwick.model.content import Relevance, RelevanceSource
from bailiwick.model.profiles import Profile

LocalJudge: TypeAlias = Callable[[Subject], Relevance]

_SAID = 0.9
"""How relevant a page is that says by its markup that it is what is wanted."""
_SHOWN_WORDS = 4
_SHOWN_CHARACTERS = 60


def judge_for(profile: Profile, load: Callable[[], Embedder | None] = shipped_embedder) -> LocalJudge:
    """A judge for many pages of one profile. Loads the embeddings (once a process) only if the profile has a use.

    Without the extra `content`, or without positive examples, keywords judge alone, and the source says so.
    """
    if profile.takes_everything:
        return _take_everything
    embedder = load() if profile.examples.positive else None
    return _TopicJudge(profile, Meaning(profile.examples, embedder) if embedder else None)


def _take_everything(_subject: Subject) -> Relevance:
    return Relevance(1.0, is_relevant=True, reason="the profile takes everything", source=RelevanceSource.ALL)


class _TopicJudge:
    def __init__(self, profile: Profile, meaning: Meaning | None) -> None:
        self._threshold, self._languages = profile.relevance_threshold, profile.languages
        self._keywords = Keywords(profile.keywords, profile.negative_keywords)
        self._types = frozenset(profile.types)
        self._meaning = meaning
        self._weights = MEANING if meaning else KEYWORDS
        self._source = RelevanceSource.MEANING if meaning else RelevanceSource.KEYWORDS

    def __call__(self, subject: Subject) -> Relevance:
        if self._languages and subject.language and subject.language not in self._languages:
            reason = f"its language is {subject.language}; wanted: {', '.join(self._languages)}"
            return Relevance(0.0, is_relevant=False, reason=reason, source=self._source)
        words = subject.words()
        evidence = self._keywords.evidence(words)
        likeness = self._meaning.likeness(words) if self._meaning else None
        score, reason = self._weights.score(evidence, likeness), _reason(evidence, likeness)
        if said := sorted(self._types & subject.types):
            score, reason = max(score, _SAID), f"its markup says {', '.join(said)}; {reason}"
        return Relevance(score, is_relevant=score >= self._threshold, reason=reason, source=self._source)


def _reason(evidence: Evidence, likeness: Likeness | None) -> str:
    """What was seen, strongest first, for a person who wonders about the score."""
    parts = [f"names {_listed(evidence.named)}" if evidence.named else "names no keyword"]
    if evidence.against:
        parts.append(f"but also {_listed(evidence.against)}")
    if likeness is not None:
        parts.append(f"like what is wanted {likeness.wanted:.2f}")
        if likeness.nearest_unwanted is not None:
            parts.append(f"like what is not {likeness.unwanted:.2f}")
            if likeness.unwanted > likeness.wanted:
                parts.append(f'nearest: "{_short(likeness.nearest_unwanted)}"')
    return "; ".join(parts)


def _listed(words: tuple[str, ...]) -> str:
    more = len(words) - _SHOWN_WORDS
    return ", ".join(words[:_SHOWN_WORDS]) + (f" and {more} more" if more > 0 else "")


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1].rstrip() + "…"
