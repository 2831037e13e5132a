"""How evidence becomes a score: a logistic model over four numbers.

The numbers are written by `python -m benchmarks.relevance_fit`, from the labelled rows and our hard negatives of two
topics. They belong to no profile: evidence is measured against the profile's own words, so they serve every one.
"""

from dataclasses import dataclass
from math import exp

from bailiwick.evidence.keywords import Evidence
from bailiwick.evidence.meaning import Likeness


@dataclass(frozen=True, slots=True)
class Weights:
    """Coefficients of the evidence, and the log-odds of a page without any."""

    support: float
    objection: float
    wanted: float
    unwanted: float
    intercept: float

    def score(self, evidence: Evidence, likeness: Likeness | None) -> float:
        odds = self.intercept + self.support * evidence.support + self.objection * evidence.objection
        if likeness is not None:
            odds += self.wanted * likeness.wanted + self.unwanted * likeness.unwanted
        return 1 / (1 + exp(-odds))


# fitted: begin
MEANING = Weights(support=2.852, objection=-2.756, wanted=13.707, unwanted=-14.593, intercept=-2.684)
KEYWORDS = Weights(support=3.205, objection=-3.553, wanted=0.0, unwanted=0.0, intercept=-2.686)
# fitted: end
