"""Discovery: sessions, what engines answered and cost, candidates, people's labels; domains nobody was asked about."""

from collections.abc import Iterator
from contextlib import contextmanager

from alembic import op
from sqlalchemy import text

from bailiwick.db.migrations.machines import guard_machine, unguard_machine

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_SESSIONS = """
create table discovery_sessions (
    id bigint generated always as identity primary key,
    profile text not null,
    queries jsonb not null,
    engines jsonb not null,
    per_query int not null,
    threshold double precision not null,
    order_key text not null,
    state text not null default 'running',
    stats jsonb not null default '{}'::jsonb,
    started_by bigint not null constraint discovery_sessions_started_by_fkey references members (id),
    worker text,
    started_at timestamptz not null default bailiwick_now(),
    seen_at timestamptz not null default bailiwick_now(),
    finished_at timestamptz,
    constraint discovery_sessions_state_check check (state in ('running', 'stopped', 'finished')),
    constraint discovery_sessions_finished_check check ((state = 'finished') = (finished_at is not null)),
    constraint discovery_sessions_threshold_check check (threshold between 0 and 1),
    constraint discovery_sessions_per_query_check check (per_query >= 0)
);
-- What was ordered and is not done yet exists once: ordering it again goes on with it.
create unique index discovery_sessions_open_key on discovery_sessions (order_key) where state <> 'finished';

create table engine_calls (
    id bigint generated always as identity primary key,
    session_id bigint not null
        constraint engine_calls_session_id_fkey references discovery_sessions (id) on delete cascade,
    engine text not null,
    query text not null,
    page int not null,
    outcome text not null,
    status int,
    hits int not null default 0,
    cost double precision not null default 0,
    milliseconds int not null default 0,
    why text,
    answer jsonb,
    asked_at timestamptz not null default bailiwick_now(),
    constraint engine_calls_outcome_check check (outcome in ('answered', 'limited', 'refused', 'invalid', 'failed')),
    constraint engine_calls_page_check check (page >= 1 and hits >= 0 and cost >= 0 and milliseconds >= 0)
);
create index engine_calls_session_idx on engine_calls (session_id, id);

create table engine_gates (
    engine text primary key,
    day date not null,
    calls bigint not null default 0,
    cost double precision not null default 0,
    next_at timestamptz not null,
    constraint engine_gates_counters_check check (calls >= 0 and cost >= 0)
);
"""

_CANDIDATES = """
create table candidates (
    id bigint generated always as identity primary key,
    session_id bigint constraint candidates_session_id_fkey references discovery_sessions (id) on delete set null,
    domain_id bigint not null constraint candidates_domain_id_fkey references domains (id) on delete cascade,
    name text not null,
    url text not null,
    path text not null,
    path_hash bigint not null,
    title text not null,
    snippet text not null,
    engine text not null,
    query text not null,
    position int not null,
    found_by jsonb not null default '[]'::jsonb,
    profile text not null,
    confidence double precision not null,
    threshold double precision not null,
    judge_scores jsonb not null,
    reasoning text not null,
    organization_name text,
    program_name text,
    state text not null,
    assigned_to bigint constraint candidates_assigned_to_fkey references members (id),
    assigned_at timestamptz,
    reviewed_by bigint constraint candidates_reviewed_by_fkey references members (id),
    reviewed_at timestamptz,
    review_notes text,
    crawled_at timestamptz,
    facts jsonb,
    version bigint not null default 1,
    found_at timestamptz not null default bailiwick_now(),
    constraint candidates_confidence_check check (confidence between 0 and 1 and threshold between 0 and 1),
    constraint candidates_threshold_check
        check ((state = 'skipped_low_confidence') = (confidence < threshold)),
    constraint candidates_position_check check (position >= 1),
    constraint candidates_assigned_check
        check ((state <> 'in_review' or assigned_to is not null) and (assigned_to is null) = (assigned_at is null)),
    constraint candidates_decision_check
        check ((state in ('approved', 'rejected')) = (reviewed_by is not null and reviewed_at is not null)),
    constraint candidates_notes_check check (state <> 'rejected' or length(trim(coalesce(review_notes, ''))) > 0)
);
-- A find that was not skipped exists once, in whatever session it comes up again.
create unique index candidates_live_key on candidates (domain_id, path_hash) where state <> 'skipped_low_confidence';
create index candidates_state_idx on candidates (state, confidence desc, id);
create index candidates_domain_idx on candidates (domain_id, confidence desc, id);
create index candidates_session_idx on candidates (session_id, confidence desc, id);

create table labels (
    id bigint generated always as identity primary key,
    task text not null,
    subject text not null,
    profile text not null,
    is_wanted boolean not null,
    material jsonb not null,
    reason text,
    decided_by bigint not null constraint labels_decided_by_fkey references members (id),
    decided_at timestamptz not null default bailiwick_now(),
    constraint labels_task_check check (task in ('candidate'))
);
create index labels_task_idx on labels (task, id);
"""

