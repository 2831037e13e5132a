"""Stored images: how many there are, whether their files are sound, and the removal of what no page refers to."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy import Connection

from bailiwick.db.engine import Database
from bailiwick.store.images import ImageFile, ImageFiles
from bailiwick.store.references import SQL
from bailiwick.store.rewrite import batches

_BATCH = 500
_FAULTS_KEPT = 1000
_LEAST = -(2**63)
_ORPHAN_SECONDS = 60.0
"""A file is an orphan at this age at least: for a moment, a new one has no row."""


@dataclass(frozen=True, slots=True)
class ImageStatus:
    """What `bailiwick storage status` shows of images."""

    images: int
    image_bytes: int
    image_files: int
    image_file_bytes: int
    image_orphans: int
    """Files that the database knows nothing of."""


@dataclass(frozen=True, slots=True)
class ImageFault:
    """An image whose file is not what it should be."""

    id: int
    path: str
    kind: Literal["damaged", "missing"]


@dataclass(slots=True)
class ImagesVerified:
    """How far a verification has got, and what it found."""

    checked: int = 0
    damaged: int = 0
    missing: int = 0
    elsewhere: int = 0
    """Images on other machines: to be verified there."""
    faults: list[ImageFault] = field(default_factory=list)
    """The first ones; `damaged` and `missing` count them all."""

    @property
    def is_sound(self) -> bool:
        return self.damaged + self.missing == 0


@dataclass(slots=True)
class ImagesSwept:
    """What a sweep did; of a dry run, what it would do."""

    addresses: int = 0
    """Addresses that no page refers to any more."""
    images: int = 0
    files: int = 0
    file_bytes: int = 0
    young: int = 0
    foreign: int = 0
    """Files that belong to another database."""


def image_status(conn: Connection, files: ImageFiles) -> ImageStatus:
    """Counts of rows and files. Reads no image."""
    row = conn.exec_driver_sql(SQL["count_images"]).one()
    count = size = known = 0
    for group in batches(files.files(), _BATCH):
        count, size = count + len(group), size + sum(file.size for file in group)
        known += len(_known(conn, group))
    return ImageStatus(row.images, row.bytes, count, size, count - known)


def verify_images(database: Database, files: ImageFiles, *, machine: str) -> Iterator[ImagesVerified]:
    """Read every stored image again and compare it with its row; yields the same tally after every few hundred."""
    tally, after = ImagesVerified(), 0
    while True:
        with database.read() as conn:
            rows = conn.exec_driver_sql(SQL["next_images"], {"after": after, "limit": _BATCH}).all()
        for row in rows:
            sound = files.is_sound(row.path, bytes(row.sha256))
            if sound is None and row.machine != machine:
                tally.elsewhere += 1
            else:
                _count(tally, row.id, row.path, sound=sound)
        yield tally
        if len(rows) < _BATCH:
            return
        after = rows[-1].id


def _count(tally: ImagesVerified, number: int, path: str, *, sound: bool | None) -> None:
    tally.checked += 1
    tally.damaged += sound is False
    tally.missing += sound is None
    if not sound and len(tally.faults) < _FAULTS_KEPT:
        tally.faults.append(ImageFault(number, path, "missing" if sound is None else "damaged"))


def sweep_images(
    database: Database, files: ImageFiles, *, age_seconds: float, is_dry: bool = False,
    advance: Callable[[int], None] = lambda _: None,
) -> ImagesSwept:  # fmt: skip
    """Remove images that no page refers to any more, and files without a row. May be broken off at any time."""
    done, gone = ImagesSwept(), set[bytes]()
    done.addresses = _drop_addresses(database, age_seconds, is_dry=is_dry)
    if is_dry:
        with database.read() as conn:
            done.images = conn.exec_driver_sql(SQL["unreferred_images"], {"age": age_seconds}).scalar_one()
    else:
        gone = _drop_images(database, age_seconds)
        done.images = len(gone)
    _remove_files(database, files, gone, done, age_seconds=age_seconds, is_dry=is_dry)
    advance(done.files)
    return done


def _drop_addresses(database: Database, age_seconds: float, *, is_dry: bool) -> int:
    """An address that a page names again later is asked for again."""
    total, after = 0, (_LEAST, _LEAST)
    while True:
        asked = {"domain_id": after[0], "url_hash": after[1], "age": age_seconds, "limit": _BATCH, "is_dry": is_dry}
        with database.begin() as conn:
            row = conn.exec_driver_sql(SQL["drop_addresses"], asked).one()
        total += int(row.dropped)
        if row.seen < _BATCH:
            return total
        after = (row.domain_id, row.url_hash)


def _drop_images(database: Database, age_seconds: float) -> set[bytes]:
    """In two statements: the rows are held first, so that what refers to them by then is seen by the second one."""
    gone: set[bytes] = set()
    after = 0
    while True:
        with database.begin() as conn:
            asked = {"age": age_seconds, "limit": _BATCH, "after": after}
            held = list(conn.exec_driver_sql(SQL["hold_images"], asked).scalars())
            gone |= {bytes(digest) for digest in conn.exec_driver_sql(SQL["drop_images"], {"ids": held}).scalars()}
        if len(held) < _BATCH:
            return gone
        after = held[-1]


def _remove_files(
    database: Database, files: ImageFiles, gone: set[bytes], done: ImagesSwept, *, age_seconds: float, is_dry: bool
) -> None:
    """Files without a row. Only where other files are this database's: else the directory is another one's."""
    unknown: list[ImageFile] = []
    is_ours = bool(gone)
    for group in batches(files.files(), _BATCH):
        with database.read() as conn:
            known = _known(conn, group)
        is_ours = is_ours or bool(known)
        unknown += [file for file in group if file.digest not in known]
    if not is_ours:
        done.foreign += len(unknown)
        return
    age = max(age_seconds, _ORPHAN_SECONDS)
    for file in unknown:
        if file.age_seconds < age:
            done.young += 1
        elif is_dry or files.remove(file.path, older_than_seconds=age):
            done.files += 1
            done.file_bytes += file.size


def _known(conn: Connection, group: Sequence[ImageFile]) -> set[bytes]:
    asked = {"digests": [file.digest for file in group]}
    return {bytes(digest) for digest in conn.exec_driver_sql(SQL["known_images"], asked).scalars()}
