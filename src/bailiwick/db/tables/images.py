"""Images: one row a content, one a reference in a page, one an address that was or is to be asked for."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from bailiwick.db.tables.base import TIME, always, identity, metadata, moment

_OUTCOMES = (
    "outcome in ('waiting', 'stored', 'too_small', 'too_large', 'too_many_pixels', 'truncated', 'unreadable', "
    "'not_an_image', 'robots_denied', 'host_not_allowed', 'host_refused', 'address_refused', 'not_found', 'failed')"
)

images = Table(
    "images",
    metadata,
    identity(),
    always("sha256", LargeBinary),
    always("path", Text),
    always("machine", Text),
    always("mime", Text),
    Column("width", Integer),
    Column("height", Integer),
    always("file_size", BigInteger),
    Column("perceptual_hash", BigInteger),
    moment("created_at"),
    UniqueConstraint("sha256", name="images_sha256_key"),
    CheckConstraint("octet_length(sha256) = 32", name="images_sha256_check"),
    CheckConstraint("file_size >= 0 and width >= 0 and height >= 0", name="images_size_check"),
)

image_sightings = Table(
    "image_sightings",
    metadata,
    Column("domain_id", BigInteger, primary_key=True, autoincrement=False),
    Column("path_hash", BigInteger, primary_key=True, autoincrement=False),
    Column("url_hash", BigInteger, primary_key=True, autoincrement=False),
    Column("nth", SmallInteger, primary_key=True, autoincrement=False),
    always("position", Integer),
    always("url", Text),
    Column("alt_text", Text),
    always("image_type", Text),
    always("found_in", Text),
    Column("image_id", BigInteger),
    Column("product_id", BigInteger),
    always("discovery_type", Text),
    moment("first_seen_at"),
    moment("last_seen_at"),
    CheckConstraint("image_type in ('primary', 'gallery', 'thumbnail')", name="image_sightings_type_check"),
    CheckConstraint("found_in in ('src', 'srcset', 'picture', 'lazy', 'meta')", name="image_sightings_found_check"),
    CheckConstraint("discovery_type in ('discovery', 'refresh')", name="image_sightings_discovery_check"),
    Index("image_sightings_url_idx", "domain_id", "url_hash"),
    Index("image_sightings_product_idx", "product_id", postgresql_where=text("product_id is not null")),
    Index("image_sightings_image_idx", "image_id", postgresql_where=text("image_id is not null")),
)

image_fetches = Table(
    "image_fetches",
    metadata,
    Column("domain_id", BigInteger, primary_key=True, autoincrement=False),
    Column("url_hash", BigInteger, primary_key=True, autoincrement=False),
    always("url", Text),
    always("is_own", Boolean),
    always("outcome", Text, "'waiting'"),
    Column("status", SmallInteger),
    Column("error", Text),
    Column("image_id", BigInteger),
    always("retries", SmallInteger, "0"),
    Column("next_at", TIME, server_default=text("bailiwick_now()")),
    moment("found_at"),
    Column("fetched_at", TIME),
    CheckConstraint(_OUTCOMES, name="image_fetches_outcome_check"),
    CheckConstraint("(outcome = 'stored') = (image_id is not null)", name="image_fetches_image_check"),
    CheckConstraint("(outcome = 'waiting') = (next_at is not null)", name="image_fetches_waiting_check"),
    Index("image_fetches_due_idx", "domain_id", "is_own", "next_at", postgresql_where=text("next_at is not null")),
    Index("image_fetches_domain_idx", "domain_id", "image_id", postgresql_where=text("image_id is not null")),
    Index("image_fetches_image_idx", "image_id", "domain_id", postgresql_where=text("image_id is not null")),
)
