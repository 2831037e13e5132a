"""`bailiwick serve` as it is started, used, stopped and killed."""

import re
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from tests.cli.serving import Serving, serving, wait_for
from tests.cli.tools import bailiwick
from tests.servers import TestServers

PASSWORD = "correct horse battery"


@pytest.fixture
def url(servers: TestServers) -> Iterator[str]:
    with servers.cloned("pg18") as made:
        yield made


def word_of(page: str) -> str:
    return page.partition('name="word" value="')[2].partition('"')[0]


def set_up(client: httpx.Client, link: str) -> httpx.Response:
    page = client.get(link)
    return client.post(link, data={"word": word_of(page.text), "name": "boss", "password": PASSWORD, "again": PASSWORD})


def browser(started: Serving) -> httpx.Client:
    return httpx.Client(base_url=started.address, timeout=30)


def test_the_first_start_prints_a_link_that_works_once_and_no_secret_is_logged(url: str, tmp_path: Path) -> None:
    with serving(tmp_path, "--no-worker", before=("-vv",), BAILIWICK_DATABASE_URL=url) as first:
        link = first.link
        assert re.fullmatch(r"/welcome/[A-Za-z0-9_-]{43}", link)
        with browser(first) as client:
            assert set_up(client, link).status_code == 303
            assert client.get("/members").status_code == 200
            assert client.get(link).status_code == 404
            token = client.cookies["bailiwick"]
        assert first.stop() == 0
        assert '"route": "/welcome/{word}"' in first.err
        for secret in (PASSWORD, link.rsplit("/", 1)[1], token):
            assert secret not in first.err
        assert "Traceback" not in first.err
        assert "error" not in first.err
    me = bailiwick("member", "list", "--json", cwd=tmp_path, BAILIWICK_DATABASE_URL=url).rows
    assert [(row["name"], row["role"], row["can_log_in"]) for row in me] == [("boss", "admin", True)]
    with serving(tmp_path, "--no-worker", BAILIWICK_DATABASE_URL=url) as second:
        second.ready()
        assert second.out == ""
        assert second.stop(signal.SIGTERM) == 0


def test_a_taken_port_is_told_with_a_hint(url: str, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        ran = bailiwick("serve", "--port", port, "--no-worker", cwd=tmp_path, BAILIWICK_DATABASE_URL=url)
    assert ran.code == 5
    assert f"cannot serve on 127.0.0.1 port {port}: Address already in use" in ran.err
    assert "hint: take another one: --port N, 0 for any" in ran.err
    assert "/welcome/" not in ran.out


def test_an_address_that_is_not_ours_is_told(url: str, tmp_path: Path) -> None:
    for host, code in (("no-such-host.invalid", 2), ("192.0.2.1", 5)):
        ran = bailiwick("serve", "--host", host, "--port", "0", "--no-worker", cwd=tmp_path, BAILIWICK_DATABASE_URL=url)
        assert ran.code == code, ran
        assert "hint: " in ran.err


def test_a_stop_ends_open_streams_and_is_no_error(url: str, tmp_path: Path) -> None:
    with serving(tmp_path, BAILIWICK_DATABASE_URL=url) as started, browser(started) as client:
        set_up(client, started.link)
        with client.stream("GET", "/live?topic=tiles") as stream:
            lines = stream.iter_lines()
            assert stream.headers["content-type"].startswith("text/event-stream")
            assert "frame-ancestors 'none'" in stream.headers["content-security-policy"]
            assert next(line for line in lines if line.startswith("event:")) == "event: tiles"
            with psycopg.connect(url, autocommit=True) as conn:
                wait_for(lambda: conn.execute("select 1 from workers").fetchone(), started)
            begun = time.monotonic()
            started.process.send_signal(signal.SIGINT)
            assert "event: over" in list(lines)
        assert started.process.wait(30) == 0
        assert time.monotonic() - begun < 10
        assert "Traceback" not in started.err
        assert "error" not in started.err


def test_a_killed_part_is_started_again_and_a_killed_parent_takes_all_with_it(url: str, tmp_path: Path) -> None:
    with serving(tmp_path, BAILIWICK_DATABASE_URL=url) as started:
        started.ready()
        started.part()
        _, *others = sorted(started.children(), key=lambda child: child.pid)
        for part, name in zip(others, ("worker", "parse"), strict=True):
            part.kill()
            wait_for(lambda name=name: f"the {name} died (SIGKILL)" in started.err, started)
            assert started.part().pid != part.pid
        children = started.children()
        started.process.kill()
        assert psutil.wait_procs(children, timeout=30)[1] == []


def test_without_a_worker_there_is_one_part(url: str, tmp_path: Path) -> None:
    with serving(tmp_path, "--no-worker", BAILIWICK_DATABASE_URL=url) as started:
        started.ready()
        [web] = started.children()
        web.kill()
        wait_for(lambda: "the web died (SIGKILL)" in started.err, started)
        wait_for(lambda: started.err.count("Bailiwick is at") == 2, started)
        started.ready()
        assert len(started.children()) == 1


def test_a_proxy_that_we_know_of_is_believed_and_a_body_without_a_length_has_an_end(url: str, tmp_path: Path) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(100):
            yield b"x" * 1000

    told = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "127.0.0.1, 192.0.2.9"}
    env = {"BAILIWICK_DATABASE_URL": url, "BAILIWICK_WEB_BEHIND_PROXY": "true"}
    with serving(tmp_path, "--no-worker", **env) as started, browser(started) as client:
        cookie = client.get("/login", headers=told).headers["set-cookie"]
        assert cookie.startswith("__Host-bailiwick-form=")
        assert "; Secure" in cookie
        assert client.get("/metrics").status_code == 200
        assert client.get("/metrics", headers=told).status_code == 403
        assert client.get("/login", headers={"Host": "evil.example"}).status_code == 421
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert client.post("/login", content=endless(), headers=kind).status_code == 413
        assert client.post("/login", content=b"x" * 64_001, headers=kind).status_code == 413
        assert client.get("/healthz").status_code == 200
