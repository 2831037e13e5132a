"""Evaluations of URLs, the review queue, what is told to whom, and what is learned from people."""

from alembic import op

from bailiwick.db.migrations.machines import guard_machine, unguard_machine

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_FACTS = """
create table domain_facts (
    kind text not null,
    subject text not null,
    source text not null,
    facts jsonb,
    why text,
    seen_at timestamptz not null default bailiwick_now(),
    expires_at timestamptz not null,
    constraint domain_facts_pkey primary key (kind, subject),
    constraint domain_facts_kind_check check (kind in ('registration', 'certificate', 'rdap_servers')),
    constraint domain_facts_known_check check ((facts is null) = (why is not null))
);
create index domain_facts_expiry_idx on domain_facts (expires_at);
"""

_EVALUATIONS = """
alter table jobs drop constraint jobs_kind_check;
alter table jobs add constraint jobs_kind_check check (kind in ('crawl', 'standing', 'evaluation'));

create table job_urls (
    id bigint generated always as identity primary key,
    job_id bigint not null constraint job_urls_job_id_fkey references jobs (id) on delete cascade,
    domain_id bigint not null constraint job_urls_domain_id_fkey references domains (id) on delete cascade,
    url text not null,
    path text not null,
    path_hash bigint not null,
    state text not null default 'waiting',
    tries smallint not null default 0,
    next_at timestamptz not null default bailiwick_now(),
    asked_at timestamptz,
    worker text,
    claimed_until timestamptz,
    why text,
    created_at timestamptz not null default bailiwick_now(),
    updated_at timestamptz not null default bailiwick_now(),
    constraint job_urls_state_check check (state in ('waiting', 'evaluated', 'refused', 'unreachable')),
    constraint job_urls_tries_check check (tries >= 0),
    constraint job_urls_claim_check check ((worker is null) = (claimed_until is null)),
    constraint job_urls_why_check check (state not in ('refused', 'unreachable') or why is not null)
);
create trigger job_urls_updated_at before update on job_urls for each row execute function touch_updated_at();
create unique index job_urls_page_key on job_urls (job_id, domain_id, path_hash);
create index job_urls_waiting_idx on job_urls (job_id, next_at, id) where state = 'waiting';
create index job_urls_claimed_idx on job_urls (job_id) where worker is not null;
create index job_urls_domain_idx on job_urls (domain_id, path_hash);

create table evaluations (
    id bigint generated always as identity primary key,
    url_id bigint not null constraint evaluations_url_id_fkey references job_urls (id) on delete cascade,
    job_id bigint not null,
    domain_id bigint not null constraint evaluations_domain_id_fkey references domains (id) on delete cascade,
    name text not null,
    url text not null,
    profile text not null,
    policy_version text not null,
    confidence double precision not null,
    evidence_confidence double precision not null,
    model_id bigint,
    learned_probability double precision,
    reasoning text not null,
    layer1_results jsonb not null,
    layer2_results jsonb not null,
    layer3_results jsonb not null,
    layer3_by text not null,
    sophistication_signals jsonb not null,
    evidence jsonb not null default '{}'::jsonb,
    embedding bytea,
    title text,
    body_hash bytea,
    band text not null,
    action text not null,
    evaluated_at timestamptz not null default bailiwick_now(),
    constraint evaluations_confidence_check
        check (confidence between 0 and 1 and evidence_confidence between 0 and 1),
    constraint evaluations_action_check check (action in ('auto_approve', 'manual_review', 'reject')),
    constraint evaluations_learned_check
        check ((model_id is null) = (learned_probability is null) and learned_probability between 0 and 1)
);
create unique index evaluations_url_key on evaluations (url_id);
create index evaluations_domain_idx on evaluations (domain_id, id);
create index evaluations_job_idx on evaluations (job_id, id);
create index evaluations_at_idx on evaluations (evaluated_at, id);

create table url_results (
    url_id bigint primary key constraint url_results_url_id_fkey references job_urls (id) on delete cascade,
    evaluation_id bigint not null
        constraint url_results_evaluation_id_fkey references evaluations (id) on delete cascade,
    status text not null,
    reason text not null,
    reviewer_notes text,
    decided_by bigint constraint url_results_decided_by_fkey references members (id),
    decided_at timestamptz not null default bailiwick_now(),
    constraint url_results_status_check check (status in ('approved', 'rejected', 'queue_overflow')),
    constraint url_results_reason_check check (reason in ('band', 'trusted_domain', 'person', 'queue_full')),
    constraint url_results_person_check check ((reason = 'person') = (decided_by is not null))
);
create unique index url_results_evaluation_key on url_results (evaluation_id);
create index url_results_status_idx on url_results (status, url_id);
"""

