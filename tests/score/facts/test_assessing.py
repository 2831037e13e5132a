"""Layer 1 out of facts: what passes, what is flagged, and what cannot be true."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.model.layers import FACTORS, MAX_WHY_CHARS, Layer1Results
from bailiwick.model.names import DomainName
from bailiwick.model.scoring import ScorePolicy
from bailiwick.score.facts.assessing import assess_domain, effective_tld
from bailiwick.score.facts.known import Certificate, DomainFacts, Registration
from bailiwick.score.facts.registrants import is_private

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
NAME = DomainName("shop.rowing.org")
POLICY = ScorePolicy(min_age_days=180)
REGISTRATION = Registration(date(2014, 3, 2), date(2031, 3, 2), "Good Names Inc.", False, "rdap", {}, "rdap.example")
CERTIFICATE = Certificate(True, "Honest Signatures", datetime(2027, 1, 1, tzinfo=UTC))
FACTS = DomainFacts(REGISTRATION, "", CERTIFICATE, "")
NOTHING = DomainFacts(None, "RDAP: down; WHOIS: down", None, "nothing listens at rowing.org:443")


def assess(facts: DomainFacts = FACTS, name: DomainName = NAME, policy: ScorePolicy = POLICY) -> Layer1Results:
    return assess_domain(name, facts, policy, NOW)[0]


def registered(**changes: object) -> DomainFacts:
    return replace(FACTS, registration=replace(REGISTRATION, **changes))  # type: ignore[arg-type]


def test_a_good_domain_passes_and_every_factor_has_its_proof() -> None:
    layer, proofs = assess_domain(NAME, FACTS, POLICY, NOW)
    assert layer.stored() == {
        "unchecked": {},
        "domain_age": {"checked": True, "passed": True, "value": 4643, "threshold": 180},
        "tld_type": {"checked": True, "passed": True, "value": "org", "red_flags": []},
        "registrar_reputation": {"checked": True, "passed": True, "value": "Good Names Inc.", "red_flags": []},
        "whois_privacy": {"checked": True, "passed": True, "enabled": False},
        "ssl_certificate": {"checked": True, "passed": True, "valid": True, "issuer": "Honest Signatures"},
    }
    assert {factor: proof.text for factor, (proof,) in proofs.items()} == {
        "domain_age": "registered 2014-03-02 (RDAP, rdap.example)",
        "tld_type": ".org",
        "registrar_reputation": "registrar Good Names Inc. (RDAP, rdap.example)",
        "whois_privacy": "the registrant is shown (RDAP, rdap.example)",
        "ssl_certificate": "certificate by Honest Signatures until 2027-01-01",
    }


def test_what_is_not_known_is_not_checked_and_says_why() -> None:
    layer, proofs = assess_domain(NAME, NOTHING, POLICY, NOW)
    unregistered = dict.fromkeys(("domain_age", "registrar_reputation", "whois_privacy"), NOTHING.registration_why)
    assert layer.unchecked == {**unregistered, "ssl_certificate": NOTHING.certificate_why}
    assert set(proofs) == {"tld_type"}
    partly = registered(registered_on=None, is_private=None, why_not={"registered_on": "it tells no date"})
    assert assess(partly).unchecked == {"domain_age": "it tells no date", "whois_privacy": "the registry does not tell"}


@pytest.mark.parametrize(
    ("day", "value", "passed"),
    [
        (date(2026, 5, 21), 180, True),
        (date(2026, 5, 22), 179, False),
        (date(2026, 11, 17), 0, False),
        (date(2026, 11, 18), 0, False),  # it is tomorrow in the east
        (date(1985, 3, 15), 15222, True),
    ],
)
def test_age(day: date, value: int, passed: bool) -> None:
    age = assess(registered(registered_on=day, expires_on=None)).domain_age
    assert (age.checked, age.value, age.passed) == (True, value, passed)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"registered_on": date(2026, 11, 19)}, "the date of registration, 2026-11-19, is in the future"),
        ({"registered_on": date(9999, 12, 31)}, "the date of registration, 9999-12-31, is in the future"),
        ({"registered_on": date(1984, 12, 31)}, "1984-12-31, is before there were domains"),
        ({"registered_on": date(1, 1, 1)}, "0001-01-01, is before there were domains"),
        ({"expires_on": date(2014, 3, 1)}, "2014-03-02 would have expired before, on 2014-03-01"),
    ],
)
def test_dates_that_cannot_be_true(changes: dict[str, object], why: str) -> None:
    layer, proofs = assess_domain(NAME, registered(**changes), POLICY, NOW)
    assert not layer.domain_age.checked
    assert why in layer.unchecked["domain_age"]
    assert set(proofs) == set(FACTORS) - {"domain_age"}, "the others stand"


@pytest.mark.parametrize(
    ("name", "value", "flags"),
    [
        ("rowing.org", "org", ()),
        ("a.b.rowing.co.uk:8080", "co.uk", ()),
        ("rowing.xyz", "xyz", ("xyz",)),
        ("rowing.com.ml", "com.ml", ("ml",)),
        ("xyz.org", "org", ()),
        ("rowing.github.io", "io", ()),
        ("rowing.whatever", "whatever", ()),
        ("co.uk", "co.uk", ()),
        ("www.ck", "ck", ()),
    ],
)
def test_top_level_domains(name: str, value: str, flags: tuple[str, ...]) -> None:
    tld = assess(name=DomainName(name)).tld_type
    assert (tld.checked, tld.value, tld.red_flags, tld.passed) == (True, value, flags, not flags)


@pytest.mark.parametrize("name", ["127.0.0.1", "[::1]:8080", "localhost", "intranet:81"])
def test_names_without_a_top_level_domain(name: str) -> None:
    assert effective_tld(DomainName(name)) is None
    assert "tld_type" in assess(name=DomainName(name)).unchecked


def test_registrars_are_flagged_by_a_part_of_their_name() -> None:
    policy = ScorePolicy(registrar_red_flags=("nicenic", "Names Inc", "other"))
    layer, proofs = assess_domain(NAME, registered(registrar="NICENIC Names INC."), policy, NOW)
    registrar = layer.registrar_reputation
    assert (registrar.checked, registrar.passed, registrar.red_flags) == (True, False, ("nicenic", "names inc"))
    assert proofs["registrar_reputation"][0].text.endswith(", flagged as nicenic, names inc")


def test_privacy_does_not_pass() -> None:
    privacy = assess(registered(is_private=True)).whois_privacy
    assert (privacy.checked, privacy.passed, privacy.enabled) == (True, False, True)


@pytest.mark.parametrize(
    ("shown", "valid", "words"),
    [
        (Certificate(False, "x", CERTIFICATE.not_after, "for another name"), False, "not valid: for another name"),
        (Certificate(True, "x", NOW - timedelta(hours=1)), False, "not valid: it has expired"),
        (Certificate(True, None, None), True, "certificate by somebody unnamed"),
    ],
)  # fmt: skip
def test_certificates(shown: Certificate, valid: bool, words: str) -> None:
    layer, proofs = assess_domain(NAME, replace(FACTS, certificate=shown), POLICY, NOW)
    certificate = layer.ssl_certificate
    assert (certificate.checked, certificate.passed, certificate.valid) == (True, valid, valid)
    assert words in proofs["ssl_certificate"][0].text


DATES = st.none() | st.dates()
TEXTS = st.none() | st.text("aZ .é漢", max_size=300)


@settings(max_examples=50)
@given(DATES, DATES, TEXTS, st.none() | st.booleans(), st.text("why ", max_size=2000))
def test_any_facts_make_a_layer(
    day: date | None, end: date | None, registrar: str | None, is_hidden: bool | None, why: str
) -> None:
    told = Registration(day, end, registrar, is_hidden, "whois", {"registrar": why})
    for registration in (told, None):
        layer, proofs = assess_domain(NAME, DomainFacts(registration, why, None, why), POLICY, NOW)
        assert set(proofs) == {name for name, part in layer.parts() if part.checked}
        assert all(0 < len(words) <= MAX_WHY_CHARS for words in layer.unchecked.values())


@pytest.mark.parametrize(
    ("organisation", "name", "expected"),
    [
        (None, None, None),
        ("", " - ", None),
        ("Rowing Club", None, False),
        ("Rowing Club", "REDACTED FOR PRIVACY", False),
        ("Acme Private Limited", None, False),
        (None, "Ada Lovelace", False),
        ("Domains By Proxy, LLC", "Registration Private", True),
        ("Contact Privacy Inc. Customer 0123", None, True),
        ("Data Protected", "Data Protected", True),
        (None, "Private Person", True),
        (None, "Statutory Masking Enabled", True),
        ("N/A", None, True),
        ("Not Disclosed", None, True),
    ],
)
def test_who_hides(organisation: str | None, name: str | None, expected: bool | None) -> None:
    assert is_private(organisation, name) is expected
