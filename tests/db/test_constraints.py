"""Every rule of a table has its sentence, and a user sees that sentence."""

import re

import pytest
from sqlalchemy import CheckConstraint, text

from bailiwick.base.errors import BrokenRuleError
from bailiwick.db.constraints import RULES
from bailiwick.db.engine import Database
from bailiwick.db.tables import metadata
from tests.registry.tools import admit


def test_every_check_has_a_sentence_and_every_sentence_a_check() -> None:
    named = {c.name for t in metadata.tables.values() for c in t.constraints if isinstance(c, CheckConstraint)}
    assert named == set(RULES)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ("approval = 'suspended'", "domains_review_reason_check"),
        ("approval = 'suspended', review_reason = '  '", "domains_review_reason_check"),
        ("standing = 'blacklisted'", "domains_blacklist_check"),
        ("standing = 'no_funds_this_year'", "domains_no_funds_check"),
        ("no_funds_year = 2019", "domains_no_funds_check"),
        ("no_funds_year = 2101", "domains_no_funds_check"),
        ("best_confidence_score = 1.01", "domains_confidence_check"),
        ("name = 'Example.org'", "domains_name_check"),
        ("name = 'example.org/path'", "domains_name_check"),
        ("failed_at = now(), retry_after = now()", "domains_retry_check"),
        ("max_crawl_depth = -1", "domains_depth_check"),
        ("crawl_delay_seconds = -1", "domains_delay_check"),
        ("max_concurrent_requests = 0", "domains_concurrency_check"),
        ("pages_crawled = -1", "domains_counters_check"),
        ("seed_rank = 0", "domains_rank_check"),
        ("scrape_frequency_hours = 0", "domains_frequency_check"),
    ],
)
def test_a_broken_rule_is_said_in_plain_words(database: Database, change: str, rule: str) -> None:
    with database.begin() as conn:
        admit(conn, "example.org")
    with pytest.raises(BrokenRuleError) as raised, database.begin() as conn:
        conn.execute(text(f"update domains set {change}"))
    assert raised.value.message == RULES[rule]


def test_no_rule_compares_with_the_present(database: Database) -> None:
    """So that a backup restored a year later loads."""
    query = "select conname, pg_get_constraintdef(oid) from pg_constraint where contype = 'c'"
    with database.read() as conn:
        for name, definition in conn.execute(text(query)):
            assert not re.search(r"\bnow\(|\bcurrent_|clock_timestamp", definition.lower()), name
