"""The guard: which addresses are inside, and what exactly `--resolve` permits."""

import json
import socket
from collections import Counter
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.base.errors import UsageError
from bailiwick.net.guard import AddressRefusedError, Guard, Resolve, is_loopback, is_public, target
from tests.suites import SUITES, json_lines, suite_path

INSIDE = {
    "private": ["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "fc00::1", "fd12:3456::1"],
    "loopback": ["127.0.0.1", "127.255.255.254", "::1"],
    "link-local": ["169.254.0.1", "fe80::1", "fe80::1%2", "febf::1"],
    "site-local": ["fec0::1", "feff::1"],
    "metadata": ["169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16",
                 "fd00:ec2::254", "fd20:ce::254"],
    "multicast": ["224.0.0.1", "239.255.255.250", "ff02::1", "ff0e::1"],
    "unspecified": ["0.0.0.0", "0.1.2.3", "0.255.255.255", "::"],
    "broadcast and reserved": ["255.255.255.255", "240.0.0.1", "192.0.0.8", "192.88.99.1", "100::1", "5f00::1"],
    "carrier-grade NAT": ["100.64.0.1", "100.127.255.255"],
    "documentation and benchmarks": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "198.19.255.255",
                                     "2001:db8::1", "3fff::1"],
    "IPv4 mapped": ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0.0.0.0"],
    "IPv4 compatible": ["::127.0.0.1", "::10.0.0.1", "::192.168.0.1"],
    "IPv4 translated": ["::ffff:0:127.0.0.1", "::ffff:0:10.0.0.1", "::ffff:0:8.8.8.8"],
    "NAT64": ["64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254"],
    # Where the IPv4 address stands in these is known to the translator alone; the last 32 bits are a blind.
    "NAT64, local": ["64:ff9b:1::127.0.0.1", "64:ff9b:1:7f00:0:100:808:808", "64:ff9b:1::808:808"],
    "6to4": ["2002:7f00:1::", "2002:a00:1::1", "2002:a9fe:a9fe::1"],
    # The client's address stands there inverted: 192.0.2.45, then 127.0.0.1, then 8.8.8.8. None of them is tried.
    "Teredo": ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001::80ff:fffe", "2001::f7f7:f7f7"],
    "protocols' own": ["2001:2::1", "2001:10::1", "2001:20::1", "2001:1ff:ffff::1"],
    "ISATAP": ["2606:4700::5efe:127.0.0.1", "2606:4700::200:5efe:10.0.0.1", "fe80::5efe:8.8.8.8",
               "2606:4700:1:2:0:5efe:169.254.169.254"],
}  # fmt: skip
OUTSIDE = [
    "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.255.255.255", "128.0.0.1",
    "169.253.255.255", "169.255.0.1", "172.15.255.255", "172.32.0.1", "192.167.255.255", "192.169.0.1", "192.0.1.1",
    "168.63.129.15", "198.17.255.255", "198.20.0.1", "223.255.255.255", "2606:4700::1111", "2a00:1450:4001::200e",
    "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1", "2606:4700::5efe:8.8.8.8", "2606:4700::100:5efe:7f00:1",
    "2001:200::1",
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in INSIDE.items() for text in texts])
def test_addresses_inside_are_not_public(kind: str, text: str) -> None:
    assert not is_public(ip_address(text)), kind
    assert not Guard().permits(ip_address(text), "a.test", 80)
    assert Guard(allow_private=True).permits(ip_address(text), "a.test", 80)


@pytest.mark.parametrize("text", OUTSIDE)
def test_addresses_of_the_internet_are_public(text: str) -> None:
    assert is_public(ip_address(text))


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_counts_as_itself_wherever_it_stands(inner: IPv4Address) -> None:
    number = int(inner)
    for outer in ((0xFFFF << 32) | number, (0x64_FF9B << 96) | number, (0x2002 << 112) | (number << 80)):
        assert is_public(IPv6Address(outer)) == is_public(inner)


@given(st.ip_addresses(v=6))
def test_what_python_knows_to_be_inside_is_never_public(address: IPv6Address) -> None:
    inside = address.is_private or address.is_loopback or address.is_link_local or address.is_site_local
    if inside and address.ipv4_mapped is None and address.sixtofour is None:  # newer Pythons: all of 6to4 is private
        assert not is_public(address)


