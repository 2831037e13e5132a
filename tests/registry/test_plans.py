"""How PostgreSQL answers: the plans of claims and lists on 200,000 domains, as committed for each major version.

A plan that changed is looked at, then written anew: `python -m tests.registry.test_plans --write`.
"""

import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, create_engine, event, text
from sqlalchemy.dialects.postgresql import psycopg as dialect

from bailiwick.approve.queue import waiting
from bailiwick.base.sections import PrioritySettings
from bailiwick.registry.apply import SQL
from bailiwick.registry.listing import Filter, Sort, count_domains, list_query
from bailiwick.registry.overview import overview
from bailiwick.registry.own import submitted_by
from bailiwick.registry.priority import weights
from tests.servers import TestServers, available_kinds

KINDS = ("pg15", "pg18")
DIRECTORY = Path(__file__).with_name("plans")
CLAIM = (
    "promote",
    "pick_known",
    "pick_new",
    "pick_among",
    "take",
    "roomy_keys",
    "wake_parked",
    "renew",
    "fence",
    "wanted",
)
Plans = dict[str, list[str]]

# Every axis, list and lease state in a share that a used registry has. The primes keep them independent.
_DOMAINS = """
insert into domains (name, site, shared_key, approval, standing, crawl, submitted_by, submitter_type, source, seed_rank,
    priority_score, image_yield_rate, pages_discovered, pages_crawled, first_seen_at, last_crawled_at, next_crawl_after,
    review_reason, block_reason, blacklist_reason, blacklisted_by, blacklisted_at, no_funds_year, failure_reason)
select substr(md5(n::text), 1, 12) || case when n % 4 = 0 then '.example.org' else '.site' || n / 4 || '.org' end,
    site, site,
    case when a < 850 then 'approved' when a < 950 then 'pending_review' when a < 990 then 'rejected'
         else 'suspended' end,
    case when s < 900 then 'discovered' when s < 950 then 'processed_high_quality'
         when s < 980 then 'processed_low_quality' when s < 990 then 'blacklisted'
         when s < 995 then 'no_funds_this_year' else 'processing_failed' end,
    case when c < 600 then 'pending' when c < 650 then 'active' when c < 950 then 'exhausted'
         when c < 990 then 'blocked' else 'unreachable' end,
    1 + n % 30, case when n % 3 = 0 then 'public_user' else 'admin' end,
    case when n % 1009 = 0 then 'partner' when l < 800 then 'tranco' when l < 950 then 'majestic' end,
    case when l < 950 then n end, 400 + n % 600,
    case when c >= 600 then (n % 311) / 100.0 end, n % 700, n % 500,
    at - n * interval '1 minute', case when c >= 600 then at - n % 8009 * interval '20 minutes' end,
    case when c >= 650 then at + n % 401 * interval '1 hour' end,
    'why', 'why', 'why', 1, at, 2099, 'why'
from generate_series(1, 200000::bigint) as n,
     lateral (select bailiwick_now() as at, n * 7919 % 1000003 % 1000 as a, n * 10007 % 999983 % 1000 as s,
                     n * 104729 % 1000033 % 1000 as c, n * 1299709 % 1000037 % 1000 as l,
                     case when n % 40 = 0 then 'example.org' else 'site' || n / 4 || '.org' end as site) as v
"""
_QUEUE = """
insert into crawl_queue (domain_id, key_hash, prio, is_new, lease_no, worker, is_parked, wake_at, ready_key)
select d.id, hashtextextended(d.shared_key, 0), d.priority_score / 40, d.crawl = 'pending', 1,
    case when w.leased then 'worker-' || d.id % 16 end, w.parked,
    case when w.leased then at + (d.id % 1800) * interval '1 second'
         when w.due then at - interval '1 minute' when not w.parked then domain_wakes_at(d, refusal) end,
    case when refusal is null and not (w.leased or w.parked or w.due) then domain_ready_key(d, prio) end
from domains as d, lateral (select bailiwick_now() as at, (d.priority_score / 40)::smallint as prio) as v,
     lateral (select domain_refusal(d, at) as refusal) as r,
     lateral (select refusal is null and d.id % 17 = 0 as leased,
                     refusal is null and d.id % 17 = 1 and d.site = 'example.org' as parked,
                     refusal is null and d.id % 1700 = 2 and d.site <> 'example.org' as due) as w
"""
FILTERS = {
    "all": Filter(),
    **{f"approval={state}": Filter(approval=state) for state in ("approved", "pending_review", "suspended")},
    **{f"standing={state}": Filter(standing=state) for state in ("discovered", "blacklisted", "processing")},
    **{f"crawl={state}": Filter(crawl=state) for state in ("pending", "exhausted", "unreachable")},
    **{f"site={site}": Filter(site=site) for site in ("example.org", "site7.org")},
    **{f"source={source}": Filter(source=source) for source in ("tranco", "partner")},
    **{f"prefix={prefix}": Filter(prefix=prefix) for prefix in ("a", "ab1")},
    "approved discovered": Filter(approval="approved", standing="discovered"),
    "rejected blacklisted unreachable": Filter(approval="rejected", standing="blacklisted", crawl="unreachable"),
    "prefix=a rejected": Filter(prefix="a", approval="rejected"),
}
COUNTED = [name for name in FILTERS if not name.startswith(("site", "source"))]
PLACE = (datetime(2026, 1, 1, tzinfo=UTC), 100_000)
PAGES: dict[str, Callable[[Connection], object]] = {
    "waiting": lambda conn: waiting(conn, limit=26),
    "waiting, deep": lambda conn: waiting(conn, limit=26, after=PLACE),
    "submitted_by": lambda conn: submitted_by(conn, 7, limit=51),
    "submitted_by, deep": lambda conn: submitted_by(conn, 7, limit=51, after=PLACE),
    "overview": overview,
    **{f"count {what}": partial(count_domains, which=FILTERS[what]) for what in COUNTED},
}
"""What web pages ask; each may be several queries."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_plans_are_those_committed(servers: TestServers, kind: str) -> None:
    if kind not in available_kinds():
        pytest.skip(f"there is no {kind} here")
    found, known = plans(servers, kind), committed(kind)
    assert {name: plan for name, plan in found.items() if known.get(name) != plan} == {}
    assert found.keys() == known.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_no_claim_reads_a_whole_table(kind: str) -> None:
    for name in CLAIM:
        nodes = committed(kind)[name]
        assert not [node for node in nodes if node.startswith("Seq Scan")], name
        assert any("(crawl_queue_" in node for node in nodes), name


@pytest.mark.parametrize("kind", KINDS)
def test_every_list_is_served_by_an_index(kind: str) -> None:
    lists = {name: nodes for name, nodes in committed(kind).items() if name.startswith("list ")}
    assert len(lists) == 2 * len(Sort) * len(FILTERS)
    for name, nodes in lists.items():
        assert any("(domains_" in node for node in nodes), name
        assert not [node for node in nodes if node.startswith(("Seq Scan", "Gather"))], name


@pytest.mark.parametrize("kind", KINDS)
def test_states_are_looked_up_before_the_order_is_walked(kind: str) -> None:
    """A combination that hardly any domain is in is not looked for among all of them."""
    by = {
        Sort.NAME: "states", Sort.PRIORITY: "priority_score", Sort.YIELD: "yield", Sort.LAST_CRAWLED: "last_crawled",
        Sort.FIRST_SEEN: "first_seen",
    }  # fmt: skip
    for sort, what, depth in product(Sort, COUNTED, ("", ", deep")):
        nodes = committed(kind)[f"list {sort}, {what}{depth}"]
        if what == "prefix=ab1" and sort is not Sort.NAME:
            assert "CTE Scan(near)" in nodes, f"{sort}, {what}{depth}"
        else:
            assert f"Index Only Scan(domains_{by[sort]}_idx)" in nodes, f"{sort}, {what}{depth}"


@pytest.mark.parametrize("kind", KINDS)
def test_pages_of_the_web_are_served_by_an_index(kind: str) -> None:
    known = committed(kind)
    for name in PAGES:
        assert not {"Seq Scan(domains)", "Seq Scan(crawl_queue)", "Sort"} & set(known[name]), name
    for name in ("waiting", "waiting, deep"):
        assert "Index Scan(domains_review_idx)" in known[name]
    for name in ("submitted_by", "submitted_by, deep"):
        assert known[name] == ["Limit", "Index Scan(domains_submitter_idx)"]
    for name in (f"count {what}" for what in COUNTED):
        assert "Index Only Scan(domains_states_idx)" in known[name]
    assert "Index Scan(crawl_queue_sleep_idx)" in known["due_next"]


def plans(servers: TestServers, kind: str) -> Plans:
    with servers.cloned(kind) as url:
        _fill(url)
        engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
        try:
            with engine.connect() as conn:
                queries = {name: _plan(conn, SQL[name], values) for name, values in _parameters(conn).items()}
                lists = {
                    f"list {sort}, {what}{', deep' if after else ''}": _list_plan(conn, which, sort, after)
                    for sort in Sort
                    for what, which in FILTERS.items()
                    for after in (None, _middle(conn))
                }
                pages = {name: _page_plan(conn, ask) for name, ask in PAGES.items()}
        finally:
            engine.dispose()
    return queries | lists | pages


def committed(kind: str) -> Plans:
    known: Plans = json.loads((DIRECTORY / f"{kind}.json").read_text())
    return known


def _fill(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as conn:
        # In states that only moves lead to, and with statistics of every row: a sample would differ each time.
        conn.execute("set session_replication_role = replica")
        conn.execute("set default_statistics_target = 1000")
        for table in ("domains", "crawl_queue"):
            conn.execute(f"alter table {table} set (autovacuum_enabled = off)")
        conn.execute(_DOMAINS)
        conn.execute(_QUEUE)
        conn.execute("vacuum domains, crawl_queue")
        conn.execute("analyze domains, crawl_queue")


def _parameters(conn: Connection) -> dict[str, dict[str, object]]:
    """Real values for each query: what the plan is depends on them."""
    waiting = conn.exec_driver_sql(SQL["pick_known"], {"limit": 10, "floor": 0}).all()
    leased = conn.execute(text("select domain_id, key_hash, lease_no from crawl_queue where worker = 'worker-3'")).all()
    ids, keys = [row.domain_id for row in waiting], [row.key_hash for row in waiting]
    scoring = weights(PrioritySettings())
    return {
        "promote": {"limit": 2000, "weights": scoring},
        "pick_known": {"limit": 10, "floor": 0},
        "pick_new": {"limit": 10, "floor": 0},
        "pick_among": {"limit": 10, "floor": 0, "among": ids},
        "take": {"ids": ids, "keys": keys, "per_key": 4, "seconds": 1800, "worker": "w"},
        "roomy_keys": {"keys": 4, "per_key": 4},
        "wake_parked": {"keys": [row.key_hash for row in leased[:10]], "per_key": 4},
        "renew": {
            "ids": [row.domain_id for row in leased[:500]],
            "lease_nos": [row.lease_no for row in leased[:500]],
            "worker": "worker-3",
            "seconds": 1800,
        },
        "fence": {
            "ids": [row.domain_id for row in leased[:500]],
            "lease_nos": [row.lease_no for row in leased[:500]],
            "worker": "worker-3",
        },
        "wanted": {"ids": [row.domain_id for row in leased[:500]]},
        "requeue": {"ids": ids},
        "expire_workers": {"workers": ["worker-3"]},
        "reprioritize": {"after": 100_000, "limit": 5000, "weights": scoring},
        "lease_workers": {"after": "", "limit": 50},
        "claimable": {"cap": 10_000},
        "due_next": {"limit": 5},
    }


def _middle(conn: Connection) -> str:
    """A domain that has a value in each order."""
    named = conn.execute(text("select name from domains where last_crawled_at is not null order by id offset 40000"))
    return str(named.scalars().first())


def _page_plan(conn: Connection, ask: Callable[[Connection], object]) -> list[str]:
    """The plans of whatever this asks, one behind the other."""
    asked: list[tuple[str, dict[str, object]]] = []

    def note(*given: object) -> None:
        _, _, statement, parameters, *_ = given
        asked.append((statement, parameters))  # type: ignore[arg-type]

    event.listen(conn, "before_cursor_execute", note)
    ask(conn)
    event.remove(conn, "before_cursor_execute", note)
    return [node for statement, parameters in asked for node in _plan(conn, statement, parameters)]


def _list_plan(conn: Connection, which: Filter, sort: Sort, after: str | None) -> list[str]:
    query = list_query(conn, which, sort=sort, limit=50, after=after)
    return _plan(conn, str(query.compile(dialect=dialect.dialect(), compile_kwargs={"literal_binds": True})), {})


def _plan(conn: Connection, query: str, values: dict[str, object]) -> list[str]:
    [plan] = conn.exec_driver_sql(f"explain (format json) {query}", values).scalar_one()
    return list(_nodes(plan["Plan"]))


def _nodes(plan: dict[str, object]) -> Iterator[str]:
    """Node types in the order of EXPLAIN, with the index or table that each one reads."""
    of = plan.get("Index Name") or plan.get("Relation Name") or plan.get("CTE Name")
    yield f"{plan['Node Type']}({of})" if of else str(plan["Node Type"])
    below = plan.get("Plans", [])
    assert isinstance(below, list)
    for child in below:
        yield from _nodes(child)


def _write() -> None:
    DIRECTORY.mkdir(exist_ok=True)
    with TestServers() as servers:
        for kind in KINDS:
            found = json.dumps(plans(servers, kind), indent=1)
            (DIRECTORY / f"{kind}.json").write_text(f"{found}\n")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    _write()
