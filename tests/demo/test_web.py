"""The local web itself: what proves things about the crawler has to be proved first, over real connections."""

import gzip
import http.client
import json
import math
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import brotli
import psutil
import pytest
import trustme

from bailiwick.base.errors import NameRefusedError
from bailiwick.demo.web.answers import HTML, Behaviour, Origins, Page
from bailiwick.demo.web.behaviours import (
    JSON,
    PDF,
    PNG,
    at_origin,
    chunked,
    delayed,
    dropped,
    encoded,
    endless,
    for_first,
    gzip_bomb,
    held,
    in_charset,
    linking,
    noindex_header,
    noindex_meta,
    redirect,
    slow_body,
    status,
    too_many_requests,
    truncated,
    validators,
    with_header,
)
from bailiwick.demo.web.heads import MAX_HEAD_BYTES
from bailiwick.demo.web.log import RequestLog
from bailiwick.demo.web.running import Running, serve
from bailiwick.demo.web.sample import sample_web
from bailiwick.demo.web.sites import Web
from bailiwick.demo.web.trees import MAX_DEPTH
from bailiwick.model.urls import PageUrl

A, B = "a.test", "b.test"


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.hrefs += [value or "" for name, value in attrs if name == "href"]


@pytest.fixture
def web() -> Web:
    return Web.generate(1, hosts=(A, B), pages_per_host=60)


@pytest.fixture
def running(web: Web) -> Iterator[Running]:
    with serve(web) as served:
        yield served


@contextmanager
def connected(running: Running) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection("127.0.0.1", running.port, timeout=10)) as connection:
        yield connection


def ask(connection: http.client.HTTPConnection, host: str, path: str = "/", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("GET", path, headers={"Host": f"{host}:{connection.port}", **named})
    response = connection.getresponse()
    return Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())


def get(running: Running, host: str, path: str = "/", **headers: str) -> Reply:
    with connected(running) as connection:
        return ask(connection, host, path, **headers)


def hrefs(body: str) -> list[str]:
    parser = _Links()
    parser.feed(body)
    return parser.hrefs


def crawl(running: Running, host: str) -> dict[str, int]:
    """Path -> depth of all that is answered with 200, by a crawler that reads only what it is sent."""
    depths: dict[str, int] = {}
    waiting, seen = deque([("/", 0)]), set()
    with connected(running) as connection:
        while waiting:
            path, depth = waiting.popleft()
            if path in seen:
                continue
            seen.add(path)
            reply = ask(connection, host, path)
            if reply.status == 429:
                reply = ask(connection, host, path)
            if reply.status in (301, 302):
                waiting.extendleft((found, depth) for found in _own(running, host, path, [reply.headers["location"]]))
            elif reply.status == 200:
                depths[path] = depth
                links = hrefs(reply.text) if reply.headers["content-type"] == HTML else []
                waiting.extend((found, depth + 1) for found in _own(running, host, path, links))
    return depths


def _own(running: Running, host: str, path: str, links: list[str]) -> Iterator[str]:
    for href in links:
        try:
            page = PageUrl.parse(href, running.url(host, path))
        except NameRefusedError:
            continue
        if page.domain.name == running.name(host):
            yield page.path


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within ten seconds"
        time.sleep(0.002)


def _request(path: str, *headers: str, close: bool = True) -> bytes:
    lines = [f"GET {path} HTTP/1.1", f"Host: {A}", *headers, *(["Connection: close"] if close else []), "\r\n"]
    return "\r\n".join(lines).encode()


