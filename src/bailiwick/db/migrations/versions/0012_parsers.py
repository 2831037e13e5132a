"""Site parsers: what became of each on each page, how they do by domain and version, whose pages they concern."""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

# Written at page rate, so without foreign keys. A row of parser_stats is written by every batch of its domain.
_TABLES = """
create table parser_tries (
    domain_id bigint not null,
    path_hash bigint not null,
    kind text not null,
    parser text not null,
    version int not null,
    outcome text not null,
    why text,
    tried_at timestamptz not null default bailiwick_now(),
    constraint parser_tries_pkey primary key (domain_id, path_hash, kind),
    constraint parser_tries_outcome_check
        check (outcome in ('succeeded', 'raised', 'empty', 'refused', 'timeout', 'died'))
);
create index parser_tries_failed_idx on parser_tries (domain_id, path_hash, kind) where outcome <> 'succeeded';

create table parser_stats (
    domain_id bigint not null,
    parser text not null,
    version int not null,
    tried bigint not null default 0,
    succeeded bigint not null default 0,
    recent text not null default '',
    fell_from double precision,
    first_tried_at timestamptz not null default bailiwick_now(),
    last_tried_at timestamptz not null default bailiwick_now(),
    constraint parser_stats_pkey primary key (domain_id, parser, version),
    constraint parser_stats_counts_check check (succeeded between 0 and tried),
    constraint parser_stats_recent_check check (recent ~ '^[01]{0,250}$'),
    constraint parser_stats_rate_check check (fell_from between 0 and 1)
) with (fillfactor = 50);
"""

# `marks` holds a number by host: those of the parsers for it. A parser for a host concerns the names below it, too; one
# for the host '' concerns all. The port of a domain does not matter.
_MARK = """
create function bailiwick_parser_mark(name text, marks jsonb) returns bigint
language sql immutable parallel safe as $$
    select case when marks = '{}'::jsonb then 0 else coalesce((
        select bit_xor((marks ->> host)::bigint)
        from (select string_to_array(regexp_replace(name, ':[0-9]+$', ''), '.') as labels) as split,
             lateral (select array_to_string(labels[n:], '.') as host
                      from generate_series(1, cardinality(labels)) as n
                      union all select '') as hosts), 0) end
$$;
"""


def upgrade() -> None:
    op.execute(_TABLES)
    op.execute(_MARK)


def downgrade() -> None:
    op.execute("drop function bailiwick_parser_mark(text, jsonb)")
    op.execute("drop table parser_stats, parser_tries")
