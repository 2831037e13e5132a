"""Opportunities on the gold pages: F1 of each required field."""

from bailiwick.extract.items.opportunity import opportunities_of
from tests.quality.gold import same_name, same_pay, same_url, same_value, score_kind

FLOOR = 0.80
REQUIRED = {
    "name": same_name,
    "organisation": same_name,
    "kind": same_value,
    "deadline": same_value,
    "applyUrl": same_url,
    "compensation": same_pay,
}


def test_fields_of_opportunities() -> None:
    report = score_kind("opportunity", opportunities_of, REQUIRED)
    print(report.table(), *report.faults, sep="\n")
    low = {name: round(score.f1, 3) for name, score in report.scores["all"].items() if score.f1 < FLOOR}
    assert low == {}
