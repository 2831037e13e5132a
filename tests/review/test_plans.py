"""How PostgreSQL answers the queue's questions: 10,000 entries that wait, 10,000 that were decided."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, create_engine
from sqlalchemy.dialects import postgresql

from bailiwick.db.sql import BY_INDEX
from bailiwick.query.documents import SQL as QUERY
from bailiwick.review.listing import Order, Which, entries_query
from bailiwick.review.queue import SQL
from tests.servers import TestServers, available_kinds

pytestmark = pytest.mark.slow
KINDS = ("pg15", "pg18")
_FILL = """
insert into members (name, role, state) select 'm' || n, 'reviewer', 'active' from generate_series(1, 50) as n;
insert into domains (name, site, shared_key, approval)
select 'd' || n || '.org', 'd.org', 'd.org', 'approved' from generate_series(1, 200) as n;
insert into jobs (name, kind, state, created_by)
select 'j' || n, 'evaluation', 'running', 1 from generate_series(1, 20) as n;
insert into job_urls (job_id, domain_id, url, path, path_hash)
select (select min(id) from jobs where kind = 'evaluation') + n % 20, 1 + n % 200, 'u' || n, '/' || n, n
from generate_series(1, 20000) as n;
insert into evaluations (url_id, job_id, domain_id, name, url, profile, policy_version, confidence, evidence_confidence,
    reasoning, layer1_results, layer2_results, layer3_results, layer3_by, sophistication_signals, band, action)
select id, job_id, domain_id, url, url, 'g', 'v', (id % 1000) / 1000.0, 0.5, 'r',
       jsonb_build_object('x', repeat('y', 900)),
       '{}', '{}', 'l', '{}', 'b', 'manual_review' from job_urls;
insert into review_queue (name, url, job_id, url_id, evaluation_id, domain_id, profile, confidence_band,
    confidence_score, information, state, submitted_by, queued_at)
select name, url, job_id, url_id, id, domain_id, 'g', case when id % 10 = 0 then 'low' else 'medium' end, confidence,
       (id * 7919 % 1000) / 1000.0, 'waiting', 1, now() - id * interval '1 minute' from evaluations;
update review_queue set state = 'approved', review_decision = 'approved', reviewed_by = 2,
    reviewed_at = now() - id * interval '1 minute'
where id % 2 = 0;
insert into candidates (domain_id, name, url, path, path_hash, title, snippet, engine, query, position, profile,
    confidence, threshold, judge_scores, reasoning, state)
select domain_id, url, url, path, path_hash, '', '', 'file', '', 1, 'g', 0.7, 0.6, '[]', '', 'pending_crawl'
from job_urls;
update review_queue set claimed_by = 3, claimed_until = now() + interval '10 minutes' where id in (1, 3, 5);
"""
_NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LISTS: dict[str, tuple[Which, Order, Any, str]] = {
    "all by age": (Which(), "age", None, "active"),
    "further by age": (Which(), "age", (_NOON, 17), "active"),
    "uncertain first": (Which(), "information", None, "information"),
    "further, uncertain first": (Which(), "information", (0.5, 17), "information"),
    "audits": (Which(is_audit=True), "age", None, "audit"),
    "best first": (Which(), "score", (0.5, 17), "score"),
    "of a band": (Which(band="low"), "age", (_NOON, 17), "band"),
    "stale": (Which(is_stale=True), "age", None, "stale"),
    "of a domain": (Which(domain_id=7), "age", None, "domain"),
    "decided": (Which(state="reviewed"), "age", None, "reviewed"),
    "further decided": (Which(state="approved"), "age", (_NOON, 17), "reviewed"),
}
ASKED: dict[str, tuple[dict[str, Any], str]] = {
    "held_by": ({"actor": 3}, "claimed"),
    "next_by_age": ({"actor": 3, "others_own": True}, "active"),
    "next_by_information": ({"actor": 3, "others_own": False}, "information"),
    "mark_stale": ({"days": 7, "limit": 1000}, "stale"),
}


@pytest.fixture(scope="module", params=KINDS)
def conn(request: pytest.FixtureRequest, servers: TestServers) -> Iterator[Connection]:
    if request.param not in available_kinds():
        pytest.skip(f"there is no {request.param} here")
    with servers.cloned(request.param) as url:
        with psycopg.connect(url, autocommit=True) as filling:
            filling.execute(_FILL)
            filling.execute("vacuum analyze members, domains, jobs, job_urls, evaluations, review_queue, candidates")
        engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
        with engine.begin() as opened:
            yield opened
        engine.dispose()


def scans(conn: Connection, query: str, values: Any) -> list[tuple[str, str, str]]:
    """(node, table, index) of every scan, and sorts of more than a page."""
    [plan] = conn.exec_driver_sql(f"explain (analyze, timing off, format json) {query}", values).scalar_one()
    return list(_scans(plan["Plan"]))


def _scans(plan: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    kind = str(plan["Node Type"])
    if "Scan" in kind:
        yield kind, str(plan.get("Relation Name", "")), str(plan.get("Index Name", ""))
    for child in plan.get("Plans", []):
        yield from _scans(child)


@pytest.mark.parametrize("name", LISTS)
def test_a_page_of_the_queue_comes_from_its_index(conn: Connection, name: str) -> None:
    which, order, after, index = LISTS[name]
    compiled = entries_query(which, order=order, limit=50, after=after).compile(dialect=postgresql.psycopg.dialect())
    found = scans(conn, str(compiled), compiled.params)
    assert f"review_queue_{index}_idx" in [used for _, _, used in found], found
    assert not [one for one in found if one[0] == "Seq Scan" and one[1] in ("review_queue", "evaluations")], found


@pytest.mark.parametrize("name", ASKED)
def test_what_is_asked_often_is_answered_by_an_index(conn: Connection, name: str) -> None:
    values, index = ASKED[name]
    with conn.begin_nested() as nested:  # explained by doing it
        found = scans(conn, SQL[name], values)
        nested.rollback()
    assert f"review_queue_{index}_idx" in [used for _, _, used in found], found
    assert not [one for one in found if one[0] == "Seq Scan"], found


@pytest.mark.parametrize("what", ["candidates", "evaluations"])
def test_exports_go_on_by_key(conn: Connection, what: str) -> None:
    walk = {"domain_id": 5, "path_hash": 0, "last": 2**62, "limit": 100}
    rows = {"domain_ids": [1, 2], "path_hashes": [1, 2], "states": [], "since": None}
    with conn.begin_nested() as nested:
        conn.exec_driver_sql(BY_INDEX)
        found = [scans(conn, QUERY[f"{what}_after"], walk), scans(conn, QUERY[f"export_{what}"], rows)]
        nested.rollback()
    assert [index for _, _, index in found[0]] == [f"{what}_domain_idx"]
    assert f"{what}_pkey" in [index for _, _, index in found[1]]
    assert not [one for one in found[1] if one[0] == "Seq Scan"], found


def test_the_first_page_reads_a_page(conn: Connection) -> None:
    """Not the whole queue: 50 rows of it, and what belongs to these."""
    compiled = entries_query(Which(), order="age", limit=50).compile(dialect=postgresql.psycopg.dialect())
    told = conn.exec_driver_sql(f"explain (analyze, timing off, format json) {compiled}", compiled.params)
    [plan] = told.scalar_one()
    assert max(_rows(plan["Plan"])) <= 200


def _rows(plan: dict[str, Any]) -> Iterator[float]:
    yield plan["Actual Rows"] * plan["Actual Loops"] + plan.get("Rows Removed by Filter", 0)
    for child in plan.get("Plans", []):
        yield from _rows(child)
