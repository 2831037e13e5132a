"""P3 as the server sees it: no two requests to a host closer than its delay, never more at once than its limit.

Whatever several workers, kills, stops, take-overs and redirects do. The judge is `tests.e2e.pace`.
"""

import random
import signal
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from statistics import median

import psutil
import trustme

from bailiwick.demo.web import behaviours as b
from bailiwick.demo.web.answers import Answer, Page, Request
from bailiwick.demo.web.log import RequestLog
from bailiwick.demo.web.running import serve
from bailiwick.demo.web.sites import Site, Web
from tests.e2e.conftest import MakeLand
from tests.e2e.pace import Hold, LeaseHistory, gaps, in_holds, refusals, too_close, too_many
from tests.e2e.tools import Land, Started
from tests.registry.tools import admit as admit_domains
from tests.servers import TestServers

A, B, C, RULES = "alpha.test", "beta.test", "gamma.test", "rules.test"
SHORT = {"BAILIWICK_LEASE_SECONDS": "3", "BAILIWICK_LEASE_HEARTBEAT_SECONDS": "1"}
QUICK = {"BAILIWICK_CRAWL_RETRY_BACKOFF_SECONDS": "0.1"}


def admit(land: Land, *hosts: str, delay: float = 0.2, at_once: int = 5) -> list[str]:
    """Approved domains with a pace of their own, and their names."""
    names = [land.name(host) for host in hosts]
    with land.app() as app, app.database.begin() as conn:
        admit_domains(conn, *names)
    land.rows_done(f"update domains set crawl_delay_seconds = {delay}, max_concurrent_requests = {at_once}")
    return names


@contextmanager
def workers(land: Land, count: int, *arguments: str, **env: str) -> Iterator[list[Started]]:
    """So many crawls of the same, beside each other, at the domains' own pace."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                land.start(*arguments, "--depth", "all", "--resolve", land.running.resolve, **(SHORT | env))
            )
            for _ in range(count)
        ]


def finish(started: Sequence[Started]) -> None:
    ends = [one.wait(seconds=90) for one in started]
    assert [end.code for end in ends] == [0] * len(ends), ends


def until(claim: Callable[[], bool], *, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.002)


def holder(land: Land, host: str, started: Sequence[Started]) -> psutil.Process | None:
    """The engine, of these crawls, that holds the host's lease."""
    worker = land.value(
        "select q.worker from crawl_queue q join domains d on d.id = q.domain_id where d.name = :name",
        name=land.name(host),
    )
    engines = [one.engine() for one in started if one.process.poll() is None]
    return next((engine for engine in engines if f"/{engine.pid}/" in str(worker)), None)


def kill_holder(land: Land, host: str, started: Sequence[Started]) -> None:
    engine = holder(land, host, started)
    assert engine is not None
    engine.kill()


def fetched_all(land: Land, *hosts: str) -> None:
    for host in hosts:
        assert land.fetched(host) == land.running.web[host].reachable(), host


def test_a_slow_server_makes_no_hasty_client() -> None:
    """What lay unread is logged as of its arrival: a stalled reader hides no gap and invents none."""
    import socket

    log = RequestLog()
    site = Site(A)
    site.add(Page("/", "<p>here</p>"))
    site.behave("/stall", lambda _request, answer: (time.sleep(0.3), answer)[1])
    sent = []
    with serve(Web([site]), log=log) as running, ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_connection(("127.0.0.1", running.port))) for _ in range(3)]
        time.sleep(0.1)
        for one, path in zip(sockets, ("/stall", "/a", "/b"), strict=True):
            one.sendall(f"GET {path} HTTP/1.1\r\nHost: {A}\r\n\r\n".encode())
            sent.append(time.monotonic())
            time.sleep(0.1)
        for one in sockets:
            assert one.recv(100)
    late = [seen - wrote for seen, wrote in zip(log.times(A), sent, strict=True)]
    assert max(late) < 0.05
    assert too_close(log, {A: 0.1}) == []


def test_never_more_at_once_than_the_limit(land_of: MakeLand) -> None:
    """No delay and slow answers, pages, robots.txt and sitemaps, and a holder that dies with requests open."""
    web = Web.generate(6, hosts=[A], pages_per_host=18)
    land, goes_on = land_of(web), threading.Event()
    goes_on.set()
    give_sitemaps(land, A, count=4)
    web[A].behave_everywhere(b.delayed(0.3), b.held(goes_on.is_set))
    history = LeaseHistory(land)
    [name] = admit(land, A, delay=0, at_once=2)
    with workers(land, 2, name) as started:
        until(lambda: len(land.running.log.entries(A)) > 10)
        goes_on.clear()
        until(lambda: len(land.running.log.open_requests()) == 2)
        cut_off = land.running.log.open_requests()
        kill_holder(land, A, started)
        until(lambda: not any(entry.open for entry in cut_off))
        goes_on.set()
        finish(started)
    log = land.running.log
    assert [entry.status for entry in log.entries(A)].count(None) == 2
    assert too_many(log, {A: 2}) == []
    assert len({tenure.worker for tenure in history.tenures()}) > 1
    fetched_all(land, A)
    assert {"/map-0.xml", "/map-3.xml"} <= {entry.path for entry in log.entries(A)}
    land.check()