def _raw(running: Running, sent: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", running.port), timeout=5) as raw:
        raw.sendall(sent)
        return b"".join(iter(lambda: raw.recv(65_536), b""))


# Pages


def test_the_same_seed_gives_the_same_bytes_and_another_one_others() -> None:
    def bodies(seed: int) -> list[str | bytes]:
        site = Web.generate(seed, hosts=(A, B), pages_per_host=40)[A]
        return [page.body for path in sorted(site.reachable()) if (page := site.page(path))]

    assert bodies(1) == bodies(1)
    assert len(set(bodies(1))) == 40
    assert not set(bodies(1)) & set(bodies(2))


@pytest.mark.parametrize("pages", [1, 2, 50, 400, 2_000])
def test_every_path_is_canonical_and_no_page_is_deeper_than_promised(pages: int) -> None:
    site = Web.generate(3, hosts=[A], pages_per_host=pages)[A]
    paths = site.reachable()
    assert len(paths) == pages
    assert {PageUrl.parse(f"http://{A}:8080{path}").path for path in paths} == paths
    depths = Counter(site.depth_of(path) for path in paths)
    assert depths[0] == 1
    assert max(depth for depth in depths if depth is not None) <= MAX_DEPTH
    assert len(site.reachable(1)) == depths[0] + depths[1]


def test_what_is_no_page_is_not_found() -> None:
    site = Web.generate(3, hosts=[A], pages_per_host=50)[A]
    path = max(site.reachable())
    assert site.page(path) is not None
    for other in (f"{path}x", path[:-1], "/nothing", f"/{'9' * 5000}", "", "/x-7.html", path.replace("s/", "s//")):
        assert site.page(other) is None, other
        assert site.depth_of(other) is None


def test_pages_have_the_size_and_the_links_that_were_asked_for() -> None:
    site = Web.generate(4, hosts=(A, B), pages_per_host=300, links_per_page=60, page_bytes=40_000)[A]
    pages = [page.body for path in site.reachable() if (page := site.page(path)) and isinstance(page.body, str)]
    assert all(32_000 < len(body) < 44_000 for body in pages)
    assert all(55 <= len(hrefs(body)) <= 62 for body in pages)


def test_links_are_written_in_many_ways(running: Running) -> None:
    origin = running.url(A, "")
    bodies = [get(running, A, path).text for path in running.web[A].reachable()]
    found = [href for body in bodies for href in hrefs(body)]
    for start in ("/", "../", f"{origin}/", f"//{running.name(A)}/", "mailto:", "javascript:", running.url(B)):
        assert any(href.startswith(start) for href in found), start
    assert any("#" in href for href in found)
    assert any("?utm_source=" in href for href in found)
    assert any("&utm_source=" in href for href in found)
    assert any("&amp;item=" in body for body in bodies)
    assert all(len(hrefs(body)) > len(set(hrefs(body))) for body in bodies)


def test_without_noise_every_link_is_a_page_of_the_site() -> None:
    site = Web.generate(1, hosts=(A, B), pages_per_host=100, noise=False)[A]
    for path in site.reachable():
        page = site.page(path)
        assert page is not None
        for href in hrefs(str(page.body)):
            assert "utm_" not in href
            assert site.depth_of(PageUrl.parse(href, f"http://{A}{path}").path) is not None


# Reachable


def test_a_crawl_over_http_finds_what_the_site_says_is_reachable(running: Running) -> None:
    site = running.web[A]
    found = crawl(running, A)
    assert set(found) == site.reachable()
    assert len(found) == 60
    assert found == {path: site.depth_of(path) for path in found}
    for depth in range(6):
        assert site.reachable(depth) == {path for path, at in found.items() if at <= depth}
    assert running.log.answered_200() == {(A, path) for path in found}


@pytest.mark.parametrize(("seed", "pages", "links"), [(2, 7, 3), (3, 250, 30), (4, 400, 5)])
def test_cross_links_make_no_page_shallower(seed: int, pages: int, links: int) -> None:
    web = Web.generate(seed, hosts=[A], pages_per_host=pages, links_per_page=links)
    with serve(web) as running:
        found = crawl(running, A)
    assert len(found) == pages
    assert found == {path: web[A].depth_of(path) for path in found}


def test_a_crawl_finds_the_same_where_pages_misbehave(running: Running) -> None:
    site = running.web[A]
    whole = site.reachable()
    first, second, third = sorted(path for path in whole if site.depth_of(path) == 1)
    fourth = min(path for path in whole if site.depth_of(path) == 2)
    site.behave(first, status(404))
    site.behave(second, redirect(third))
    site.behave(fourth, redirect("/island", host=B))
    site.behave(third, noindex_meta(), linking("/by-hand", "/loop", "/hop", "/report.pdf", "?new=1"))
    site.add(Page("/by-hand", '<a href="deeper?b=1&amp;a=2">x</a>'), Page("/deeper?b=1&a=2", "the end"))
    site.add(Page("/landing", "beyond the redirect"), Page("/island", "nobody links here, only to its like on B"))
    site.behave("/hop", redirect("landing", status=302))
    site.behave("/loop", redirect("/pool"))
    site.behave("/pool", redirect("/loop", status=302))
    site.behave("/report.pdf", PDF)
    found = crawl(running, A)
    assert found == {path: site.depth_of(path) for path in site.reachable()}
    assert {"/by-hand", "/deeper?b=1&a=2", "/report.pdf", "/landing", third} < set(found)
    assert not {first, second, fourth, "/hop", "/island", "/loop", "/pool"} & set(found)
    assert found["/landing"] == found["/by-hand"]
    assert found["/deeper?b=1&a=2"] == found["/by-hand"] + 1 == found[third] + 2


def test_a_site_that_moved_to_another_origin_is_reachable_all_the_same() -> None:
    site = Web.generate(1, hosts=[A], pages_per_host=20)[A]
    site.www = True
    before = site.reachable()
    site.behave_everywhere(at_origin(scheme="https", www=True))
    assert site.reachable() == before
    site.behave_everywhere(redirect("/", host=B))
    assert site.reachable() == set()


def test_broken_answers_are_not_reachable() -> None:
    site = Web.generate(1, hosts=[A], pages_per_host=4)[A]
    broken = sorted(site.reachable() - {"/"})
    for path, behaviour in zip(broken, (truncated(), endless(), dropped()), strict=True):
        site.behave(path, behaviour)
    assert site.reachable() == {"/"}


# Behaviours


@pytest.mark.parametrize("code", [403, 404, 410, 429, 500, 503])
def test_a_status(running: Running, code: int) -> None:
    running.web[A].behave("/", status(code))
    assert get(running, A).status == code
    running.web[A].behave("/")
    assert get(running, A).status == 200


def test_retry_after_until_it_is_over(running: Running) -> None:
    running.web[A].behave("/", for_first(2, too_many_requests("7")))
    replies = [get(running, A) for _ in range(3)]
    assert [reply.status for reply in replies] == [429, 429, 200]
    assert replies[0].headers["retry-after"] == "7"
    assert "/" in running.web[A].reachable()


def test_redirects(running: Running) -> None:
    site = running.web[A]
    site.www = True
    site.behave("/own", redirect("/new?x=1", status=308))
    site.behave("/off", redirect("/there", host=B, status=302))
    site.behave("/www", at_origin(www=True))
    site.behave("/apex", at_origin(www=False))
    site.behave("/secure", at_origin(scheme="https"))
    assert (reply := get(running, A, "/own")).status == 308
    assert reply.headers["location"] == "/new?x=1"
    assert get(running, A, "/off").headers["location"] == running.url(B, "/there")
    assert get(running, A, "/www").headers["location"] == running.url(f"www.{A}", "/www")
    assert get(running, f"www.{A}", "/apex").headers["location"] == running.url(A, "/apex")
    assert get(running, A, "/secure").headers["location"] == running.url(A, "/secure", scheme="https")
    assert get(running, A, "/apex").status == 404  # it is at its origin, and there is no such page


def test_a_whole_site_can_be_switched_off_and_on_but_its_robots_txt_stays(running: Running) -> None:
    site = running.web[A]
    page = min(site.reachable() - {"/"})
    site.robots = "User-agent: *\nDisallow: /private\n"
    site.behave_everywhere(status(500))
    assert [get(running, A, path).status for path in ("/", page, "/nowhere")] == [500] * 3
    assert site.reachable() == set()
    assert get(running, A, "/robots.txt").text == site.robots
    assert get(running, B, "/robots.txt").status == get(running, B, "/favicon.ico").status == 404
    site.behave_everywhere()
    assert get(running, A, page).status == 200
    site.behave("/robots.txt", status(503))
    assert get(running, A, "/robots.txt").status == 503


def test_noindex(running: Running) -> None:
    running.web[A].behave("/", noindex_meta())
    running.web[B].behave("/", noindex_header(), with_header("X-More", "yes"))
    assert '<meta name="robots" content="noindex"></head>' in get(running, A).text
    assert get(running, B).headers["x-robots-tag"] == "noindex"
    assert get(running, B).headers["x-more"] == "yes"


def test_what_the_client_knows_is_answered_with_304(running: Running) -> None:
    site = running.web[A]
    site.behave_everywhere(validators(), encoded("br"))
    with connected(running) as connection:
        first = ask(connection, A)
        tag, date = first.headers["etag"], first.headers["last-modified"]
        for known in ({"If_None_Match": tag}, {"If_None_Match": f'"x", W/{tag}'}, {"If_Modified_Since": date}):
            reply = ask(connection, A, **known)
            assert (reply.status, reply.body, reply.headers["etag"]) == (304, b"", tag), known
            assert "content-length" not in reply.headers
        # If-None-Match decides alone where both are given (RFC 9110 section 13.1.3).
        assert ask(connection, A, If_None_Match='"x"', If_Modified_Since=date).status == 200
        assert ask(connection, A, If_Modified_Since="Thu, 01 Jan 2015 00:00:00 GMT").status == 200
        assert ask(connection, A, If_Modified_Since="yesterday").status == 200
        site.change("/")
        assert ask(connection, A, If_None_Match=tag).status == 200
        assert ask(connection, A, If_Modified_Since=date).status == 200
        assert ask(connection, A, "/nowhere", If_None_Match="*").status == 404
    site.behave("/", chunked())
    assert _raw(running, _request("/", "If-None-Match: *")).partition(b"\r\n\r\n")[2] == b""


def test_only_the_validators_that_the_page_has_count(running: Running) -> None:
    running.web[A].behave("/", validators(etag=False))
    running.web[B].behave("/", validators(last_modified=False))
    dated, tagged = get(running, A), get(running, B)
    assert "etag" not in dated.headers
    assert "last-modified" not in tagged.headers
    assert get(running, A, If_None_Match="*", If_Modified_Since=dated.headers["last-modified"]).status == 200
    assert get(running, B, If_Modified_Since="Fri, 01 Jan 2100 00:00:00 GMT").status == 200
    assert get(running, A, If_Modified_Since=dated.headers["last-modified"]).status == 304
    assert get(running, B, If_None_Match="*").status == 304


@pytest.mark.parametrize("path", ["/", "/by-hand"])
def test_a_page_changes_visibly_or_in_its_script_alone(running: Running, path: str) -> None:
    site = running.web[A]
    site.add(Page("/by-hand", "<!doctype html><title>x</title><main><p>Hello.</p></main>"))

    def visible(body: str) -> str:
        while "<script>" in body:
            before, _, rest = body.partition("<script>")
            body = before + rest.partition("</script>")[2]
        return body.strip()

    first = get(running, A, path).text
    assert get(running, A, path).text == first
    site.change(path, visible=False)
    second = get(running, A, path).text
    assert second != first
    assert visible(second) == visible(first)
    site.change(path)
    third = get(running, A, path).text
    site.change(path)
    assert len({visible(second), visible(third), visible(get(running, A, path).text)}) == 3


@pytest.mark.parametrize(
    ("coding", "decode"), [("gzip", gzip.decompress), ("deflate", zlib.decompress), ("br", brotli.decompress)]
)
def test_content_codings(running: Running, coding: str, decode: Callable[[bytes], bytes]) -> None:
    plain = get(running, A).body
    running.web[A].behave_everywhere(encoded(coding))
    reply = get(running, A)
    assert reply.headers["content-encoding"] == coding
    assert len(reply.body) < len(plain)
    assert decode(reply.body) == plain
    running.web[A].behave("/x", PNG)
    assert decode(get(running, A, "/x").body).startswith(b"\x89PNG")


def test_a_gzip_bomb_is_small_until_it_is_opened(running: Running) -> None:
    running.web[A].behave("/", gzip_bomb(20_000_000))
    reply = get(running, A)
    assert reply.headers["content-encoding"] == "gzip"
    assert len(reply.body) < 100_000
    assert len(gzip.decompress(reply.body)) == 20_000_000


@pytest.mark.parametrize(
    ("behaviour", "kind", "start"),
    [
        (PDF, "application/pdf", b"%PDF-"),
        (PNG, "image/png", b"\x89PNG\r\n\x1a\n"),
        (JSON, "application/json", b'{"pages": 3'),
    ],
)
def test_other_content_types(running: Running, behaviour: Behaviour, kind: str, start: bytes) -> None:
    running.web[A].behave("/file", behaviour)
    reply = get(running, A, "/file")
    assert (reply.status, reply.headers["content-type"]) == (200, kind)
    assert reply.body.startswith(start)


@pytest.mark.parametrize(
    ("charset", "text", "told_by", "told"),
    [
        ("utf-8", "Zoë in the café", "header", b""),
        ("windows-1252", "“Crème” • 5 €", "header", b""),
        ("windows-1252", "“Crème” • 5 €", "meta", b'<meta charset="windows-1252">'),
        ("shift_jis", "図書館の開館時間", "meta", b'<meta charset="shift_jis">'),
        ("shift_jis", "図書館の開館時間", "header", b""),
        ("utf-16le", "Żółw и кот", "bom", b"\xff\xfe"),
        ("utf-8", "Żółw и кот", "bom", b"\xef\xbb\xbf"),
        ("windows-1252", "Crème", "nothing", b""),
    ],
)
def test_charsets(running: Running, charset: str, text: str, told_by: str, told: bytes) -> None:
    running.web[A].behave("/", in_charset(charset, text, told_by=told_by))
    reply = get(running, A)
    assert told in reply.body
    assert reply.body.startswith(told) or told_by != "bom"
    assert ("charset" in reply.headers["content-type"]) == (told_by == "header")
    assert (b"<meta charset" in reply.body) == (told_by == "meta")
    assert f"<p>{text}</p>" in reply.body.decode(charset)


def test_late_and_slow_answers_take_their_time_and_are_whole(running: Running) -> None:
    plain = get(running, A).body
    for behaviour in (delayed(0.15), slow_body(0.15)):
        running.web[A].behave("/", behaviour)
        started = time.monotonic()
        assert get(running, A).body == plain
        assert 0.14 < time.monotonic() - started < 2
    entry = running.log.entries(A)[-1]
    assert entry.answered is not None
    assert entry.answered - entry.received > 0.14


def test_a_fixed_latency_holds_for_every_answer_and_requests_do_not_wait_for_each_other(running: Running) -> None:
    running.web[A].behave_everywhere(delayed(0.3))
    threads = [threading.Thread(target=get, args=(running, A)) for _ in range(5)]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0.3 < time.monotonic() - started < 1.4  # one after the other they would need 1.5
    assert running.log.most_at_once(A) == 5


def test_chunks_and_pipelining(running: Running) -> None:
    plain = get(running, A).body
    running.web[A].behave("/", chunked(), slow_body(0.02))
    reply = get(running, A)
    assert reply.headers["transfer-encoding"] == "chunked"
    assert reply.body == plain
    paths = ["/first", "/second", "/", "/last"]
    received = _raw(running, b"".join(_request(path, close=path == "/last") for path in paths))
    assert [int(part[:3]) for part in received.split(b"HTTP/1.1 ")[1:]] == [404, 404, 200, 404]
    assert [entry.path for entry in running.log.entries()][2:] == paths
    assert running.log.most_at_once(A) == 1


def test_broken_answers(running: Running) -> None:
    running.web[A].behave("/cut", PDF, truncated(10))
    running.web[A].behave("/drop", dropped())
    with pytest.raises(http.client.IncompleteRead) as cut:
        get(running, A, "/cut")
    assert len(cut.value.partial) == 10
    with pytest.raises(http.client.RemoteDisconnected):
        get(running, A, "/drop")
    wait_for(lambda: not running.log.open_requests())
    assert [(entry.status, entry.whole) for entry in running.log.entries()] == [(200, False), (None, False)]
    assert running.log.answered_200() == set()


def test_an_endless_answer_goes_on_until_the_client_hangs_up(running: Running) -> None:
    running.web[A].behave("/", endless())
    with connected(running) as connection:
        connection.request("GET", "/", headers={"Host": A})
        response = connection.getresponse()
        assert len(response.read(3_000_000)) == 3_000_000
        assert len(running.log.open_requests()) == 1
        response.close()
    wait_for(lambda: not running.log.open_requests())
    assert get(running, B).status == 200


# Hosts and limits


def test_hosts(running: Running) -> None:
    assert get(running, B).text != get(running, A).text
    assert get(running, A.upper()).status == 200
    assert get(running, "elsewhere.test").status == 404
    assert get(running, f"www.{A}").status == 404
    running.web[A].www = True
    assert get(running, f"www.{A}").text == get(running, A).text
    entries = running.log.entries(A)
    assert [entry.www for entry in entries] == [False, False, True, False]


def test_tracking_parameters_choose_no_other_page_but_show_in_the_log(running: Running) -> None:
    assert get(running, A, "/?utm_source=x").body == get(running, A).body
    path = next(path for path in running.web[A].reachable() if "&" in path)
    assert get(running, A, f"{path}&utm_source=x&fbclid=1").body == get(running, A, path).body
    assert get(running, A, f"{path}&other=x").status == 404
    running.web[A].robots = "User-agent: *\nDisallow:\n"
    assert get(running, A, "/robots.txt").status == 200
    asked = {"/", "/?utm_source=x", path, f"{path}&utm_source=x&fbclid=1"}
    assert running.log.answered_200() == {(A, path) for path in asked}


def test_it_listens_on_loopback_only(running: Running) -> None:
    listening = [c for c in psutil.Process().net_connections("inet") if c.status == "LISTEN"]
    assert [c.laddr.ip for c in listening if c.laddr.port == running.port] == ["127.0.0.1"]
    assert running.name(A) == f"{A}:{running.port}"
    assert running.resolve == f"*:{running.port}:127.0.0.1"


def test_a_port_that_is_taken_is_an_error_and_one_that_was_left_is_free_again(web: Web) -> None:
    with serve(web) as running:
        assert get(running, A).status == 200
        with pytest.raises(OSError, match="in use"), serve(web, port=running.port):
            pass
        assert get(running, A).status == 200
    with serve(web, port=running.port) as again:
        assert again.port == running.port
        assert get(again, A).status == 200


def test_what_is_no_request_is_refused(running: Running) -> None:
    assert _raw(running, b"hello\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert _raw(running, b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    too_long = b"GET / HTTP/1.1\r\nHost: a.test\r\nX: ".ljust(MAX_HEAD_BYTES + 1, b"x")
    assert _raw(running, too_long).startswith(b"HTTP/1.1 431 ")
    assert _raw(running, too_long + b"\r\n\r\n").startswith(b"HTTP/1.1 431 ")
    assert _raw(running, b"\x16\x03\x01hello") == b""  # TLS, and there is none
    assert not running.log.entries()
    post = b"POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    assert _raw(running, post).startswith(b"HTTP/1.1 405 ")
    head = b"HEAD / HTTP/1.0\r\nHost: a.test\r\n\r\n"
    assert _raw(running, head).endswith(b"\r\n\r\n")
    assert b"Content-Length: " in _raw(running, head)


def test_an_idle_connection_is_closed_and_one_that_waits_for_its_answer_is_not(web: Web) -> None:
    web[B].behave("/", delayed(0.5))
    with serve(web, idle_seconds=0.1) as running:
        waiting = threading.Thread(target=get, args=(running, B))
        waiting.start()
        assert _raw(running, _request("/nowhere", close=False)).startswith(b"HTTP/1.1 404 ")
        waiting.join()
        assert running.log.answered_200() == {(B, "/")}


# The log


def test_the_log_tells_gaps_and_overlaps_exactly(tmp_path: Path) -> None:
    def opened(number: int, at: float, host: str = A) -> dict[str, object]:
        common = {"path": f"/{number}", "scheme": "http", "www": False}
        return {"event": "open", "n": number, "host": host, "t": at, "at": 0.0, **common}

    def done(number: int, at: float, answer: int | None = 200) -> dict[str, object]:
        return {"event": "done", "n": number, "status": answer, "whole": answer is not None, "t": at}

    rows = [opened(1, 1.0), opened(2, 1.5), opened(3, 1.6, B), done(2, 1.75), opened(4, 1.75), done(1, 2.0)]
    rows += [done(3, 2.0, 404), done(4, 3.0), opened(5, 4.0), opened(6, 4.25), done(5, 4.5, None), opened(7, 4.75)]
    file = tmp_path / "log"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"event": "op')
    log = RequestLog.read(file)
    assert log.times(A) == [1.0, 1.5, 1.75, 4.0, 4.25, 4.75]
    assert log.min_gap(A) == 0.25
    assert log.min_gap(B) == log.min_gap("c.test") == math.inf
    assert log.most_at_once(A) == 2  # at 1.75 one ends as another begins
    assert log.most_at_once(B) == 1
    assert log.answered_200() == {(A, "/1"), (A, "/2"), (A, "/4")}
    assert [entry.number for entry in log.open_requests()] == [6, 7]
    assert log.statuses[B, 404] == 1
    assert log.requests[A] == 6


def test_open_requests_are_seen_while_they_are_open(running: Running) -> None:
    released = threading.Event()
    running.web[A].behave_everywhere(held(released.is_set))
    threads = [threading.Thread(target=get, args=(running, A, f"/?n={n}")) for n in range(3)]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(running.log.open_requests()) == 3)
    assert get(running, B).status == 200
    assert {entry.path for entry in running.log.open_requests()} == {"/?n=0", "/?n=1", "/?n=2"}
    released.set()
    for thread in threads:
        thread.join()
    assert not running.log.open_requests()
    assert running.log.most_at_once(A) == 3
    assert running.log.most_at_once(B) == 1
    assert running.log.asked[A, "/?n=1"] == 1


def test_requests_one_after_the_other_are_one_at_once(running: Running) -> None:
    with connected(running) as connection:
        for path in sorted(running.web[A].reachable()):
            before = time.monotonic()
            ask(connection, A, path)
            assert before < running.log.times(A)[-1] < time.monotonic()
    assert running.log.most_at_once(A) == 1
    assert 0 < running.log.min_gap(A) < 1
    assert running.log.requests[A] == running.log.statuses[A, 200] == 60


def test_a_client_that_hangs_up_ends_its_request(running: Running) -> None:
    polls: list[float] = []

    def never() -> bool:
        polls.append(time.monotonic())
        return False

    running.web[A].behave("/", held(never))
    with connected(running) as connection:
        connection.request("GET", "/", headers={"Host": A})
        wait_for(lambda: len(running.log.open_requests()) == 1)
    wait_for(lambda: not running.log.open_requests())
    (entry,) = running.log.entries()
    assert (entry.status, entry.whole) == (None, False)
    time.sleep(0.05)  # nothing is left that waits for the answer
    assert entry.answered is not None
    assert polls[-1] < entry.answered


def test_the_file_holds_what_memory_holds_and_more_if_that_is_bounded(web: Web, tmp_path: Path) -> None:
    file = tmp_path / "log"
    for _ in range(2):  # a second server goes on in the same file
        with serve(web, log=RequestLog(file, keep=2)) as running:
            for path in ("/", "/nowhere", "/robots.txt"):
                get(running, A, path)
            assert [entry.path for entry in running.log.entries()] == ["/nowhere", "/robots.txt"]
            assert running.log.requests[A] == 3
    log = RequestLog.read(file)
    assert [(entry.path, entry.status) for entry in log.entries()] == [
        ("/", 200),
        ("/nowhere", 404),
        ("/robots.txt", 404),
    ] * 2
    assert not log.open_requests()
    assert log.entries()[-1] == running.log.entries()[-1]


# TLS


@dataclass(frozen=True, slots=True)
class Certificates:
    server: ssl.SSLContext
    client: ssl.SSLContext
    pem: bytes


@pytest.fixture(scope="module")
def certificates() -> Certificates:
    authority = trustme.CA()
    issued = authority.issue_cert(A, f"www.{A}", B)
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    issued.configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    return Certificates(server, client, issued.private_key_and_cert_chain_pem.bytes())


def get_secure(port: int, host: str, context: ssl.SSLContext) -> bytes:
    with (
        socket.create_connection(("127.0.0.1", port), timeout=5) as raw,
        context.wrap_socket(raw, server_hostname=host) as secure,
    ):
        secure.sendall(f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: secure.recv(65_536), b""))


