"""Programmes of funding on the gold pages: F1 of each required field."""

from bailiwick.extract.items.funding import funding_of
from tests.quality.gold import same_name, same_number, same_url, same_value, same_words, score_kind

FLOOR = 0.80
REQUIRED = {
    "name": same_name,
    "organisation": same_name,
    "amountMin": same_number,
    "amountMax": same_number,
    "currency": same_value,
    "deadline": same_value,
    "rolling": same_value,
    "eligibility": same_words,
    "status": same_value,
    "applyUrl": same_url,
}


def test_fields_of_funding_programmes() -> None:
    report = score_kind("funding_programme", funding_of, REQUIRED)
    print(report.table(), *report.faults, sep="\n")
    low = {name: round(score.f1, 3) for name, score in report.scores["all"].items() if score.f1 < FLOOR}
    assert low == {}
