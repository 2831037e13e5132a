"""Judges of hosts and places: credibility, organisation, geography."""

import pytest

from bailiwick.judge.credibility import CredibilityJudge
from bailiwick.judge.geography import GeographyJudge
from bailiwick.judge.organisation import OrganisationJudge
from bailiwick.model.discovery import Case, Opinion
from tests.judge.cases import TODAY, WITHOUT_TOPIC, case, profile

LIKES = {"foundation": 0.9, "government": 0.7, "media": 0.2, "jobs": 0.1, "education": 0.5}


def credibility(host: str) -> Opinion | None:
    return CredibilityJudge(profile(), TODAY).judge([case(url=f"https://{host}/")])[0]


@pytest.mark.parametrize(
    "host",
    ["nih.gov", "x.gov.uk", "ox.ac.uk", "nus.edu.sg", "who.int", "mit.edu", "ec.europa.eu", "meti.go.jp", "a.govt.nz"],
)
def test_guarded_suffixes_are_credible(host: str) -> None:
    opinion = credibility(host)
    assert opinion is not None
    assert opinion.score >= 0.75
    assert "institutions only" in opinion.explanation


@pytest.mark.parametrize(
    "host",
    [
        "free-grants.com", "win.xyz", "a-b-c-d-e.com", "xkqzvbnmrtpwlz.com", "a12345.com", "tinyurl.com",
        "x" * 31 + ".com", "bestcasino.net", "127.0.0.1", "xn--80ak6aa92e.com",
    ],
)  # fmt: skip
def test_doubtful_names(host: str) -> None:
    opinion = credibility(host)
    assert opinion is not None
    assert opinion.score <= 0.2


@pytest.mark.parametrize(
    "host", ["example.com", "example.de", "freedomhouse.com", "go.com", "ac.com", "a-b.com", "münchen.de"]
)
def test_a_plain_name_is_no_evidence(host: str) -> None:
    assert credibility(host) is None


def test_between() -> None:
    org, free = credibility("example.org"), credibility("me.wordpress.com")
    assert org is not None
    assert free is not None
    assert (org.score, free.score) == (0.6, 0.4)
    assert free.explanation == "anybody can have a page on wordpress.com"


def organisation(one: Case) -> tuple[float, str] | None:
    opinion = OrganisationJudge(profile(organisations=LIKES), TODAY).judge([one])[0]
    return (opinion.score, opinion.explanation) if opinion else None


def test_kinds_of_organisations() -> None:
    assert organisation(case(url="https://www.ridgeherald.com/x")) == (0.2, 'media, by "herald" in its name')
    assert organisation(case(url="https://lakes.gov/x")) == (0.7, "government, by .gov")
    assert organisation(case(url="https://city.gov.au/x")) == (0.7, "government, by .gov.au")
    assert organisation(case("Grants of the Linden Foundation")) == (0.9, 'foundation, by "foundation" in the title')
    assert organisation(case("A foundation in forty shades")) is None
    assert organisation(case(url="https://lakes.edu/news/2026/award")) == (0.2, "media, by /news")
    assert organisation(case(url="https://news.lakes.edu/")) == (0.2, "media, by news.")
    assert organisation(case(url="https://lakes.gov/jobs?page=2")) == (0.1, "jobs, by /jobs")


def test_no_kind_or_no_liking_is_no_evidence() -> None:
    assert organisation(case("Bridges", url="https://example.com/")) is None
    assert organisation(case("Bridges", url="https://shop.example.com/")) is None
    assert OrganisationJudge(WITHOUT_TOPIC, TODAY).judge([case(url="https://lakes.gov/")]) == [None]


def geography(one: Case, *countries: str) -> tuple[float, str] | None:
    opinion = GeographyJudge(profile(countries=countries), TODAY).judge([one])[0]
    return (opinion.score, opinion.explanation) if opinion else None


def test_countries_by_text_before_host() -> None:
    assert geography(case("Grants in New Zealand"), "NZ") == (0.9, "names NZ")
    assert geography(case("Grants for Kenyan and German artists"), "DE", "AT") == (0.9, "names DE")
    assert geography(case("Grants in Kenya", url="https://example.de/"), "DE") == (0.15, "names only KE")
    assert geography(case("Grants", url="https://example.de/"), "DE") == (0.75, "its host is of DE")
    assert geography(case("Grants", url="https://example.fr/"), "DE") == (0.3, "its host is of FR")


def test_no_country_is_no_evidence() -> None:
    assert geography(case("Grants", url="https://example.com/"), "DE") is None
    assert geography(case("Grants in Kenya")) is None
