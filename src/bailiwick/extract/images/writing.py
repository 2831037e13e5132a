"""The references of parsed pages, made true with the rest of what was parsed."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from bailiwick.base.errors import NameRefusedError
from bailiwick.db.sql import queries
from bailiwick.model.images import FoundImage, ImageType, PageImages
from bailiwick.model.urls import PageUrl, UrlRules, hash_of
from bailiwick.registry.apply import lock_queue, requeue

SQL = queries("bailiwick.extract.images")
_ANY = UrlRules(allow_private=True)
_Key = tuple[int, int]
MOST_ADDRESSES = 200_000
"""Of one domain: a site that names its images anew on each visit would never come to an end."""


@dataclass(frozen=True, slots=True)
class ImagesOfPage:
    """What a page refers to, by the snapshot that it has now. Its products are written already."""

    domain_id: int
    path_hash: int
    url: str
    snapshot_id: int
    images: PageImages


@dataclass(frozen=True, slots=True)
class _Reference:
    page: ImagesOfPage
    image: FoundImage
    url_hash: int
    nth: int
    """Which of the page's references to this address it is."""


@dataclass(frozen=True, slots=True)
class WrittenImages:
    """How many references there are, and the domains of which something is to be fetched now."""

    references: int = 0
    domains: frozenset[int] = frozenset()


def wake(conn: Connection, domain_ids: Collection[int] | None, profiles: Sequence[str]) -> int:
    """Domains that rest because all their pages are fetched are due again if images of theirs wait. Returns how many.

    Of these profiles only, which fetch images: of others nobody would come for them. In a transaction of its own:
    whoever crawls locks the queue before what is parsed. None: whichever domains there are.
    """
    asked = {"ids": None if domain_ids is None else list(domain_ids), "profiles": list(profiles)}
    found = list(conn.exec_driver_sql(SQL["to_wake"], asked).scalars())
    if found:
        lock_queue(conn, found)
        conn.exec_driver_sql(SQL["wake"], {"ids": found})
        requeue(conn, found)
    return len(found)


def write_images(conn: Connection, pages: Sequence[ImagesOfPage]) -> WrittenImages:
    """Write the sightings of these pages, and queue what is to be fetched."""
    if not pages:
        return WrittenImages()
    snapshots = [page.snapshot_id for page in pages]
    relevant = set(conn.exec_driver_sql(SQL["relevant"], {"ids": snapshots}).scalars())
    references = [one for page in pages if page.snapshot_id in relevant for one in _references(page)]
    queued = _queue(conn, [one for one in references if one.page.images.downloads])
    known = _fetches(conn, references) if references else {}
    of_pages = {"pages_domain": [p.domain_id for p in pages], "pages_path": [p.path_hash for p in pages]}
    if references:
        rows = conn.exec_driver_sql(SQL["only_products"], of_pages)
        products = {(row.domain_id, row.path_hash): row.id for row in rows}
        conn.exec_driver_sql(SQL["write_sightings"], _columns(references, known, products))
    conn.exec_driver_sql(SQL["drop_sightings"], of_pages)
    return WrittenImages(len(references), queued)


def _references(page: ImagesOfPage) -> list[_Reference]:
    seen: Counter[int] = Counter()
    found: list[_Reference] = []
    for image in page.images.found:
        url_hash = hash_of(image.url)
        found.append(_Reference(page, image, url_hash, seen[url_hash]))
        seen[url_hash] += 1
    return found


def _queue(conn: Connection, wanted: Sequence[_Reference]) -> frozenset[int]:
    if not wanted:
        return frozenset()
    more: dict[str, object] = {"url": [one.image.url for one in wanted], "is_own": _are_own(wanted)}
    more |= {"most": MOST_ADDRESSES}
    return frozenset(conn.exec_driver_sql(SQL["add_fetches"], _addresses(wanted) | more).scalars())


def _fetches(conn: Connection, references: Sequence[_Reference]) -> Mapping[_Key, int | None]:
    """The images behind these addresses, as far as they are known."""
    rows = conn.exec_driver_sql(SQL["known_fetches"], _addresses(references))
    return {(row.domain_id, row.url_hash): row.image_id for row in rows}


def _are_own(references: Sequence[_Reference]) -> list[bool]:
    """Which of them are on their page's own domain, as names are read there."""
    known: dict[str, str | None] = {}
    return [_domain(one.image.url, known) == _domain(one.page.url, known) for one in references]


def _domain(url: str, known: dict[str, str | None]) -> str | None:
    origin = "/".join(url.split("/", 3)[:3])
    if origin not in known:
        try:
            known[origin] = PageUrl.parse(origin, rules=_ANY).domain.name
        except NameRefusedError:
            known[origin] = None
    return known[origin]


def _addresses(references: Sequence[_Reference]) -> dict[str, object]:
    return {
        "domain_id": [one.page.domain_id for one in references],
        "url_hash": [one.url_hash for one in references],
    }


def _columns(
    references: Sequence[_Reference], known: Mapping[_Key, int | None], products: Mapping[_Key, int]
) -> dict[str, object]:
    return _addresses(references) | {
        "path_hash": [one.page.path_hash for one in references],
        "nth": [one.nth for one in references],
        "position": [one.image.position for one in references],
        "url": [one.image.url for one in references],
        "alt": [one.image.alt for one in references],
        "kind": [one.image.kind.value for one in references],
        "found_in": [one.image.found_in.value for one in references],
        "image_id": [known.get((one.page.domain_id, one.url_hash)) for one in references],
        "product": [
            None if one.image.kind is ImageType.THUMBNAIL else products.get((one.page.domain_id, one.page.path_hash))
            for one in references
        ],
    }
