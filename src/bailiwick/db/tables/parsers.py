"""What became of site parsers: on each page, and counted by domain and version."""

from sqlalchemy import BigInteger, CheckConstraint, Column, Double, Index, Integer, Table, Text, text

from bailiwick.db.tables.base import always, metadata, moment

parser_tries = Table(
    "parser_tries",
    metadata,
    Column("domain_id", BigInteger, primary_key=True, autoincrement=False),
    Column("path_hash", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", Text, primary_key=True),
    always("parser", Text),
    always("version", Integer),
    always("outcome", Text),
    Column("why", Text),
    moment("tried_at"),
    CheckConstraint(
        "outcome in ('succeeded', 'raised', 'empty', 'refused', 'timeout', 'died')", name="parser_tries_outcome_check"
    ),
    Index("parser_tries_failed_idx", "domain_id", "path_hash", "kind", postgresql_where=text("outcome <> 'succeeded'")),
)

parser_stats = Table(
    "parser_stats",
    metadata,
    Column("domain_id", BigInteger, primary_key=True, autoincrement=False),
    Column("parser", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    always("tried", BigInteger, "0"),
    always("succeeded", BigInteger, "0"),
    always("recent", Text, "''"),
    Column("fell_from", Double),
    moment("first_tried_at"),
    moment("last_tried_at"),
    CheckConstraint("succeeded between 0 and tried", name="parser_stats_counts_check"),
    CheckConstraint("recent ~ '^[01]{0,250}$'", name="parser_stats_recent_check"),
    CheckConstraint("fell_from between 0 and 1", name="parser_stats_rate_check"),
)