def give_sitemaps(land: Land, host: str, *, count: int = 1) -> None:
    """Sitemaps in robots.txt, each as slow as a page, with the pages that the site has anyway."""
    site, here = land.running.web[host], land.running.url(host, "")
    site.robots = (site.robots or "User-agent: *\nDisallow:\n") + "".join(
        f"Sitemap: {here}/map-{n}.xml\n" for n in range(count)
    )
    urls = "".join(f"<url><loc>{here}{path}</loc></url>" for path in sorted(site.reachable())[:5])
    for n in range(count):
        site.behave(f"/map-{n}.xml", b.content("application/xml", f"<urlset>{urls}</urlset>".encode()), b.delayed(0.3))


def test_who_takes_over_waits_a_full_delay(land_of: MakeLand) -> None:
    """The dead holder may have sent a moment ago: its successor, at hand at once, starts with a pause."""
    land = land_of(Web.generate(5, hosts=[A], pages_per_host=5))
    history = LeaseHistory(land)
    [name] = admit(land, A, delay=0.9)
    with workers(land, 2, name) as started:
        until(lambda: len(land.running.log.entries(A)) == 3)
        kill_holder(land, A, started)
        finish(started)
    assert [tenure.crashes for tenure in history.tenures()] == [0, 1]
    assert history.too_soon({A: 0.9}) == []
    assert too_close(land.running.log, {A: 0.9}) == []
    fetched_all(land, A)


def test_a_slow_host_is_asked_less_often(land_of: MakeLand) -> None:
    """An answer that takes longer than the delay stretches it; a quick one leaves it as it is.

    And the judge's own test: half the delay, one request too many at once and a request in a pause are found out.
    """
    web = Web.generate(3, hosts=[A, B], pages_per_host=11)
    web[A].behave_everywhere(b.delayed(0.8))
    land = land_of(web)
    names = admit(land, A, B)
    with workers(land, 1, *names) as started:
        finish(started)
    log = land.running.log
    assert too_close(log, {A: 0.2, B: 0.2}) == []
    assert median(gaps(log, A)[-3:]) > 0.45
    assert median(gaps(log, B)) < 0.3
    fetched_all(land, A, B)
    assert len(too_close(log, {A: 0.2, B: 0.4})) > 5
    most, (first, *_, last) = log.most_at_once(A), log.times(A)
    assert most > 1
    assert (len(too_many(log, {A: most})), len(too_many(log, {A: most - 1}))) == (0, 1)
    assert in_holds(log, [Hold(A, last, last + 9)]) == []
    assert len(in_holds(log, [Hold(A, first, last)])) > 5


def test_four_leases_at_most_for_one_operator(land_of: MakeLand) -> None:
    """Twelve hosts of one registrable name, three workers: four at a time, and all of them in the end."""
    hosts = [f"shop{n}.market.test" for n in range(12)]
    land = land_of(Web.generate(4, hosts=hosts, pages_per_host=3))
    history = LeaseHistory(land)
    names = admit(land, *hosts, delay=0.1)
    with workers(land, 3, *names, BAILIWICK_CRAWL_MAX_OPEN_DOMAINS="2") as started:
        until(lambda: len(land.running.log.entries()) > 15)
        started[0].engine().kill()
        finish(started)
    assert list(history.most_live().values()) == [4]
    assert len({tenure.worker for tenure in history.tenures()}) > 1
    assert too_close(land.running.log, dict.fromkeys(hosts, 0.1)) == []
    fetched_all(land, *hosts)
    land.check()


