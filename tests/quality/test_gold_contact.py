"""Contacts on the gold pages: F1 of each field, and precision of what they are reached by."""

from bailiwick.extract.items.contact import contacts_of
from tests.quality.gold import same_name, same_value, score_kind

FLOOR, PRECISION = 0.80, 0.95
REQUIRED = {"email": same_value, "telephone": same_value, "name": same_name, "role": same_name}


def test_fields_of_contacts() -> None:
    report = score_kind("contact", contacts_of, REQUIRED)
    precision = {
        name: score.precision for name, score in report.scores["all"].items() if name in ("email", "telephone")
    }
    print(report.table(), precision, *report.faults, sep="\n")
    low = {name: round(score.f1, 3) for name, score in report.scores["all"].items() if score.f1 < FLOOR}
    assert low == {}
    assert {name: round(one, 3) for name, one in precision.items() if one < PRECISION} == {}
