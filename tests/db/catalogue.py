"""A schema as PostgreSQL prints it, and made-up rows for every table, whatever its columns."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import Connection, text


@dataclass
class TableShape:
    """What a table is made of; `partition_of` names its parent."""

    partition_of: str | None
    columns: dict[str, str] = field(default_factory=dict)
    constraints: dict[str, str] = field(default_factory=dict)
    indexes: dict[str, str] = field(default_factory=dict)


@dataclass
class Catalogue:
    tables: dict[str, TableShape]
    others: set[str]

    def everything(self) -> set[str]:
        return set(self.tables) | self.others


_TABLES = """
select c.relname, (select p.relname from pg_inherits i join pg_class p on p.oid = i.inhparent where i.inhrelid = c.oid)
from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
"""
_COLUMNS = """
select c.relname, a.attname, format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then ' not null' else '' end
    || a.attidentity::text || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
from pg_attribute a join pg_class c on c.oid = a.attrelid
left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
"""
_CONSTRAINTS = """
select c.relname, k.conname, pg_get_constraintdef(k.oid)
from pg_constraint k join pg_class c on c.oid = k.conrelid
where c.relnamespace = 'public'::regnamespace and k.contype <> 'n'
"""
_INDEXES = "select tablename, indexname, indexdef from pg_indexes where schemaname = 'public'"
_OTHERS = """
select proname from pg_proc where pronamespace = 'public'::regnamespace
union select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('S', 'v', 'm')
union select typname from pg_type where typnamespace = 'public'::regnamespace and typtype in ('e', 'd')
"""


def catalogue(conn: Connection) -> Catalogue:
    tables = {name: TableShape(parent) for name, parent in conn.execute(text(_TABLES))}
    for query, part in ((_COLUMNS, "columns"), (_CONSTRAINTS, "constraints"), (_INDEXES, "indexes")):
        for table, name, definition in conn.execute(text(query)):
            getattr(tables[table], part)[name] = definition
    return Catalogue(tables, set(conn.execute(text(_OTHERS)).scalars()))


def rows_of(conn: Connection, table: str, columns: Iterable[str]) -> list[tuple[object, ...]]:
    """All rows, by these columns: a later revision may have added others."""
    listed = ", ".join(sorted(columns))
    return [tuple(row) for row in conn.execute(text(f"select {listed} from {table} order by ({listed})::text"))]


def fill(conn: Connection, tables: list[str], *, count: int) -> None:
    """`count` rows in each table, with foreign keys and triggers out of the way: only the data's survival is tested."""
    conn.execute(text("set local session_replication_role = replica"))
    for table in tables:
        columns = conn.execute(
            text(
                "select a.attname, format_type(a.atttypid, null) from pg_attribute a"
                " where a.attrelid = cast(:t as regclass)"
                " and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum"
            ),
            {"t": table},
        ).all()
        names = ", ".join(name for name, _ in columns)
        values = ", ".join(_value(table, name, kind) for name, kind in columns)
        conn.execute(
            text(
                f"insert into {table} ({names}) overriding system value "
                f"select {values} from generate_series(100001, {100000 + count}) as n on conflict do nothing"
            )
        )
        found = conn.execute(text(f"select count(*) from {table}")).scalar_one()
        assert found >= min(count, _MOST.get(table, count)), f"{table} is not filled"


