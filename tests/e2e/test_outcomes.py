"""Every row of the table of outcomes has its page on the local web: what becomes of the page, and of its domain."""

import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import trustme

from bailiwick.crawl.outcomes import Outcome
from bailiwick.demo.web import behaviours as b
from bailiwick.demo.web import hostile as h
from bailiwick.demo.web.answers import Behaviour, Page
from bailiwick.demo.web.running import Running, serve
from bailiwick.demo.web.server import ADDRESS
from bailiwick.demo.web.sites import Site, Web
from tests.e2e.tools import Land
from tests.servers import TestServers

HOST, OTHER, AGAIN = "odd.test", "other.test", "again.test"
BUSY, PATIENT, DOWN = "busy.test", "patient.test", "down.test"
CLOSED, INSIDE = "closed.test", "127.0.0.1"
# With `www.` in front these are longer than DNS can spell: not known, without anybody being asked.
NAMELESS, LONELY = (f"{'.'.join([letter * 61] * 4)}.tt" for letter in "nl")
TRUSTED, UNTRUSTED, EXPIRED, OTHERS, FRESH = (
    "trusted.test",
    "untrusted.test",
    "expired.test",
    "others.test",
    "fresh.test",
)
PLAIN, DEAF = "plain.test", "deaf.test"
BACKOFF_SECONDS, RETRIES = 1_000, 2
ENV = {
    "BAILIWICK_CRAWL_RETRY_BACKOFF_SECONDS": str(BACKOFF_SECONDS),
    "BAILIWICK_CRAWL_MAX_RETRIES": str(RETRIES),
    "BAILIWICK_CRAWL_MAX_DOMAIN_ERRORS": "1000",
    "BAILIWICK_NET_TOTAL_TIMEOUT_SECONDS": "4",
    "BAILIWICK_NET_IDLE_TIMEOUT_SECONDS": "2",
    "BAILIWICK_NET_MAX_BODY_BYTES": "200000",
    "BAILIWICK_NAMES_ALLOW_PRIVATE": "true",
    "BAILIWICK_FAILPOINT": "parse:kill-the-parser",
}
ELSEWHERE = {"soft_not_found"}
"""Outcomes that no status or error leads to: they are read out of a page's text, and tested where that is."""


@dataclass(frozen=True)
class Fate:
    """What an outcome does to its page after the first fetch."""

    state: str
    due: str | None
    """When it is fetched again: as a retry, at the next visit to the domain, or never."""
    is_error: bool


