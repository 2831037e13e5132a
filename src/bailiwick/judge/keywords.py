"""The profile's words in title, snippet and address, and its negative words against them."""

from collections.abc import Sequence
from datetime import date

from bailiwick.evidence.keywords import Evidence, Keywords
from bailiwick.judge.telling import listed, shrunk
from bailiwick.model.discovery import Case, Opinion
from bailiwick.model.profiles import Profile


class KeywordJudge:
    """Silent where the profile has no keywords, or the result no text."""

    name = "keywords"

    def __init__(self, profile: Profile, _today: date) -> None:
        self._keywords = Keywords(profile.keywords, profile.negative_keywords) if profile.keywords else None

    def judge(self, cases: Sequence[Case]) -> list[Opinion | None]:
        return [self._opinion(self._keywords, case) for case in cases] if self._keywords else [None] * len(cases)

    def _opinion(self, keywords: Keywords, case: Case) -> Opinion | None:
        length = len(case.words.title) + len(case.words.description)
        evidence = keywords.evidence(case.words)
        if not length and not evidence.named and not evidence.against:
            return None
        found = evidence.support * (1 - evidence.objection)
        # Only the lack of keywords needs many words to tell: a negative one speaks for itself.
        score = found if evidence.against else shrunk(found, length + len(evidence.named))
        return Opinion(score, _explained(evidence))


def _explained(evidence: Evidence) -> str:
    named = f"names {listed(evidence.named)}" if evidence.named else "names no keyword"
    return f"{named}, but also {listed(evidence.against)}" if evidence.against else named