def test_http_and_https_share_a_port(web: Web, certificates: Certificates) -> None:
    with serve(web, tls=certificates.server) as running:
        assert running.tls_port == running.port
        body = get_secure(running.port, A, certificates.client)
        assert body.startswith(b"HTTP/1.1 200 OK\r\n")
        assert get(running, A).status == 200
        assert [entry.scheme for entry in running.log.entries()] == ["https", "http"]
        with pytest.raises(ssl.SSLCertVerificationError):
            get_secure(running.port, A, ssl.create_default_context())
        assert get(running, A).status == 200


def test_https_may_have_a_port_of_its_own(web: Web, certificates: Certificates) -> None:
    with serve(web, tls=certificates.server, tls_port=0) as running:
        assert running.tls_port != running.port
        assert get_secure(running.tls_port, A, certificates.client).startswith(b"HTTP/1.1 200 OK\r\n")
        assert get(running, A).status == 200
        with pytest.raises(OSError, match=r".*"):
            get_secure(running.port, A, certificates.client)
        web[A].behave("/", at_origin(scheme="https"))
        assert get(running, A).headers["location"] == f"https://{A}:{running.tls_port}/"
        assert get_secure(running.tls_port, A, certificates.client).startswith(b"HTTP/1.1 200 OK\r\n")


