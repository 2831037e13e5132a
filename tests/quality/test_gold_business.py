"""Businesses on the gold pages: F1 of each required field."""

from bailiwick.extract.items.business import businesses_of
from tests.quality.gold import same_hours, same_name, same_url, same_value, score_kind

FLOOR = 0.80
REQUIRED = {
    "name": same_name,
    "address.streetAddress": same_name,
    "address.addressCity": same_name,
    "address.postalCode": same_name,
    "address.addressCountry": same_value,
    "telephone": same_value,
    "website": same_url,
    "openingHours": same_hours,
}


def test_fields_of_businesses() -> None:
    report = score_kind("business", businesses_of, REQUIRED)
    print(report.table(), *report.faults, sep="\n")
    low = {name: round(score.f1, 3) for name, score in report.scores["all"].items() if score.f1 < FLOOR}
    assert low == {}