def test_a_pause_outlives_its_holder(land_of: MakeLand) -> None:
    """Retry-After in seconds (429) and as a date (503); the holder dies right after; without it, ever longer pauses."""
    web = Web.generate(2, hosts=[A, B, C], pages_per_host=6)
    busy = Busy()
    for host in (A, B):
        web[host].behave(sorted(web[host].reachable())[3], b.for_first(1, busy))
    web[C].behave("/", b.for_first(2, b.status(429)))
    land = land_of(web)
    log = land.running.log
    names = admit(land, A, B, C, at_once=1)
    with workers(land, 2, *names, **QUICK) as started:
        until(lambda: len(refusals(log, A)) + len(refusals(log, B)) == 2)
        told = time.monotonic()
        land.wait_for("select count(not_before) = 3 from domain_memory")
        assert time.monotonic() - told < 1.5
        for one in started:
            one.engine().kill()
        finish(started)
    holds = [Hold(host, answer.answered or 0.0, busy.ends[host]) for host in (A, B) for answer in refusals(log, host)]
    assert len(holds) == 2
    assert in_holds(log, holds) == []
    first, second = refusals(log, C)
    assert second.received - (first.answered or 0) >= 5
    assert min(e.received for e in log.entries(C) if e.received > second.received) - (second.answered or 0) >= 10
    assert too_close(log, dict.fromkeys((A, B, C), 0.2)) == []
    fetched_all(land, A, B, C)
    land.check()


class Busy:
    """Asks for seven seconds: as a number with a 429, as a date with a 503; and knows when they are over."""

    def __init__(self) -> None:
        self.ends: dict[str, float] = {}

    def __call__(self, request: Request, answer: Answer) -> Answer:
        host = request.host.partition(":")[0]
        if host == A:
            self.ends[host] = time.monotonic() + 7
            return b.too_many_requests("7")(request, answer)
        end = (datetime.now(UTC) + timedelta(seconds=7)).replace(microsecond=0)
        self.ends[host] = time.monotonic() + (end - datetime.now(UTC)).total_seconds()
        return b.status(503, headers={"Retry-After": format_datetime(end, usegmt=True)})(request, answer)


def test_a_busy_sitemap_holds_the_whole_host_and_a_long_pause_is_not_sat_out(land_of: MakeLand) -> None:
    """A 429 counts wherever it comes from; with an hour to wait, the lease is given back, pages under way or not."""
    web = Web.generate(7, hosts=[A, B], pages_per_host=10)
    land = land_of(web)
    give_sitemaps(land, A)
    web[A].behave("/map-0.xml", b.for_first(1, b.too_many_requests("6")))
    web[B].behave(sorted(web[B].reachable())[3], b.too_many_requests("3600"))
    names = admit(land, A, B, at_once=3)
    with workers(land, 1, *names) as started:
        finish(started)
    log = land.running.log
    [refused], [last] = refusals(log, A), refusals(log, B)
    # Three pages may be under way: they were written before the answer was read.
    since = (refused.answered or 0) + 0.15
    assert in_holds(log, [Hold(A, since, since + 5.85)]) == []
    assert log.entries(A)[-1].received > since + 5.85
    fetched_all(land, A)
    assert log.entries(B)[-1].received - last.received < 1
    due = "select next_crawl_after > now() + interval '59 minutes' from domains where name = :name"
    assert land.value(due, name=land.name(B))
    land.check()


def test_hosts_without_a_lease_have_one_gate_for_all_processes(land_of: MakeLand) -> None:
    """robots.txt of three domains leads to one host, by two of its names: two seconds lie between the requests."""
    web = Web.generate(8, hosts=[A, B, C, RULES], pages_per_host=3)
    web[RULES].www, web[RULES].robots = True, "User-agent: *\nDisallow:\n"
    for host, to in ((A, RULES), (B, f"www.{RULES}"), (C, RULES)):
        web[host].behave("/robots.txt", b.redirect("/robots.txt", host=to))
    land = land_of(web)
    names = admit(land, A, B, C)
    with workers(land, 2, *names, BAILIWICK_CRAWL_MAX_OPEN_DOMAINS="2") as started:
        finish(started)
    assert len(land.running.log.entries(RULES)) == 3
    assert too_close(land.running.log, {RULES: 2.0}) == []
    fetched_all(land, A, B, C)


def test_a_host_that_somebody_holds_is_left_to_him(land_of: MakeLand) -> None:
    """robots.txt leads to a domain that another worker crawls: its pace is his alone, and ours is tried again later."""
    web = Web.generate(9, hosts=[A, B], pages_per_host=10)
    web[A].behave("/robots.txt", b.redirect("/robots.txt", host=B))
    land, goes_on = land_of(web), threading.Event()
    web[B].behave_everywhere(b.held(goes_on.is_set))
    history = LeaseHistory(land)
    first, second = admit(land, A, B, delay=0.4)
    with workers(land, 1, second) as started:
        until(lambda: len(land.running.log.entries(B)) > 1)
        with workers(land, 1, first) as other:
            finish(other)
        goes_on.set()
        finish(started)
    assert land.fetched(A) == set()
    assert too_close(land.running.log, {B: 0.4}) == []
    assert history.strays([B]) == []
    fetched_all(land, B)
    # Tried again within a minute or so; nothing is held against it.
    [row] = land.rows("select crawl, next_crawl_after - now() < '1 min' as soon from domains where name = :n", n=first)
    assert tuple(row) == ("active", True)


