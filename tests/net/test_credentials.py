"""Access to single domains: over https alone, to exactly that domain, and never a secret in what is said."""

import base64
import traceback

import pytest

from bailiwick.base.errors import NameRefusedError, SettingsError
from bailiwick.base.sections import BasicAuth, DomainAccess, FromEnvironment
from bailiwick.model.names import DomainName
from bailiwick.net.credentials import Credentials

SECRET = "hunter2-hunter2"
URL = "https://example.org/"


def name(text: str) -> DomainName:
    return DomainName.parse(text, allow_private=True)


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Credentials:
    monkeypatch.setenv("TOKEN", SECRET)
    monkeypatch.setenv("SESSION", "s3ss10n")
    monkeypatch.setenv("PASSWORD", "pass:wörd")
    access = DomainAccess(
        headers={"X-Api-Key": FromEnvironment(env="TOKEN"), "Accept-Language": "de"},
        cookies={"session": FromEnvironment(env="SESSION"), "second": FromEnvironment(env="TOKEN")},
        basic_auth=BasicAuth(user="me", password=FromEnvironment(env="PASSWORD")),
    )
    return Credentials({"example.org": access})


def test_headers_cookies_and_basic_auth_are_sent_over_https(full: Credentials) -> None:
    assert full.headers_for(name("example.org"), URL) == {
        "X-Api-Key": SECRET,
        "Accept-Language": "de",
        "Cookie": f"session=s3ss10n; second={SECRET}",
        "Authorization": f"Basic {base64.b64encode('me:pass:wörd'.encode()).decode()}",
    }


@pytest.mark.parametrize(
    "url", ["http://example.org/", "http://example.org:443/", "HTTP://example.org/", "httpsx://example.org/", "//x", ""]
)
def test_nothing_is_sent_over_anything_else(full: Credentials, url: str) -> None:
    assert full.headers_for(name("example.org"), url) == {}


@pytest.mark.parametrize(
    "other",
    ["www2.example.org", "sub.example.org", "example.com", "notexample.org", "example.org:8443", "example.org.uk"],
)
def test_nothing_is_sent_to_any_other_domain(full: Credentials, other: str) -> None:
    assert full.headers_for(name(other), f"https://{other}/") == {}


@pytest.mark.parametrize(
    "spelled", ["Example.ORG", "www.example.org", "https://example.org/", "example.org.", "example.org:443"]
)
def test_the_file_may_spell_the_domain_as_people_do(monkeypatch: pytest.MonkeyPatch, spelled: str) -> None:
    monkeypatch.setenv("TOKEN", SECRET)
    credentials = Credentials({spelled: DomainAccess(headers={"X-Key": FromEnvironment(env="TOKEN")})})
    assert credentials.headers_for(name("example.org"), URL) == {"X-Key": SECRET}


def test_a_port_makes_another_domain() -> None:
    credentials = Credentials({"example.org:8443": DomainAccess(headers={"X-A": "1"})})
    assert credentials.headers_for(name("example.org:8443"), "https://example.org:8443/") == {"X-A": "1"}
    assert credentials.headers_for(name("example.org"), URL) == {}


def test_what_was_handed_out_can_be_changed_without_harm(full: Credentials) -> None:
    full.headers_for(name("example.org"), URL)["If-None-Match"] = '"x"'
    assert "If-None-Match" not in full.headers_for(name("example.org"), URL)


def test_without_a_file_there_is_nothing_to_send() -> None:
    assert Credentials().headers_for(name("example.org"), URL) == {}
    assert Credentials({"example.org": DomainAccess()}).headers_for(name("example.org"), URL) == {}


def test_what_is_no_domain_is_refused() -> None:
    with pytest.raises(NameRefusedError):
        Credentials({"not a name": DomainAccess()})


ACCESS = {
    "header": DomainAccess(headers={"X-Key": FromEnvironment(env="BAD"), "X-Other": FromEnvironment(env="GOOD")}),
    "cookie": DomainAccess(cookies={"good": FromEnvironment(env="GOOD"), "bad": FromEnvironment(env="BAD")}),
    "basic auth": DomainAccess(
        headers={"X-Other": FromEnvironment(env="GOOD")},
        basic_auth=BasicAuth(user="me", password=FromEnvironment(env="BAD")),
    ),
}
every_access = pytest.mark.parametrize("access", ACCESS.values(), ids=ACCESS)


@every_access
def test_a_missing_variable_is_named_with_its_domain(monkeypatch: pytest.MonkeyPatch, access: DomainAccess) -> None:
    monkeypatch.setenv("GOOD", SECRET)
    monkeypatch.delenv("BAD", raising=False)
    with pytest.raises(SettingsError) as refused:
        Credentials({"example.org": access})
    assert refused.value.message == '[domains."example.org"]: the environment variable BAD is not set'
    assert refused.value.hint == "export BAD=…"
    assert SECRET not in "".join(traceback.format_exception(refused.value))


@every_access
@pytest.mark.parametrize(
    "bad", [f"{SECRET}\n", f"{SECRET}\r\nX-Evil: 1", f"\t{SECRET}", f"{SECRET}\x7f", f"{SECRET}\u2028"]
)
def test_a_value_that_no_header_may_have_is_refused_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, access: DomainAccess, bad: str
) -> None:
    monkeypatch.setenv("GOOD", "s3ss10n")
    monkeypatch.setenv("BAD", bad)
    with pytest.raises(SettingsError) as refused:
        Credentials({"example.org": access})
    assert refused.value.message == '[domains."example.org"]: BAD holds characters that no header may have'
    said = "".join(traceback.format_exception(refused.value))
    assert SECRET not in said
    assert "s3ss10n" not in said


def test_secrets_are_not_in_what_the_object_shows(full: Credentials) -> None:
    assert SECRET not in repr(full)
    assert SECRET not in str(full)
