"""The tables, as SQLAlchemy Core knows them. Migrations make them; a test compares both to the letter."""

from bailiwick.db.tables.accounts import one_time_links, sessions
from bailiwick.db.tables.base import TransactionId, metadata
from bailiwick.db.tables.content import (
    export_cursors,
    item_rejects,
    items,
    model_calls,
    outbox_readers,
    page_parses,
    page_snapshots,
    snapshot_history,
)
from bailiwick.db.tables.crawl import (
    domain_memory,
    fetch_log,
    host_gates,
    job_domains,
    jobs,
    outlinks,
    packs,
    pages,
    parse_queue,
    refused_links,
    robots_cache,
    run_domains,
    runs,
    sitemaps,
)
from bailiwick.db.tables.discovery import candidates, discovery_sessions, engine_calls, engine_gates
from bailiwick.db.tables.images import image_fetches, image_sightings, images
from bailiwick.db.tables.learning import labels, models
from bailiwick.db.tables.ledger import events, members, outbox, settings, state_moves
from bailiwick.db.tables.parsers import parser_stats, parser_tries
from bailiwick.db.tables.privacy import forgotten, forgotten_key
from bailiwick.db.tables.products import price_history, products
from bailiwick.db.tables.registry import crawl_queue, domain_progress, domains, page_requests, trust_rules, workers
from bailiwick.db.tables.scoring import domain_facts, evaluations, job_urls, review_queue, url_results
from bailiwick.db.tables.search import search_documents
from bailiwick.db.tables.telling import deliveries, notification_crossings

__all__ = [
    "TransactionId",
    "candidates",
    "crawl_queue",
    "deliveries",
    "discovery_sessions",
    "domain_facts",
    "domain_memory",
    "domain_progress",
    "domains",
    "engine_calls",
    "engine_gates",
    "evaluations",
    "events",
    "export_cursors",
    "fetch_log",
    "forgotten",
    "forgotten_key",
    "host_gates",
    "image_fetches",
    "image_sightings",
    "images",
    "item_rejects",
    "items",
    "job_domains",
    "job_urls",
    "jobs",
    "labels",
    "members",
    "metadata",
    "model_calls",
    "models",
    "notification_crossings",
    "one_time_links",
    "outbox",
    "outbox_readers",
    "outlinks",
    "packs",
    "page_parses",
    "page_requests",
    "page_snapshots",
    "pages",
    "parse_queue",
    "parser_stats",
    "parser_tries",
    "price_history",
    "products",
    "refused_links",
    "review_queue",
    "robots_cache",
    "run_domains",
    "runs",
    "search_documents",
    "sessions",
    "settings",
    "sitemaps",
    "snapshot_history",
    "state_moves",
    "trust_rules",
    "url_results",
    "workers",
]
