"""From a URL to a decision: the real program on a local web; what it may ask for, and what it keeps."""

import asyncio
import json
import signal
import subprocess
from dataclasses import replace

import pytest

from bailiwick.accounts.members import local_admin
from bailiwick.base.clock import FakeClock
from bailiwick.demo.web.sites import Site, Web
from bailiwick.model.profile_files import load_profile
from bailiwick.model.urls import PageUrl
from bailiwick.net.guard import Resolve
from bailiwick.pipeline.ageing import mark_stale
from bailiwick.pipeline.evaluating import Evaluator
from bailiwick.review.routing import NewEvaluation
from bailiwick.score import jobs
from bailiwick.score.jobs import Settled
from tests.backends.model_server import KEY, KEY_NAME, ModelServer, Said, completion, fault, model_server
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


def test_what_is_refused_is_settled_many_at_a_time(land_of: MakeLand) -> None:
    """A job of a list of old is not a transaction for each of its lines, and each line is told all the same."""
    land = land_of(web(A))
    land.run("domain", "submit", "gone.example")
    land.run("domain", "reject", "gone.example", "--reason", "spam")
    land.crawl(url_of(land, A, "/story"), "--depth", "0")
    lines = [f"https://gone.example/{n}" for n in range(2500)]
    (land.home / "urls.txt").write_text("\n".join([*lines[:1200], url_of(land, A, "/story"), *lines[1200:]]))
    rows = evaluate(land, "urls.txt", "--name", "many")
    assert sum(row.get("state") == "refused" for row in rows) == 2500
    assert sum("confidence" in row for row in rows) == 1
    settled = "select count(distinct xmin::text) as writes, count(distinct why) as whys from job_urls where state = :s"
    [found] = land.rows(settled, s="refused")
    assert (found.whys, found.writes <= 10) == (1, True)
    [shown] = [row for row in land.run("job", "list", "--json").rows if row["name"] == "many"]
    assert (shown["urls"], shown["left"], shown["refused"], shown["evaluated"]) == (2501, 0, 2500, 1)


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


# A language model that is down


def scores() -> Said:
    signals = ("design_quality", "content_originality", "authority_indicators", "professional_presentation")
    answer = {name: {"score": 0.9, "reasoning": "It is fine."} for name in signals}
    return completion(json.dumps({**answer, "summary": "A careful page."}))


def model_env(server: ModelServer, without: str) -> dict[str, str]:
    return NOBODY | {
        "BAILIWICK_MODEL_BASE_URL": server.url,
        "BAILIWICK_MODEL_NAME": "small",
        "BAILIWICK_MODEL_API_KEY_ENV": KEY_NAME,
        "BAILIWICK_MODEL_MAX_RETRIES": "0",
        "BAILIWICK_SCORE_WITHOUT_MODEL": without,
        KEY_NAME: KEY,
    }


def test_evaluations_wait_for_a_model_that_is_down_and_none_is_lost(land_of: MakeLand) -> None:
    land = land_of(web(A))
    urls = [url_of(land, A, path) for path in ("/story", "/contact", "/write-for-us")]
    land.crawl(*urls, "--depth", "0")
    command = [PROGRAM, "evaluate", *urls, "--resolve", land.running.resolve]
    with model_server() as model:
        model.says = [fault(503)]
        env = model_env(model, "wait")
        with subprocess.Popen(
            command, cwd=land.home, env=environment(**(land.env | env)), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            land.wait_for("select count(*) >= 1 from job_urls where position('language model' in why) > 0", seconds=60)
            process.send_signal(signal.SIGINT)
            _, told = process.communicate()
        assert process.returncode == 130
        assert "answered 503; URLs wait for it" in told
        assert land.value("select count(*) from evaluations") == 0
        assert land.value("select count(*) from job_urls where state = 'waiting' and tries = 0") == 3
        land.shift_clock("1 hour")
        model.says = [scores()]
        done = land.run("evaluate", "--resolve", land.running.resolve, **env)
    assert "3 of 3 URLs evaluated" in done.out
    kept = land.rows("select layer3_by, layer3_results->'design_quality'->>'score' as score from evaluations")
    assert {(row.layer3_by.split(":")[0], row.score) for row in kept} == {("model", "0.9")}


def test_or_measured_scores_stand_in_for_it(land_of: MakeLand) -> None:
    land = land_of(web(A))
    urls = [url_of(land, A, path) for path in ("/story", "/contact", "/write-for-us")]
    land.crawl(*urls, "--depth", "0")
    with model_server() as model:
        model.says = [fault(503)]
        ran = land.run("evaluate", *urls, "--resolve", land.running.resolve, **model_env(model, "local"))
        assert len(model.requests) <= 4  # not one a page: it is known to be down
    assert "3 of 3 URLs evaluated" in ran.out
    assert "measured scores stand in" in ran.err
    assert land.value("select count(*) from evaluations where starts_with(layer3_by, 'local:')") == 3


def test_a_site_is_not_asked_again_because_the_model_was_down(
    land_of: MakeLand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A probe is ten requests in all, also if the model is away for hours."""
    land, clock = land_of(web(A)), FakeClock()
    with model_server() as model:
        model.says = [fault(503)]
        for name, value in (land.env | model_env(model, "wait")).items():
            monkeypatch.setenv(name, value)
        with land.app() as app:
            with app.database.begin() as conn:
                admin = local_admin(conn)
                job = jobs.create(conn, "one", "general", "mark", admin)
                given = url_of(land, A, "/story")
                jobs.add_urls(conn, job, [(PageUrl.parse(given), given)], admin)
                [url] = jobs.claim(conn, job.id, 1)

            async def through_the_outage() -> list[NewEvaluation | Settled]:
                profile = load_profile("general", None)
                evaluator = Evaluator(app, profile, admin, [Resolve.parse(land.running.resolve)], clock=clock)
                rooms, found = [evaluator.room(32)], []
                try:
                    for says in (fault(503), fault(503), scores()):
                        model.says = [says]
                        found.append(await evaluator.evaluate(url))
                        rooms.append(evaluator.room(32))
                        clock.sleep(1800)
                        rooms.append(evaluator.room(32))
                        asked.append(land.running.log.asked.total())
                finally:
                    await evaluator.close()
                assert rooms == [32, 0, 1, 0, 1, 32, 32]
                return found

            asked: list[int] = []
            first, second, third = asyncio.run(through_the_outage())
            assert [type(one) for one in (first, second, third)] == [Settled, Settled, NewEvaluation]
            assert isinstance(first, Settled)
            assert (first.state, first.has_failed) == ("waiting", False)
            assert len(set(asked)) == 1
            assert 0 < asked[0] <= 10
            assert len(model.requests) == 3
