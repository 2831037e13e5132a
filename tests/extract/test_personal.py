"""Personal data in one form, and taken out of items."""

import pytest
from pydantic import JsonValue

from bailiwick.extract.personal import Personal, PersonalKind, personal, personal_in, without

EMAIL, PHONE, NAME = PersonalKind.EMAIL, PersonalKind.TELEPHONE, PersonalKind.NAME


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("Jo@Oak.org", Personal(EMAIL, "jo@oak.org")),
        ("jo (at) oak.org", Personal(EMAIL, "jo@oak.org")),
        ("+49 30 123456", Personal(PHONE, "+4930123456")),
        ("0049 30 123456", Personal(PHONE, "+4930123456")),
        ("(030) 123-456", Personal(PHONE, "030123456")),
        ("12345", None),
        ("  Jo   van der Berg ", Personal(NAME, "jo van der berg")),
        ("Jo", None),
        ("Write to jo@oak.org", None),
        ("", None),
    ],
)
def test_what_is_meant(given: str, meant: Personal | None) -> None:
    assert personal(given) == meant


def test_all_that_may_be_personal_is_seen() -> None:
    data: JsonValue = {"authors": [{"name": "Jo Doe"}], "text": "Ask Jo Doe, jo [at] oak [dot] org, 030 123 456 78."}
    assert {Personal(NAME, "jo doe"), Personal(EMAIL, "jo@oak.org"), Personal(PHONE, "03012345678")} <= set(
        personal_in(data)
    )


def test_taken_out() -> None:
    gone = {Personal(NAME, "jo doe"), Personal(EMAIL, "jo@oak.org")}
    data: JsonValue = {
        "name": "Choir",
        "email": "JO@oak.org",
        "authors": [{"name": "Jo Doe"}, {"name": "Al Roe"}],
        "description": "Write to Jo Doe (jo at oak dot org) or to Al Roe.",
        "none": None,
    }
    assert without(data, gone.__contains__) == {
        "name": "Choir",
        "authors": [{}, {"name": "Al Roe"}],
        "description": "Write to [removed] ([removed]) or to Al Roe.",
        "none": None,
    }


def test_a_hash_needs_its_key() -> None:
    value = Personal(EMAIL, "jo@oak.org")
    assert value.digest(b"one") == Personal(EMAIL, "jo@oak.org").digest(b"one")
    assert len({value.digest(b"one"), value.digest(b"two"), Personal(NAME, "jo@oak.org").digest(b"one")}) == 3
