"""From a crawl to content: the real program on a local web, stopped and killed where it hurts."""

import json
import time
from dataclasses import replace
from pathlib import Path

import psutil

from bailiwick.demo.web.sites import Web
from tests.backends.model_server import KEY, KEY_NAME, judged, model_server
from tests.e2e.conftest import MakeLand
from tests.e2e.tools import Land

A, B = "alpha.test", "beta.test"


def parsed(land: Land) -> dict[str, str]:
    rows = land.rows("""
        select d.name || p.path as page, t.outcome from page_parses t join domains d on d.id = t.domain_id
        join pages p on p.domain_id = t.domain_id and p.path_hash = t.path_hash""")
    return {row.page: row.outcome for row in rows}


def test_a_crawl_parses_what_it_fetches(land_of: MakeLand) -> None:
    web = Web.generate(1, hosts=[A, B], pages_per_host=30)
    land = land_of(web)
    ran = land.crawl(land.name(A), land.name(B), "--depth", "all", parse=True)
    wanted = {land.name(host) + path for host in (A, B) for path in land.fetched(host)}
    assert parsed(land) == dict.fromkeys(wanted, "parsed")
    assert f"{len(wanted)} pages parsed: {len(wanted)} relevant" in ran.out
    assert land.value("select count(*) from parse_queue") == 0
    assert land.value("select count(*) from page_snapshots where markdown is null or title is null") == 0
    land.check()
    shown = land.run("domain", "show", land.name(A), "--json").rows[0]
    assert shown["pages_by_outcome"] == {"parsed": len(land.fetched(A))}


def test_fetched_now_parsed_later(land_of: MakeLand) -> None:
    land = land_of(Web.generate(2, hosts=[A], pages_per_host=20))
    land.crawl(land.name(A), "--depth", "all")
    waiting = land.value("select count(*) from parse_queue")
    assert waiting == len(land.fetched(A))
    assert land.run("parse", "--json").rows[0]["outcomes"] == {"parsed": waiting}
    assert "nothing waits" in land.run("parse").out
    again = land.run("parse", "--reparse", "all")
    assert f"0 of {waiting} stored pages" in again.err
    forced = land.run("parse", "--reparse", "article", "--force", "--json").rows[0]
    assert forced["pages"] == waiting
    assert forced["changed"] == 0
    land.run("parse", "--force", code=2)


def test_kill_everything_while_it_parses(land_of: MakeLand) -> None:
    """Processes and their children: the parent starts them again, and nothing is lost or doubled."""
    web = Web.generate(3, hosts=[A], pages_per_host=150)
    land = land_of(web)
    land.crawl(land.name(A), "--depth", "all")
    total = land.value("select count(*) from parse_queue")
    for least in (10, 60):
        with land.start(land.name(A), "--depth", "all", parse=True) as started:
            land.wait_for("select count(*) >= :least from page_parses", least=least)
            family = psutil.Process(started.process.pid).children(recursive=True)
            for one in family:
                one.kill()
            land.wait_for("select count(*) > :least from page_parses", least=least + 5, seconds=60)
    land.run("parse")
    assert land.value("select count(*) from parse_queue") == 0
    assert land.value("select count(*) from page_parses where outcome = 'parsed'") == total
    assert land.value("select count(*) from page_snapshots") == total
    assert land.value("select count(*) from snapshot_history") == total


def test_what_changed_is_shown(land_of: MakeLand) -> None:
    web = Web.generate(4, hosts=[A], pages_per_host=10)
    home = web[A].page("/")
    assert home is not None
    body = "<html><title>Prices</title><body><article><p>{}</p></article></body></html>"
    words = "The bakery sells bread and rolls on every day of the week. A loaf costs {} euros. Come and see us soon."
    web[A].add(replace(home, path="/prices", body=body.format(words.format("four"))))
    land = land_of(web)
    url = f"http://{land.name(A)}/prices"
    land.crawl(url, "--depth", "0", parse=True)
    assert "has not changed" in land.run("changes", url).err
    web[A].add(replace(home, path="/prices", body=body.format(words.format("five"))))
    land.run("domain", "recrawl", land.name(A))
    land.crawl(url, "--depth", "0", parse=True)
    assert [row["page"] for row in land.run("changes", "--json").rows] == [f"{land.name(A)}/prices"]
    shown = land.run("changes", url).out
    assert "- A loaf costs four euros." in shown
    assert "+ A loaf costs five euros." in shown
    assert "bread and rolls" in shown
    assert len(land.run("changes", url, "--versions", "--json").rows) == 2


def test_a_file_needs_no_database(tmp_path: Path, land_of: MakeLand) -> None:
    land = land_of(Web.generate(5, hosts=[A], pages_per_host=2))
    page = tmp_path / "page.html"
    page.write_text("<title>Bridges</title><article><p>" + "We build small bridges over small rivers. " * 20)
    nowhere = "postgresql://nobody@127.0.0.1:1/none"
    ran = land.run("extract", str(page), "--url", "https://example.org/b", "--json", BAILIWICK_DATABASE_URL=nowhere)
    told = json.loads(ran.out)
    assert (told["title"], told["outcome"], told["url"]) == ("Bridges", "parsed", "https://example.org/b")
    assert told["relevance"]["is_relevant"] is True
    assert "small bridges" in told["markdown"]
    assert "there is no file" in land.run("extract", "no-such-file", code=2).err


