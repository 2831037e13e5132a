"""How much is stored, and how much of it anybody refers to: quick at any size."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, select

from bailiwick.db.tables import packs
from bailiwick.store.files import pack_files
from bailiwick.store.references import BODY_TABLES, SQL

_MOST_BLOCKS = 25_000
"""200 MB of each table are read at most; of a larger one, a sample that stands for the rest."""


@dataclass(frozen=True, slots=True)
class StorageStatus:
    """What `bailiwick storage status` shows."""

    packs: int
    sealed: int
    elsewhere: int
    """Packs whose files are not in this directory: other machines', or lost."""
    disk_bytes: int
    orphans: int
    """Files that the database knows nothing of."""
    orphan_bytes: int
    bodies: int
    live_bytes: int
    is_estimate: bool
    """Whether `bodies` and `live_bytes` come from a sample."""


def status(conn: Connection, directory: Path) -> StorageStatus:
    """Counts of rows and files, and what is referred to on all machines. Reads no pack."""
    files = pack_files(directory)
    known = {
        row.file: row.is_sealed
        for row in conn.execute(select(packs.c.file, packs.c.sealed_at.is_not(None).label("is_sealed")))
    }
    orphans = [found.st_size for name, found in files.items() if name not in known]
    bodies, live_bytes, is_estimate = _live(conn)
    return StorageStatus(
        packs=len(known),
        sealed=sum(known.values()),
        elsewhere=sum(name not in files for name in known),
        disk_bytes=sum(found.st_size for found in files.values()),
        orphans=len(orphans),
        orphan_bytes=sum(orphans),
        bodies=bodies,
        live_bytes=live_bytes,
        is_estimate=is_estimate,
    )


def _live(conn: Connection) -> tuple[int, int, bool]:
    bodies, size, is_estimate = 0, 0, False
    for table in BODY_TABLES:
        blocks = conn.exec_driver_sql(SQL["blocks"].format(table=table)).scalar_one()
        share = min(1.0, _MOST_BLOCKS / max(blocks, 1))
        row = conn.exec_driver_sql(SQL["live_bytes"].format(table=table), {"percent": 100 * share}).one()
        bodies, size = bodies + round(row.bodies / share), size + round(row.bytes / share)
        is_estimate = is_estimate or share < 1
    return bodies, size, is_estimate