# The queue of domains that wait for a person holds those that somebody proposed, not all that a search brought up.
_DOMAINS = """
alter table domains add column is_proposed boolean not null default true;
alter table domains add column discovery_session_id bigint
    constraint domains_discovery_session_id_fkey references discovery_sessions (id) on delete set null;
drop index domains_review_idx;
create index domains_review_idx on domains (first_seen_at, id) where approval = 'pending_review' and is_proposed;
alter table page_requests drop constraint page_requests_kind_check;
alter table page_requests add constraint page_requests_kind_check
    check (kind in ('submitted', 'redirect', 'recrawl', 'image', 'evaluation', 'candidate'));
"""
_DOMAINS_BEFORE = """
delete from page_requests where kind = 'candidate';
alter table page_requests drop constraint page_requests_kind_check;
alter table page_requests add constraint page_requests_kind_check
    check (kind in ('submitted', 'redirect', 'recrawl', 'image', 'evaluation'));
drop index domains_review_idx;
create index domains_review_idx on domains (first_seen_at, id) where approval = 'pending_review';
alter table domains drop column discovery_session_id;
alter table domains drop column is_proposed;
"""

_MOVES = (
    ("", "accept", "pending_crawl"),
    ("", "skip", "skipped_low_confidence"),
    ("pending_crawl", "crawled", "pending_review"),
    ("pending_review", "assign", "in_review"),
    ("in_review", "release", "pending_review"),
    ("in_review", "approve", "approved"),
    ("in_review", "reject", "rejected"),
)


# They take a whole row of domains, which PostgreSQL 15 therefore does not let change.
_FUNCTIONS = (
    "domain_refusal(domains, timestamptz)",
    "domain_wakes_at(domains, text)",
    "domain_ready_key(domains, smallint)",
    "domain_score(domains, jsonb, timestamptz)",
)


@contextmanager
def _functions_aside() -> Iterator[None]:
    conn = op.get_bind()
    found = [
        conn.execute(text("select pg_get_functiondef(cast(:name as regprocedure))"), {"name": name}).scalar_one()
        for name in _FUNCTIONS
    ]
    op.execute(f"drop function {', '.join(reversed(_FUNCTIONS))}")
    yield
    for definition in found:
        conn.exec_driver_sql(definition)


def upgrade() -> None:
    op.execute(_SESSIONS)
    op.execute(_CANDIDATES)
    with _functions_aside():
        op.execute(_DOMAINS)
    guard_machine("candidate", table="candidates", column="state", moves=_MOVES)


def downgrade() -> None:
    unguard_machine("candidate", table="candidates")
    with _functions_aside():
        op.execute(_DOMAINS_BEFORE)
    op.execute("drop table labels, candidates, engine_gates, engine_calls, discovery_sessions")
