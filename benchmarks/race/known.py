"""Databases that know many pages: written straight into the table, in bounded batches, with their counters."""

import shutil
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psycopg

from bailiwick.app import App
from bailiwick.crawl.seeds import StartPage, Vouch, admit
from bailiwick.model.names import DomainName
from benchmarks.race.ours import Project

_BATCH = 250_000
_BYTES_A_PAGE = 350
"""Rows, two indexes, and the write-ahead log beside them."""
_SPARE_BYTES = 3_000_000_000
_FILL = """
with paths as (
    select n, '/known/' || n || '.html' as path from generate_series(%(first)s::bigint, %(last)s::bigint) as n
), hashed as (
    select n, path, ('x' || encode(substring(sha256(convert_to(path, 'UTF8')) for 8), 'hex'))::bit(64)::bigint as hash
    from paths
)
insert into pages (domain_id, path_hash, path, state, depth, next_at, last_fetched_at, last_status, last_outcome,
                   fetch_count)
select d, hash, path, case when n %% 10 = 0 then 'fetched' else 'pending' end, 1 + n %% 4,
       case when n %% 10 = 0 then bailiwick_now() + interval '10 days' else bailiwick_now() end,
       case when n %% 10 = 0 then bailiwick_now() end, case when n %% 10 = 0 then 200 end,
       case when n %% 10 = 0 then 'ok' end, (n %% 10 = 0)::int
from hashed cross join unnest(%(ids)s::bigint[]) as d
order by d, hash
"""
_COUNT = """
update domain_progress as p
set pages_discovered = p.pages_discovered + n.known, pages_waiting = p.pages_waiting + n.waiting
from (select domain_id, count(*) as known, count(*) filter (where state = 'pending') as waiting
      from pages where domain_id = any(%(ids)s::bigint[]) group by domain_id) as n
where p.domain_id = n.domain_id
"""


def check_room(scratch: Path, pages: int) -> None:
    """End at once where the disk is too small."""
    needed, free = pages * _BYTES_A_PAGE + _SPARE_BYTES, shutil.disk_usage(scratch).free
    if free < needed:
        sys.exit(
            f"error: {pages:,} pages need about {needed / 1e9:.0f} GB below {scratch.parent}, and {free / 1e9:.0f} are "
            "free\nhint: a smaller --known, or another TMPDIR"
        )


def admit_domains(app: App, names: Sequence[str]) -> list[int]:
    """New domains that may be crawled."""
    with app.database.begin() as conn:
        vouch = Vouch(app.actor(conn), app.settings.priority)
        done = admit(conn, [StartPage(DomainName.parse(name)) for name in names], vouch)
    return [domain.id for domain in done.domains]


def fill(ours: Project, domain_ids: Sequence[int], pages_each: int) -> None:
    """So many known pages for each, nine in ten of them waiting; then let the server tidy up, as it would in time."""
    began, step = time.monotonic(), max(1, _BATCH // len(domain_ids))
    with ours.database.connect() as conn:
        for first in range(1, pages_each + 1, step):
            last = min(first + step - 1, pages_each)
            conn.execute(_FILL, {"first": first, "last": last, "ids": list(domain_ids)})
        conn.execute(_COUNT, {"ids": list(domain_ids)})
        conn.execute("vacuum analyze pages")
        conn.execute("vacuum analyze domain_progress")
        conn.execute("checkpoint")
        size = _size(conn)
    print(
        f"{pages_each * len(domain_ids):,} known pages of {len(domain_ids):,} domains written in "
        f"{time.monotonic() - began:.0f} s; the database has {size / 1e9:.2f} GB"
    )


def _size(conn: "psycopg.Connection[tuple[object, ...]]") -> float:
    with suppress(psycopg.Error):
        row = conn.execute("select pg_database_size(current_database())").fetchone()
        return float(str(row[0])) if row else 0.0
    return 0.0
