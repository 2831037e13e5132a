"""Services on the gold pages: F1 of each required field."""

from pydantic import JsonValue

from bailiwick.extract.items.service import services_of
from tests.quality.gold import bare, same_name, same_value, same_words, score_kind


def same_address(wanted: JsonValue, given: JsonValue) -> bool:
    """The words of the address as it is written on the page, whatever their order."""
    raw = given.get("addressRaw") if isinstance(given, dict) else None
    return raw is not None and set(bare(wanted).split()) <= set(bare(" ".join(map(str, given.values()))).split())  # type: ignore[union-attr]


FLOOR = 0.80
REQUIRED = {
    "name": same_name,
    "description": same_words,
    "provider": same_name,
    "telephone": same_value,
    "email": same_value,
    "address": same_address,
    "eligibility": same_words,
}


def test_fields_of_services() -> None:
    report = score_kind("service", services_of, REQUIRED)
    print(report.table(), *report.faults, sep="\n")
    low = {name: round(score.f1, 3) for name, score in report.scores["all"].items() if score.f1 < FLOOR}
    assert low == {}
