"""What is known of the contents of domains, for people: counts, pages that could not be read, unproductive pages."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import Connection

from bailiwick.extract.duplicates import Duplicates, find
from bailiwick.extract.queue import SQL

MOST_COUNTED = 100_000
FIRST = (-(2**63), -(2**63))
Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ContentSummary:
    """The contents of one domain."""

    outcomes: dict[str, int]
    relevant: int
    items: dict[str, int]
    duplicates: Duplicates

    def facts(self) -> dict[str, JsonValue]:
        """For machines."""
        return {
            "pages_by_outcome": {**self.outcomes},
            "pages_relevant": self.relevant,
            "items": {**self.items},
            "near_duplicate_pages": self.duplicates.surplus,
            "near_duplicate_clusters": [
                {"pages": cluster.pages, "distinct": cluster.distinct, "examples": [*cluster.examples]}
                for cluster in self.duplicates.clusters[:20]
            ],
        }


def summary(conn: Connection, domain_id: int) -> ContentSummary:
    """Of a domain's pages; counted up to a hundred thousand."""
    values = {"domain_id": domain_id, "most": MOST_COUNTED}
    rows = conn.exec_driver_sql(SQL["content_counts"], values).all()
    items = conn.exec_driver_sql(SQL["item_counts"], values)
    return ContentSummary(
        outcomes={row.outcome: row.pages for row in rows},
        relevant=sum(row.relevant for row in rows),
        items={row.kind: row.items for row in items},
        duplicates=find(conn, domain_id),
    )


@dataclass(frozen=True, slots=True)
class UnreadPage:
    """A page of which no content could be read."""

    domain: str
    path: str
    outcome: str
    error: str | None
    parsed_at: datetime
    key: Key


def unread(conn: Connection, domain_id: int | None, *, limit: int, after: Key = FIRST) -> list[UnreadPage]:
    """A page of them, by key."""
    values = {"domain_id": domain_id, "limit": limit, "after_domain": after[0], "after_path": after[1]}
    return [
        UnreadPage(row.name, row.path, row.outcome, row.error, row.parsed_at, (row.domain_id, row.path_hash))
        for row in conn.exec_driver_sql(SQL["failures"], values)
    ]


@dataclass(frozen=True, slots=True)
class UnproductivePage:
    """A page that is fetched and never gave what its profile wants."""

    domain: str
    path: str
    profile: str
    fetches: int
    last_fetched_at: datetime
    key: Key


def unproductive(
    conn: Connection,
    domain_id: int | None,
    wanted: Mapping[str, list[str]],
    *,
    days: int,
    limit: int,
    after: Key = FIRST,
) -> list[UnproductivePage]:
    """A page of them, by key. `wanted` are the kinds of items that each profile wants; one that wants none has none."""
    values = {
        "domain_id": domain_id,
        "wanted": json.dumps({name: kinds for name, kinds in wanted.items() if kinds}),
        "days": days,
        "limit": limit,
        "after_domain": after[0],
        "after_path": after[1],
    }
    return [
        UnproductivePage(
            row.name, row.path, row.profile, row.fetch_count, row.last_fetched_at, (row.domain_id, row.path_hash)
        )
        for row in conn.exec_driver_sql(SQL["unproductive"], values)
    ]
