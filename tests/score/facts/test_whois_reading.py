"""WHOIS answers in the forms of registries, and answers in no form at all."""

import time
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.score.facts.whois_reading import (
    WhoisAnswer,
    asks_for_less,
    decoded,
    names_it,
    read_whois,
    referral,
    silence_words,
)
from tests.score.facts import whois_texts as texts

FASTHOSTS = "Fasthosts Internet Ltd [Tag = LIVEDOMAINS]"
FORMS = [
    ("rowing.com", texts.VERISIGN, (date(1998, 8, 14), date(2031, 8, 13), "MarkMonitor Inc.", None)),
    ("rowing.com", texts.MARKMONITOR, (date(1990, 1, 1), date(2031, 8, 13), "MarkMonitor, Inc.", False)),
    ("rowing.co.uk", texts.NOMINET, (date(2003, 2, 14), date(2031, 2, 14), FASTHOSTS, None)),
    ("rowing.jp", texts.JPRS, (date(2005, 3, 30), date(2031, 3, 31), None, False)),
    ("rowing.fr", texts.FRNIC, (date(2004, 7, 27), date(2031, 7, 19), "GANDI", None)),
    ("rowing.ru", texts.TCI, (date(1997, 9, 23), date(2031, 9, 30), "RU-CENTER-RU", None)),
    ("rowing.hk", texts.HKIRC, (date(2004, 4, 6), date(2031, 3, 31), "Hong Kong Names Limited", False)),
    ("rowing.it", texts.NICIT, (date(1999, 12, 10), date(2031, 4, 21), "MARKMONITOR-REG", False)),
    ("rowing.cn", texts.CNNIC, (date(2003, 3, 17), date(2031, 3, 17), "MarkMonitor Inc.", False)),
]


@pytest.mark.parametrize(("name", "answer", "expected"), FORMS, ids=[name for name, _, _ in FORMS])
def test_the_forms_of_registries(name: str, answer: bytes, expected: tuple[object, ...]) -> None:
    text = decoded(answer)
    assert names_it(text, name)
    assert read_whois(text, name) == WhoisAnswer(*expected)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("Creation Date: 2014-03-02\nCreation Date: 2011-01-05", date(2011, 1, 5)),
        ("Creation Date: 20140302", date(2014, 3, 2)),
        ("Creation Date: 2014.03.02 11:22:33 CLST", date(2014, 3, 2)),
        ("Creation Date: 02-Mar-2014 11:22:33 UTC+3 (MSK)", date(2014, 3, 2)),
        ("Creation Date: Sun Mar 2 2014", date(2014, 3, 2)),
        ("Creation Date: before Aug-1996", date(1996, 8, 1)),
        ("Creation Date: 02.03.2014 09:15:00", date(2014, 3, 2)),
        ("Creation Date: 2014-13-41", None),
        ("Creation Date: yesterday\nCreation Date: 7", None),
        ("Creation Date: 12", None),
        ("Creation Date: " + "9" * 5000, None),
        ("Creation Date: 1e999999 2014", None),
        ("Creation Date: 3014-01-01", date(3014, 1, 1)),
    ],
)
def test_dates(lines: str, expected: date | None) -> None:
    assert read_whois(decoded(f"Domain Name: a.com\n{lines}\n".encode()), "a.com").registered_on == expected


def test_a_root_servers_answer_is_not_about_the_name() -> None:
    text = decoded(texts.referring(texts.IANA, "whois.verisign-grs.com"))
    assert not names_it(text, "rowing.com")
    assert referral(text) == "whois.verisign-grs.com"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("refer: whois.nic.uk", "whois.nic.uk"),
        ("   Registrar WHOIS Server: WHOIS.Example.NET.\r", "whois.example.net"),
        ("ReferralServer: whois://whois.example.net:4321/", "whois.example.net:4321"),
        ("whois:", None),
        ("The WHOIS Server: is at home", None),
    ],
)
def test_referrals(line: str, expected: str | None) -> None:
    assert referral(decoded(line.encode())) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Domain Name: ROWING.COM", True),
        ("rowing.com.", True),
        ("rowing.com.br", False),
        ("trowing.com", False),
        ("my-rowing.com", False),
        ("rowing.community", False),
    ],
)
def test_a_name_is_found_as_a_whole(text: str, expected: bool) -> None:
    assert names_it(text, "rowing.com") is expected


def test_a_name_may_stand_there_in_its_own_letters() -> None:
    assert names_it("Domain: München.de", "xn--mnchen-3ya.de")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "the answer is empty"),
        ("No match for ROWING.COM", "it knows no such domain"),
        ("Status: free", "it knows no such domain"),
        ("WHOIS LIMIT EXCEEDED - SEE WWW.PIR.ORG/WHOIS", "it says that we ask too much"),
        ("Your connection limit exceeded. Please slow down.", "it says that we ask too much"),
        ("Quota exceeded", "it says that we ask too much"),
        ("hello", "the answer holds no registration"),
    ],
)
def test_silence_has_its_reason(text: str, expected: str) -> None:
    assert silence_words(decoded(text.encode())) == expected


def test_terms_of_use_are_no_refusal() -> None:
    terms = "You agree that you will not exceed the rate limit of this service. " * 40
    assert not asks_for_less(f"Domain Name: rowing.com\n{terms}")


@settings(max_examples=40)
@given(st.binary(max_size=1000), st.sampled_from(["a.com", "a.uk", "a.it", "a.hk", "a.sk", "a.ua", "a.tr", "a.lv"]))
def test_bytes_of_any_kind_can_be_read(answer: bytes, name: str) -> None:
    text = decoded(b"Domain: " + name.encode() + b"\n" + answer + b"\nCreation Date:" + answer[:40])
    read_whois(text, name)
    referral(text)
    silence_words(text)
    assert "\0" not in text


SEEDS = ["\n", " ", "Registrar{}\n", "Registrar:\t", "Registrant:{}\n", "Domain:{}\n", "Owner contact{}\n"]


@pytest.mark.parametrize("end", ["hk", "it", "sk", "ua"])
def test_no_text_takes_long_to_read(end: str) -> None:
    """`asyncwhois` by itself takes seconds to minutes for some of these."""
    for seed in SEEDS:
        answer = "".join(seed.format(n) for n in range(64_000 // len(seed))).encode()
        started = time.process_time()
        read_whois(decoded(answer), f"rowing.{end}")
        assert time.process_time() - started < 1, seed
