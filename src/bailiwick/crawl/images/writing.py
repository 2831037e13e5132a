"""What came of images, written with the flush of their domain: under its fence, in its transaction."""

import time
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from bailiwick.crawl.images.facts import ImageDue, ImageOutlook, ImageResult, StoredImage
from bailiwick.db.sql import by_index, queries

SQL = queries("bailiwick.crawl.images")
_ERROR_CHARS = 500
_MOST = 500


def outlook(conn: Connection, held: Mapping[int, int]) -> dict[int, ImageOutlook]:
    """What waits for these domains, each with how many of them are at hand already."""
    by_index(conn)
    values = {"ids": list(held), "most": [_MOST + count for count in held.values()]}
    found: dict[int, ImageOutlook] = {}
    for row in conn.exec_driver_sql(SQL["outlook"], values):
        known = found.setdefault(row.domain_id, ImageOutlook([], row.next_in, row.unparsed))
        if row.url_hash is not None:
            known.due.append(ImageDue(row.url_hash, row.url, row.retries))
    return found


def write_results(conn: Connection, results: Mapping[int, Sequence[ImageResult]], *, machine: str) -> None:
    """Write what came of the images of these domains, whose leases are held. Written twice it is written once."""
    rows = [(domain_id, result) for domain_id, some in results.items() for result in some]
    if not rows:
        return
    keys: dict[str, object] = {
        "domain_id": [domain_id for domain_id, _ in rows],
        "url_hash": [result.due.url_hash for _, result in rows],
    }
    held = {(row.domain_id, row.url_hash) for row in conn.exec_driver_sql(SQL["hold"], keys)}
    rows = [(domain_id, r) for domain_id, r in rows if (domain_id, r.due.url_hash) in held]
    images = _add_images(conn, [r.stored for _, r in rows if r.stored is not None], machine)
    ids = [images[r.stored.sha256] if r.stored is not None else None for _, r in rows]
    _count_new(conn, [(d, i) for (d, _), i in zip(rows, ids, strict=True) if i is not None])
    if rows:
        conn.exec_driver_sql(SQL["note"], _columns(rows, ids))
    tied = [(d, r.due.url_hash, i) for (d, r), i in zip(rows, ids, strict=True) if i is not None]
    if tied:
        values = zip(("domain_id", "url_hash", "image_id"), map(list, zip(*tied, strict=True)), strict=True)
        conn.exec_driver_sql(SQL["tie"], dict(values))


def touch(conn: Connection, pages: Sequence[tuple[int, int]]) -> None:
    """The images of pages that were seen unchanged, (domain, path hash) each, were seen again."""
    if pages:
        values = {"domain_id": [d for d, _ in pages], "path_hash": [p for _, p in pages]}
        conn.exec_driver_sql(SQL["touch"], values)


def _add_images(conn: Connection, stored: Sequence[StoredImage], machine: str) -> dict[bytes, int]:
    if not stored:
        return {}
    values = {
        "machine": machine,
        "sha256": [one.sha256 for one in stored],
        "path": [one.path for one in stored],
        "mime": [one.facts.mime for one in stored],
        "width": [one.facts.width for one in stored],
        "height": [one.facts.height for one in stored],
        "size": [one.size for one in stored],
        "perceptual_hash": [one.facts.perceptual_hash for one in stored],
    }
    return {bytes(row.sha256): row.id for row in conn.exec_driver_sql(SQL["add_images"], values)}


def _count_new(conn: Connection, pairs: Sequence[tuple[int, int]]) -> None:
    """Before they are noted: afterwards each domain has them."""
    if not pairs:
        return
    values = {"domain_id": [d for d, _ in pairs], "image_id": [i for _, i in pairs]}
    new = {row.domain_id: row.images for row in conn.exec_driver_sql(SQL["count_new"], values)}
    if new:
        conn.exec_driver_sql(SQL["add_progress"], {"domain_id": list(new), "images": list(new.values())})


def _columns(rows: Sequence[tuple[int, ImageResult]], ids: Sequence[int | None]) -> dict[str, object]:
    now = time.monotonic()
    return {
        "domain_id": [domain_id for domain_id, _ in rows],
        "url_hash": [r.due.url_hash for _, r in rows],
        "outcome": [r.outcome.value for _, r in rows],
        "status": [r.status for _, r in rows],
        "error": [r.error[:_ERROR_CHARS].replace("\x00", "") if r.error else None for _, r in rows],
        "image_id": list(ids),
        "tried": [r.tried for _, r in rows],
        "age": [now - r.at for _, r in rows],
        "wait": [r.wait_seconds or 0.0 for _, r in rows],
    }