def test_who_says_nothing_on_a_shared_port_is_sent_away(web: Web, certificates: Certificates) -> None:
    with (
        serve(web, tls=certificates.server, idle_seconds=0.1) as running,
        socket.create_connection(("127.0.0.1", running.port), timeout=5) as raw,
    ):
        assert raw.recv(1) == b""


def test_a_site_may_speak_one_scheme_only(web: Web, certificates: Certificates) -> None:
    web[A].schemes = frozenset({"http"})
    web[B].schemes = frozenset({"https"})
    with serve(web, tls=certificates.server) as running:
        assert get_secure(running.port, A, certificates.client) == b""
        assert get(running, A).status == 200
        assert get_secure(running.port, B, certificates.client).startswith(b"HTTP/1.1 200 OK\r\n")
        with pytest.raises(http.client.RemoteDisconnected):
            get(running, B)


def test_absolute_links_lead_to_where_the_page_was_asked_for(web: Web) -> None:
    origins = Origins(http=8_080, https=8_443)
    for scheme, port in (("http", 8_080), ("https", 8_443)):
        pages = [web[A].page(path, origins=origins, scheme=scheme) for path in web[A].reachable()]
        found = {href for page in pages if page is not None for href in hrefs(str(page.body))}
        assert {href.partition(A)[2].partition("/")[0] for href in found if f"//{A}" in href} == {f":{port}"}
        assert {href.partition("//")[0] for href in found if f"//{A}" in href} == {f"{scheme}:", ""}


