"""Images, a page at a time: of all, of a domain, of a page, those that look alike, those that are not kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Row

from bailiwick.db.sql import queries
from bailiwick.model.images import NEAR_BITS

SQL = queries("bailiwick.query.images")
MOST_COUNTED = 100_000
NEWEST = 2**63 - 1
FIRST = -(2**63)


@dataclass(frozen=True, slots=True)
class Image:
    """One content."""

    id: int
    sha256: bytes
    path: str
    mime: str
    width: int | None
    height: int | None
    file_size: int
    perceptual_hash: int | None
    created_at: datetime
    distance: int | None = None
    """Bits in which it differs from the one that was asked about."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An image and one of the places where it is seen."""

    image: Image
    sightings: int
    domain: str | None = None
    page: str | None = None
    url: str | None = None
    alt: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Sighting:
    """One reference of a page to an image."""

    domain: str
    path: str
    position: int
    url: str
    alt: str | None
    kind: str
    found_in: str
    discovery_type: str
    first_seen_at: datetime
    last_seen_at: datetime
    outcome: str
    error: str | None
    image_id: int | None


@dataclass(frozen=True, slots=True)
class Unstored:
    """An address of which no image is kept."""

    url: str
    outcome: str
    status: int | None
    error: str | None
    fetched_at: datetime | None
    key: int


@dataclass(frozen=True, slots=True)
class ImageCounts:
    """What is known of a domain's images, counted up to a bound."""

    sightings: int
    images: int
    outcomes: Mapping[str, int]


def newest(conn: Connection, *, limit: int, before: int = NEWEST) -> list[Shown]:
    """Of all domains."""
    rows = conn.exec_driver_sql(SQL["newest"], {"before": before, "limit": limit})
    return _shown(conn, [_image(row) for row in rows], None)


def of_domain(conn: Connection, domain_id: int, *, limit: int, before: int = NEWEST) -> list[Shown]:
    """Those that its pages refer to, each once."""
    rows = conn.exec_driver_sql(SQL["of_domain"], {"domain_id": domain_id, "before": before, "limit": limit})
    return _shown(conn, [_image(row) for row in rows], domain_id)


def near(conn: Connection, image: Image, *, limit: int, before: int = NEWEST) -> list[Shown]:
    """Those that look like it: other sizes, other encodings, small changes."""
    if image.perceptual_hash is None:
        return []
    values = {"hash": image.perceptual_hash, "id": image.id, "bits": NEAR_BITS, "before": before, "limit": limit}
    return _shown(conn, [_image(row) for row in conn.exec_driver_sql(SQL["near"], values)], None)


def find(conn: Connection, given: str) -> Image | None:
    """By its number, or by its SHA-256 in hex."""
    is_digest = len(given) == 64 and all(letter in "0123456789abcdef" for letter in given.lower())
    if not is_digest and not (given.isascii() and given.isdigit() and len(given) < 19):
        return None
    values = {"id": None if is_digest else int(given), "sha256": bytes.fromhex(given) if is_digest else None}
    row = conn.exec_driver_sql(SQL["one"], values).one_or_none()
    return None if row is None else _image(row)


def is_of_domain(conn: Connection, image_id: int, domain_id: int) -> bool:
    """Whether pages of this domain refer to it."""
    return bool(conn.exec_driver_sql(SQL["is_of"], {"id": image_id, "domain_id": domain_id}).scalar_one())


def sightings(conn: Connection, image_id: int, *, limit: int) -> list[Sighting]:
    """Where an image is seen."""
    return [Sighting(*row) for row in conn.exec_driver_sql(SQL["sightings_of_image"], {"id": image_id, "limit": limit})]


def of_page(conn: Connection, domain_id: int, path_hash: int, *, limit: int, after: int = -1) -> list[Sighting]:
    """What a page refers to, in its order, and what came of it."""
    values = {"domain_id": domain_id, "path_hash": path_hash, "limit": limit, "after": after}
    return [Sighting(*row) for row in conn.exec_driver_sql(SQL["of_page"], values)]


def unstored(conn: Connection, domain_id: int, *, limit: int, after: int = FIRST) -> list[Unstored]:
    """A page of them, by key."""
    values = {"domain_id": domain_id, "limit": limit, "after": after}
    return [Unstored(*row) for row in conn.exec_driver_sql(SQL["unstored"], values)]


def counts(conn: Connection, domain_id: int) -> ImageCounts:
    values = {"domain_id": domain_id, "most": MOST_COUNTED}
    rows = conn.exec_driver_sql(SQL["counts"], values).all()
    seen = int(conn.exec_driver_sql(SQL["count_sightings"], values).scalar_one())
    return ImageCounts(seen, sum(row.images for row in rows), {row.outcome: row.addresses for row in rows})


def _image(row: "Row[tuple[object, ...]]") -> Image:
    return Image(
        id=row.id,
        sha256=bytes(row.sha256),
        path=row.path,
        mime=row.mime,
        width=row.width,
        height=row.height,
        file_size=row.file_size,
        perceptual_hash=row.perceptual_hash,
        created_at=row.created_at,
        distance=row.distance,
    )


def _shown(conn: Connection, images: Sequence[Image], domain_id: int | None) -> list[Shown]:
    if not images:
        return []
    values = {"ids": [image.id for image in images], "domain_id": domain_id}
    seen = {row.id: row for row in conn.exec_driver_sql(SQL["shown_as"], values)}
    return [
        Shown(image, row.sightings, row.domain, row.page, row.url, row.alt_text, row.image_type)
        for image in images
        for row in [seen[image.id]]
    ]
