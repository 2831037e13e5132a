"""A web that means us harm: the crawl goes on, each answer has an outcome, and memory stays flat."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from bailiwick.demo.web import behaviours as b
from bailiwick.demo.web import hostile as h
from bailiwick.demo.web.answers import Behaviour, Page
from bailiwick.demo.web.running import serve
from bailiwick.demo.web.sites import Web
from bailiwick.demo.web.traps import EndlessSite
from tests.e2e.tools import Land
from tests.servers import TestServers

MB = 1_000_000
TIGHT = {
    "BAILIWICK_NET_TOTAL_TIMEOUT_SECONDS": "4",
    "BAILIWICK_NET_IDLE_TIMEOUT_SECONDS": "3",
    "BAILIWICK_CRAWL_MAX_RETRIES": "0",
    "BAILIWICK_CRAWL_MAX_DOMAIN_ERRORS": "1000",
    "BAILIWICK_FAILPOINT": "parse:kill-the-parser",
}
ODD_PATHS = (
    b"/%zz", b"/%00%ff%c0%80", b"//////", b"/../../..", b"/\xff\xfe", b"http://[", b"https://user:pw@/", b"\\\\x",
    b"/?" + b"a=%41&" * 500, b"data:text/html,x", b"http://" + b"a." * 500 + b"test/", b"/\t\n\r x",
)  # fmt: skip
HEADS: dict[str, tuple[Behaviour, str]] = {
    # name: (behaviour, outcome)
    "long-status-line": (h.long_status_line(), "broken"),
    "long-header": (h.long_header(), "broken"),
    "many-headers": (h.many_headers(), "broken"),
    "many-cookies": (h.many_headers(100, "Set-Cookie", "c{n}=" + "x" * 600), "ok"),
    "cookie-flood": (h.many_headers(10_000, "Set-Cookie", "c{n}=" + "x" * 80), "broken"),
    "endless-header": (h.endless_header(), "broken"),
    "endless-headers": (h.endless_headers(), "broken"),
    # A bound on interim answers: without it the loop is theirs, and other pages time out.
    "endless-interim": (h.endless_interim(), "broken"),
    "no-head": (h.http_0_9(), "broken"),
    "endless-trailers": (h.endless_trailers(), "broken"),
    "chunk-overflow": (h.chunk_of(b"f" * 16), "broken"),
    "chunk-overflow-by-far": (h.chunk_of(b"f" * 1_000), "broken"),
}
DRIPS: dict[str, tuple[Behaviour, str]] = {
    "drip": (h.dripping(0.5), "timeout"),
    "drip-in-the-head": (h.dripping_head(0.5), "timeout"),
    "drip-of-interim": (h.endless_interim(piece_seconds=0.5), "timeout"),
}
CRUMBS: dict[str, tuple[Behaviour, str]] = {
    "stalls": (h.stalling(), "timeout"),
    "tiny-chunks": (h.endless_tiny_chunks(piece_seconds=0.02), "timeout"),
    "endless-chunk-size": (h.endless_chunk_size(piece_seconds=0.02), "timeout"),
}
BODIES: dict[str, tuple[Behaviour, str]] = {
    # The keep-alive is below the idle limit: after a large body a kept connection may time out.
    "endless": (b.endless(), "truncated"),
    "gzip-bomb": (h.bomb("gzip"), "truncated"),
    "br-bomb": (h.bomb("br"), "truncated"),
    "zstd-bomb": (h.bomb("zstd"), "truncated"),
    "deflate-bomb": (h.bomb("deflate"), "truncated"),
    "many-links": (h.page_of(b'<a href="/l/%d">x</a>', 100_000), "ok"),
    "many-outlinks": (h.page_of(b'<a href="http://h%d.test/">x</a>', 100_000), "ok"),
    "long-links": (h.page_of(b'<a href="/%d/' + b"y" * 100_000 + b'">x</a>', 90), "ok"),
    "odd-links": (h.html(b"".join(b'<a href="%b">x</a>' % path for path in ODD_PATHS)), "ok"),
    "attributes": (h.page_of(b"<p a=b c=d e=f>", 600_000), "ok"),
    "one-attribute": (h.page_of(b"x", 9 * MB, before=b'<p a="', after=b'">'), "ok"),
    "one-line": (h.page_of(b"x", 9 * MB, before=b"<p>"), "ok"),
    "nul-bytes": (h.page_of(b"\0", MB, before=b"<p>"), "ok"),
    "nested": (h.page_of(b"<div>", 20_000), "ok"),
    "nested-formats": (h.page_of(b"<b><i><a href=/l/1>", 10_000), "ok"),
    "title": (h.page_of(b"t", 5 * MB, before=b"<title>", after=b"</title>"), "ok"),
    "bases": (h.page_of(b'<base href="/%d/">', 100_000), "ok"),
    "metas": (h.page_of(b'<meta name="n%d" content="x">', 100_000), "ok"),
    "refresh-loop": (h.html(b'<meta http-equiv="refresh" content="0;url=?again"><p>Again.</p>'), "ok"),
    "images": (h.page_of(b'<img src="/i/%d.png">', 100_000), "ok"),
    "poison": (h.page_of(b"<p>text</p>", 20_000, before=b"kill-the-parser"), "poison"),
}
BAD = {"heads.test": HEADS, "drips.test": DRIPS, "crumbs.test": CRUMBS, "bodies.test": BODIES}
SLOW = {"drips.test", "crumbs.test"}
"""Each page takes its time-out, and no memory: one copy is enough."""
ORDINARY = ("one.test", "two.test", "three.test")
LIST = b'<?xml version="1.0"?><urlset>'
HELPERS: dict[str, tuple[str, Behaviour]] = {
    # host: what is bad of that which should help a crawler
    "robots-endless.test": ("/robots.txt", b.endless()),
    "robots-bomb.test": ("/robots.txt", h.bomb("gzip")),
    "robots-long.test": ("/robots.txt", h.html(b"Disallow: /x\n" * 800_000, "text/plain")),
    "sitemap-endless.test": ("/sitemap.xml", b.endless()),
    "sitemap-bomb.test": ("/sitemap.xml", h.bomb("br")),
    "sitemap-drip.test": ("/sitemap.xml", h.dripping(0.5)),
    "sitemap-long.test": ("/sitemap.xml", h.html(LIST + b"<url/>" * 500_000, "application/xml")),
}
COPIES = 4


class MultiplyingSite(EndlessSite):
    """Each page links to a hundred that nobody has seen before."""

    def render(self, path: str) -> str:
        return self._document(path, 1, [f"{path.rstrip('/')}/{n}" for n in range(100)])


def a_web(copies: int) -> Web:
    """Ordinary pages on all hosts; of each bad page so many copies, behind `/bad`. Without copies all is well."""
    web = Web.generate(3, hosts=[*BAD, *HELPERS, *ORDINARY], pages_per_host=12, noise=False)
    for host, pages in BAD.items():
        times = min(copies, 1) if host in SLOW else copies
        paths = {f"/bad/{n}/{name}": pages[name][0] for n in range(times) for name in pages}
        links = "".join(f'<p><a href="{path}">{path}</a></p>\n' for path in paths)
        web[host].behave("/", b.linking("/bad"))
        web[host].add(Page("/bad", f"<!doctype html><title>Bad pages</title><main>{links}</main>\n"))
        for path, behaviour in paths.items():
            web[host].add(Page(path, "<!doctype html><title>Bad</title>\n"))
            web[host].behave(path, behaviour)
    if copies:
        for host, (path, behaviour) in HELPERS.items():
            web[host].add(Page(path, "", content_type="text/plain"))
            web[host].behave(path, behaviour)
        web.sites["multiplying.test"] = MultiplyingSite("multiplying.test")
    return web


@dataclass
class Crawled:
    """A crawl that has ended: its project, and the most memory that the engine and its parser took."""

    land: Land
    engine_bytes: int = 0
    parser_bytes: int = 0

    def watch(self, engine: int) -> None:
        with suppress(OSError):  # it ends just now
            self.engine_bytes = max(self.engine_bytes, peak(engine))
            for child in Path(f"/proc/{engine}/task/{engine}/children").read_text().split():
                self.parser_bytes = max(self.parser_bytes, peak(int(child)))

    def outcomes(self, host: str) -> dict[str, set[str]]:
        """Of all copies of each bad page."""
        found: dict[str, set[str]] = {}
        sql = """select split_part(p.path, '/', 4) as name, p.last_outcome, p.last_error
            from pages p join domains d on d.id = p.domain_id where d.name = :name and p.path like '/bad/%%'"""
        for row in self.land.rows(sql, name=self.land.name(host)):
            found.setdefault(row.name, set()).add(row.last_outcome)
        return found


def peak(pid: int) -> int:
    """The most memory that a process ever had (VmHWM); 0 where it ends just now."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