TOWNS = [f"town{n}.test" for n in range(12)]
DELAYS = {host: round(0.2 + 0.1 * (n % 5), 1) for n, host in enumerate(TOWNS)}
ASKED_FOR = {TOWNS[5]: 0.5, TOWNS[6]: 0.6}
"""What these want by their robots.txt: more than their domain's delay."""


def towns() -> Web:
    """Twelve hosts of every manner: schemes and www, robots.txt with wishes or elsewhere, answers to be killed in."""
    web = Web.generate(1, hosts=[*TOWNS, RULES], pages_per_host=15)
    moves = {
        TOWNS[1]: b.at_origin(scheme="https"),
        TOWNS[2]: b.at_origin(scheme="http", www=True),
        TOWNS[3]: b.at_origin(scheme="https", www=True),
        TOWNS[4]: b.at_origin(scheme="http"),
    }
    for host in TOWNS:
        moved = [moves[host]] if host in moves else []
        web[host].www = True
        web[host].behave_everywhere(*moved, b.delayed(0.15))
        web[host].behave("/robots.txt", *moved)
    for host, delay in ASKED_FOR.items():
        web[host].robots = f"User-agent: *\nCrawl-delay: {delay}\n"
    for host in TOWNS[7:9]:
        web[host].behave("/robots.txt", b.redirect("/robots.txt", host=RULES))
    return web


@contextmanager
def secure_land(web: Web, home: Path, servers: TestServers) -> Iterator[Land]:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*web.hosts, *(f"www.{host}" for host in web.hosts)).configure_cert(context)
    authority.cert_pem.write_to_path(home / "ca.pem")
    with serve(web, tls=context) as running, servers.cloned("pg18") as url:
        yield Land(home, running, url)


def strike(land: Land, started: Sequence[Started], spared: psutil.Process | None) -> psutil.Process | None:
    """An engine with a request open at the server, other than this one; None if none was found for a while."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        for entry in land.running.log.open_requests():
            engine = holder(land, entry.host, started) if entry.host in TOWNS else None
            if engine is not None and engine != spared:
                return engine
        time.sleep(0.005)
    return None


def stop_one(land: Land, started: Sequence[Started]) -> psutil.Process:
    """Stop an engine with a request open, outside a transaction: locks that it kept would stop the others, too."""
    for _ in range(20):
        engine = strike(land, started, None)
        assert engine is not None
        engine.send_signal(signal.SIGSTOP)
        time.sleep(0.3)
        if land.value("select count(*) = 0 from pg_stat_activity where datname = current_database()"
                      " and xact_start < clock_timestamp() - interval '0.25 s'"):  # fmt: skip
            return engine
        engine.send_signal(signal.SIGCONT)
    raise AssertionError("always in a transaction")


def test_three_workers_killed_and_stopped_keep_every_hosts_pace(tmp_path: Path, servers: TestServers) -> None:
    """Five kills with a request open, one stop past the lease: no gap below a delay, nothing lost, one holder each."""
    dice = random.Random(7)
    with secure_land(towns(), tmp_path, servers) as land:
        for host in TOWNS[9:11]:
            give_sitemaps(land, host)
        history = LeaseHistory(land)
        names = admit(land, *TOWNS, at_once=3)
        for host, delay in DELAYS.items():
            land.rows_done(f"update domains set crawl_delay_seconds = {delay} where name = '{land.name(host)}'")
        env = {"BAILIWICK_NET_EXTRA_CA_FILE": f"{tmp_path}/ca.pem", "BAILIWICK_CRAWL_MAX_OPEN_DOMAINS": "5"}
        with workers(land, 3, *names, **env) as started:
            until(lambda: len(land.running.log.entries()) > 20)
            stopped = stop_one(land, started)
            resumes = time.monotonic() + 4.5
            for _ in range(5):
                time.sleep(dice.uniform(0.2, 1.0))
                if (struck := strike(land, started, stopped)) is not None:
                    struck.kill()
            time.sleep(max(0.0, resumes - time.monotonic()))
            stopped.send_signal(signal.SIGCONT)
            finish(started)
        log, delays = land.running.log, DELAYS | ASKED_FOR
        assert None in {entry.status for entry in log.entries()}
        assert too_close(log, delays | {RULES: 2.0}) == []
        assert too_many(log, dict.fromkeys(TOWNS, 3)) == []
        assert history.too_soon(delays) == []
        assert history.strays(TOWNS) == []
        assert history.late_results() == []
        assert len([tenure for tenure in history.tenures() if tenure.crashes]) > 5
        fetched_all(land, *TOWNS)
        land.check()
