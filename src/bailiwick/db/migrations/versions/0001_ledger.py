"""Members, settings, events, outbox, and the database's own guard over state moves."""

from alembic import op

from bailiwick.db.migrations.machines import guard_machine, unguard_machine

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_FUNCTIONS = """
-- The database's clock. Tests replace it to move time.
create function bailiwick_now() returns timestamptz language sql stable parallel safe return now();

-- The first statement of every transaction of ours: limits that hold for it alone (so that it works behind a pooler),
-- and, for writers, the refusal of programs older than the schema. The shared lock keeps migrations out meanwhile.
create function bailiwick_enter(client_revision int, writes boolean, lock_ms int, statement_ms int) returns void
language plpgsql as $$
declare
    schema_revision int;
begin
    perform set_config('lock_timeout', lock_ms || 'ms', true),
            set_config('statement_timeout', statement_ms || 'ms', true),
            -- A stopped process must not hold its locks for ever, whatever server this is.
            set_config('idle_in_transaction_session_timeout', '60s', true);
    if not writes then
        perform set_config('transaction_read_only', 'on', true);
        return;
    end if;
    perform pg_advisory_xact_lock_shared(hashtext('bailiwick.schema'));
    select version_num::int into strict schema_revision from alembic_version;
    if client_revision < schema_revision then
        raise exception 'the schema is at revision %, this program knows only %', schema_revision, client_revision
            using errcode = 'BW001';
    end if;
end
$$;

create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception '% is append-only', tg_table_name using errcode = 'BW003';
end
$$;

create function touch_updated_at() returns trigger language plpgsql as $$
begin
    new.updated_at := bailiwick_now();
    return new;
end
$$;
"""

_TABLES = """
create table members (
    id bigint generated always as identity primary key,
    name text not null,
    role text not null,
    state text not null,
    version bigint not null default 1,
    created_at timestamptz not null default bailiwick_now(),
    updated_at timestamptz not null default bailiwick_now(),
    constraint members_name_key unique (name),
    constraint members_name_check check (name = lower(name) and length(name) between 1 and 100),
    constraint members_role_check check (role in ('submitter', 'viewer', 'reviewer', 'admin', 'system'))
);
create trigger members_updated_at before update on members for each row execute function touch_updated_at();

create table settings (
    key text primary key,
    value jsonb not null,
    set_by bigint not null constraint settings_set_by_fkey references members (id),
    set_at timestamptz not null default bailiwick_now(),
    version bigint not null default 1
);

create table events (
    id bigint generated always as identity primary key,
    xid xid8 not null default pg_current_xact_id(),
    at timestamptz not null default bailiwick_now(),
    actor_id bigint not null constraint events_actor_id_fkey references members (id),
    subject_kind text not null,
    subject_id bigint,
    subject_name text not null,
    machine text,
    verb text not null,
    before jsonb,
    after jsonb,
    reason text,
    details jsonb
);
create index events_xid_id_idx on events (xid, id);
create index events_subject_id_idx on events (subject_kind, subject_id, id);
create index events_subject_name_idx on events (subject_kind, subject_name, id);
create trigger events_append_only before update or delete or truncate on events
    for each statement execute function refuse_change();

create sequence outbox_id_seq;
create table outbox (
    id bigint not null default nextval('outbox_id_seq'),
    xid xid8 not null default pg_current_xact_id(),
    at timestamptz not null default bailiwick_now(),
    topic text not null,
    subject_kind text not null,
    subject_id bigint,
    payload jsonb not null default '{}'::jsonb,
    constraint outbox_pkey primary key (at, id)
) partition by range (at);
create index outbox_xid_id_idx on outbox (xid, id);
create table outbox_default partition of outbox default;

create table state_moves (
    machine text not null,
    from_state text not null,
    verb text not null,
    to_state text not null,
    constraint state_moves_pkey primary key (machine, from_state, to_state, verb)
);
"""

_MEMBER_MOVES = (("", "join", "active"), ("active", "disable", "disabled"), ("disabled", "enable", "active"))


def upgrade() -> None:
    op.execute(_FUNCTIONS)
    op.execute(_TABLES)
    guard_machine("member", table="members", column="state", moves=_MEMBER_MOVES)
    op.execute("insert into members (name, role, state) values ('system', 'system', 'active')")


def downgrade() -> None:
    unguard_machine("member", table="members")
    op.execute("""
        drop table outbox, events, settings, members, state_moves;
        drop sequence outbox_id_seq;
        drop function touch_updated_at(), refuse_change(), bailiwick_enter(int, boolean, int, int), bailiwick_now();
    """)