LOOPBACK = [
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "::ffff:0.0.0.0", "::127.0.0.1",
    "64:ff9b::127.0.0.1", "2002:7f00:1::1",
]  # fmt: skip


def test_what_leads_back_to_this_machine_is_known_in_every_spelling() -> None:
    assert all(is_loopback(ip_address(text)) for text in LOOPBACK)
    assert not any(is_loopback(ip_address(text)) for text in [*OUTSIDE, "10.0.0.1", "169.254.169.254", "fe80::1"])


# --resolve


@pytest.mark.parametrize(
    ("text", "host", "port", "address"),
    [
        ("www.example.org:443:127.0.0.1", "www.example.org", 443, "127.0.0.1"),
        ("  example.org:80:127.0.0.1 ", "example.org", 80, "127.0.0.1"),
        ("Example.ORG.:80:127.0.0.1", "example.org", 80, "127.0.0.1"),
        ("*:65535:10.1.2.3", "*", 65_535, "10.1.2.3"),
        ("a:1:[::1]", "a", 1, "::1"),
        ("a:1:::1", "a", 1, "::1"),
        ("[::1]:8080:127.0.0.1", "::1", 8080, "127.0.0.1"),
        ("127.0.0.1:8080:127.0.0.1", "127.0.0.1", 8080, "127.0.0.1"),
        ("bücher.example:80:127.0.0.1", "xn--bcher-kva.example", 80, "127.0.0.1"),
    ],
)
def test_resolve_is_read_as_in_curl(text: str, host: str, port: int, address: str) -> None:
    rule = Resolve.parse(text)
    assert rule == Resolve(host, port, ip_address(address))
    assert rule.covers(host.upper(), port)


@pytest.mark.parametrize(
    "text",
    [
        "", "example.org", "example.org:80", "example.org:80:", ":80:127.0.0.1", "::1:80:127.0.0.1",
        "[]:80:127.0.0.1", "example.org:0:127.0.0.1", "example.org:65536:127.0.0.1", "example.org:http:127.0.0.1",
        "example.org:-1:127.0.0.1", "example.org:8\u0660:127.0.0.1", "example.org:80:localhost", "example.org:80:127.1",
        "example.org:80:0127.0.0.1", "example.org:80:127.0.0.1/8", "example.org:80:127.0.0.1,10.0.0.1",
        "example .org:80:127.0.0.1", "example.org:80:127.0.0.1\nb:80:127.0.0.1",
    ],
)  # fmt: skip
def test_what_is_no_resolve_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        Resolve.parse(text)
    assert repr(text) in refused.value.message
    assert "HOST:PORT:ADDRESS" in str(refused.value.hint)


def test_resolve_permits_exactly_its_host_port_and_address() -> None:
    guard = Guard(resolves=(Resolve.parse("a.test:8080:127.0.0.1"),))
    loopback = ip_address("127.0.0.1")
    assert guard.permits(loopback, "a.test", 8080)
    assert guard.permits(loopback, "A.Test", 8080)
    for host, port in (("a.test", 80), ("a.test", 8081), ("b.test", 8080), ("www.a.test", 8080), ("", 0), ("*", 8080)):
        assert not guard.permits(loopback, host, port), (host, port)
        assert guard.known_address(host, port) is None
    for other in ("127.0.0.2", "10.0.0.1", "::1", "::ffff:127.0.0.1", "::127.0.0.1"):
        assert not guard.permits(ip_address(other), "a.test", 8080), other
    assert guard.permits(ip_address("8.8.8.8"), "b.test", 80)


def test_a_star_is_any_host_on_its_port() -> None:
    guard = Guard(resolves=(Resolve.parse("*:8080:127.0.0.1"),))
    assert guard.known_address("a.test", 8080) == guard.known_address("b.test", 8080) == ip_address("127.0.0.1")
    assert guard.known_address("a.test", 443) is None
    assert not guard.permits(ip_address("127.0.0.1"), "a.test", 443)
    assert not guard.permits(ip_address("10.0.0.1"), "10.0.0.1", 8080)


