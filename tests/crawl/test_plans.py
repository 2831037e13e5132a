"""How PostgreSQL answers the page-rate queries: 200,000 pages of 500 domains, 20,000 domains in the queue.

Looked at as the program asks: with `by_index` where it sets that, with real values, and (where the server can tell) as
the plan of a prepared statement, which knows no values.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, create_engine, text

from bailiwick.crawl.flush import SQL
from bailiwick.crawl.listing import ERRORS
from bailiwick.db.sql import by_index
from tests.servers import TestServers, available_kinds

pytestmark = pytest.mark.slow
KINDS = ("pg15", "pg18")
BIG = re.compile(
    r"(pages|fetch_log|parse_queue|outlinks)(_\w+)?|crawl_queue|page_requests|job_domains|run_domains|domains"
)
"""Tables that grow with what is crawled: never read as a whole."""
_FILL = (
    """
    insert into domains (name, site, shared_key, approval)
    select 'site' || n || '.org', 'site' || n || '.org', 'site' || n || '.org', 'approved'
    from generate_series(1, 20000) as n""",
    """
    insert into crawl_queue (domain_id, key_hash, lease_no, worker, run_id, wake_at, ready_key)
    select d.id, hashtextextended(d.name, 0), 1, case when leased then 'w' || d.id % 10 end,
           case when leased then 1 + d.id % 50 end, case when leased then bailiwick_now() + interval '20 minutes' end,
           case when not leased then domain_ready_key(d, 3::smallint) end
    from domains as d, lateral (select d.id % 40 = 0 as leased) as l""",
    # 500 domains with pages, those that are leased; the first one has 50,000, the others 300.
    """
    insert into pages (domain_id, path_hash, path, state, priority, depth, next_at, last_fetched_at, body_hash)
    select d.id, hashtextextended(d.id || '/' || n, 0), '/' || n,
           case when n % 20 < 8 then 'pending' when n % 20 < 19 then 'fetched' else 'failed' end,
           case when n % 50 = 0 then 1 else 5 end, n % 7, bailiwick_now() + (n % 100 - 30) * interval '1 hour',
           case when n % 20 >= 8 then bailiwick_now() - interval '1 day' end, sha256(n::text::bytea)
    from domains as d, generate_series(1, 50000) as n
    where d.id % 40 = 0 and n <= case when d.id = 40 then 50000 else 300 end""",
    """
    insert into fetch_log (fetched_at, domain_id, path_hash, run_id, lease_no, outcome)
    select bailiwick_now() - n * interval '1 second', 40 * (1 + n % 500), n, 1 + n % 50, 1, 'ok'
    from generate_series(1, 50000) as n""",
    """
    insert into parse_queue (domain_id, path_hash, body_hash)
    select domain_id, path_hash, body_hash from pages where state = 'fetched' and path_hash % 4 = 0""",
    """
    insert into page_requests (domain_id, kind, path, asked_by)
    select 1 + n % 20000, (array['submitted', 'redirect', 'image'])[1 + n % 3], '/' || n, 1
    from generate_series(1, 20000) as n""",
    """
    insert into outlinks (domain_id, url_hash, target, path, from_hash)
    select 40 * (1 + n % 500), n, 'site' || n % 20000 || '.org', '/', 1 from generate_series(1, 20000) as n""",
    "insert into domain_progress (domain_id) select id from domains",
    "insert into jobs (name, state, created_by) select 'job ' || n, 'running', 1 from generate_series(1, 40) as n",
    """
    insert into job_domains (job_id, domain_id, is_open)
    select j.id, d.id, d.id % 3 > 0 from jobs as j, domains as d where d.id % 41 = j.id % 41 or j.name = 'job 1'""",
    "insert into runs (job_id) select 2 + n % 40 from generate_series(1, 80) as n",
    """
    insert into run_domains (run_id, domain_id, max_depth, ended_at)
    select r.id, d.id, 3, case when d.id % 2 = 0 then bailiwick_now() end
    from runs as r, domains as d where d.id % 41 = r.id % 41""",
)
TABLES = (
    "domains, crawl_queue, pages, fetch_log, parse_queue, page_requests, outlinks, domain_progress, jobs, job_domains, "
    "runs, run_domains"
)
_TODAY = datetime.now(UTC)
BY_INDEX = {
    "take", "outlook", "write_pages", "add_pages", "queue_parse", "unqueue_parse", "add_outlinks", "add_progress",
    "add_run", "offer", "recrawl", "admit_requested", "try_again",
}  # fmt: skip
"""Asked after `by_index`; the others as the planner likes it."""


@dataclass(frozen=True)
class Node:
    """One node of a plan that reads a table."""

    query: str
    kind: str
    table: str
    index: str
    condition: str


def _parameters() -> dict[str, dict[str, Any]]:
    """Real values: 50 open domains, 2,000 results of a flush, 5,000 links."""
    ids = [40 * n for n in range(1, 51)]
    flushed = [40 * (1 + n % 50) for n in range(2000)]
    linked = [40 * (1 + n % 50) for n in range(5000)]
    hashes, many = list(range(2000)), list(range(5000))
    leases = {"ids": ids, "lease_nos": [1] * 50, "worker": "w0"}
    names = ("retries", "status", "pack_id", "pack_offset", "pack_length", "text_hash")
    results: dict[str, Any] = {name: [1] * 2000 for name in names}
    results |= dict.fromkeys(("outcome", "error", "etag", "last_modified", "content_type", "canonical"), ["x"] * 2000)
    results |= {"domain_id": flushed, "path_hash": hashes, "effect": ["changed"] * 2000, "is_noindex": [False] * 2000}
    results |= {"wait_seconds": [1.5] * 2000, "age_seconds": [0.5] * 2000, "body_hash": [b"x"] * 2000}
    links = {"domain_id": linked, "path_hash": many, "path": [f"/{n}" for n in many], "priority": [5] * 5000}
    counts = ("discovered", "crawled", "waiting", "failed", "refused", "images", "depth", "errors", "errors_in_row",
              "requests", "bytes", "outlinks")  # fmt: skip
    counted: dict[str, Any] = {name: [1] * 50 for name in counts} | {"domain_id": ids}
    return {
        "hold": leases | {"flush_nos": [1] * 50},
        "control": leases,
        "take": {"ids": ids, "most": [200] * 50, "max_depth": [3] * 50},
        "outlook": {"ids": ids, "max_depth": [3] * 50},
        "write_pages": results,
        "add_pages": links | {"depth": [1] * 5000, "referrer": many},
        "queue_parse": {name: results[name] for name in ("domain_id", "path_hash", "body_hash")},
        "unqueue_parse": {"domain_id": flushed, "path_hash": hashes},
        "add_outlinks": {"domain_id": linked, "url_hash": many, "target": ["x.org"] * 5000, "path": ["/"] * 5000,
                         "anchor": ["x"] * 5000, "from_hash": many},
        "add_progress": counted | {"sent_ago": [1.5] * 50},
        "add_run": {name: counted[name] for name in ("domain_id", "crawled", "requests", "errors", "bytes")}
        | {"run_id": [7] * 50},
        "offer": {"target": [f"site{n}.org" for n in range(200)], "path": ["/"] * 200, "system": 1},
        "claimable_of": {"jobs": [3, 4], "after": 5000, "limit": 200},
        "requests_for": {"ids": ids, "limit": 1000},
        "admit_requested": links,
        "recrawl": {"domain_id": 40, "request_id": 1, "limit": 20_000},
        "progress_of": {"ids": ids},
        "try_again": {"ids": ids, "outcomes": ["forbidden", "timeout"]},
        "job_for": {"ids": ids, "jobs": None},
        "open_run_of": {"ids": ids, "job_ids": [3] * 50},
        "fetches_logged": {"domain_id": 40, "at": _TODAY, "path_hash": 7, "limit": 51},
        "errors_logged": {"domain_id": 40, "at": _TODAY, "path_hash": 7, "limit": 51, "errors": ERRORS, "most": 20_000},
        "frontier_page": {"domain_id": 40, "priority": 5, "depth": 2, "path_hash": 2**40, "limit": 51},
        "rehold": {"ids": ids},
        "wake_wanted": {"ids": ids},
    }  # fmt: skip


@pytest.fixture(scope="module", params=KINDS)
def reads(request: pytest.FixtureRequest, servers: TestServers) -> Iterator[dict[str, list[Node]]]:
    """What each query reads, by its name; `… prepared` is its plan without values."""
    if request.param not in available_kinds():
        pytest.skip(f"there is no {request.param} here")
    with servers.cloned(request.param) as url:
        _fill(url)
        engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
        try:
            found: dict[str, list[Node]] = {}
            for name, values in _parameters().items():
                with engine.begin() as conn:
                    found |= _plans(conn, name, values)
            yield found
        finally:
            engine.dispose()


def _fill(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute("set session_replication_role = replica")
        conn.execute("set synchronous_commit = off")
        for sql in _FILL:
            conn.execute(sql)
        conn.execute(f"analyze {TABLES}")
        found = conn.execute("select count(*), count(distinct domain_id) from pages").fetchone()
        assert found == (199_700, 500)


def _plans(conn: Connection, name: str, values: dict[str, Any]) -> dict[str, list[Node]]:
    if name in BY_INDEX:
        by_index(conn)
    [plan] = conn.exec_driver_sql(f"explain (format json) {SQL[name]}", values).scalar_one()
    found = {name: list(_nodes(name, plan["Plan"]))}
    if int(conn.execute(text("show server_version_num")).scalar_one()) >= 160000:
        cursor = conn.connection.cursor()
        cursor.execute(f"explain (generic_plan, format json) {_numbered(SQL[name])}")
        [row] = cursor.fetchall()
        prepared = f"{name}, prepared"
        found[prepared] = list(_nodes(prepared, row[0][0]["Plan"]))
    return found


def _numbered(query: str) -> str:
    """Our %(name)s as PostgreSQL's own $1."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)[sb]", query)))
    return re.sub(r"%\((\w+)\)[sb]", lambda found: f"${names.index(found[1]) + 1}", query).replace("%%", "%")