@pytest.fixture(scope="module")
def crawls(servers: TestServers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Crawled]]:
    """By the number of copies of each bad page: none (the control), one, several."""
    with ExitStack() as stack:
        found = {}
        for copies in (0, 1, COPIES):
            running = stack.enter_context(serve(a_web(copies)))
            for host in HELPERS:
                running.web[host].robots = f"User-agent: *\nSitemap: {running.url(host, '/sitemap.xml')}\n"
            land = Land(tmp_path_factory.mktemp("bad"), running, stack.enter_context(servers.cloned("pg18")))
            found[copies] = crawl(land)
        yield found


def crawl(land: Land) -> Crawled:
    crawled = Crawled(land)
    names = map(land.name, land.running.web.hosts)
    with land.start(*names, "--depth", "2", "--max-pages", "120", **TIGHT) as started:
        engine = started.engine().pid
        ends = time.monotonic() + 100
        while started.process.poll() is None and time.monotonic() < ends:
            crawled.watch(engine)
            time.sleep(0.1)
        ran = started.wait(seconds=5)
    assert (ran.code, ran.err.count("died")) == (0, 0), ran
    return crawled


def test_every_ordinary_page_is_fetched(crawls: dict[int, Crawled]) -> None:
    for crawled in crawls.values():
        land = crawled.land
        for host in {*BAD, *HELPERS, *ORDINARY}:
            ordinary = {path for path in land.running.web[host].reachable(2) if not path.startswith("/bad/")}
            assert len(ordinary) >= 8
            assert ordinary <= land.fetched(host), host


@pytest.mark.parametrize("host", BAD)
@pytest.mark.parametrize("copies", [1, COPIES])
def test_every_bad_page_has_its_outcome(crawls: dict[int, Crawled], host: str, copies: int) -> None:
    assert crawls[copies].outcomes(host) == {name: {outcome} for name, (_, outcome) in BAD[host].items()}


def test_memory_stays_within_its_bounds(crawls: dict[int, Crawled]) -> None:
    """Some bodies of 10 MB at a time, and what is made of them: not the half a gigabyte that the bombs would be."""
    assert crawls[1].engine_bytes - crawls[0].engine_bytes < 400 * MB
    assert crawls[1].parser_bytes < 1_200 * MB


def test_more_of_the_same_takes_no_more_memory(crawls: dict[int, Crawled]) -> None:
    """If a third of what was read of the three further copies were kept, it would show: they are 300 MB."""
    assert crawls[COPIES].engine_bytes - crawls[1].engine_bytes < 100 * MB
    assert crawls[COPIES].parser_bytes - crawls[1].parser_bytes < 100 * MB


def test_the_books_agree(crawls: dict[int, Crawled]) -> None:
    crawls[COPIES].land.check()
