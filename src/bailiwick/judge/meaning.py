"""Nearness in meaning: title and snippet beside the profile's examples. Needs the extra `content`.

The topic statement stands in where a profile has no examples. Beside examples it makes things worse (measured on
the tuning half: an AUC of 0.85 with it, 0.88 without): a statement names much that stands on every page.
"""

from collections.abc import Callable, Sequence
from datetime import date
from functools import lru_cache
from math import exp

from bailiwick.evidence.embedding import Embedder, shipped_embedder
from bailiwick.evidence.meaning import Likeness, Meaning
from bailiwick.judge.telling import one_line, shrunk
from bailiwick.model.discovery import Case, Opinion
from bailiwick.model.profiles import Examples, Profile

_WANTED, _UNWANTED, _LEAN = 12.0, 13.0, 0.2
"""How fast the odds rise with likeness to wanted examples, and fall with likeness to unwanted ones."""
_SHOWN_CHARS, _TOPIC_CHARS = 60, 500


class MeaningJudge:
    """Silent without embeddings, topic or text."""

    name = "meaning"

    def __init__(self, profile: Profile, _today: date, load: Callable[[], Embedder | None] = shipped_embedder) -> None:
        embedder = load() if profile.topic else None
        self._meaning = Meaning(_examples(profile), embedder) if embedder else None

    def judge(self, cases: Sequence[Case]) -> list[Opinion | None]:
        """One run of the embedder and one matrix product for all cases."""
        if self._meaning is None or not cases:
            return [None] * len(cases)
        heads = [case.words.title + case.words.description for case in cases]
        likenesses = self._meaning.of_heads(heads)
        return [_opinion(like, len(head)) if head else None for like, head in zip(likenesses, heads, strict=True)]


def _examples(profile: Profile) -> Examples:
    if profile.examples.positive or profile.topic is None:
        return profile.examples
    return Examples(positive=(profile.topic[:_TOPIC_CHARS],), negative=profile.examples.negative)


def _opinion(like: Likeness, words: int) -> Opinion:
    score = shrunk(1 / (1 + exp(_UNWANTED * like.unwanted - _WANTED * like.wanted - _LEAN)), words)
    told = f"like what is wanted {like.wanted:.2f}"
    if like.nearest_unwanted is None:
        return Opinion(score, told)
    told += f", like what is not {like.unwanted:.2f}"
    if like.unwanted > like.wanted:
        told += f' ("{_short(like.nearest_unwanted)}")'
    return Opinion(score, told)


@lru_cache(maxsize=1024)
def _short(example: str) -> str:
    return one_line(example, _SHOWN_CHARS)
