"""Guessing is slowed down, and nobody can use that to keep others out."""

import pytest

from bailiwick.model.states import Role
from bailiwick.web.limits import _KEPT, Bucket, LoginLimits, network_of
from tests.web.tools import Land


def test_a_thousand_bad_logins_are_slowed_down_and_keep_nobody_else_out(land: Land) -> None:
    land.member("victim", Role.REVIEWER)
    here, elsewhere = "192.0.2.7", "192.0.2.8"
    known = land.browser(address=here)
    assert known.log_in("victim").status_code == 303
    known.send("/logout")
    guesser = land.browser(address=here)
    word = guesser.word
    statuses = [
        guesser.post("/login", data={"word": word, "name": "victim", "password": f"guess {n}"}).status_code
        for n in range(1000)
    ]
    assert statuses.count(403) <= 12
    assert set(statuses) == {403, 429}
    slowed = guesser.log_in("victim")
    assert slowed.status_code == 429
    assert 1 <= int(slowed.headers["retry-after"]) <= 31
    assert "Too many tries" in slowed.text
    assert land.browser(address=here).log_in("victim").status_code == 429
    assert known.log_in("victim").status_code == 303
    assert land.browser(address=elsewhere).log_in("victim").status_code == 303


def test_every_failure_looks_the_same(land: Land) -> None:
    land.member("sleeper")
    land.member("bare")
    land.do("update members set password_hash = null where name = 'bare'")
    land.browser("admin").send("/members/sleeper/disable", reason="x")
    names = ("viewer", "sleeper", "bare", "nobody-at-all", "system", "a b", "x" * 150)
    pages = set()
    for n, name in enumerate(names):
        browser = land.browser(address=f"198.51.100.{n}")
        answer = browser.log_in(name, "not the password")
        assert answer.status_code == 403
        start = answer.text.index('name="word" value="')
        page = answer.text[:start] + answer.text[start + 110 :]
        pages.add(page.replace(f'value="{name}"', 'value="NAME"'))
        assert "bailiwick=" not in answer.headers.get("set-cookie", "")
    assert len(pages) == 1


def test_a_name_is_known_in_any_case_and_with_space_around(land: Land) -> None:
    assert land.browser(address="198.51.100.77").log_in("  VIEWER ").status_code == 303


def test_many_addresses_together_are_slowed_down_too() -> None:
    clock = [0.0]
    limits = LoginLimits(lambda: clock[0])
    tried = 0
    for n in range(200):
        if limits.wait_seconds(name="root", address=f"a{n}", device=None) == 0:
            limits.failed(name="root", address=f"a{n}", device=None)
            tried += 1
    assert tried == 60
    assert limits.wait_seconds(name="other", address="a999", device=None) == 0
    assert limits.wait_seconds(name="root", address="a999", device="known") == 0
    clock[0] += 5
    assert limits.wait_seconds(name="root", address="a999", device=None) == 0


def test_a_known_device_has_its_own_patience() -> None:
    limits = LoginLimits(lambda: 0.0)
    for _ in range(10):
        limits.failed(name="root", address="a", device="known")
    assert limits.wait_seconds(name="root", address="a", device="known") > 0
    assert limits.wait_seconds(name="root", address="a", device=None) == 0
    limits.succeeded(device="known")
    assert limits.wait_seconds(name="root", address="a", device="known") == 0


def test_a_bucket_leaks_with_time_and_never_grows_beyond_its_room() -> None:
    clock = [0.0]
    bucket = Bucket(2, 10, lambda: clock[0])
    bucket.add("a")
    assert bucket.wait_seconds("a") == 0
    bucket.add("a")
    assert bucket.wait_seconds("a") == 10
    for _ in range(100):
        bucket.add("a")
    assert bucket.wait_seconds("a") == 20
    clock[0] = 20
    assert bucket.wait_seconds("a") == 0
    for n in range(_KEPT + 5000):
        bucket.add(str(n))
    assert len(bucket._levels) == _KEPT


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("not an address", "not an address"), ("", ""),
    ],
)  # fmt: skip
def test_an_address_stands_for_whoever_has_it(address: str, network: str) -> None:
    assert network_of(address) == network
