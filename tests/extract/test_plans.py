"""How PostgreSQL answers the queries of the parse stage: 100,000 parsed pages of 500 domains, 30,000 that wait."""

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import create_engine

from bailiwick.db.sql import by_index
from bailiwick.extract.parsers.stats import SQL as PARSERS_SQL
from bailiwick.extract.queue import SQL as PAGES_SQL
from tests.servers import TestServers, available_kinds

pytestmark = pytest.mark.slow
BIG = re.compile(
    r"(pages|parse_queue)(_\w+)?|page_parses|page_snapshots|snapshot_history|items|item_rejects|products|price_history|"
    r"domains|job_domains|parser_\w+"
)
_FILL = (
    """
    insert into domains (name, site, shared_key, approval)
    select 'site' || n || '.org', 'site' || n || '.org', 'site' || n || '.org', 'approved'
    from generate_series(1, 20000) as n""",
    """
    insert into pages (domain_id, path_hash, path, state, body_hash, pack_id, pack_offset, pack_length, last_fetched_at)
    select 40 * (1 + n % 500), hashtextextended(n::text, 0), '/' || n, 'fetched', sha256(n::text::bytea), 1, n, 10,
           bailiwick_now()
    from generate_series(1, 100000) as n""",
    """
    insert into page_snapshots (domain_id, path_hash, content_hash, body_hash, kind, text, words, simhash, is_relevant,
                                relevance, relevance_reason, relevance_source, extractor_version, profile_mark)
    select domain_id, path_hash, body_hash, body_hash, 'html', repeat('word ', 100), 100, path_hash, true, 1, 'all',
           'all', 1, 7
    from pages""",
    """
    insert into page_parses (domain_id, path_hash, body_hash, outcome, snapshot_id, content_hash, simhash,
                             extractor_version, profile, profile_mark)
    select domain_id, path_hash, body_hash, 'parsed', id, content_hash, simhash, 1, 'general', 7 from page_snapshots""",
    """
    insert into snapshot_history (domain_id, path_hash, snapshot_id, previous_id)
    select domain_id, path_hash, id, case when id % 2 = 0 then id end from page_snapshots""",
    """
    insert into items (snapshot_id, domain_id, path_hash, kind, position, data, confidence, extractor,
                       extractor_version, content_hash)
    select id, domain_id, path_hash, 'article', 0, '{}', 0.5, 'article', 1, content_hash from page_snapshots
    where id % 2 = 0""",
    """
    insert into item_rejects (snapshot_id, domain_id, path_hash, kind, position, value, reason, extractor,
                              extractor_version)
    select id, domain_id, path_hash, 'product', 0, 'v', 'why', 'product', 1 from page_snapshots where id % 3 = 0""",
    """
    insert into products (domain_id, path_hash, position, item_id, product_name, confidence, parser, parser_version,
                          content_hash)
    select domain_id, path_hash, 0, id, 'P', 0.5, 'product', 1, content_hash from items""",
    "insert into price_history (product_id, price) select id, 1 from products",
    "insert into packs (machine, file) values ('here', '1.pack')",
    """
    insert into parse_queue (domain_id, path_hash, body_hash, queued_at)
    select domain_id, path_hash, body_hash, bailiwick_now() - random() * interval '1 day' from pages
    where path_hash % 10 < 3""",
    """
    insert into parser_tries (domain_id, path_hash, kind, parser, version, outcome)
    select domain_id, path_hash, 'product', 'shop.Page', 1,
           case when path_hash % 10 = 0 then 'raised' else 'succeeded' end
    from pages""",
    """
    insert into parser_stats (domain_id, parser, version, tried, succeeded, recent)
    select id, 'shop.Page' || n, 1, 100, 90, repeat('1', 100) from domains, generate_series(1, 3) as n""",
    "insert into jobs (name, state, created_by) select 'job ' || n, 'running', 1 from generate_series(1, 40) as n",
    """
    insert into job_domains (job_id, domain_id) select j.id, d.id from jobs as j, domains as d
    where d.id % 41 = j.id % 41 or j.name = 'job 1'""",
)
TABLES = "domains, pages, page_snapshots, page_parses, snapshot_history, items, packs, parse_queue, jobs, job_domains, "
TABLES += "parser_tries, parser_stats, item_rejects, products, price_history"
SQL = {**PAGES_SQL, **PARSERS_SQL}
BY_INDEX = {"claim", "known_contents", "hold", "touch_snapshots", "add_history", "drop_items", "done", "write_tries",
            "drop_tries", "count_tries", "items_after", "items_of_domain_after", "rejects_after",
            "rejects_of_domain_after", "project_products", "drop_rejects"}  # fmt: skip


