"""E-mail addresses however they are hidden, telephone numbers however they are written; and what is neither."""

import pytest

from bailiwick.extract.items.emails import deciphered, email_of_link, emails_in, written_by_script
from bailiwick.extract.items.phones import e164, phones_in


def ciphered(email: str, key: int) -> str:
    return bytes([key, *(byte ^ key for byte in email.encode())]).hex()


@pytest.mark.parametrize(
    "text",
    [
        "Write to jo.doe@oak.org.",
        "JO.DOE@OAK.ORG",
        "jo.doe(at)oak.org",
        "jo.doe [at] oak [dot] org",
        "jo.doe {at} oak.org",
        "jo.doe (ät) oak (punkt) org",
        "jo.doe [arobase] oak.org",
        "jo.doe at oak dot org",
        "<jo.doe@oak.org>, or the post",
    ],
)
def test_an_address(text: str) -> None:
    assert emails_in(text) == ["jo.doe@oak.org"]


@pytest.mark.parametrize(
    "text",
    [
        "logo@2x.png",
        "core@4.2.1",
        "git@github.com:a/b.git",
        "you@example.com",
        "user:pass@localhost:8080",
        "name@domain.tld",
        "noreply@oak.org",
        "0b6e7c1a9d8f4e2b0b6e7c1a9d8f4e2b@sentry.io",
        "meet us at noon dot and dash",
        "a@b",
        "@oak.org",
        "jo@oak..org",
    ],
)
def test_no_address(text: str) -> None:
    assert emails_in(text) == []


def test_links_ciphers_and_scripts() -> None:
    assert email_of_link("mailto:Jo%40oak.org?subject=Hello") == "jo@oak.org"
    assert email_of_link("mailto:?subject=Share%20this") is None
    assert email_of_link("https://oak.org") is None
    code = ciphered("jo@oak.org", 0x5A)
    assert deciphered(code) == email_of_link(f"/cdn-cgi/l/email-protection#{code}") == "jo@oak.org"
    assert deciphered("zz") is deciphered("") is deciphered("5a") is None
    script = """var u="jo"; var d="oak.org"; document.write('<a href="mailto:'+u+'@'+d+'">' + u + '@' + d + '</a>');"""
    assert written_by_script(script) == "jo@oak.org"
    assert written_by_script("document.write('mailto:' + decode(x))") is None


@pytest.mark.parametrize(
    ("text", "country", "number"),
    [
        ("Tel. 0431 / 55 60 120", "DE", "+494315560120"),
        ("Call (614) 555-0188 today", None, "+16145550188"),
        ("503.555.0162", "US", "+15035550162"),
        ("Tél. : 05 56 55 01 23", "FR", "+33556550123"),
        ("T: 050 - 555 01 72", "NL", "+31505550172"),
        ("+44 (0)20 7946 0183", None, "+442079460183"),
        ("976 55 01 52", "ES", "+34976550152"),
        ("Telefon 044 555 01 71", "CH", "+41445550171"),
    ],
)
def test_a_number(text: str, country: str | None, number: str) -> None:
    assert [phone.number for phone in phones_in(text, country)] == [number]


@pytest.mark.parametrize(
    "text",
    [
        "IBAN DE89 3704 0044 0532 0130 00",
        "ISBN 978-0-14-044913-6",
        "SIRET 325 550 198 00014",
        "15.01.2027 - 17.01.2027",
        "2026-11-16",
        "08.00 - 20.00 uur",
        "We gave 1,250,000 meals",
        "Damage is put at £2,300,000",
        "Reference 123 456 789",
        "Build 20261104123456",
        "4667999",
        "116 123",
        "call 911",
    ],
)
def test_no_number(text: str) -> None:
    assert phones_in(text, "DE") == []


def test_a_fax_is_told_apart() -> None:
    [phone, fax] = phones_in("Tel. 0431 5560120, Fax 0431 5560121", "DE")
    assert (phone.is_fax, fax.is_fax) == (False, True)


def test_without_a_country_there_is_no_number() -> None:
    assert e164("0431 5560120", None) is None
    assert e164("+49 431 5560120", None) == "+494315560120"