def test_a_page_for_a_person_obeys_the_rules(land_of: MakeLand) -> None:
    """Nothing of a rejected domain, nothing that robots.txt forbids, at the host's pace; and the trail tells of it."""
    web = Web.generate(6, hosts=[A, B], pages_per_host=5)
    web[A].robots = "User-agent: *\nDisallow: /private\n"
    land = land_of(web)
    local = ("--resolve", land.running.resolve)
    url = f"http://{land.name(A)}/"
    told = json.loads(land.run("extract", url, "--json", *local).out)
    assert told["outcome"] == "parsed"
    started = time.monotonic()
    refused = land.run("extract", f"{url}private", *local, code=2)
    assert "robots.txt" in refused.err
    land.run("extract", url, *local)
    assert time.monotonic() - started >= 1.0
    assert land.running.log.min_gap(A) >= 1.9
    asked = [path for host, path in land.running.log.answered_200() if host == A]
    assert "/private" not in asked
    land.run("domain", "submit", land.name(B))
    land.run("domain", "reject", land.name(B), "--reason", "spam")
    assert "rejected" in land.run("extract", f"http://{land.name(B)}/", *local, code=2).err
    assert B not in {host for host, _ in land.running.log.answered_200()}
    assert land.value("select count(*) from events where verb = 'fetch'") == 3


def test_pages_that_never_pay_off_are_listed(land_of: MakeLand) -> None:
    land = land_of(Web.generate(7, hosts=[A], pages_per_host=6))
    land.crawl(land.name(A), "--depth", "all", "--profile", "funding", parse=True)
    listed = {row["page"] for row in land.run("url", "list", "--unproductive", "--json").rows}
    assert listed == {land.name(A) + path for path in land.fetched(A)}
    assert land.run("url", "list", "--unread", "--json").rows == []


def test_a_model_has_the_last_word(land_of: MakeLand) -> None:
    """What it calls relevant gets markdown; what it said once is not asked again; when it is gone, parsing goes on."""
    land = land_of(Web.generate(8, hosts=[A], pages_per_host=8))
    (land.home / "profiles").mkdir()
    (land.home / "profiles" / "mine.toml").write_text('extends = "funding"\n[model]\nuse = "always"\n')
    with model_server() as server:
        server.says = [judged(0.95, "It names a deadline.")]
        env = {"BAILIWICK_MODEL_BASE_URL": server.url, "BAILIWICK_MODEL_NAME": "small", KEY_NAME: KEY,
               "BAILIWICK_MODEL_API_KEY_ENV": KEY_NAME}  # fmt: skip
        land.crawl(land.name(A), "--depth", "all", "--profile", "mine", parse=True, **env)
        pages = len(land.fetched(A))
        asked = len(server.requests)
        distinct = land.value("select count(distinct content_hash) from page_snapshots")
        assert distinct <= asked <= pages
        judged_by = land.rows("select relevance_source, is_relevant, markdown is not null as has from page_snapshots")
        assert {tuple(row) for row in judged_by} == {("model", True, True)}
        assert land.value(
            "select bool_and(relevance_reason like 'It names a deadline. (by small)') from page_snapshots"
        )
        land.run("parse", "--reparse", "all", "--force", **env)
        assert len(server.requests) == asked
    land.rows_done("delete from model_calls")
    gone = env | {"BAILIWICK_MODEL_TIMEOUT_SECONDS": "2", "BAILIWICK_MODEL_MAX_RETRIES": "0"}
    told = land.run("parse", "--reparse", "all", "--force", "--json", **gone).rows[0]
    assert told["outcomes"] == {"parsed": pages}
    assert land.value("select bool_and(strpos(relevance_reason, 'no model was heard') > 0) from page_snapshots")
    assert KEY not in land.run("settings", "show", **env).out


def test_from_a_crawl_to_a_file_and_a_search(land_of: MakeLand) -> None:
    """-o writes what was crawled, whole; what it holds is found by its words."""
    web = Web.generate(9, hosts=[A, B], pages_per_host=12)
    home = web[A].page("/")
    assert home is not None
    body = "<title>Otters</title><article><p>The otter festival takes place in the harbour every spring.</p></article>"
    web[A].add(replace(home, path="/otters", body=body))
    land = land_of(web)
    land.crawl(land.name(B), "--depth", "all", parse=True)
    target = land.home / "alpha.jsonl"
    url = f"http://{land.name(A)}/otters"
    land.crawl(land.name(A), url, "--depth", "all", "-o", str(target), parse=True)
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert {row["path"] for row in rows} == land.fetched(A)
    assert {row["domain"] for row in rows} == {land.name(A)}
    [otters] = [row for row in rows if row["path"] == "/otters"]
    assert (otters["title"], "otter festival" in otters["markdown"]) == ("Otters", True)
    assert [row["url"] for row in land.run("search", "otter", "festival", "--json").rows] == [url]
    assert land.run("search", "otter", "--domain", land.name(B), "--json").rows == []
    refused = land.crawl(land.name(A), "-o", str(target), code=2, parse=True)
    assert "is there already" in refused.err
    assert "-o is for seeds" in land.run("crawl", "-o", "x.jsonl", code=2).err
