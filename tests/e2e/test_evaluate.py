"""From a URL to a decision: the real program on a local web; what it may ask for, and what it keeps."""

import json
import signal
import subprocess
from dataclasses import replace

from bailiwick.demo.web.sites import Site, Web
from bailiwick.pipeline.ageing import mark_stale
from tests.cli.tools import PROGRAM, environment
from tests.e2e.conftest import MakeLand
from tests.e2e.tools import Land

A, B, C = "alpha.test", "beta.test", "gamma.test"
# No registry is asked in these tests: where nobody answers, a factor is unchecked.
NOBODY = {
    "BAILIWICK_SCORE_RDAP_BOOTSTRAP_URL": "http://127.0.0.1:9/dns.json",
    "BAILIWICK_SCORE_WHOIS_SERVER": "127.0.0.1:9",
    "BAILIWICK_SCORE_REGISTRY_DELAY_SECONDS": "0",
    "BAILIWICK_SCORE_REGISTRY_TIMEOUT_SECONDS": "2",
}
PAGE = """<!doctype html><html lang="en"><head><title>{title}</title><meta name="viewport" content="width=device-width">
<style>body {{ margin: 2em }}</style></head><body><nav><a href="/">Home</a> <a href="/contact">Contact us</a>
<a href="/write-for-us">Write for us</a></nav><main><h1>{title}</h1><article>{text}</article></main></body></html>"""
WORDS = "The harbour of the old town has seen many ships of many nations, and each of them left a story behind. "


def web(*hosts: str) -> Web:
    made = Web.generate(7, hosts=list(hosts), pages_per_host=3)
    for host in hosts:
        _add(made[host], "/write-for-us", "Write for us", "<p>We take guest posts: read our guidelines.</p>" * 20)
        _add(made[host], "/contact", "Contact us", "<p>Write to desk@example.org or call us.</p>")
        _add(made[host], "/story", "The story of the harbour", f"<p>{WORDS * 30}</p>")
        _add(made[host], "/empty", "", "")
    return made


def _add(site: Site, path: str, title: str, text: str) -> None:
    home = site.page("/")
    assert home is not None
    body = PAGE.format(title=title, text=text) if title else ""
    site.add(replace(home, path=path, body=body))


def evaluate(land: Land, *arguments: str, code: int = 0, **env: str) -> list[dict[str, object]]:
    ran = land.run("evaluate", *arguments, "--resolve", land.running.resolve, "--json", code=code, **(NOBODY | env))
    return ran.rows


def url_of(land: Land, host: str, path: str) -> str:
    return f"http://{land.name(host)}{path}"


def test_a_probe_asks_for_little_and_leaves_a_trail(land_of: MakeLand) -> None:
    """A domain that nobody approved: at most ten requests, at its pace, each an event; nothing is crawled."""
    land = land_of(web(A))
    [row] = evaluate(land, url_of(land, A, "/story"))
    asked = land.running.log.asked
    assert sum(asked.values()) <= 10
    assert {("alpha.test", path) for path in ("/robots.txt", "/story", "/contact")} <= set(asked)
    flags = row["layer2_results"]["guest_post_red_flags"]  # type: ignore[index]
    assert flags["contact_page"] == {"checked": True, "detected": True}
    assert flags["write_for_us"] == {"checked": True, "detected": True}
    assert row["layer1_results"]["domain_age"]["checked"] is False  # type: ignore[index]
    assert "domain_age" in row["layer1_results"]["unchecked"]  # type: ignore[index]
    assert set(row["sophistication_signals"]) == {  # type: ignore[call-overload]
        "design_quality", "content_originality", "authority_indicators", "professional_presentation",
    }  # fmt: skip
    assert land.value("select count(*) from pages") == 0
    assert land.value("select approval || is_proposed from domains") == "pending_reviewfalse"
    trail = land.rows("select details->>'as' as purpose from events where verb = 'fetch'")
    assert {one.purpose for one in trail} == {"probe"}
    kept = land.rows("select e.band, e.action, r.status from evaluations e left join url_results r using (url_id)")
    assert len(kept) == 1
    assert land.value("select state from jobs where kind = 'evaluation'") == "finished"


def test_never_of_a_domain_that_was_refused(land_of: MakeLand) -> None:
    land = land_of(web(A, B))
    land.run("domain", "submit", land.name(A))
    land.run("domain", "reject", land.name(A), "--reason", "spam")
    [row] = evaluate(land, url_of(land, A, "/story"))
    assert (row["state"], "rejected" in str(row["why"])) == ("refused", True)
    assert not land.running.log.asked


def test_a_page_of_an_approved_domain_is_crawled_first(land_of: MakeLand) -> None:
    """Not fetched by a probe: its body is stored like any other, and it alone is fetched."""
    land = land_of(web(A))
    land.run("domain", "submit", land.name(A))
    land.run("domain", "approve", land.name(A))
    land.rows_done("update domains set crawl_delay_seconds = 0")
    [row] = evaluate(land, url_of(land, A, "/story"))
    assert row["confidence"]
    fetched = land.rows("select path from pages where state = 'fetched'")
    assert "/story" in {one.path for one in fetched}
    assert "/contact" not in {one.path for one in fetched}
    assert land.value("select count(*) from events where verb = 'fetch'") == 0