_QUEUE = """
create table review_queue (
    id bigint generated always as identity primary key,
    name text not null,
    url text not null,
    job_id bigint not null constraint review_queue_job_id_fkey references jobs (id) on delete cascade,
    url_id bigint not null constraint review_queue_url_id_fkey references job_urls (id) on delete cascade,
    evaluation_id bigint not null
        constraint review_queue_evaluation_id_fkey references evaluations (id) on delete cascade,
    domain_id bigint not null constraint review_queue_domain_id_fkey references domains (id) on delete cascade,
    profile text not null,
    confidence_band text not null,
    confidence_score double precision not null,
    information double precision not null,
    state text not null,
    is_stale boolean not null default false,
    submitted_by bigint not null constraint review_queue_submitted_by_fkey references members (id),
    claimed_by bigint constraint review_queue_claimed_by_fkey references members (id),
    claimed_until timestamptz,
    queued_at timestamptz not null default bailiwick_now(),
    reviewed_at timestamptz,
    reviewed_by bigint constraint review_queue_reviewed_by_fkey references members (id),
    review_decision text,
    reviewer_notes text,
    is_self_approved boolean not null default false,
    version bigint not null default 1,
    created_at timestamptz not null default bailiwick_now(),
    updated_at timestamptz not null default bailiwick_now(),
    constraint review_queue_score_check check (confidence_score between 0 and 1),
    constraint review_queue_information_check check (information between 0 and 1),
    constraint review_queue_decision_check check (review_decision in ('approved', 'rejected')),
    constraint review_queue_reviewed_check
        check ((state = 'waiting') = (reviewed_at is null) and (state = 'waiting') = (review_decision is null)
               and (state = 'waiting') = (reviewed_by is null) and coalesce(review_decision = state, true)),
    constraint review_queue_notes_check
        check (state <> 'rejected' or length(trim(coalesce(reviewer_notes, ''))) > 0),
    constraint review_queue_claim_check check ((claimed_by is null) = (claimed_until is null))
);
create trigger review_queue_updated_at before update on review_queue
    for each row execute function touch_updated_at();
create unique index review_queue_url_key on review_queue (url_id);
create index review_queue_active_idx on review_queue (queued_at, id) where reviewed_at is null;
create index review_queue_information_idx on review_queue (information desc, id) where reviewed_at is null;
create index review_queue_band_idx on review_queue (confidence_band, queued_at, id) where reviewed_at is null;
create index review_queue_score_idx on review_queue (confidence_score desc, id) where reviewed_at is null;
create index review_queue_claimed_idx on review_queue (claimed_by, claimed_until)
    where reviewed_at is null and claimed_by is not null;
create index review_queue_stale_idx on review_queue (is_stale, queued_at, id) where reviewed_at is null;
create index review_queue_job_idx on review_queue (job_id);
create index review_queue_domain_idx on review_queue (domain_id, id);
create index review_queue_reviewed_idx on review_queue (reviewed_at, id) where reviewed_at is not null;
"""

