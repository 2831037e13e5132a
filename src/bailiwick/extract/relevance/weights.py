"""How evidence becomes a score: a logistic model over four numbers.

The numbers are written by `python -m benchmarks.relevance_fit`, from the labelled rows and our hard negatives of two
topics. They belong to no profile: evidence is measured against the profile's own words, so they serve every one.
"""

from dataclasses import dataclass
from math import exp

from bailiwick.extract.relevance.keywords import Evidence
from bailiwick.extract.relevance.meaning import Likeness


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
MEANING = Weights(support=2.959, objection=-2.595, wanted=14.914, unwanted=-15.454, intercept=-2.852)
KEYWORDS = Weights(support=3.157, objection=-3.952, wanted=0.0, unwanted=0.0, intercept=-2.723)
# fitted: end
