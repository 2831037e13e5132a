"""What the registry holds of a page and its site: the stored body, other pages, near copies, where links lead."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from bailiwick.db.sql import by_index
from bailiwick.model.material import LinkCheck, Lookalike, SitePage
from bailiwick.model.urls import PageUrl, hash_of
from bailiwick.ports import BodyRef
from bailiwick.score.jobs import SQL, ClaimedUrl

_SITE_PAGES = 200
_SITE_CHARS = 600
_MOST_ALIKE = 2000
_BITS = 64
_GONE = (404, 410)


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page of the frontier, and where its body lies."""

    state: str
    outcome: str | None
    status: int | None
    error: str | None
    content_type: str
    body_hash: bytes | None
    ref: BodyRef | None

    @property
    def is_read(self) -> bool:
        return self.ref is not None and self.status is not None and 200 <= self.status < 300


def stored_page(conn: Connection, url: ClaimedUrl) -> StoredPage | None:
    """What the crawl knows of the page; None: it never heard of it."""
    by_index(conn)
    values = {"domain_id": url.domain_id, "path_hash": url.path_hash, "path": url.path}
    row = conn.exec_driver_sql(SQL["stored_page"], values).one_or_none()
    if row is None:
        return None
    ref = BodyRef(row.pack_id, row.pack_offset, row.pack_length) if row.pack_id is not None else None
    body_hash = bytes(row.body_hash) if row.body_hash is not None else None
    return StoredPage(
        row.state, row.last_outcome, row.last_status, row.last_error, row.content_type or "", body_hash, ref
    )


def site_pages(conn: Connection, url: ClaimedUrl) -> tuple[SitePage, ...]:
    """Pages of the domain that were crawled, those nearest to its home page first."""
    by_index(conn)
    values = {"domain_id": url.domain_id, "path_hash": url.path_hash, "most": _SITE_PAGES, "chars": _SITE_CHARS}
    base = (url.base_url or f"https://{url.name}").rstrip("/")
    return tuple(
        SitePage(base + row.path, row.title or "", row.text or "")
        for row in conn.exec_driver_sql(SQL["site_pages"], values)
    )


def lookalikes(
    conn: Connection, url: ClaimedUrl, *, simhash: int, content_hash: bytes
) -> tuple[tuple[Lookalike, ...], int]:
    """Stored pages of other domains with nearly the same text, and about how many texts there are to compare with."""
    by_index(conn)
    values = {
        "simhash": simhash,
        "content_hash": content_hash,
        "domain_id": url.domain_id,
        "path_hash": url.path_hash,
        "most": _MOST_ALIKE,
    }
    rows = conn.exec_driver_sql(SQL["lookalikes"], values).all()
    found = tuple(Lookalike(row.url, 1.0 if row.is_same else 1 - row.bits / _BITS, row.is_older) for row in rows)
    return found, int(conn.exec_driver_sql(SQL["snapshots_about"]).scalar_one())


def known_links(conn: Connection, links: Sequence[tuple[str, PageUrl]]) -> dict[str, LinkCheck]:
    """What crawls found behind links, by address; what was never fetched is not in it."""
    by_index(conn)
    values = {
        "url": [url for url, _ in links],
        "name": [page.domain.name for _, page in links],
        "path": [page.path for _, page in links],
        "path_hash": [hash_of(page.path) for _, page in links],
    }
    rows = conn.exec_driver_sql(SQL["known_statuses"], values)
    return {row.url: link_check(row.url, row.last_status) for row in rows}


def link_check(url: str, status: int) -> LinkCheck:
    """A page that is gone is a broken link; who may not see it, or not now, cannot tell."""
    if status in _GONE:
        return LinkCheck(url, True, f"status {status}")
    is_fine = 200 <= status < 400
    return LinkCheck(url, False if is_fine else None, f"status {status}")