def _nodes(query: str, plan: dict[str, Any]) -> Iterator[Node]:
    kind = str(plan["Node Type"])
    if "Scan" in kind:
        condition = " ".join(str(plan.get(key, "")) for key in ("Index Cond", "Recheck Cond"))
        yield Node(query, kind, str(plan.get("Relation Name", "")), str(plan.get("Index Name", "")), condition.strip())
    for child in plan.get("Plans", []):
        yield from _nodes(query, child)


def test_no_growing_table_is_read_as_a_whole(reads: dict[str, list[Node]]) -> None:
    whole = [
        node
        for nodes in reads.values()
        for node in nodes
        if BIG.fullmatch(node.table) and (node.kind == "Seq Scan" or (node.index and not node.condition))
    ]
    assert whole == []


def test_pages_are_found_by_their_domain(reads: dict[str, list[Node]]) -> None:
    """Whichever partition is looked at, it is probed with the domain's id."""
    for name in ("take", "outlook", "write_pages", "recrawl", "try_again"):
        nodes = [node for node in reads[name] if node.table.startswith("pages_")]
        assert nodes, name
        assert all("domain_id = " in node.condition for node in nodes), name


def test_a_page_is_written_by_its_key(reads: dict[str, list[Node]]) -> None:
    for name in [name for name in reads if name.startswith("write_pages")]:
        nodes = [node for node in reads[name] if node.table.startswith("pages_")]
        assert len(nodes) == 16
        assert all(node.index.endswith("_pkey") and "path_hash = " in node.condition for node in nodes), name