_TELLING = """
create table notification_crossings (
    channel text primary key,
    is_above boolean not null,
    changed_at timestamptz not null default bailiwick_now(),
    constraint notification_crossings_channel_check check (channel in ('email', 'slack'))
);

create table deliveries (
    id bigint generated always as identity primary key,
    channel text not null,
    kind text not null,
    recipient text,
    title text not null,
    body text not null,
    state text not null default 'waiting',
    tries smallint not null default 0,
    next_at timestamptz not null default bailiwick_now(),
    worker text,
    claimed_until timestamptz,
    error text,
    created_at timestamptz not null default bailiwick_now(),
    sent_at timestamptz,
    constraint deliveries_channel_check check (channel in ('email', 'slack', 'other')),
    constraint deliveries_kind_check check (kind in ('queue_threshold', 'decision', 'test')),
    constraint deliveries_state_check check (state in ('waiting', 'sent', 'failed')),
    constraint deliveries_sent_check check ((state = 'sent') = (sent_at is not null)),
    constraint deliveries_claim_check check ((worker is null) = (claimed_until is null))
);
create index deliveries_waiting_idx on deliveries (next_at, id) where state = 'waiting';
create index deliveries_state_idx on deliveries (state, id);

alter table members add column email text;
"""

_LEARNING = """
create table models (
    id bigint generated always as identity primary key,
    task text not null,
    profile text not null,
    version int not null,
    state text not null default 'trained',
    labels int not null,
    last_label_id bigint not null,
    form jsonb not null,
    report jsonb not null,
    trained_by bigint not null constraint models_trained_by_fkey references members (id),
    trained_at timestamptz not null default bailiwick_now(),
    activated_by bigint constraint models_activated_by_fkey references members (id),
    activated_at timestamptz,
    constraint models_version_key unique (task, profile, version),
    constraint models_task_check check (task in ('review', 'candidate')),
    constraint models_state_check check (state in ('trained', 'active', 'retired')),
    constraint models_activated_check
        check ((state = 'trained' or activated_by is not null) and (activated_by is null) = (activated_at is null))
);
create unique index models_active_key on models (task, profile) where state = 'active';
alter table evaluations add constraint evaluations_model_id_fkey
    foreign key (model_id) references models (id);

alter table labels drop constraint labels_task_check;
alter table labels add constraint labels_task_check check (task in ('candidate', 'review'));
alter table labels add column embedding bytea;
create index labels_profile_idx on labels (task, profile, id);
"""

# Texts that are nearly the same differ in at most three bits, so that they agree in one of these groups of 16.
_NEAR = """
create index page_snapshots_near_0_idx on page_snapshots ((simhash & 65535));
create index page_snapshots_near_16_idx on page_snapshots ((simhash >> 16 & 65535));
create index page_snapshots_near_32_idx on page_snapshots ((simhash >> 32 & 65535));
create index page_snapshots_near_48_idx on page_snapshots ((simhash >> 48 & 65535));
"""

_ITEMS = "alter table items add column verified_at timestamptz"

_MOVES = (
    ("", "queue", "waiting"),
    ("waiting", "approve", "approved"),
    ("waiting", "reject", "rejected"),
    ("approved", "requeue", "waiting"),
    ("rejected", "requeue", "waiting"),
    ("approved", "undo", "waiting"),
    ("rejected", "undo", "waiting"),
)


def upgrade() -> None:
    for part in (_FACTS, _EVALUATIONS, _QUEUE, _TELLING, _LEARNING, _NEAR, _ITEMS):
        op.execute(part)
    guard_machine("review", table="review_queue", column="state", moves=_MOVES)


def downgrade() -> None:
    unguard_machine("review", table="review_queue")
    op.execute("""
        drop index page_snapshots_near_0_idx, page_snapshots_near_16_idx, page_snapshots_near_32_idx,
            page_snapshots_near_48_idx;
        alter table items drop column verified_at;
        drop index labels_profile_idx;
        alter table labels drop column embedding;
        delete from labels where task = 'review';
        alter table labels drop constraint labels_task_check;
        alter table labels add constraint labels_task_check check (task in ('candidate'));
        alter table members drop column email;
        drop table deliveries, notification_crossings, review_queue, url_results, evaluations, models, job_urls,
            domain_facts;
        delete from jobs where kind = 'evaluation';
        alter table jobs drop constraint jobs_kind_check;
        alter table jobs add constraint jobs_kind_check check (kind in ('crawl', 'standing'));
    """)