KEPT = Fate("fetched", "visit", is_error=False)
LATER = Fate("pending", "retry", is_error=True)
LOST = Fate("failed", None, is_error=True)
FATES = {
    "ok": KEPT, "unchanged": KEPT, "other_type": KEPT, "redirected": KEPT, "truncated": KEPT,
    "not_found": Fate("failed", None, is_error=False), "robots_denied": Fate("failed", "visit", is_error=False),
    "login": LOST, "forbidden": LOST, "client_error": LOST, "redirect_loop": LOST, "bad_encoding": LOST,
    "refused": LOST, "poison": LOST,
    "rate_limited": LATER, "server_error": LATER, "unavailable": LATER, "dns_failure": LATER, "connect_failure": LATER,
    "tls_failure": LATER, "timeout": LATER, "broken": LATER,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A page and what it comes to."""

    outcome: str
    path: str
    behaviours: tuple[Behaviour, ...] = ()
    status: int | None = None
    says: str = ""
    """Words in `last_error`; none: it is empty."""
    stored: bool = False
    host: str = HOST

    def __str__(self) -> str:
        return f"{self.host[:20]}{self.path}"

    @property
    def fate(self) -> Fate:
        return FATES[self.outcome]


def ok(path: str, *behaviours: Behaviour, status: int = 200) -> Case:
    return Case("ok", path, behaviours, status, stored=True)


def cut(path: str, *behaviours: Behaviour) -> Case:
    return Case("truncated", path, behaviours, 200, stored=True)


def led(path: str, to: str, says: str, **where: Any) -> Case:
    return Case("redirected", path, (b.redirect(to, **where),), where.get("status", 301), says)


def answered(outcome: str, status: int, **more: Any) -> Case:
    return Case(outcome, f"/status-{status}", (b.status(status),), status, **more)


def broken(path: str, behaviour: Behaviour, says: str) -> Case:
    return Case("broken", path, (behaviour,), says=says)


def coded(path: str, behaviour: Behaviour, says: str) -> Case:
    return Case("bad_encoding", path, (behaviour,), says=says)


CASES = [
    ok("/plain"), ok("/gzip", b.encoded("gzip")), ok("/deflate", b.encoded("deflate")), ok("/br", b.encoded("br")),
    ok("/zstd", b.encoded("zstd")),
    ok("/charset-unknown", h.html(b"<p>caf\xc3\xa9</p>", "text/html; charset=no-such-charset")),
    ok("/charset-wrong", h.html(b"<p>\xff\xfe\x80 \xc3\x28 \xe2\x82</p>", "text/html; charset=utf-8")),
    ok("/empty", h.html(b"")),
    ok("/no-content", h.said(b"HTTP/1.1 204 No Content\r\n\r\n"), status=204),
    ok("/partial", h.said(b"HTTP/1.1 206 Partial Content\r\nContent-Type: text/html\r\nContent-Range: bytes 0-8/99\r\n"
                          b"Content-Length: 9\r\n\r\n<p>A part"), status=206),
    ok("/interim", h.interim(100, 102, 103)),
    ok("/no-type", h.said(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<p>It")),
    Case("unchanged", "/", (b.validators(),), 304, stored=True, host=AGAIN),
    Case("unchanged", "/same-bytes", (), 200, stored=True, host=AGAIN),
    Case("unchanged", "/same-text", (), 200, stored=True, host=AGAIN),
    Case("ok", "/pdf", (b.PDF,), 200, stored=True), Case("other_type", "/png", (b.PNG,), 200),
    Case("other_type", "/json", (b.JSON,), 200),
    led("/moved", "/plain", "to /plain"), led("/ping", "/pong", "to /pong"), led("/pong", "/ping", "to /ping"),
    led("/moved-for-now", "/plain", "to /plain", status=307),
    led("/away", "/", f"to {OTHER}", host=OTHER),
    led("/to-ftp", f"ftp://{HOST}/file", "leads nowhere"), led("/to-script", "javascript:void(0)", "leads nowhere"),
    led("/to-nonsense", "http://[::1", "leads nowhere"),
    Case("redirect_loop", "/self", (b.redirect("/self"),), 301, "leads to itself"),
    Case("redirect_loop", "/self-with-fragment", (b.redirect("/self-with-fragment#top"),), 301, "leads to itself"),
    answered("not_found", 404), answered("not_found", 410),
    answered("login", 401), answered("login", 407), answered("forbidden", 403), answered("forbidden", 451),
    answered("client_error", 400), answered("client_error", 418), answered("client_error", 999),
    answered("client_error", 302),
    Case("client_error", "/not-asked-for", (h.said(b"HTTP/1.1 304 Not Modified\r\n\r\n"),), 304),
    answered("server_error", 500), answered("server_error", 502), answered("timeout", 408), answered("timeout", 504),
    Case("rate_limited", "/busy", (b.too_many_requests("0"),), 429, host=BUSY),
    Case("rate_limited", "/busy", (b.too_many_requests("7200"),), 429, host=PATIENT),
    Case("unavailable", "/down", (b.status(503),), 503, host=DOWN),
    cut("/endless", b.endless()), cut("/gzip-bomb", h.bomb("gzip")), cut("/br-bomb", h.bomb("br")),
    cut("/zstd-bomb", h.bomb("zstd")), cut("/deflate-bomb", h.bomb("deflate")),
    cut("/gzip-breaks-off", h.broken_off("gzip")), cut("/br-breaks-off", h.broken_off("br")),
    Case("dns_failure", "/", says="onnect", host=NAMELESS),
    Case("connect_failure", "/", says="onnect", host=CLOSED),
    Case("connect_failure", "/", says="onnect", host=DEAF),
    # Nobody listens there, and it has no www. either: that the latter has no
    # address does not make the name unknown.
    Case("connect_failure", "/", says="onnect", host=LONELY),
    Case("tls_failure", "/", says="ertificate", host=UNTRUSTED), Case("tls_failure", "/", says="expired", host=EXPIRED),
    Case("tls_failure", "/", says="mismatch", host=OTHERS), Case("tls_failure", "/", says="SSL", host=PLAIN),
    # Its origin is not known yet: http on the same port is tried after https,
    # and fails in a less telling way.
    Case("tls_failure", "/", says="ertificate", host=FRESH),
    Case("ok", "/", (), 200, stored=True, host=TRUSTED),
    Case("timeout", "/late", (b.delayed(60),), says="ime"),
    Case("timeout", "/stalls", (h.stalling(),), says="ime"),
    broken("/silent", b.dropped(), "hung up"), broken("/cut", b.truncated(50), "payload"),
    broken("/reset", h.reset_after(100), "reset"),
    broken("/length-too-short", h.wrong_length(-20), "status line"),
    broken("/length-too-long", h.wrong_length(1000), "payload"),
    broken("/length-negative", h.lengths("-5"), "Content-Length"),
    broken("/length-twice", h.lengths("5", "7"), "Content-Length"),
    broken("/chunk-too-large", h.chunk_of(b"f" * 17), "hunk"),
    broken("/no-head", h.http_0_9(), "HTTP"),
    coded("/not-gzip", h.coded("gzip", b"This is no gzip."), "header"),
    coded("/not-br", h.coded("br", b"\xff" * 100), "brotli"),
    coded("/not-zstd", h.coded("zstd", b"This is no zstd."), "zstd"),
    coded("/unknown-coding", h.coded("lzma", b"?"), "unknown content coding 'lzma'"),
    coded("/two-codings", h.coded("gzip, br", b"?"), "unknown content coding"),
    Case("refused", "/", says="not a public address", host=INSIDE),
    Case("poison", "/poison", (h.page_of(b"<p>text</p>", 20_000, before=b"kill-the-parser"),), 200, "kills the parser"),
    Case("robots_denied", "/private", says="Disallow: /private"),
]  # fmt: skip


def odd_web() -> Web:
    hosts = [HOST, OTHER, AGAIN, BUSY, PATIENT, DOWN, TRUSTED, UNTRUSTED, EXPIRED, OTHERS, FRESH, DEAF]
    web = Web(Site(host) for host in hosts)
    for host in hosts:
        paths = [case.path for case in CASES if case.host == host]
        links = "".join(f'<p><a href="{path}">{path}</a></p>' for path in paths)
        for path in {"/", *paths}:
            web[host].add(Page(path, f"<!doctype html><title>{path}</title><main>{links}</main>\n"))
        for case in (case for case in CASES if case.host == host and case.behaviours):
            web[host].behave(case.path, *case.behaviours)
    web[HOST].robots = "User-agent: *\nDisallow: /private\n"
    return web


@dataclass
class Story:
    """The pages after the first fetch, after the first retry, and after the second."""

    land: Land
    names: dict[str, str]
    chapters: list[dict[tuple[str, str], Any]] = field(default_factory=list)

    def note(self) -> None:
        rows = self.land.rows("select d.name, d.crawl, p.* from pages p join domains d on d.id = p.domain_id")
        self.chapters.append({(row.name, row.path): row for row in rows})

    def page(self, case: Case, chapter: int = 0) -> Any:
        return self.chapters[chapter][self.names[case.host], case.path]


@pytest.fixture(scope="module")
def told(servers: TestServers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """One crawl for all cases, and two more after the retries' time."""
    home = tmp_path_factory.mktemp("outcomes")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(home / "ca.pem")
    with ExitStack() as stack:
        running = stack.enter_context(serve(odd_web(), tls=_certificates(authority), tls_port=0))
        land = Land(home, running, stack.enter_context(servers.cloned("pg18")))
        closed, inside = (stack.enter_context(_nobody()) for _ in range(2))
        plain = stack.enter_context(_plain_answers())
        story = Story(land, _names(running, {CLOSED: closed, LONELY: closed, INSIDE: inside, PLAIN: plain}))
        env = ENV | {"BAILIWICK_NET_EXTRA_CA_FILE": str(home / "ca.pem")}
        pinned = [
            f"*:{running.tls_port}",
            f"{LONELY}:{closed}",
            f"{CLOSED}:{closed}",
            f"www.{CLOSED}:{closed}",
            f"{PLAIN}:{plain}",
        ]
        options = [word for place in pinned for word in ("--resolve", f"{place}:{ADDRESS}")]
        _learn_origins(story, env, options)
        land.crawl(*story.names.values(), *options, **env)
        story.note()
        for hours in (3, 6):
            shift_clock(land, f"{hours} hours")
            land.crawl_due(*options, **env)
            story.note()
        yield story


def _certificates(authority: trustme.CA) -> ssl.SSLContext:
    """By the name that is asked for: one that is well, and three that are not."""
    yesterday = datetime.now(UTC) - timedelta(days=1)
    issued = {
        TRUSTED: authority.issue_cert(TRUSTED),
        UNTRUSTED: trustme.CA().issue_cert(UNTRUSTED),
        FRESH: trustme.CA().issue_cert(FRESH),
        EXPIRED: authority.issue_cert(EXPIRED, not_before=yesterday - timedelta(days=9), not_after=yesterday),
        OTHERS: authority.issue_cert(TRUSTED),
    }
    contexts = {}
    for host, certificate in issued.items():
        contexts[host] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(contexts[host])

    def choose(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        connection.context = contexts.get((name or "").removeprefix("www."), contexts[FRESH])

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issued[FRESH].configure_cert(context)
    context.sni_callback = choose  # type: ignore[assignment]
    return context


@contextmanager
def _nobody() -> Iterator[int]:
    """A port that is taken, and at which nobody listens."""
    with socket.socket() as taken:
        taken.bind((ADDRESS, 0))
        yield taken.getsockname()[1]


@contextmanager
def _plain_answers() -> Iterator[int]:
    """A port at which TLS is answered in plain HTTP. (The local web hangs up on it, as others do.)"""

    class Answering(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(100)
            self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")

    with socketserver.TCPServer((ADDRESS, 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def _names(running: Running, closed: dict[str, int]) -> dict[str, str]:
    ports = dict.fromkeys((TRUSTED, UNTRUSTED, EXPIRED, OTHERS, FRESH), running.tls_port) | closed
    hosts = {OTHER, *(case.host for case in CASES)} - {NAMELESS}
    return {host: f"{host}:{ports.get(host, running.port)}" for host in hosts} | {NAMELESS: NAMELESS}


def _learn_origins(story: Story, env: dict[str, str], options: list[str]) -> None:
    """Some hosts were at home elsewhere before the crawl begins, and one has been crawled."""
    land, names = story.land, story.names
    land.crawl(names[AGAIN], *options, **env)
    land.running.web[AGAIN].change("/same-text", visible=False)
    land.run("domain", "recrawl", names[AGAIN], **env)
    at_home = {host: f"https://{names[host]}" for host in (UNTRUSTED, EXPIRED, OTHERS, PLAIN, DEAF)}
    at_home[NAMELESS] = f"http://www.{NAMELESS}"
    land.run("domain", "submit", "--approve", *(names[host] for host in at_home), **env)
    for host, origin in at_home.items():
        land.rows_done(f"update domains set base_url = '{origin}' where name = '{names[host]}'")


def shift_clock(land: Land, by: str) -> None:
    """The database's clock, which all waiting is measured by."""
    land.rows_done(
        "create or replace function bailiwick_now() returns timestamptz language sql stable parallel safe "
        f"return now() + interval '{by}'"
    )


# Pages


def test_every_outcome_has_a_page_and_every_page_an_outcome() -> None:
    assert {case.outcome for case in CASES} == {outcome.value for outcome in Outcome} - ELSEWHERE
    assert FATES.keys() >= {outcome.value for outcome in Outcome} - ELSEWHERE


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_a_page_comes_to(told: Story, case: Case) -> None:
    row = told.page(case)
    assert (row.last_outcome, row.state, row.last_status) == (case.outcome, case.fate.state, case.status), (
        row.last_error
    )
    assert (row.last_error is None) if not case.says and case.status else (case.says in row.last_error)
    assert (row.pack_id is not None) == case.stored
    assert row.retries == (1 if case.fate is LATER else 0)
    assert (row.next_at is None) == (case.fate.due is None)


@pytest.mark.parametrize("case", [case for case in CASES if case.fate is LATER], ids=str)
def test_what_may_pass_is_tried_again_ever_later_until_its_retries_are_used_up(told: Story, case: Case) -> None:
    first, second, third = (told.page(case, chapter) for chapter in range(3))
    asked_seconds = 7200 if case.host == PATIENT else 0
    for row, seconds in ((first, BACKOFF_SECONDS), (second, 4 * BACKOFF_SECONDS)):
        wait = (row.next_at - row.last_fetched_at).total_seconds()
        assert wait > 0.5 * seconds
        assert wait >= asked_seconds
        assert wait < max(1.5 * seconds, asked_seconds) + 60
    assert (second.state, second.retries) == ("pending", 2)
    assert (third.state, third.retries, third.next_at) == ("failed", 0, None)
    assert [row.fetch_count for row in (first, second, third)] == [1, 2, 3]
    assert third.last_outcome == case.outcome


@pytest.mark.parametrize("case", [case for case in CASES if case.fate is not LATER], ids=str)
def test_what_will_not_pass_is_asked_for_once(told: Story, case: Case) -> None:
    counts = {told.page(case, chapter).fetch_count for chapter in range(3)}
    assert counts == {2 if case.outcome == "unchanged" else 0 if case.outcome == "robots_denied" else 1}


def test_retries_of_pages_that_failed_together_are_spread(told: Story) -> None:
    """Jitter: what broke at the same moment does not come back at the same moment."""
    waits = [
        (row.next_at - row.last_fetched_at).total_seconds()
        for case in CASES
        if case.fate is LATER and case.host == HOST and (row := told.page(case))
    ]
    assert len(waits) > 8
    assert max(waits) - min(waits) > BACKOFF_SECONDS / 20


def test_errors_are_counted_as_the_table_says(told: Story) -> None:
    fetched = [case for case in CASES if case.host == HOST and case.outcome != "robots_denied"]
    errors = sum(case.fate.is_error for case in fetched)
    retried = sum(case.fate is LATER for case in fetched)
    [row] = told.land.rows(
        "select p.* from domain_progress p join domains d on d.id = p.domain_id where d.name = :name",
        name=told.names[HOST],
    )
    assert row.total_error_count == errors + RETRIES * retried
    assert row.pages_crawled == len(fetched) + 1 + RETRIES * retried


def test_nobody_was_asked_on_behalf_of_another_domain(told: Story) -> None:
    """The redirect out of the domain is a wish to its own; nothing went to the host inside or was sent in vain."""
    assert told.land.value("select count(*) from outlinks where target = :name", name=told.names[OTHER]) == 1
    assert {entry.path for entry in told.land.running.log.entries(OTHER)} <= {"/", "/robots.txt", "/sitemap.xml"}


def test_the_books_agree(told: Story) -> None:
    told.land.check()
