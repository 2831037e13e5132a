"""How PostgreSQL answers questions and walks exports: 60,000 documents of domains from huge to tiny.

Looked at as the program asks: with `by_index` set, with real values, and (where the server can tell) as the plan of a
prepared statement, which knows no values.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from sqlalchemy import create_engine, text

from bailiwick.backends.index_postgres_found import columns_of
from bailiwick.backends.index_postgres_matches import conditions, sampled
from bailiwick.backends.index_postgres_words import SQL as INDEX
from bailiwick.db.sql import BY_INDEX
from bailiwick.model.search import Facet
from bailiwick.query.documents import SQL as QUERY
from tests.servers import TestServers, available_kinds

pytestmark = pytest.mark.slow
KINDS = ("pg15", "pg18")
_FILL = """
insert into domains (name, site, shared_key, approval)
select 'd' || n || '.org', 'd.org', 'd.org', 'approved' from generate_series(1, 300) as n;
insert into pages (domain_id, path_hash, path, last_outcome) select d, n * 7919, '/' || n, 'ok'
from generate_series(1, 60000) as n, lateral (select case when n % 3 = 0 then 1 else 1 + n % 300 end as d) as x;
insert into page_snapshots (domain_id, path_hash, content_hash, body_hash, kind, text, words, simhash, is_relevant,
    relevance, relevance_reason, relevance_source, extractor_version, profile_mark)
select domain_id, path_hash, 'c', 'b', 'html', 'text', 1, 1, true, 1, '', 'all', 1, 1 from pages;
insert into page_parses (domain_id, path_hash, body_hash, outcome, snapshot_id, extractor_version, profile,
    profile_mark)
select domain_id, path_hash, 'b', 'parsed', id, 1, 'g', 1 from page_snapshots;
insert into items (snapshot_id, domain_id, path_hash, kind, position, data, confidence, extractor, extractor_version,
    content_hash)
select id, domain_id, path_hash, 'product', 0, '{}', 1, 'x', 1, 'c' from page_snapshots where id % 3 = 0;
insert into search_documents (domain_id, path_hash, kind, position, snapshot_id, title, is_relevant, at, terms)
select domain_id, path_hash, 'page', 0, id, 't', true, now(),
       to_tsvector('english', 'everywhere w' || id % 100 || ' u' || id)
       || array_to_tsvector(array[chr(1) || 'd' || domain_id, chr(1) || 'kpage']) from page_snapshots;
insert into search_documents (domain_id, path_hash, kind, position, snapshot_id, title, is_relevant, at, terms, price,
    currency, availability, brand, category)
select domain_id, path_hash, 'product', 0, snapshot_id, 't', true, now(), '', id % 1000, 'EUR',
       case when id % 9 > 0 then 'in_stock' else 'out_of_stock' end, 'B' || id % 700, 'C' || id % 90 from items;
insert into products (domain_id, path_hash, position, item_id, product_name, confidence, parser, parser_version,
    content_hash)
