"""`bailiwick discover` and `bailiwick candidate`, as people use them, on a file of results."""

import json
from pathlib import Path

import pytest
from sqlalchemy import text

from bailiwick.db.engine import Database
from tests.cli.tools import Ran, bailiwick
from tests.query.content_tools import Made, domain, parsed

ROWS: list[object] = [
    {"url": "https://oak.example/grants", "title": "Community grants 2027 | Oak Foundation",
     "snippet": "Open call for proposals: grants of up to 5,000 euros for charities. Deadline 31 March 2027."},
    {"url": "https://oak.example/about", "title": "About us", "snippet": "Our history."},
    {"url": "https://cash.example/", "title": "Fast <b>loans</b>", "snippet": "Low interest rate, no credit check."},
    {"url": "javascript:alert(1)", "title": "grants"},
    {"url": "http://10.0.0.1/grants", "title": "grants"},
    {"title": "no address"},
    "no object",
    {"url": "https://www.oak.example/grants?utm_source=mail", "title": "Community grants 2027"},
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def session(land: Path) -> Ran:
    (land / "results.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    return discover(land, "--json")


def discover(land: Path, *more: str) -> Ran:
    engines = ("--engine", "file:results.jsonl", "--engine", "links")
    return bailiwick("discover", "community grants", *engines, "--profile", "funding", *more, cwd=land)


def test_a_session_tells_what_became_of_every_result(session: Ran) -> None:
    assert session.code == 0
    [row] = session.rows
    stats = row["stats"]
    assert (stats["results"], stats["duplicates"], stats["total_processed"]) == (8, 1, 3)
    assert (stats["candidates_created"], stats["skipped_low_confidence"]) == (1, 2)
    assert stats["refused"] == {"not_web": 1, "not_public": 1, "unreadable": 2}
    assert row["state"] == "finished"
    assert any("javascript:alert(1)" in problem for problem in row["problems"])
    assert any("line 6" in problem for problem in row["problems"])


def test_again_it_changes_nothing(land: Path, session: Ran) -> None:
    again = discover(land)
    assert again.code == 0
    assert "no result reached the threshold" in again.err
    assert "0 candidates" in again.err
    assert "3 of domains judged before" in again.err
    assert len(bailiwick("candidate", "list", "--json", cwd=land).rows) == 3
    sessions = bailiwick("discover", "--sessions", "--json", cwd=land).rows
    assert sessions[-1]["stats"] == session.rows[0]["stats"]
    assert "community grants" in bailiwick("discover", "--sessions", cwd=land).out


def test_candidates_are_ranked_with_reasons(land: Path) -> None:
    listed = bailiwick("candidate", "list", cwd=land)
    assert "Community grants 2027 | Oak Foundation" in listed.out
    assert "oak.example/grants  " in listed.out
    assert "oak.example/about  skipped low confidence" in listed.out
    assert "+ " in listed.out
    assert "keywords" in listed.out
    rows = bailiwick("candidate", "list", "--json", cwd=land).rows
    scores = [row["confidence_score"] for row in rows]
    assert scores == sorted(scores, reverse=True)
    first = bailiwick("candidate", "list", "--limit", "1", cwd=land)
    assert f"--after {rows[0]['cursor']}" in first.err
    rest = bailiwick("candidate", "list", "--json", "--after", rows[0]["cursor"], cwd=land).rows
    assert [row["id"] for row in rest] == [row["id"] for row in rows[1:]]
    assert bailiwick("candidate", "list", "--after", "x", cwd=land).code == 2
    assert {"judge_name", "score", "weight", "explanation"} == set(rows[0]["judge_scores"][0])
    shown = bailiwick("candidate", "show", str(rows[0]["id"]), cwd=land).out
    assert "found by    file #1 (community grants)" in shown
    missing = bailiwick("candidate", "show", "999", cwd=land)
    assert (missing.code, "there is no candidate 999" in missing.err) == (1, True)


def test_only_the_good_domain_waits_for_a_person(land: Path, store: Database) -> None:
    with store.read() as conn:
        waiting = conn.execute(text("select name from domains where is_proposed order by name")).scalars().all()
    assert waiting == ["oak.example"]


def test_approved_crawled_and_decided(land: Path, store: Database) -> None:
    assert bailiwick("domain", "approve", "oak.example", cwd=land).code == 0
    [row] = bailiwick("candidate", "list", "--state", "pending_crawl", "--json", cwd=land).rows
    number = str(row["id"])
    early = bailiwick("candidate", "approve", number, cwd=land)
    assert early.code == 1
    assert "possible from here: crawled" in early.err
    with store.begin() as conn:
        oak = domain(conn, "oak.example")
        items = [("funding_programme", {"url": "https://oak.example/grants", "name": "Oak grants"}),
                 ("contact", {"email": "jo@oak.example", "name": "Jo Doe"})]  # fmt: skip
        parsed(conn, oak, "/grants", Made("Grants.", items=items))
    listed = bailiwick("candidate", "list", "--state", "pending_review", cwd=land)
    assert "1 candidates were crawled and wait for review now" in listed.err
    shown = bailiwick("candidate", "show", number, cwd=land).out
    assert "Oak grants" in shown
    assert "jo@oak.example" in shown
    assert "is in review" in bailiwick("candidate", "assign", number, cwd=land).out
    assert "is pending review" in bailiwick("candidate", "release", number, cwd=land).out
    assert bailiwick("candidate", "reject", number, cwd=land).code == 2
    done = bailiwick("candidate", "approve", number, "--notes", "they give money", cwd=land)
    assert "is approved: they give money" in done.out
    with store.read() as conn:
        label = conn.execute(text("select is_wanted, reason, subject from labels")).one()
    assert tuple(label) == (True, "they give money", "https://oak.example/grants")
    [known] = bailiwick("export", "candidates", "--status", "approved", cwd=land).rows
    assert known["programmes"] == [{"url": "https://oak.example/grants", "name": "Oak grants", "page": "/grants"}]
    assert [one["email"] for one in known["contacts"]] == ["jo@oak.example"]


def test_engines_and_what_they_were_asked_today(land: Path, store: Database) -> None:
    with store.begin() as conn:
        conn.execute(
            text("insert into engine_gates (engine, day, calls, cost, next_at) values "
                 "('brave', (bailiwick_now() at time zone 'UTC')::date, 12, 0.06, bailiwick_now()),"
                 "('tavily', '2020-01-01', 9, 1, bailiwick_now())"),
        )  # fmt: skip
    rows = {row["engine"]: row for row in bailiwick("discover", "--engines", "--json", cwd=land).rows}
    assert (rows["brave"]["calls_today"], rows["brave"]["cost_today"], rows["tavily"]["calls_today"]) == (12, 0.06, 0)
    assert "BRAVE_API_KEY" in rows["brave"]["state"]
    assert rows["links"]["state"] == "ready"
    ready = bailiwick("discover", "--engines", cwd=land, BRAVE_API_KEY="secret")
    assert "brave        ready" in ready.out
    assert "secret" not in ready.out + ready.err


def test_what_would_be_asked_is_shown_without_asking(land: Path) -> None:
    before = bailiwick("discover", "--sessions", "--json", cwd=land).rows
    plan = bailiwick("discover", "grants {country} {year}", "--set", "country=Bulgaria", "--set", "country=Romania",
                     "--engine", "file:results.jsonl", "--dry-run", "--json", cwd=land)  # fmt: skip
    assert [query[:14] for query in plan.rows[0]["queries"]] == ["grants Bulgari", "grants Romania"]
    assert bailiwick("discover", "--sessions", "--json", cwd=land).rows == before
    engines = ("--engine", "links", "--engine", "tavily", "--engine", "brave", "--engine", "searxng")
    keys = {"TAVILY_API_KEY": "k", "BRAVE_API_KEY": "k", "BAILIWICK_SEARXNG_BASE_URL": "http://127.0.0.1:9"}
    told = bailiwick("discover", "grants", *engines, "--limit", "50", "--dry-run", cwd=land, **keys).out
    for part in ("links (asks nobody)", "tavily (1 request a query)", "brave (at most 3 requests a query)",
                 "searxng (a request for every page, until there are enough)"):  # fmt: skip
        assert part in told


def test_what_an_engine_did_not_answer_can_be_seen_later(land: Path) -> None:
    down = {"BAILIWICK_SEARXNG_BASE_URL": "http://127.0.0.1:9", "BAILIWICK_SEARXNG_MAX_RETRIES": "0"}
    ran = bailiwick("discover", "island grants", "--engine", "searxng", "--json", cwd=land, **down)
    assert (ran.code, ran.rows[0]["state"]) == (0, "finished")
    shown = bailiwick("discover", "--session", str(ran.rows[0]["id"]), cwd=land)
    assert "searxng cannot be reached at 127.0.0.1:9" in shown.out
    [row] = bailiwick("discover", "--session", str(ran.rows[0]["id"]), "--json", cwd=land).rows
    [failure] = row["failures"]
    assert (failure["engine"], failure["query"], failure["outcome"]) == ("searxng", "island grants", "failed")
    missing = bailiwick("discover", "--session", "999", cwd=land)
    assert (missing.code, "there is no session 999" in missing.err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("grants", "--engine", "gogle"), "there is no search engine 'gogle'"),
        (("grants", "--engine", "file:none.csv"), "there is no file none.csv"),
        (("grants", "--engine", "searxng"), "searxng"),
        (("grants", "--engine", "brave"), "BRAVE_API_KEY"),
        (("grants {x}", "--engine", "links"), "no value for {x}"),
        (("--engine", "searxng"), "there is no query"),
        (("grants", "--set", "country"), "sets nothing"),
        (("grants", "--profile", "fundin"), "funding"),
    ],
)
def test_a_wrong_order_is_refused_and_leaves_no_session(land: Path, arguments: tuple[str, ...], says: str) -> None:
    before = len(bailiwick("discover", "--sessions", "--json", cwd=land).rows)
    ran = bailiwick("discover", *arguments, cwd=land)
    assert ran.code in (1, 2)
    assert says in ran.err
    assert "hint: " in ran.err
    assert len(bailiwick("discover", "--sessions", "--json", cwd=land).rows) == before


def test_what_is_below_the_threshold_is_not_shown_as_if_it_reached_it(land: Path, store: Database) -> None:
    with store.begin() as conn:
        conn.execute(text("update candidates set confidence = 0.5999 where path = '/about'"))
    listed = bailiwick("candidate", "list", "--state", "skipped_low_confidence", cwd=land).out
    assert "0.59  About us" in listed
    assert "0.60" not in listed.partition("About us")[0]
