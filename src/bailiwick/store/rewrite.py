"""What of a pack is alive, and how that part moves to another one while crawls go on."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from bailiwick.base.errors import BodyDamagedError
from bailiwick.db.engine import Database
from bailiwick.ports import BodyRef
from bailiwick.store.packs import PackStore
from bailiwick.store.records import HEADER_BYTES, read_header, with_domain
from bailiwick.store.references import Copied, Fate, Reference, fates, repoint, strays
from bailiwick.store.walk import Found, walk

_BATCH = 500
_T = TypeVar("_T")


@dataclass(slots=True)
class Survey:
    """What the records of a pack have become."""

    live: int = 0
    live_bytes: int = 0
    purged: int = 0


def survey(database: Database, pack_id: int, descriptor: int, advance: Callable[[int], None]) -> Survey:
    """Look at every record. `advance` is told the place in the pack. OSError if the disk cannot be read."""
    found = Survey()
    for record, fate in _judged(database, pack_id, descriptor):
        found.live += fate is Fate.LIVE
        found.live_bytes += record.header.record_bytes if fate is Fate.LIVE else 0
        found.purged += fate is Fate.PURGED
        advance(record.offset)
    return found


def rewrite(database: Database, pack_id: int, descriptor: int, copies: PackStore) -> tuple[int, int]:
    """Copy what is alive and let its pages refer to the copies; how many, how many bytes. DiskLowError, OSError.

    Each batch is durable before a page refers to it. If this ends early, copies that nothing refers to remain in a
    young pack, for a later sweep. A page that changes meanwhile keeps what it has.
    """
    live = (record for record, fate in _judged(database, pack_id, descriptor) if fate is Fate.LIVE)
    return _move(database, pack_id, copies, ((_named(pack_id, found), _record(descriptor, found)) for found in live))


def adopt(database: Database, pack_id: int, descriptor: int, copies: PackStore) -> tuple[int, int]:
    """The same with bodies whose pages were merged into another domain: they get its name.

    Found by the rows that still refer to the pack, so only for packs of which `rewrite` has not moved everything.
    What cannot be read stays, and so does its pack.
    """
    with database.read() as conn:
        references = strays(conn, pack_id)
    return _move(database, pack_id, copies, _adopted(descriptor, references))


def batches(things: Iterable[_T], count: int) -> Iterator[list[_T]]:
    """They, a few at a time."""
    rest = iter(things)
    while batch := list(islice(rest, count)):
        yield batch


def _judged(database: Database, pack_id: int, descriptor: int) -> Iterator[tuple[Found, Fate]]:
    for batch in batches(walk(descriptor), _BATCH):
        with database.read() as conn:
            verdicts = fates(conn, pack_id, batch)
        yield from zip(batch, verdicts, strict=True)


def _move(
    database: Database, pack_id: int, copies: PackStore, records: Iterable[tuple[Reference, bytes]]
) -> tuple[int, int]:
    count = size = 0
    # Put one by one as they are read: a batch holds places, not bodies.
    for moved in batches((Copied(reference, copies.put_record(record)) for reference, record in records), _BATCH):
        copies.sync()
        with database.begin() as conn:
            repoint(conn, pack_id, moved)
        count += len(moved)
        size += sum(copy.to.length for copy in moved)
    return count, size


def _named(pack_id: int, found: Found) -> Reference:
    header = found.header
    return Reference(header.domain_id, header.path_hash, BodyRef(pack_id, found.offset, header.record_bytes))


def _adopted(descriptor: int, references: Iterable[Reference]) -> Iterator[tuple[Reference, bytes]]:
    for reference in references:
        header = read_header(os.pread(descriptor, HEADER_BYTES, reference.ref.offset))
        if header is not None and header.path_hash == reference.path_hash:
            with suppress(BodyDamagedError):
                yield (
                    reference,
                    with_domain(_record(descriptor, Found(reference.ref.offset, header)), reference.domain_id),
                )


def _record(descriptor: int, found: Found) -> bytes:
    return os.pread(descriptor, found.header.record_bytes, found.offset)
