"""Accounts for the web: passwords, sessions, one-time links; figures of workers; what submitters see of their own."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

# Lists lead from the three axes to each order: a rare combination of states is not looked for among all domains.
# The review queue has an index of what waits, the dashboard one of what sleeps and is not leased.
_LISTS = """
drop index domains_approval_idx, domains_standing_idx, domains_crawl_idx, domains_priority_score_idx, domains_yield_idx,
    domains_last_crawled_idx, domains_first_seen_idx;
create index domains_review_idx on domains (first_seen_at, id) where approval = 'pending_review';
create index domains_states_idx on domains (approval, standing, crawl, name);
create index domains_priority_score_idx on domains (approval, standing, crawl, priority_score desc, name);
create index domains_yield_idx on domains (approval, standing, crawl, image_yield_rate desc, name)
    where image_yield_rate is not null;
create index domains_last_crawled_idx on domains (approval, standing, crawl, last_crawled_at desc, name)
    where last_crawled_at is not null;
create index domains_first_seen_idx on domains (approval, standing, crawl, first_seen_at desc, name);
create index crawl_queue_sleep_idx on crawl_queue (wake_at) where wake_at is not null and worker is null;
"""
_LISTS_BEFORE = """
drop index crawl_queue_sleep_idx, domains_review_idx, domains_states_idx, domains_priority_score_idx, domains_yield_idx,
    domains_last_crawled_idx, domains_first_seen_idx;
create index domains_approval_idx on domains (approval, first_seen_at, id);
create index domains_standing_idx on domains (standing, name) where standing <> 'discovered';
create index domains_crawl_idx on domains (crawl, name) where crawl <> 'pending';
create index domains_priority_score_idx on domains (priority_score desc, name);
create index domains_yield_idx on domains (image_yield_rate desc, name, approval, standing, crawl)
    where image_yield_rate is not null;
create index domains_last_crawled_idx on domains (last_crawled_at desc, name, approval, standing, crawl)
    where last_crawled_at is not null;
create index domains_first_seen_idx on domains (first_seen_at desc, name);
"""


def upgrade() -> None:
    op.execute(_LISTS)
    op.execute("""
        alter table members add column password_hash text;
        alter table members add column os_user text;
        alter table members add constraint members_os_user_key unique (os_user);
        -- Until now every admin came from the command line, by the name of the operating system's user.
        update members set os_user = name where role = 'admin';

        create table sessions (
            id bigint generated always as identity primary key,
            token_hash bytea not null,
            device_hash bytea not null,
            member_id bigint not null constraint sessions_member_id_fkey references members (id) on delete cascade,
            user_agent text,
            address text,
            created_at timestamptz not null default bailiwick_now(),
            seen_at timestamptz not null default bailiwick_now(),
            expires_at timestamptz not null,
            ended_at timestamptz,
            constraint sessions_token_key unique (token_hash),
            constraint sessions_expiry_check check (expires_at > created_at)
        );
        create index sessions_member_idx on sessions (member_id, device_hash);
        create index sessions_expiry_idx on sessions (expires_at);

        create table one_time_links (
            token_hash bytea primary key,
            kind text not null,
            member_id bigint not null
                constraint one_time_links_member_id_fkey references members (id) on delete cascade,
            made_by bigint not null constraint one_time_links_made_by_fkey references members (id),
            made_at timestamptz not null default bailiwick_now(),
            expires_at timestamptz not null,
            used_at timestamptz,
            constraint one_time_links_kind_check check (kind in ('first', 'invitation', 'reset'))
        );
        create index one_time_links_member_idx on one_time_links (member_id);

        alter table workers add column figures jsonb not null default '{}'::jsonb;
        create index domains_submitter_idx on domains (submitted_by, first_seen_at desc, id desc)
            where submitter_type = 'public_user';
    """)


def downgrade() -> None:
    op.execute(_LISTS_BEFORE)
    op.execute("""
        drop index domains_submitter_idx;
        alter table workers drop column figures;
        drop table one_time_links;
        drop table sessions;
        alter table members drop constraint members_os_user_key;
        alter table members drop column os_user;
        alter table members drop column password_hash;
    """)