def test_what_cannot_be_scored_has_no_score(land_of: MakeLand) -> None:
    land = land_of(web(A))
    lines = [url_of(land, A, "/empty"), url_of(land, A, "/no-such-page"), "http://gone.invalid/", "no url at all"]
    (land.home / "urls.txt").write_text("\n".join(["# a list", "", *lines]))
    ran = land.run(
        "evaluate", "urls.txt", "--resolve", land.running.resolve, "--json", BAILIWICK_SCORE_MAX_TRIES="1", **NOBODY
    )
    assert {row["state"] for row in ran.rows} == {"unreachable"}
    assert len(ran.rows) == 3
    assert "line 6" in ran.err
    assert land.value("select count(*) from evaluations") == 0
    assert land.value("select count(*) from job_urls where state = 'unreachable' and why is not null") == 3


def test_a_dry_run_keeps_nothing(land_of: MakeLand) -> None:
    land = land_of(web(A))
    land.crawl(url_of(land, A, "/story"), "--depth", "0")
    [row] = evaluate(land, url_of(land, A, "/story"), "--dry-run")
    assert row["band"]
    assert set(row["layer3_results"]) == set(row["sophistication_signals"])  # type: ignore[call-overload]
    for table in (
        "jobs where kind = 'evaluation'",
        "job_urls",
        "evaluations",
        "url_results",
        "review_queue",
    ):
        assert land.value(f"select count(*) from {table}") == 0
    shown = land.run("evaluate", url_of(land, A, "/story"), "--dry-run", "--resolve", land.running.resolve, **NOBODY)
    assert "layer 2, rules" in shown.out


def test_bands_route_and_people_decide(land_of: MakeLand) -> None:
    land = land_of(web(A, B))
    everything = json.dumps([{"name": "all", "min": 0, "max": 1, "action": "manual_review"}])
    land.run("settings", "set", "review.bands", everything)
    land.run("domain", "submit", land.name(B))
    land.run("domain", "trust", land.name(B))
    land.run("settings", "set", "review.queue_size_limit", "1")
    urls = [url_of(land, A, "/story"), url_of(land, A, "/contact"), url_of(land, B, "/story")]
    land.crawl(*urls, "--depth", "0")
    rows = {str(row["url"]): row for row in evaluate(land, *urls)}
    statuses = sorted(str(rows[url]["status"]) for url in urls[:2])
    assert statuses == ["queue_overflow", "waiting"]
    assert (rows[urls[2]]["status"], rows[urls[2]]["reason"]) == ("approved", "trusted_domain")
    [entry] = land.run("review", "list", "--json").rows
    assert "--notes" in land.run("review", "reject", str(entry["id"]), code=2).err
    land.run("review", "approve", str(entry["id"]), "--notes", "good")
    assert land.value("select status from url_results where reason = 'person'") == "approved"
    land.run("review", "requeue", "--overflow")
    assert len(land.run("review", "list", "--json").rows) == 1
    assert land.value("select count(*) from labels where task = 'review'") == 1
    land.rows_done("update review_queue set queued_at = queued_at - interval '2 days'")
    with land.app() as app:
        assert mark_stale(app).marked is None
        land.run("settings", "set", "review.auto_review_timeout_days", "1")
        assert mark_stale(app).marked == 1


def test_killed_in_the_middle_nothing_is_lost_or_doubled(land_of: MakeLand) -> None:
    land = land_of(web(A, B, C))
    urls = [url_of(land, host, path) for host in (A, B, C) for path in ("/story", "/contact", "/write-for-us", "/")]
    (land.home / "urls.txt").write_text("\n".join(urls))
    land.crawl(*urls, "--depth", "0")
    command = [PROGRAM, "evaluate", "urls.txt", "--resolve", land.running.resolve]
    for least in (1, 4):
        with subprocess.Popen(
            command, cwd=land.home, env=environment(**(land.env | NOBODY)), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            land.wait_for("select count(*) >= :least from evaluations", least=least, seconds=60)
            process.send_signal(signal.SIGKILL)
    ran = land.run("evaluate", "urls.txt", "--resolve", land.running.resolve, **NOBODY)
    assert "going on with job" in ran.err
    assert land.value("select count(*) from jobs where kind = 'evaluation'") == 1
    assert land.value("select count(*) from evaluations") == 12
    assert land.value("select count(*) from url_results") + land.value("select count(*) from review_queue") == 12
    assert land.value("select state from jobs where kind = 'evaluation'") == "finished"


def test_paused_resumed_and_deleted(land_of: MakeLand) -> None:
    land = land_of(web(A))
    land.crawl(url_of(land, A, "/story"), "--depth", "0")
    asked = land.running.log.asked.total()
    made = land.run("evaluate", url_of(land, A, "/story"), "--name", "vetting", "--queue-only")
    assert "waits" in made.out
    land.run("job", "pause", "vetting")
    assert "nothing is to be evaluated" in land.run("evaluate").err
    assert land.running.log.asked.total() == asked
    land.run("job", "resume", "vetting")
    done = land.run("evaluate", "--resolve", land.running.resolve, **NOBODY)
    assert "1 of 1 URLs evaluated" in done.out
    land.run("job", "delete", "vetting", "--yes")
    for table in ("job_urls", "evaluations", "url_results", "review_queue"):
        assert land.value(f"select count(*) from {table}") == 0
    assert land.value("select count(*) from events where subject_kind = 'job' and verb = 'delete'") == 1
