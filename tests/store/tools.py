"""What tests of the store share: bodies that can be made again from a number, pages that refer to them."""

import os
import random
import time
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection, insert, select, update

from bailiwick.base.sections import DatabaseSettings, StorageSettings
from bailiwick.base.settings import Settings
from bailiwick.db.engine import Database
from bailiwick.db.tables import packs, pages
from bailiwick.ports import BodyRef, StoredBody
from bailiwick.store.files import pack_name
from bailiwick.store.packs import PackStore
from bailiwick.store.shelf import Shelf
from bailiwick.store.walk import Found, walk

MACHINE = "here"
PACK_BYTES = 60_000


def opened(url: str) -> Database:
    return Database(Path("/nowhere"), Settings(database=DatabaseSettings(url=url)))


def shelf_at(
    database: Database,
    directory: Path,
    *,
    machine: str = MACHINE,
    pack_bytes: int = PACK_BYTES,
    hours: float = 0,
) -> Shelf:
    """Packs that are soon full, and old at once."""
    small = {"pack_bytes": pack_bytes, "sweep_after_hours": hours}
    return Shelf(database, directory, machine, StorageSettings().model_copy(update=small))


def made(number: int, *, domain_id: int = 1, size: int | None = None) -> StoredBody:
    """A body of one page, the same for the same number: half of it can be compressed."""
    chance = random.Random(number)
    size = chance.randrange(100, 6000) if size is None else size
    body = chance.randbytes(size // 2) + b"<p>the same again</p>" * (size // 42)
    return StoredBody(domain_id, number, b"HTTP/1.1 200 OK\r\nX-Number: %d\r\n\r\n" % number, body)


def put_all(store: PackStore, numbers: Iterable[int], *, domain_id: int = 1) -> dict[int, BodyRef]:
    return {number: store.put(made(number, domain_id=domain_id)) for number in numbers}


def refer(conn: Connection, stored: StoredBody, ref: BodyRef) -> None:
    """What a flush does: the page's row tells where its body lies. Known pages get the new body."""
    lies = {
        "state": "fetched",
        "body_hash": sha256(stored.body).digest(),
        "pack_id": ref.pack_id,
        "pack_offset": ref.offset,
        "pack_length": ref.length,
    }
    key = (pages.c.domain_id == stored.domain_id) & (pages.c.path_hash == stored.path_hash)
    if conn.execute(update(pages).where(key).values(lies)).rowcount == 0:
        page = {"domain_id": stored.domain_id, "path_hash": stored.path_hash, "path": f"/{stored.path_hash}"}
        conn.execute(insert(pages).values({**page, **lies}))


def referred(conn: Connection, stored: StoredBody) -> BodyRef:
    """Where the page's row says that its body lies."""
    columns = select(pages.c.pack_id, pages.c.pack_offset, pages.c.pack_length)
    key = (pages.c.domain_id == stored.domain_id) & (pages.c.path_hash == stored.path_hash)
    return BodyRef(*conn.execute(columns.where(key)).one())


def known_packs(database: Database) -> list[int]:
    with database.read() as conn:
        return list(conn.execute(select(packs.c.id).order_by(packs.c.id)).scalars())


def files_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def records_in(directory: Path, pack_id: int) -> list[Found]:
    """What a walk through the pack finds."""
    descriptor = os.open(directory / pack_name(pack_id), os.O_RDONLY)
    try:
        return list(walk(descriptor))
    finally:
        os.close(descriptor)


def age(path: Path, hours: float) -> None:
    """As if nobody had written to it for so long."""
    then = time.time() - hours * 3600
    os.utime(path, (then, then))