# In a process of its own


@contextmanager
def process(*options: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "bailiwick.demo.web", *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        try:
            yield started
        finally:
            if started.poll() is None:
                started.kill()


def test_a_process_serves_the_same_web_until_its_standard_input_ends(tmp_path: Path) -> None:
    file = tmp_path / "log"
    with process("--hosts", "3", "--pages", "30", "--seed", "5", "--log", str(file), "--until-eof") as started:
        assert started.stdin is not None
        assert started.stdout is not None
        said = json.loads(started.stdout.readline())
        web = Web.generate(5, hosts=3, pages_per_host=30)
        assert said["hosts"] == web.hosts
        assert said["resolve"] == f"*:{said['port']}:127.0.0.1"
        host, origins = said["hosts"][1], Origins(said["port"], said["port"])
        running = Running(web, RequestLog(), origins)
        assert set(crawl(running, host)) == web[host].reachable()
        for path in web[host].reachable():
            page = web[host].page(path, origins=origins)
            assert page is not None
            assert get(running, host, path).text == page.body
        assert RequestLog.read(file).answered_200() == {(host, path) for path in web[host].reachable()}
        started.stdin.close()
        assert started.wait(10) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_ends_on_a_signal_with_requests_open(number: int, tmp_path: Path, certificates: Certificates) -> None:
    pem, file = tmp_path / "pem", tmp_path / "log"
    pem.write_bytes(certificates.pem)
    with process("--sample", "--latency", "30", "--tls-pem", str(pem), "--log", str(file)) as started:
        assert started.stdout is not None
        port = json.loads(started.stdout.readline())["port"]
        with socket.create_connection(("127.0.0.1", port), timeout=5) as raw:
            raw.sendall(b"GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n")
            wait_for(lambda: len(RequestLog.read(file).open_requests()) == 1)
            started.send_signal(number)
            assert started.wait(10) == 0
            assert raw.recv(1) == b""
    assert [(entry.host, entry.status) for entry in RequestLog.read(file).entries()] == [("shop.example", None)]


# The sample web


def test_the_sample_web_is_what_the_demo_needs() -> None:
    web = sample_web()
    assert 6 <= len(web.hosts) <= 9
    assert all(host.endswith(".example") for host in web.hosts)
    sizes = {host: len(site.reachable()) for host, site in web.sites.items()}
    assert sizes.pop("members.example") == 0
    assert all(20 <= size <= 155 for size in sizes.values()), sizes
    deeper = {host for host, site in web.sites.items() if site.reachable(3) != site.reachable()}
    assert deeper == {"museum.example"}
    with serve(web) as running:
        for host in sizes:
            web[host].behave_everywhere()  # this crawler knows no gzip
            assert crawl(running, host) == {path: web[host].depth_of(path) for path in web[host].reachable()}
        assert crawl(running, "members.example") == {}
        assert get(running, "members.example").status == 403
        blog = [get(running, "blog.example", path).text for path in web["blog.example"].reachable()]
        friends = {href for body in blog for href in hrefs(body)}
        assert {running.url(host) for host in web.hosts if host != "blog.example"} <= friends


def test_the_sample_web_reads_like_text() -> None:
    for site in sample_web().sites.values():
        page = site.page("/")
        assert page is not None
        assert "{" not in str(page.body)
        assert "<h1>" in str(page.body)
    titles = Counter(
        str(page.body).partition("<title>")[2].partition("</title>")[0]
        for path in sample_web()["museum.example"].reachable()
        if (page := sample_web()["museum.example"].page(path))
    )
    assert titles.most_common(1)[0][1] == 1
