"""Good manners: robots.txt as it was last read, gates of hosts without a lease, sitemaps, what was refused and why."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table robots_cache (
            origin text primary key,
            kind text not null,
            status smallint,
            body text,
            error text,
            fetched_at timestamptz not null default bailiwick_now(),
            expires_at timestamptz not null,
            constraint robots_cache_kind_check check (kind in ('rules', 'open', 'closed_for_now'))
        );
        create table host_gates (
            host text primary key,
            next_at timestamptz not null,
            updated_at timestamptz not null default bailiwick_now()
        );
        create table sitemaps (
            domain_id bigint not null,
            url_hash bigint not null,
            url text not null,
            state text not null default 'pending',
            level smallint not null default 0,
            entries_taken bigint not null default 0,
            tries smallint not null default 0,
            next_at timestamptz not null default bailiwick_now(),
            last_read_at timestamptz,
            last_error text,
            constraint sitemaps_pkey primary key (domain_id, url_hash),
            constraint sitemaps_state_check check (state in ('pending', 'read', 'failed'))
        );
        create table domain_memory (
            domain_id bigint primary key
                constraint domain_memory_domain_id_fkey references domains (id) on delete cascade,
            traps jsonb not null default '{}'::jsonb,
            refusals jsonb not null default '{}'::jsonb,
            not_before timestamptz,
            backoffs smallint not null default 0,
            updated_at timestamptz not null default bailiwick_now()
        );

        -- Counts by name, summed.
        create function add_counts(one jsonb, other jsonb) returns jsonb language sql immutable parallel safe return (
            select coalesce(jsonb_object_agg(key, total), '{}'::jsonb)
            from (select key, sum(value::bigint) as total
                  from (select * from jsonb_each_text(one) union all select * from jsonb_each_text(other)) as all_counts
                  group by key) as summed);
    """)


def downgrade() -> None:
    op.execute("""
        drop function add_counts(jsonb, jsonb);
        drop table domain_memory, sitemaps, host_gates, robots_cache;
    """)