def _parameters() -> dict[str, dict[str, Any]]:
    keys = {"domain_id": [40 * (1 + n % 500) for n in range(64)], "path_hash": list(range(64))}
    hashes = [b"x"] * 64
    one = {"domain_id": 40, "after_domain": 40, "after_path": 0, "limit": 50}
    numbers = {"snapshot_id": list(range(64)), "kind": ["article"] * 64, "position": [0] * 64}
    listed = {"after_kind": "article", "after_id": 7, "last_kind": "~", "limit": 50}
    return {
        "claim": {"jobs": None, "machine": "here", "limit": 64, "worker": "w", "seconds": 300.0,
                  "parser_marks": '{"site7.org": 7}'},
        "known_contents": keys | {"mark": [7] * 64, "version": 1},
        "hold": keys | {"body_hash": hashes},
        "touch_snapshots": keys | {"content_hash": hashes, "body_hash": hashes},
        "add_history": keys | {"snapshot_id": list(range(64))},
        "drop_items": numbers | {"snapshots": list(range(64))},
        "done": keys,
        "project_products": keys | {"snapshot_id": list(range(64))},
        "drop_rejects": {"snapshots": list(range(64))},
        "items_after": listed,
        "items_of_domain_after": listed | {"domain_id": 40},
        "items_of_page": {"domain_id": 40, "path_hash": 7},
        "prices_of_page": {"domain_id": 40, "path_hash": 7, "limit": 50},
        "rejects_after": {"after": 7, "limit": 50},
        "rejects_of_domain_after": {"domain_id": 40, "after": 7, "limit": 50},
        "changes": {"before": 2**62, "domain_id": 40, "path_hash": None, "since": None, "only_relevant": False,
                    "limit": 50},
        "page_history": {"domain_id": 40, "path_hash": 7, "before": 2**62, "limit": 50},
        "texts": {"ids": [1, 2]},
        "simhashes": {"domain_id": 40, "most": 50_000},
        "content_counts": {"domain_id": 40, "most": 100_000},
        "item_counts": {"domain_id": 40, "most": 100_000},
        "failures": one,
        "drop_tries": keys | {"kind": ["product"] * 64, "all_domains": keys["domain_id"],
                              "all_paths": keys["path_hash"]},
        "count_tries": {"domain_id": [40, 80], "parser": ["shop.Page1"] * 2, "version": [1, 2], "recent": ["1", "0"],
                        "kept": 250},
        "mark_fallen": {"domain_id": 40, "parser": "shop.Page1", "fell_from": 1.0},
        "parser_rates_by_domain": one | {"domain_id": None, "after_parser": "", "after_version": 0},
        "parser_failures": one | {"domain_id": None, "after_kind": ""},
        "unproductive": one | {"days": 90, "wanted": '{"general": ["article"]}'},
    }  # fmt: skip


@pytest.fixture(scope="module", params=("pg15", "pg18"))
def plans(request: pytest.FixtureRequest, servers: TestServers) -> Iterator[dict[str, str]]:
    if request.param not in available_kinds():
        pytest.skip(f"there is no {request.param} here")
    with servers.cloned(request.param) as url:
        with psycopg.connect(url, autocommit=True) as conn:
            conn.execute("set session_replication_role = replica")
            conn.execute("set synchronous_commit = off")
            for sql in _FILL:
                conn.execute(sql)
            conn.execute(f"analyze {TABLES}")
        engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
        try:
            found = {}
            for name, values in _parameters().items():
                with engine.begin() as conn:
                    if name in BY_INDEX:
                        by_index(conn)
                    found[name] = "\n".join(conn.exec_driver_sql(f"explain {SQL[name]}", values).scalars())
            yield found
        finally:
            engine.dispose()


def test_no_growing_table_is_read_as_a_whole(plans: dict[str, str]) -> None:
    whole = {
        name: plan
        for name, plan in plans.items()
        if any(BIG.fullmatch(t) for t in re.findall(r"Seq Scan on (\w+)", plan))
    }
    assert whole == {}


def test_what_waited_longest_is_found_in_order(plans: dict[str, str]) -> None:
    assert "parse_queue_queued_idx" in plans["claim"]
    assert "Sort" not in plans["claim"]


def test_the_newest_changes_are_read_backwards(plans: dict[str, str]) -> None:
    assert "Scan Backward using snapshot_history_domain_idx" in plans["changes"]
