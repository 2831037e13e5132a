"""The judges of a profile together: a weighted mean of those that have something to go by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import isfinite

from bailiwick.judge.names import names_in
from bailiwick.judge.seats import judge_named
from bailiwick.judge.telling import one_line, two_decimals
from bailiwick.model.discovery import Case, JudgeScore, Judgment, Opinion
from bailiwick.model.profiles import Profile
from bailiwick.ports import Judge

_NO_EVIDENCE = "no judge had anything to go by"


@dataclass(frozen=True, slots=True)
class _Seat:
    judge: Judge
    weight: float


class Panel:
    """Judges many results of one profile. Pure: the same cases and the same day give the same judgments."""

    def __init__(
        self,
        profile: Profile,
        today: date,
        *,
        threshold: float | None = None,
        judges: Mapping[str, Judge] | None = None,
    ) -> None:
        """`judges` sit in the place of those of their names. Raises ProfileError for a name that nobody has."""
        given = judges or {}
        self.threshold = profile.judge_threshold if threshold is None else threshold
        self._seats = [
            _Seat(given.get(seat.name) or judge_named(seat.name, profile, today), seat.weight)
            for seat in profile.judges
        ]

    def judge(self, cases: Sequence[Case]) -> list[Judgment]:
        """One judgment a case, in their order. A judge that fails loses its say in this batch, nothing else."""
        said: list[list[JudgeScore]] = [[] for _ in cases]
        failed = []
        for seat in self._seats:
            try:
                opinions = seat.judge.judge(cases)
                scores = [_score(seat, opinion) for opinion in opinions]
                if len(scores) != len(cases):
                    raise ValueError(f"{len(scores)} opinions on {len(cases)} results")
            except Exception as error:  # noqa: BLE001 - a stranger's judge must not lose the batch
                failed.append(one_line(f"{seat.judge.name} failed and was not heard: {type(error).__name__}: {error}"))
                continue
            for into, score in zip(said, scores, strict=True):
                if score is not None:
                    into.append(score)
        return [self._judgment(case, scores, failed) for case, scores in zip(cases, said, strict=True)]

    def _judgment(self, case: Case, scores: list[JudgeScore], failed: list[str]) -> Judgment:
        total = sum(score.weight for score in scores)
        confidence = round(sum(score.score * score.weight for score in scores) / total, 6) if total else 0.0
        names = names_in(case.result.title, case.domain.host)
        return Judgment(
            confidence_score=confidence,
            should_crawl=confidence >= self.threshold,
            domain_name=case.domain.name,
            judge_scores=tuple(scores),
            reasoning=self._reasoning(confidence, scores, failed),
            extracted_organization_name=names.organisation,
            extracted_program_name=names.programme,
            threshold=self.threshold,
        )

    def _reasoning(self, confidence: float, scores: list[JudgeScore], failed: list[str]) -> str:
        if not scores:
            return "; ".join([_NO_EVIDENCE, *failed])
        verdict = "at least" if confidence >= self.threshold else "below"
        told = [f"{score.judge_name} {score.score:.2f}: {score.explanation}" for score in scores]
        return f"{two_decimals(confidence)}, {verdict} {self.threshold:g}. " + "; ".join([*told, *failed])


def _score(seat: _Seat, opinion: Opinion | None) -> JudgeScore | None:
    if opinion is None:
        return None
    if not isfinite(opinion.score) or not 0 <= opinion.score <= 1:
        raise ValueError(f"a score of {opinion.score}")
    return JudgeScore(
        judge_name=seat.judge.name,
        score=round(float(opinion.score), 4),
        weight=seat.weight,
        explanation=one_line(opinion.explanation),
    )
