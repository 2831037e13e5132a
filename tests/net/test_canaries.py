"""No way inside: canaries on loopback count zero hits, whatever the URL, the redirect, the name server or the client.

Directly and through the forward proxy. Every test that counts zero goes where the first two show that a hit counts.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from ipaddress import IPv4Address, ip_address
from typing import Any

import aiohttp
import pytest
from ada_url import join_url

from bailiwick.base.sections import NetSettings
from bailiwick.net import client
from bailiwick.net.client import HttpFetcher
from bailiwick.net.forward import Bounds, ForwardProxy
from bailiwick.net.guard import Address, Guard, Resolve, is_public
from bailiwick.ports import FailureKind, FetchAnswer, FetchFailure
from tests.net.inside import (
    ALSO_PUBLIC,
    INSIDE,
    PUBLIC,
    REACHABLE,
    Canary,
    FencedGuard,
    Names,
    bracketed,
    canary,
    said,
    status_of,
    with_password,
)
from tests.net.test_client import answer_of, ask, fail, get, raw, run
from tests.suites import SUITES, json_lines, suite_path

ALL_PORTS = frozenset(range(1, 65_536))
SPELLINGS = [
    "127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1",
    "017700000001", "0", "0.0.0.0", "127.255.255.254", "localhost", "LOCALHOST.", "localtest.me", "127.0.0.1.nip.io",
    "[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:0.0.0.0]", "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::127.0.0.1]", "[2002:7f00:1::]", "[2002:7f00:1::1]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]", "[fe80::1]", "[fe80::1%1]", "[fe80::1%25lo]", "[::1%lo]", "[::1%25lo]",
    "[fec0::1]", "169.254.169.254", "100.64.0.1", "255.255.255.255", "[fd00:ec2::254]", "[2606:4700::5efe:127.0.0.1]",
]  # fmt: skip


@asynccontextmanager
async def fetching(guard: Guard, dns: Names, **settings: Any) -> AsyncIterator[HttpFetcher]:
    limits = {"connect_timeout_seconds": 5, "idle_timeout_seconds": 5, "total_timeout_seconds": 10} | settings
    fetcher = HttpFetcher(NetSettings(**limits), guard, user_agent="Tests/1", dns=dns)
    try:
        yield fetcher
    finally:
        await fetcher.close()


def at_port(url: str, port: int) -> str:
    """The same URL, spelled as it is, with another port."""
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*:/*|/*)([^/?#\\]*?)(:[0-9]*)?(?=[/?#\\]|$)(.*)", url, re.DOTALL)
    assert found is not None
    return f"{found[1]}{found[2]}:{port}{found[4]}"


def spellings(url: str, port: int) -> set[str]:
    """As it stands, as the crawl reads it on a page, and both with this port."""
    found = {url}
    with suppress(ValueError):
        found.add(join_url("http://page.test/", url))
    return found | {at_port(one, port) for one in found}


def authority_of(url: str) -> str:
    """What a client that does not think would ask the proxy for."""
    authority = re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*:/*|^/*", "", url)
    authority = re.split(r"[/?#]", authority)[0].rpartition("@")[2]
    return authority if re.search(r":[0-9]+$", authority) else f"{authority}:80"


def everything_was_refused(guard: FencedGuard, bird: Canary) -> None:
    assert bird.hits() == 0
    assert all(is_public(ip_address(address)) for address in guard.connected), guard.connected


# The canaries can be hit


@pytest.mark.parametrize("address", REACHABLE)
def test_a_canary_counts_what_is_allowed(address: str) -> None:
    async def story() -> None:
        with canary() as bird:
            guard = FencedGuard(allow_private=True)
            async with fetching(guard, Names(others=[address]), idle_timeout_seconds=0.2) as fetcher:
                for host in (bracketed(address), "a.test"):
                    await ask(fetcher, f"http://{host}:{bird.port}/")
                    assert bird.hits() == 1
                    assert guard.connected.pop() == address

    run(story)


@pytest.mark.parametrize("address", REACHABLE)
@pytest.mark.parametrize("how", ["CONNECT a.test:{port}", "GET http://a.test:{port}/"])
def test_a_canary_counts_what_a_rule_lets_through_the_proxy(how: str, address: str) -> None:
    async def story() -> None:
        with canary() as bird:
            guard = FencedGuard(resolves=(Resolve.parse(f"a.test:{bird.port}:{address}"),))
            async with ForwardProxy(guard, bounds=Bounds(idle_seconds=0.1), dns=Names()) as proxy:
                with suppress(ConnectionError):
                    await said(proxy, with_password(proxy, how.format(port=bird.port)))
                assert bird.hits() == 1
                assert guard.connected == [address]

    run(story)


# What is allowed opens no other door


@pytest.mark.parametrize("host", SPELLINGS)
def test_a_spelling_of_an_address_inside_leads_nowhere(host: str) -> None:
    async def story() -> None:
        with canary() as bird:
            guard = FencedGuard(resolves=(Resolve.parse(f"a.test:{bird.port}:127.0.0.1"),))
            async with fetching(guard, Names(others=["127.0.0.1"])) as fetcher:
                for scheme in ("http", "https"):
                    failure = await fail(fetcher, f"{scheme}://{host}:{bird.port}/")
                    assert failure.kind in (FailureKind.REFUSED, FailureKind.BROKEN), failure
            async with ForwardProxy(guard, ports=ALL_PORTS, dns=Names(others=["127.0.0.1"])) as proxy:
                for line in (f"CONNECT {host}:{bird.port}", f"GET http://{host}:{bird.port}/"):
                    assert status_of(await said(proxy, with_password(proxy, line))) in (400, 403), line
                assert proxy.requests == proxy.bytes_carried == 0
            assert (bird.hits(), guard.let_through) == (0, [])

    run(story)


@pytest.mark.parametrize("address", INSIDE)
def test_where_a_name_leads_is_refused_before_a_connection(address: str) -> None:
    """Also where this machine has no such address."""

    async def story() -> None:
        with canary() as bird:
            guard, names = FencedGuard(), Names(others=[address])
            async with fetching(guard, names) as fetcher:
                failure = await fail(fetcher, f"http://rebound.test:{bird.port}/")
                assert failure.kind is FailureKind.REFUSED
            async with ForwardProxy(guard, ports=ALL_PORTS, dns=names) as proxy:
                for line in (f"CONNECT rebound.test:{bird.port}", f"GET http://rebound.test:{bird.port}/"):
                    answer = await said(proxy, with_password(proxy, line))
                    assert status_of(answer) == 403
                    assert b"rebound.test" not in answer
                    assert b"127.0.0.1" not in answer
                assert proxy.refused == 2
            assert (bird.hits(), guard.let_through) == (0, [])

    run(story)


# Redirects


def test_a_redirect_inside_is_refused_where_it_is_followed() -> None:
    """By the crawl, that asks for the next hop itself, and by a client that follows on its own through the proxy."""

    async def story() -> None:
        with canary() as bird:
            for host in ("127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "localhost", "rebound.test"):
                inside = f"http://{host}:{bird.port}/secret"
                async with raw(answer_of(b"", f"Location: {inside}", status="302 Found")) as server:
                    guard = FencedGuard(resolves=(Resolve.parse(f"a.test:{server.port}:127.0.0.1"),))
                    start, names = f"http://a.test:{server.port}/", Names(others=["127.0.0.1"])
                    async with fetching(guard, names) as fetcher:
                        hop = (await get(fetcher, start)).headers["location"]
                        assert isinstance(await ask(fetcher, hop), FetchFailure)
                    async with ForwardProxy(guard, ports=ALL_PORTS, dns=names) as proxy, aiohttp.ClientSession() as web:
                        async with web.get(start, proxy=proxy.url) as answer:
                            assert answer.status == 403, host
                            assert len(answer.history) == 1
                        assert (proxy.requests, proxy.refused) == (1, 1)
                    assert bird.hits() == 0
                    assert len(guard.connected) == 2  # the server, twice

    run(story)


# A name server that changes its mind


def test_a_name_that_is_rebound_is_checked_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_DNS_SECONDS", 0)  # every request asks again

    async def story() -> None:
        with canary() as bird:
            async with raw(answer_of(b"outside")) as server:
                guard = FencedGuard(internet=server.port)
                names = Names({"rebound.test": [[PUBLIC], ["127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"]]})
                async with fetching(guard, names) as fetcher:
                    url = f"http://rebound.test:{bird.port}/"
                    assert (await get(fetcher, url)).body == b"outside"
                    for _ in range(3):
                        assert (await fail(fetcher, url)).kind is FailureKind.REFUSED
                assert len(names.asked) == 4
                assert guard.connected == guard.let_through == [PUBLIC]
                assert bird.hits() == 0

    run(story)


def test_what_the_client_remembers_of_a_name_is_what_it_checked() -> None:
    async def story() -> None:
        with canary() as bird:
            async with raw(answer_of(b"outside", "Connection: close")) as server:
                guard, names = FencedGuard(internet=server.port), Names({"rebound.test": [[PUBLIC], ["127.0.0.1"]]})
                async with fetching(guard, names) as fetcher:
                    for _ in range(3):  # each needs a connection of its own
                        assert (await get(fetcher, f"http://rebound.test:{bird.port}/")).body == b"outside"
                assert (names.asked, bird.hits()) == (["rebound.test"], 0)
                assert guard.connected == guard.let_through == [PUBLIC] * 3

    run(story)


@pytest.mark.parametrize("line", ["CONNECT rebound.test:{port}", "GET http://rebound.test:{port}/"])
def test_the_proxy_asks_once_and_connects_to_what_it_checked(line: str) -> None:
    async def story() -> None:
        with canary() as bird:
            async with raw(answer_of(b"outside")) as server:
                guard = FencedGuard(internet=server.port)
                names = Names({"rebound.test": [[PUBLIC], ["127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"]]})
                async with ForwardProxy(guard, ports=ALL_PORTS, dns=names) as proxy:
                    request = with_password(proxy, line.format(port=bird.port), body=b"GET / HTTP/1.1\r\n\r\n")
                    assert (await said(proxy, request)).endswith(b"outside")
                    assert names.asked == ["rebound.test"]
                    assert guard.connected == guard.let_through == [PUBLIC]
                    for _ in range(3):
                        assert status_of(await said(proxy, request)) == 403
                assert (len(names.asked), bird.hits(), len(guard.let_through)) == (4, 0, 1)

    run(story)


MIXED = [[PUBLIC, "127.0.0.1"], ["127.0.0.1", PUBLIC], ["::1", ALSO_PUBLIC, "127.0.0.1", PUBLIC, "::ffff:127.0.0.1"]]


@pytest.mark.parametrize("answer", MIXED)
@pytest.mark.parametrize("is_up", [True, False])
def test_of_a_mixed_answer_only_the_public_addresses_are_tried(answer: list[str], is_up: bool) -> None:
    """Also if these do not answer: then there is no other way."""

    async def story() -> None:
        with canary() as bird:
            async with raw(answer_of(b"outside")) as server:
                guard = FencedGuard(internet=server.port if is_up else 9)
                names = Names(others=answer)
                url = f"http://mixed.test:{bird.port}/"
                async with fetching(guard, names) as fetcher:
                    got = await ask(fetcher, url)
                    assert isinstance(got, FetchAnswer) is is_up, got
                async with ForwardProxy(guard, ports=ALL_PORTS, dns=names) as proxy:
                    passed = status_of(await said(proxy, with_password(proxy, f"GET {url}")))
                    opened = await said(
                        proxy, with_password(proxy, f"CONNECT mixed.test:{bird.port}", body=b"GET / HTTP/1.1\r\n\r\n")
                    )
                assert (passed, status_of(opened)) == ((200, 200) if is_up else (502, 502))
                assert bird.hits() == 0
                assert set(guard.connected) <= {PUBLIC, ALSO_PUBLIC}
                assert guard.connected

    run(story)


# The proxy itself


class SaysLoopback(Guard):
    """A guard whose operator allows all, and has a rule for all."""

    def known_address(self, host: str, port: int) -> Address | None:
        return IPv4Address("127.0.0.1")


def test_the_proxy_never_connects_to_itself() -> None:
    async def story() -> None:
        for guard in (Guard(allow_private=True), SaysLoopback(allow_private=True), Guard()):
            for address in ("127.0.0.1", "0.0.0.0", "::ffff:127.0.0.1", "::", "64:ff9b::127.0.0.1"):
                async with ForwardProxy(guard, ports=ALL_PORTS, dns=Names(others=[address])) as proxy:
                    for host in ("a.test", bracketed(address)):
                        for line in (f"CONNECT {host}:{proxy.port}", f"GET http://{host}:{proxy.port}/"):
                            assert status_of(await said(proxy, with_password(proxy, line))) == 403, (address, line)
                    assert (proxy.requests, proxy.refused) == (0, 4)

    run(story)


def test_private_networks_allowed_do_not_open_loopback_to_the_proxy() -> None:
    """What speaks through it runs the scripts of strangers; our own client does not."""

    async def story() -> None:
        with canary() as bird:
            guard = FencedGuard(allow_private=True)
            for address in INSIDE:
                async with ForwardProxy(guard, ports=ALL_PORTS, dns=Names(others=[address])) as proxy:
                    for host in ("a.test", bracketed(address)):
                        for line in (f"CONNECT {host}:{bird.port}", f"GET http://{host}:{bird.port}/"):
                            assert status_of(await said(proxy, with_password(proxy, line))) == 403
            assert (bird.hits(), guard.let_through) == (0, [])

    run(story)


# The public suites

if suite_path("hostile"):
    HOSTILE = [case["url"] for case in json_lines(SUITES / "hostile" / "ssrf_urls.jsonl")]

    @pytest.mark.parametrize("address", INSIDE)
    def test_no_hostile_url_hits_a_canary(address: str) -> None:
        """Every name is one of the attacker's and leads inside."""

        async def story() -> None:
            seen: Counter[str] = Counter()
            with canary() as bird:
                guard = FencedGuard()
                async with fetching(guard, Names(others=[address]), connect_timeout_seconds=2) as fetcher:
                    for url in HOSTILE:
                        for spelled in spellings(url, bird.port):
                            answer = await ask(fetcher, spelled)
                            assert isinstance(answer, FetchFailure), spelled
                            seen[answer.kind] += 1
                everything_was_refused(guard, bird)
            assert seen[FailureKind.REFUSED] > 200, seen
            assert seen[FailureKind.CONNECT] > 10, seen  # public addresses, at which nobody listens here
            assert set(seen) <= {FailureKind.REFUSED, FailureKind.CONNECT, FailureKind.BROKEN, FailureKind.DNS}

        run(story)

    @pytest.mark.parametrize("address", INSIDE)
    def test_no_hostile_url_hits_a_canary_through_the_proxy(address: str) -> None:
        async def story() -> None:
            seen: Counter[int] = Counter()
            with canary() as bird:
                guard = FencedGuard()
                async with ForwardProxy(guard, ports=ALL_PORTS, dns=Names(others=[address])) as proxy:
                    for url in HOSTILE:
                        for spelled in spellings(url, bird.port):
                            for line in (f"GET {spelled}", f"CONNECT {authority_of(spelled)}"):
                                seen[status_of(await said(proxy, with_password(proxy, line)))] += 1
                    assert proxy.refused == seen[403]
                    assert proxy.requests == 0
                everything_was_refused(guard, bird)
            assert set(seen) == {400, 403, 502}, seen
            assert seen[403] > 300, seen
            assert seen[502] > 20, seen  # public addresses, at which nobody listens here

        run(story)

    def test_no_odd_spelling_of_ipv4_hits_a_canary() -> None:
        cases = json.loads((SUITES / "hostile" / "funky_ipv4.json").read_text())
        inside = [text for text, meant in cases.items() if meant is not None and not is_public(IPv4Address(meant))]
        assert len(inside) > 20

        async def story() -> None:
            with canary() as bird:
                guard = FencedGuard()
                names = Names(others=["127.0.0.1"])
                async with fetching(guard, names) as fetcher, ForwardProxy(guard, ports=ALL_PORTS, dns=names) as proxy:
                    for host in inside:
                        for scheme in ("http", "https"):
                            answer = await ask(fetcher, f"{scheme}://{host}:{bird.port}/")
                            assert isinstance(answer, FetchFailure), host
                            assert answer.kind in (FailureKind.REFUSED, FailureKind.BROKEN), answer
                        for line in (f"CONNECT {host}:{bird.port}", f"GET http://{host}:{bird.port}/"):
                            assert status_of(await said(proxy, with_password(proxy, line))) == 403, line
                assert (bird.hits(), guard.let_through) == (0, [])

        run(story)


def test_many_at_once_do_not_mix_up_what_they_may() -> None:
    """The rule is for one host: a connection made at the same time for another must not profit."""

    async def story() -> None:
        with canary() as bird:
            async with raw(answer_of(b"own")) as own:
                guard = FencedGuard(resolves=(Resolve.parse(f"a.test:{own.port}:127.0.0.1"),))
                async with ForwardProxy(guard, ports=ALL_PORTS, dns=Names(others=["127.0.0.1"])) as proxy:
                    lines = [f"GET http://{host}/" for host in (f"a.test:{own.port}", f"b.test:{own.port}",
                             f"a.test:{bird.port}", f"127.0.0.1:{own.port}")] * 10  # fmt: skip
                    answers = await asyncio.gather(*(said(proxy, with_password(proxy, line)) for line in lines))
                assert [status_of(answer) for answer in answers] == [200, 403, 403, 403] * 10
                assert (own.connections, bird.hits()) == (10, 0)

    run(story)
