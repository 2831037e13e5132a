"""How PostgreSQL answers what is asked of images at page rate: 400,000 sightings and 200,000 addresses of 200 domains.

Looked at as the program asks: with `by_index`, and as the plan of a prepared statement, which knows no values.
"""

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from bailiwick.crawl.images.writing import SQL as CRAWL
from bailiwick.db.sql import BY_INDEX
from bailiwick.extract.images.writing import SQL as EXTRACT
from bailiwick.query.export.rows import SQL as EXPORT
from bailiwick.query.images.listing import SQL as LISTS
from tests.servers import TestServers

pytestmark = pytest.mark.slow
_FILL = """
insert into domains (name, site, shared_key, approval)
select 'd' || n || '.org', 'd.org', 'd.org', 'approved' from generate_series(1, 200) as n;
insert into pages (domain_id, path_hash, path) select 1 + n % 200, n, '/' || n from generate_series(1, 20000) as n;
insert into parse_queue (domain_id, path_hash, body_hash)
select domain_id, path_hash, 'b' from pages where path_hash % 9 = 0;
insert into images (sha256, path, machine, mime, file_size, perceptual_hash)
select sha256(n::text::bytea), n || '.png', 'm', 'image/png', 1000, n * 7919 from generate_series(1, 50000) as n;
insert into image_fetches (domain_id, url_hash, url, is_own, outcome, image_id, next_at)
select 1 + n % 200, n, 'https://d.org/' || n, n % 4 > 0, case when n % 10 > 0 then 'stored' else 'waiting' end,
       case when n % 10 > 0 then 1 + n % 50000 end, case when n % 10 = 0 then now() end
from generate_series(1, 200000) as n;
insert into image_sightings (domain_id, path_hash, url_hash, nth, position, url, image_type, found_in, discovery_type,
                             image_id)
select 1 + n % 200, 1 + n % 20000, n % 200000, n / 200000, n % 40, 'https://d.org/' || n, 'gallery', 'src', 'discovery',
       1 + n % 50000 from generate_series(1, 399999) as n
"""
BIG = re.compile(r"Seq Scan on (images|image_sightings|image_fetches|pages\w*|parse_queue|products)")
_DOMAINS, _HASHES = [1 + n % 200 for n in range(1000)], list(range(1000))
_PAIRS: dict[str, Any] = {"domain_id": _DOMAINS, "url_hash": _HASHES}
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "outlook": (CRAWL["outlook"], {"ids": list(range(1, 51)), "most": [500] * 50}),
    "hold": (CRAWL["hold"], _PAIRS),
    "count_new": (CRAWL["count_new"], {"domain_id": _DOMAINS, "image_id": _HASHES}),
    "tie": (CRAWL["tie"], _PAIRS | {"image_id": _HASHES}),
    "touch": (CRAWL["touch"], {"domain_id": _DOMAINS, "path_hash": _HASHES}),
    "known_fetches": (EXTRACT["known_fetches"], _PAIRS),
    "drop_sightings": (EXTRACT["drop_sightings"], {"pages_domain": _DOMAINS[:64], "pages_path": _HASHES[:64]}),
    "only_products": (EXTRACT["only_products"], {"pages_domain": _DOMAINS[:64], "pages_path": _HASHES[:64]}),
    "of_domain": (LISTS["of_domain"], {"domain_id": 7, "before": 2**62, "limit": 61}),
    "of_page": (LISTS["of_page"], {"domain_id": 8, "path_hash": 7, "after": -1, "limit": 51}),
    "shown_as": (LISTS["shown_as"], {"ids": list(range(1, 62)), "domain_id": 7}),
    "newest": (LISTS["newest"], {"before": 2**62, "limit": 51}),
    "is_of": (LISTS["is_of"], {"id": 17, "domain_id": 7}),
    "export": (EXPORT["export_images"], {"domain_ids": _DOMAINS[:50], "path_hashes": _HASHES[:50], "since": None}),
}


FREE = {"of_domain", "of_page", "shown_as", "newest", "is_of"}
"""Asked as the planner likes it; the others after `by_index`."""


@pytest.fixture(scope="module")
def filled() -> Iterator["psycopg.Connection[Any]"]:
    with TestServers() as servers, servers.cloned("pg18") as url, psycopg.connect(url) as conn:
        conn.execute("set session_replication_role = replica")
        for statement in _FILL.split(";"):
            conn.execute(statement)
        conn.commit()
        conn.autocommit = True
        conn.execute("analyze domains, pages, parse_queue, images, image_fetches, image_sightings")
        conn.autocommit = False
        yield conn


@pytest.mark.parametrize("name", ASKED)
def test_no_table_is_read_as_a_whole(filled: "psycopg.Connection[Any]", name: str) -> None:
    query, values = ASKED[name]
    if name not in FREE:
        filled.execute(BY_INDEX.replace("%", "%%"))
    plan = "\n".join(row[0] for row in filled.execute(f"explain {query}", values))
    filled.rollback()
    assert not BIG.search(plan), plan