# Tables whose key has so few values.
_MOST = {"notification_crossings": 2}
_BY_TYPE = {
    "bigint": "n",
    "integer": "n",
    "smallint": "(n % 100)::smallint",
    "text": "'text ' || n",
    "boolean": "n % 2 = 0",
    "timestamp with time zone": "timestamptz '2026-01-01 00:00+00' + n * interval '1 second'",
    "jsonb": "jsonb_build_object('n', n)",
    "double precision": "(n % 100) / 100.0",
    "numeric": "n / 100.0",
    "xid8": "n::text::xid8",
    "tsvector": "to_tsvector('simple', 'text ' || n)",
    "date": "date '2026-01-01' + (n % 1000)::int",
    "bytea": "decode(lpad(to_hex(n), 16, '0'), 'hex')",
}
# Columns whose values a check constrains: any of the permitted ones, in turn.
_BY_COLUMN: dict[tuple[str, str], str] = {
    ("members", "name"): "'member-' || n",
    ("members", "role"): "(array['submitter', 'viewer', 'reviewer', 'admin'])[1 + n % 4]",
    ("members", "os_user"): "'user-' || n",
    ("sessions", "expires_at"): "timestamptz '2030-01-01 00:00+00' + n * interval '1 second'",
    ("one_time_links", "kind"): "(array['first', 'invitation', 'reset'])[1 + n % 3]",
    ("domains", "name"): "'domain-' || n || '.example'",
    ("domains", "approval"): "(array['approved', 'pending_review'])[1 + n % 2]",
    ("domains", "submitter_type"): "(array['admin', 'public_user', 'system'])[1 + n % 3]",
    ("domains", "max_crawl_depth"): "n % 10",
    ("domains", "crawl_delay_seconds"): "n % 10",
    ("domains", "max_concurrent_requests"): "1 + n % 10",
    ("domains", "scrape_frequency_hours"): "1 + n % 100",
    ("domains", "no_funds_year"): "2020 + n % 80",
    ("domains", "retry_after"): "timestamptz '2027-01-01 00:00+00' + n * interval '1 second'",
    ("discovery_sessions", "state"): "'finished'",
    ("discovery_sessions", "threshold"): "0.6",
    ("engine_calls", "outcome"): "(array['answered', 'limited', 'refused', 'invalid', 'failed'])[1 + n % 5]",
    ("engine_calls", "page"): "1 + n % 9",
    ("candidates", "state"): "(array['pending_crawl', 'skipped_low_confidence'])[1 + n % 2]",
    ("candidates", "confidence"): "0.7 - 0.5 * (n % 2)",
    ("candidates", "threshold"): "0.6",
    ("candidates", "position"): "1 + n",
    ("candidates", "reviewed_by"): "null::bigint",
    ("labels", "task"): "'candidate'",
    ("domain_facts", "kind"): "(array['registration', 'certificate', 'rdap_servers'])[1 + n % 3]",
    ("domain_facts", "why"): "null::text",
    ("job_urls", "state"): "(array['waiting', 'evaluated', 'refused', 'unreachable'])[1 + n % 4]",
    ("evaluations", "confidence"): "(n % 100) / 100.0",
    ("evaluations", "evidence_confidence"): "(n % 100) / 100.0",
    ("evaluations", "learned_probability"): "0.5",
    ("evaluations", "action"): "(array['auto_approve', 'manual_review', 'reject'])[1 + n % 3]",
    ("url_results", "status"): "(array['approved', 'rejected', 'queue_overflow'])[1 + n % 3]",
    ("url_results", "reason"): "'person'",
    ("review_queue", "state"): "'waiting'",
    ("review_queue", "confidence_score"): "(n % 100) / 100.0",
    ("review_queue", "information"): "(n % 100) / 100.0",
    ("review_queue", "reviewed_at"): "null::timestamptz",
    ("review_queue", "reviewed_by"): "null::bigint",
    ("review_queue", "review_decision"): "null::text",
    ("notification_crossings", "channel"): "(array['email', 'slack'])[1 + n % 2]",
    ("deliveries", "channel"): "(array['email', 'slack', 'other'])[1 + n % 3]",
    ("deliveries", "kind"): "(array['queue_threshold', 'decision', 'test'])[1 + n % 3]",
    ("deliveries", "state"): "'sent'",
    ("models", "task"): "(array['review', 'candidate'])[1 + n % 2]",
    ("models", "state"): "'retired'",
    ("crawl_queue", "wake_at"): "null::timestamptz",
    ("crawl_queue", "is_parked"): "false",
    ("crawl_queue", "wanted"): "(array['run', 'pause', 'stop'])[1 + n % 3]",
    ("page_requests", "kind"): "(array['submitted', 'redirect', 'recrawl', 'image', 'evaluation'])[1 + n % 5]",
    ("page_requests", "path"): "'/' || n",
    ("page_requests", "priority"): "1 + n % 10",
    ("robots_cache", "kind"): "(array['rules', 'open', 'closed_for_now'])[1 + n % 3]",
    ("sitemaps", "state"): "(array['pending', 'read', 'failed'])[1 + n % 3]",
    ("trust_rules", "suffix"): "'.suffix' || n",
    ("jobs", "kind"): "'crawl'",
    ("jobs", "priority"): "1 + n % 10",
    ("run_domains", "stop_reason"): "(array['page_budget', 'shutdown', null])[1 + n % 3]",
    ("page_parses", "outcome"): "'parsed'",
    ("page_snapshots", "kind"): "(array['html', 'pdf', 'text'])[1 + n % 3]",
    ("page_snapshots", "relevance_source"): "(array['all', 'keywords', 'meaning', 'model'])[1 + n % 4]",
    ("items", "kind"): "(array['article', 'product', 'service'])[1 + n % 3]",
    ("products", "currency"): "(array['EUR', 'USD', null])[1 + n % 3]",
    ("products", "availability"): "(array['in_stock', 'out_of_stock', null])[1 + n % 3]",
    ("products", "rating"): "n % 6",
    ("parser_tries", "outcome"): "(array['succeeded', 'raised', 'empty', 'refused', 'timeout', 'died'])[1 + n % 6]",
    ("parser_stats", "succeeded"): "n / 2",
    ("parser_stats", "recent"): "repeat('01', n % 100)",
    ("model_calls", "outcome"): "'answered'",
    ("images", "sha256"): "decode(lpad(to_hex(n), 64, '0'), 'hex')",
    ("image_sightings", "image_type"): "(array['primary', 'gallery', 'thumbnail'])[1 + n % 3]",
    ("image_sightings", "found_in"): "(array['src', 'srcset', 'picture', 'lazy', 'meta'])[1 + n % 5]",
    ("image_sightings", "discovery_type"): "(array['discovery', 'refresh'])[1 + n % 2]",
    ("image_fetches", "outcome"): "'stored'",
    ("image_fetches", "next_at"): "null::timestamptz",
    ("forgotten", "kind"): "(array['email', 'telephone', 'name'])[1 + n % 3]",
    ("pages", "path"): "'/' || n",
    ("pages", "state"): "(array['pending', 'fetched', 'failed'])[1 + n % 3]",
    ("pages", "priority"): "1 + n % 10",
}


def _value(table: str, column: str, kind: str) -> str:
    return _BY_COLUMN.get((table, column)) or _BY_TYPE[kind]