def test_taking_reads_one_range_of_the_frontier(reads: dict[str, list[Node]]) -> None:
    """Each priority down to the depth limit: what waits below it is never read."""
    for name in [name for name in reads if name.startswith("take")]:
        nodes = [node for node in reads[name] if node.table.startswith("pages_")]
        frontier = [node for node in nodes if "priority_depth" in node.index]
        due = [node for node in nodes if "next_at" in node.index]
        assert len(frontier) == len(due) == 16, name
        assert all("priority = " in node.condition and "depth <= " in node.condition for node in frontier), name
        assert all("next_at <= " in node.condition for node in due), name


def test_known_domains_are_pruned_to_their_partition(reads: dict[str, list[Node]]) -> None:
    """A recrawl is of one domain: to find its pages, fifteen partitions are not even planned."""
    nodes = [node for node in reads["recrawl"] if node.table.startswith("pages_")]
    assert len([node for node in nodes if "due." not in node.condition]) == 1


def test_the_queue_is_found_by_domain_or_worker(reads: dict[str, list[Node]]) -> None:
    for name in ("hold", "control", "claimable_of"):
        nodes = [node for node in reads[name] if node.table == "crawl_queue"]
        assert nodes, name
        by_domain = [n for n in nodes if n.index == "crawl_queue_pkey" and "domain_id = " in n.condition]
        by_worker = [n for n in nodes if n.index == "crawl_queue_worker_idx" and "worker = " in n.condition]
        assert len(by_domain) + len(by_worker) == len(nodes), name


def test_wishes_are_found_by_their_domain(reads: dict[str, list[Node]]) -> None:
    [node] = [node for node in reads["requests_for"] if node.index]
    assert (node.index, "domain_id = ANY" in node.condition) == ("page_requests_path_key", True)


def test_lists_of_pages_go_on_where_the_last_one_ended(reads: dict[str, list[Node]]) -> None:
    """However long a domain's log or frontier is: what was shown before is not read again."""
    for name in [name for name in reads if name.startswith(("fetches_logged", "errors_logged"))]:
        log = [node for node in reads[name] if node.table.startswith("fetch_log")]
        assert log, name
        assert all("domain_id = " in node.condition and "fetched_at <= " in node.condition for node in log), name
        pages = [node for node in reads[name] if node.table.startswith("pages_")]
        assert all(node.index.endswith("_pkey") and "path_hash = " in node.condition for node in pages), name
    for name in [name for name in reads if name.startswith("frontier_page")]:
        nodes = [node for node in reads[name] if node.table.startswith("pages_")]
        assert nodes, name
        assert all("priority_depth" in node.index and "ROW(priority, depth" in node.condition for node in nodes), name
