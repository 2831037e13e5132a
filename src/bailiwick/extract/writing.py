"""What parsing came to, made true in one transaction: snapshots, history, items, outbox; and the pages wait no longer.

A page whose body changed meanwhile is left alone: it waits with its new body already. Written twice it is written once.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from bailiwick.db.sql import array_of, by_index
from bailiwick.extract.forgetting import without_forgotten
from bailiwick.extract.images.writing import ImagesOfPage, WrittenImages, write_images
from bailiwick.extract.page import Extracted
from bailiwick.extract.parsers.stats import write_tries
from bailiwick.extract.queue import SQL, Claimed
from bailiwick.extract.version import EXTRACTOR_VERSION
from bailiwick.model.content import Content, ParseOutcome, Relevance, Unread
from bailiwick.model.items import Reject
from bailiwick.model.search import storable

Key = tuple[int, int]
_ERROR_CHARS = 500


@dataclass(frozen=True, slots=True)
class Result:
    """One page, parsed."""

    page: Claimed
    profile_mark: int
    found: Extracted | Unread
    milliseconds: int = 0

    @property
    def outcome(self) -> ParseOutcome:
        return self.found.outcome if isinstance(self.found, Unread) else ParseOutcome.PARSED


@dataclass(slots=True)
class Written:
    """What a write came to."""

    outcomes: dict[ParseOutcome, int] = field(default_factory=dict)
    relevant: int = 0
    changed: int = 0
    """Pages whose content is another one than before, or new."""
    items: int = 0
    images: WrittenImages = field(default_factory=WrittenImages)
    late: int = 0
    """Pages that had another body by then."""

    @property
    def pages(self) -> int:
        return sum(self.outcomes.values())

    @property
    def unread(self) -> int:
        """Pages of which no content could be read."""
        return self.pages - self.outcomes.get(ParseOutcome.PARSED, 0)


def write(conn: Connection, results: Sequence[Result]) -> Written:
    """Write all results whose pages still wait with the body that was parsed."""
    by_index(conn)
    held = _hold(conn, results)
    kept = _without_forgotten(conn, [result for result in results if result.page.key in held])
    snapshots = _write_snapshots(conn, kept)
    # Known content that is gone by now (a purge): the page waits on, and is parsed anew.
    kept = [r for r in kept if r.page.key in snapshots or isinstance(r.found, Unread)]
    changed = _write_history(conn, snapshots)
    _write_items(conn, kept, snapshots)
    _project(conn, kept, snapshots, changed)
    images = write_images(conn, _images(kept, snapshots))
    _write_parses(conn, kept, snapshots)
    write_tries(conn, [(r.page, r.found.tries) for r in kept if isinstance(r.found, Extracted) and r.found.relevance])
    _tell(conn, kept, snapshots, changed)
    keys = [r.page.key for r in kept]
    conn.exec_driver_sql(
        SQL["done"], {"domain_id": array_of(d for d, _ in keys), "path_hash": array_of(p for _, p in keys)}
    )
    counts = _counted(kept, changed, late=len(results) - len(kept))
    counts.images = images
    return counts


def _without_forgotten(conn: Connection, results: Sequence[Result]) -> list[Result]:
    """What somebody had forgotten stays so, whoever parses it again."""
    made = [(r, r.found) for r in results if isinstance(r.found, Extracted)]
    clean = dict(zip((r.page.key for r, _ in made), without_forgotten(conn, [e for _, e in made]), strict=True))
    return [replace(r, found=clean[r.page.key]) if r.page.key in clean else r for r in results]


def _hold(conn: Connection, results: Sequence[Result]) -> set[Key]:
    values = {
        "domain_id": array_of(r.page.domain_id for r in results),
        "path_hash": array_of(r.page.path_hash for r in results),
        "body_hash": [r.page.token for r in results],
    }
    return {(row.domain_id, row.path_hash) for row in conn.exec_driver_sql(SQL["hold"], values)}


def _write_snapshots(conn: Connection, results: Sequence[Result]) -> dict[Key, int]:
    """The snapshot that each page has now. Known content is only seen once more."""
    found: dict[Key, int] = {}
    extracted = [(r, r.found) for r in results if isinstance(r.found, Extracted)]
    known = [(r, e.content) for r, e in extracted if e.relevance is None]
    if known:
        values = {
            "domain_id": array_of(r.page.domain_id for r, _ in known),
            "path_hash": array_of(r.page.path_hash for r, _ in known),
            "content_hash": [content.content_hash for _, content in known],
            "body_hash": [r.page.body_hash for r, _ in known],
        }
        rows = conn.exec_driver_sql(SQL["touch_snapshots"], values)
        found |= {(row.domain_id, row.path_hash): row.id for row in rows}
    new = [(r, e, e.relevance) for r, e in extracted if e.relevance is not None]
    if new:
        rows = conn.exec_driver_sql(SQL["write_snapshots"], _snapshot_columns(new))
        found |= {(row.domain_id, row.path_hash): row.id for row in rows}
    return found


def _snapshot_columns(rows: Sequence[tuple[Result, Extracted, Relevance]]) -> dict[str, object]:
    contents: list[Content] = [e.content for _, e, _ in rows]
    plain = ("content_hash", "kind", "title", "description", "language", "author", "canonical", "published_at",
             "modified_at", "text")  # fmt: skip
    columns: dict[str, object] = {name: [getattr(content, name) for content in contents] for name in plain}
    return columns | {
        "version": EXTRACTOR_VERSION,
        "domain_id": array_of(r.page.domain_id for r, _, _ in rows),
        "path_hash": array_of(r.page.path_hash for r, _, _ in rows),
        "body_hash": [r.page.body_hash for r, _, _ in rows],
        "kind": [content.kind.value for content in contents],
        "words": array_of(content.words for content in contents),
        "simhash": array_of(content.simhash for content in contents),
        "meta": [json.dumps(dict(content.meta), ensure_ascii=False) for content in contents],
        "markdown": [e.markdown for _, e, _ in rows],
        "is_relevant": array_of(relevance.is_relevant for _, _, relevance in rows),
        "relevance": array_of(relevance.score for _, _, relevance in rows),
        "relevance_reason": [relevance.reason for _, _, relevance in rows],
        "relevance_source": [relevance.source.value for _, _, relevance in rows],
        "profile_mark": array_of(r.profile_mark for r, _, _ in rows),
    }


def _write_history(conn: Connection, snapshots: Mapping[Key, int]) -> set[Key]:
    """The pages whose content is another one than it was."""
    if not snapshots:
        return set()
    values = {
        "domain_id": array_of(domain_id for domain_id, _ in snapshots),
        "path_hash": array_of(path_hash for _, path_hash in snapshots),
        "snapshot_id": array_of(snapshots.values()),
    }
    return {(row.domain_id, row.path_hash) for row in conn.exec_driver_sql(SQL["add_history"], values)}


def _write_items(conn: Connection, results: Sequence[Result], snapshots: Mapping[Key, int]) -> None:
    made = [(r, r.found) for r in results if isinstance(r.found, Extracted) and r.found.relevance is not None]
    if not made:
        return
    rows = [(snapshots[r.page.key], r.page, item) for r, e in made for item in e.items]
    columns = {
        "snapshot_id": array_of(snapshot for snapshot, _, _ in rows),
        "kind": [item.kind.value for _, _, item in rows],
        "position": array_of(item.position for _, _, item in rows),
    }
    if rows:
        more = {
            "domain_id": array_of(page.domain_id for _, page, _ in rows),
            "path_hash": array_of(page.path_hash for _, page, _ in rows),
            "data": [json.dumps(item.data, ensure_ascii=False) for _, _, item in rows],
            "confidence": array_of(item.confidence for _, _, item in rows),
            "extractor": [item.extractor for _, _, item in rows],
            "extractor_version": array_of(item.version for _, _, item in rows),
            "content_hash": [item.content_hash for _, _, item in rows],
            "fields": [json.dumps(dict(item.fields)) for _, _, item in rows],
        }
        conn.exec_driver_sql(SQL["write_items"], columns | more)
    again = {"snapshots": [snapshots[r.page.key] for r, _ in made]}
    conn.exec_driver_sql(SQL["drop_items"], columns | again)
    conn.exec_driver_sql(SQL["drop_rejects"], again)
    _write_rejects(conn, [(snapshots[r.page.key], r.page, reject) for r, e in made for reject in e.rejects])


def _write_rejects(conn: Connection, rows: Sequence[tuple[int, Claimed, Reject]]) -> None:
    if not rows:
        return
    values = {
        "snapshot_id": array_of(snapshot for snapshot, _, _ in rows),
        "domain_id": array_of(page.domain_id for _, page, _ in rows),
        "path_hash": array_of(page.path_hash for _, page, _ in rows),
        "kind": [reject.kind.value for _, _, reject in rows],
        "position": array_of(reject.position for _, _, reject in rows),
        "field": [reject.field and storable(reject.field) for _, _, reject in rows],
        "value": [storable(reject.value) for _, _, reject in rows],
        "reason": [storable(reject.why) for _, _, reject in rows],
        "extractor": [reject.extractor for _, _, reject in rows],
        "extractor_version": array_of(reject.version for _, _, reject in rows),
    }
    conn.exec_driver_sql(SQL["write_rejects"], values)


def _project(conn: Connection, results: Sequence[Result], snapshots: Mapping[Key, int], changed: set[Key]) -> None:
    """Into tables of their own kind, where a page's items may have moved. A page that went back to an old content has
    the items of that, one that cannot be read any more has none."""
    moved = [
        r.page.key for r in results
        if r.outcome is not ParseOutcome.NO_BODY
        if isinstance(r.found, Unread) or r.found.relevance is not None or r.page.key in changed
    ]  # fmt: skip
    if moved:
        values = {
            "domain_id": array_of(domain_id for domain_id, _ in moved),
            "path_hash": array_of(path_hash for _, path_hash in moved),
            "snapshot_id": array_of(snapshots.get(key) for key in moved),
        }
        conn.exec_driver_sql(SQL["project_products"], values)


def _images(results: Sequence[Result], snapshots: Mapping[Key, int]) -> list[ImagesOfPage]:
    return [
        ImagesOfPage(*r.page.key, r.page.url, snapshots[r.page.key], r.found.images)
        for r in results
        if isinstance(r.found, Extracted) and r.found.images is not None
    ]


def _write_parses(conn: Connection, results: Sequence[Result], snapshots: Mapping[Key, int]) -> None:
    if not results:
        return
    contents = [r.found.content if isinstance(r.found, Extracted) else None for r in results]
    conn.exec_driver_sql(
        SQL["write_parses"],
        {
            "version": EXTRACTOR_VERSION,
            "domain_id": array_of(r.page.domain_id for r in results),
            "path_hash": array_of(r.page.path_hash for r in results),
            "body_hash": [r.page.body_hash for r in results],
            "outcome": [r.outcome.value for r in results],
            "error": [storable(r.found.why[:_ERROR_CHARS]) if isinstance(r.found, Unread) else None for r in results],
            "snapshot_id": array_of(snapshots.get(r.page.key) for r in results),
            "content_hash": [content and content.content_hash for content in contents],
            "simhash": array_of(content.simhash if content else None for content in contents),
            "profile": [r.page.profile for r in results],
            "profile_mark": array_of(r.profile_mark for r in results),
            "milliseconds": array_of(r.milliseconds for r in results),
        },
    )


def _tell(conn: Connection, results: Sequence[Result], snapshots: Mapping[Key, int], changed: set[Key]) -> None:
    """`extraction_completed` for listeners of content, `page_flagged` for what is relevant. Not for what is known."""
    told: list[tuple[str, Key, int | None, int, float | None]] = []
    for r in results:
        key, snapshot = r.page.key, snapshots.get(r.page.key)
        if isinstance(r.found, Unread):
            told.append(("extraction_completed", key, None, 0, None))
        elif r.found.relevance is not None:
            told.append(("extraction_completed", key, snapshot, len(r.found.items), r.found.relevance.score))
            if r.found.relevance.is_relevant:
                told.append(("page_flagged", key, snapshot, len(r.found.items), r.found.relevance.score))
        elif key in changed:
            told.append(("extraction_completed", key, snapshot, 0, None))
    if told:
        values = {
            "topic": [topic for topic, *_ in told],
            "domain_id": array_of(key[0] for _, key, *_ in told),
            "path_hash": array_of(key[1] for _, key, *_ in told),
            "snapshot_id": array_of(snapshot for _, _, snapshot, _, _ in told),
            "items": array_of(items for *_, items, _ in told),
            "relevance": array_of(relevance for *_, relevance in told),
        }
        conn.exec_driver_sql(SQL["tell"], values)


def _counted(results: Sequence[Result], changed: set[Key], *, late: int) -> Written:
    counts = Written(changed=len(changed), late=late)
    for r in results:
        counts.outcomes[r.outcome] = counts.outcomes.get(r.outcome, 0) + 1
        if isinstance(r.found, Extracted):
            counts.items += len(r.found.items)
            counts.relevant += r.found.relevance is not None and r.found.relevance.is_relevant
    return counts