select domain_id, path_hash, 0, id, 't', 1, 'x', 1, 'c' from items
"""
TABLES = "domains, pages, page_snapshots, page_parses, items, products, search_documents"
_OFFER = {"low": 10, "high": 100, "limit": 1001}
_PAGE = {"first": 1, "last": 20}
_FACETS = columns_of((Facet.BRAND, Facet.CATEGORY, Facet.DOMAIN, Facet.AVAILABILITY))
_PRICED = "price >= %(low)s::numeric and price <= %(high)s::numeric"
_LISTED: dict[str, tuple[str, dict[str, Any]]] = {
    "in stock": (f"{_PRICED} and availability = 'in_stock'", {}),
    "any": (_PRICED, {}),
    "brand": (f"lower(brand) = %(brand)s::text and {_PRICED}", {"brand": "b7"}),
    "category": (f"lower(category) = %(category)s::text and {_PRICED} and currency = 'EUR'", {"category": "c7"}),
    "domain": (f"domain_id = %(domain)s::bigint and {_PRICED}", {"domain": 7}),
    "brands": (f"lower(brand) = any(%(brands)s::text[]) and {_PRICED}", {"brands": ["b7", "b8"]}),
}
_KEYS = {"domain_ids": list(range(1, 201)), "path_hashes": [n * 7919 for n in range(1, 201)]}
_WALK = {"domain_id": 5, "path_hash": 0, "last": 2**62, "limit": 500}
_EXPORT = {**_KEYS, "item_kinds": [], "only_relevant": False, "since": None}
_ANY = {"since": None, "low": None, "high": None}
_HIT = {
    "config": "english", "words": "'everywher'", "chars": 20_000, "marks": "", "options": "",
    "domain_ids": [1, 2], "path_hashes": [1, 2], "kinds": ["page", "page"], "positions": [0, 0],
}  # fmt: skip
_PLACES = '{"(1,1)","(7,2)"}'


def _matches(one_in: int, *parts: str, limit: int = 1001) -> tuple[str, str, dict[str, Any]]:
    words, values = conditions(parts)
    statement = INDEX["matches"].replace("SAMPLE", sampled(one_in)).replace("WORDS", words)
    return INDEX["by_index"], statement, {"limit": limit, **values, **_ANY}


ASKED: dict[str, tuple[str, str, dict[str, Any]]] = {
    **{
        f"matches, {what}": _matches(1, *parts)
        for what, parts in {
            "everywhere": ("'everywher'",),
            "everywhere in a small domain": ("'everywher'", "'\x01d7'"),
            "everywhere in the largest domain": ("'everywher'", "'\x01d1'", "'\x01kpage'"),
            "one in a hundred, not another": ("'w17'", "!'u4711'"),
            "once": ("'u4711'", "'\x01d1'"),
        }.items()
    },
    "row of words": _matches(1, "'everywher' <-> 'w17'"),
    "row of words, small domain": _matches(1, "'everywher' <-> 'w17'", "'\x01d7'"),
    **{
        f"listed, {what}": (
            INDEX["by_index"], INDEX["listed"].replace("CONDITIONS", asked), {**_OFFER, **_PAGE, **values}
        )
        for what, (asked, values) in _LISTED.items()
    },
    **{
        f"listed for counts, {what}": (
            INDEX["by_index"],
            INDEX["listed_for_counts"].replace("CONDITIONS", asked).replace("COLUMNS", _FACETS), {**_OFFER, **values},
        )
        for what, (asked, values) in _LISTED.items()
    },
    "sample of one in 64": _matches(64, "'everywher'", "'\x01d1'", limit=48),
    "sample of one in 8": _matches(8, "'everywher'", "!'w17'", limit=48),
    "ranked": (
        INDEX["by_index"], INDEX["ranked"], {"words": "'everywher'", "places": _PLACES, "after": 0, "limit": 20}
    ),
    "counted": (
        INDEX["by_index"],
        INDEX["counted"].replace("SOURCE", INDEX["placed"]).replace("FACETS", "('brand', d.brand)"),
        {"places": _PLACES, "top": 20},
    ),
    "hits": (INDEX["by_index"], INDEX["hits"], _HIT),
    "drop_pages": (BY_INDEX, INDEX["drop_pages"], _KEYS),
    "drop_between": (
        BY_INDEX, INDEX["drop_between"],
        {**_KEYS, "after_domain": 3, "after_path": 0, "upto_domain": 3, "upto_path": 999_999},
    ),
    **{name: (BY_INDEX, QUERY[name], _WALK) for name in ("parsed_after", "fetched_after", "domains_after")},
    **{
        name: (BY_INDEX, QUERY[name], _EXPORT)
        for name in ("export_pages", "export_bodies", "export_items", "export_products", "export_domains")
    },
    "pages_now": (BY_INDEX, QUERY["pages_now"], _KEYS),
    "items_now": (BY_INDEX, QUERY["items_now"], {"snapshot_ids": list(range(100))}),
}  # fmt: skip


@dataclass(frozen=True)
class Node:
    kind: str
    table: str
    index: str
    condition: str


@pytest.fixture(scope="module", params=KINDS)
def plans(request: pytest.FixtureRequest, servers: TestServers) -> Iterator[dict[str, list[Node]]]:
    if request.param not in available_kinds():
        pytest.skip(f"there is no {request.param} here")
    with servers.cloned(request.param) as url:
        with psycopg.connect(url, autocommit=True) as conn:
            conn.execute(_FILL)
            conn.execute(f"vacuum analyze {TABLES}")
        engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
        with engine.begin() as conn:
            is_new = int(conn.execute(text("show server_version_num")).scalar_one()) >= 160000
        found: dict[str, list[Node]] = {}
        for name, (settings, query, values) in ASKED.items():
            with engine.begin() as conn:
                conn.exec_driver_sql(settings)
                [plan] = conn.exec_driver_sql(f"explain (format json) {query}", values).scalar_one()
                found[name] = list(_nodes(plan["Plan"]))
                if is_new:
                    cursor = conn.connection.cursor()
                    cursor.execute(f"explain (generic_plan, format json) {_numbered(query)}")
                    found[f"{name}, prepared"] = list(_nodes(cursor.fetchall()[0][0][0]["Plan"]))
        engine.dispose()
        yield found


def _numbered(query: str) -> str:
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", query)))
    return re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", query)


def _nodes(plan: dict[str, Any]) -> Iterator[Node]:
    kind = str(plan["Node Type"])
    if "Scan" in kind:
        conditions = " ".join(str(plan.get(key, "")) for key in ("Index Cond", "Recheck Cond", "TID Cond"))
        yield Node(kind, str(plan.get("Relation Name", "")), str(plan.get("Index Name", "")), conditions.strip())
    for child in plan.get("Plans", []):
        yield from _nodes(child)


def test_no_table_is_read_as_a_whole(plans: dict[str, list[Node]]) -> None:
    big = re.compile(r"(pages_\w+|page_snapshots|page_parses|items|products|search_documents|domains)")
    for name, nodes in plans.items():
        whole = [n for n in nodes if big.fullmatch(n.table) and (n.kind == "Seq Scan" or not n.condition)]
        assert whole == [], name


def test_every_question_is_answered_by_the_index_of_words(plans: dict[str, list[Node]]) -> None:
    for name in [name for name in plans if name.startswith("matches")]:
        assert [node.index for node in plans[name] if node.index] == ["search_documents_terms_idx"], name


def test_a_sample_has_an_index_of_its_own(plans: dict[str, list[Node]]) -> None:
    for one_in in (64, 8):
        for name in [name for name in plans if name.startswith(f"sample of one in {one_in}")]:
            assert [node.index for node in plans[name] if node.index] == [f"search_documents_sample_{one_in}_idx"], name


def test_a_row_of_words_is_answered_by_its_pairs(plans: dict[str, list[Node]]) -> None:
    """Whether they stand in a row is in documents: those that have both words only somewhere are not to be read."""
    for name in [name for name in plans if name.startswith("row of words") and "small" not in name]:
        used = {node.index for node in plans[name] if node.index}
        assert used == {"search_documents_terms_idx", "search_documents_pairs_idx"}, name


def test_products_are_listed_by_the_index_for_what_is_asked(plans: dict[str, list[Node]]) -> None:
    wanted = {"in stock": "in_stock", "any": "price", "brand": "brand", "category": "category", "domain": "shop"}
    for what, index in {**wanted, "brands": "brand"}.items():
        for name in (f"listed, {what}", f"listed for counts, {what}"):
            found = [(n.kind, n.index) for n in plans[name] if n.table == "search_documents"]
            assert found == [("Index Only Scan", f"search_documents_{index}_idx")], name


def test_ranking_goes_to_the_rows_directly(plans: dict[str, list[Node]]) -> None:
    for name in [name for name in plans if name.startswith(("ranked", "counted"))]:
        assert [node.kind for node in plans[name] if node.table == "search_documents"] == ["Tid Scan"], name


def test_exports_go_on_by_key(plans: dict[str, list[Node]]) -> None:
    for name in [name for name in plans if "_after" in name]:
        for node in plans[name]:
            assert node.index.endswith("pkey"), name
            assert "> " in node.condition, name
