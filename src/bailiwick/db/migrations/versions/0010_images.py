"""Images: one row a content, one a reference in a page, one an address that was or is to be asked for."""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

# No foreign keys: these are written at page rate.
_IMAGES = """
create table images (
    id bigint generated always as identity primary key,
    sha256 bytea not null,
    path text not null,
    machine text not null,
    mime text not null,
    width int,
    height int,
    file_size bigint not null,
    perceptual_hash bigint,
    created_at timestamptz not null default bailiwick_now(),
    constraint images_sha256_key unique (sha256),
    constraint images_sha256_check check (octet_length(sha256) = 32),
    constraint images_size_check check (file_size >= 0 and width >= 0 and height >= 0)
);

create table image_sightings (
    domain_id bigint not null,
    path_hash bigint not null,
    url_hash bigint not null,
    nth smallint not null,
    position int not null,
    url text not null,
    alt_text text,
    image_type text not null,
    found_in text not null,
    image_id bigint,
    product_id bigint,
    discovery_type text not null,
    first_seen_at timestamptz not null default bailiwick_now(),
    last_seen_at timestamptz not null default bailiwick_now(),
    constraint image_sightings_pkey primary key (domain_id, path_hash, url_hash, nth),
    constraint image_sightings_type_check check (image_type in ('primary', 'gallery', 'thumbnail')),
    constraint image_sightings_found_check check (found_in in ('src', 'srcset', 'picture', 'lazy', 'meta')),
    constraint image_sightings_discovery_check check (discovery_type in ('discovery', 'refresh'))
);
create index image_sightings_url_idx on image_sightings (domain_id, url_hash);
create index image_sightings_product_idx on image_sightings (product_id) where product_id is not null;
create index image_sightings_image_idx on image_sightings (image_id) where image_id is not null;

create table image_fetches (
    domain_id bigint not null,
    url_hash bigint not null,
    url text not null,
    is_own boolean not null,
    outcome text not null default 'waiting',
    status smallint,
    error text,
    image_id bigint,
    retries smallint not null default 0,
    next_at timestamptz default bailiwick_now(),
    found_at timestamptz not null default bailiwick_now(),
    fetched_at timestamptz,
    constraint image_fetches_pkey primary key (domain_id, url_hash),
    constraint image_fetches_outcome_check check (outcome in (
        'waiting', 'stored', 'too_small', 'too_large', 'too_many_pixels', 'truncated', 'unreadable', 'not_an_image',
        'robots_denied', 'host_not_allowed', 'host_refused', 'address_refused', 'not_found', 'failed')),
    constraint image_fetches_image_check check ((outcome = 'stored') = (image_id is not null)),
    constraint image_fetches_waiting_check check ((outcome = 'waiting') = (next_at is not null))
);
create index image_fetches_due_idx on image_fetches (domain_id, is_own, next_at) where next_at is not null;
create index image_fetches_domain_idx on image_fetches (domain_id, image_id) where image_id is not null;
create index image_fetches_image_idx on image_fetches (image_id, domain_id) where image_id is not null;
"""


def upgrade() -> None:
    op.execute(_IMAGES)


def downgrade() -> None:
    op.execute("drop table image_fetches, image_sightings, images")