@pytest.mark.parametrize("turned", [False, True])
def test_a_rule_for_the_very_host_comes_before_the_star(*, turned: bool) -> None:
    rules = (
        Resolve.parse("*:80:127.0.0.1"),
        Resolve.parse("a.test:80:127.0.0.2"),
        Resolve.parse("a.test:81:127.0.0.3"),
    )
    guard = Guard(resolves=rules[::-1] if turned else rules)
    assert guard.known_address("a.test", 80) == ip_address("127.0.0.2")
    assert guard.known_address("b.test", 80) == ip_address("127.0.0.1")
    # The star has no say over a host that has its own rule.
    assert not guard.permits(ip_address("127.0.0.1"), "a.test", 80)


def test_of_two_rules_for_one_host_the_first_decides() -> None:
    guard = Guard(resolves=(Resolve.parse("a.test:80:127.0.0.2"), Resolve.parse("a.test:80:127.0.0.3")))
    assert guard.known_address("a.test", 80) == ip_address("127.0.0.2")


# The socket factory


@pytest.mark.parametrize(
    ("family", "place"),
    [
        (socket.AF_INET, ("127.0.0.1", 80)),
        (socket.AF_INET, ("169.254.169.254", 80)),
        (socket.AF_INET6, ("::1", 80, 0, 0)),
        (socket.AF_INET6, ("::ffff:127.0.0.1", 80, 0, 0)),
        (socket.AF_INET6, ("::1%1", 80, 0, 1)),
        (socket.AF_INET6, ("fe80::1%1", 80, 0, 1)),
    ],
)
def test_no_socket_is_made_for_an_address_inside(family: int, place: tuple[object, ...]) -> None:
    with pytest.raises(AddressRefusedError, match="is not a public address"):
        Guard().open_socket((family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", place))


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "a.test"])
def test_what_is_no_address_is_refused(text: str) -> None:
    """A name at this place would be looked up behind the guard's back."""
    with pytest.raises(AddressRefusedError, match="is not an address"):
        Guard(allow_private=True).open_socket((socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (text, 80)))


def test_the_port_that_counts_is_the_one_connected_to() -> None:
    guard = Guard(resolves=(Resolve.parse("a.test:80:127.0.0.1"),))
    token = target.set(("a.test", 80))
    try:
        with pytest.raises(AddressRefusedError):
            guard.open_socket((socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", 5432)))
    finally:
        target.reset(token)


def test_a_socket_is_made_for_the_request_that_the_rule_is_for() -> None:
    guard = Guard(resolves=(Resolve.parse("a.test:80:127.0.0.1"),))
    info = (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", 80))
    with pytest.raises(AddressRefusedError):
        guard.open_socket(info)  # nobody's request
    token = target.set(("a.test", 80))
    try:
        with guard.open_socket(info) as made:
            assert (made.family, made.type) == (socket.AF_INET, socket.SOCK_STREAM)
        target.set(("b.test", 80))
        with pytest.raises(AddressRefusedError):
            guard.open_socket(info)
    finally:
        target.reset(token)


if suite_path("hostile"):

    def test_every_address_that_the_hostile_urls_aim_at_is_inside() -> None:
        from ada_url import URL

        seen: Counter[str] = Counter()
        for case in json_lines(SUITES / "hostile" / "ssrf_urls.jsonl"):
            try:
                address = ip_address(URL(case["url"]).hostname.strip("[]"))
            except ValueError:
                seen["no address"] += 1
                continue
            is_inside = case.get("kind") != "redirect-payload"  # those lead to an address of google.com, in disguise
            seen["inside" if is_inside else "google"] += 1
            assert is_public(address) is not is_inside, case
        assert seen == {"no address": 139, "inside": 52, "google": 30}

    def test_odd_spellings_of_ipv4_that_the_system_reads_are_judged_by_what_they_mean() -> None:
        """`getaddrinfo` reads most of them, so a name like these reaches the guard as an address."""
        seen: Counter[str] = Counter()
        for text, expected in json.loads((SUITES / "hostile" / "funky_ipv4.json").read_text()).items():
            try:
                address = IPv4Address(socket.inet_aton(text))
            except OSError:
                seen["unread"] += 1
                continue
            seen["read"] += 1
            assert expected is None or address == IPv4Address(expected), text
            assert is_public(address) == (not str(address).startswith(("0.", "10.", "192.168.", "255."))), text
        assert seen["read"] > 25, seen
