"""Making room: packs that nothing refers to are removed, and packs that are mostly dead are written anew.

Left alone is whatever is young or held by a process: a body is in its pack before the flush that refers to it commits.
Killed at any moment, it has lost nothing, and the next sweep finishes: a row is deleted before its file, and a copy is
durable before a page refers to it.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, delete, select, text

from bailiwick.db.engine import Database
from bailiwick.db.revision import HEAD
from bailiwick.db.tables import packs
from bailiwick.store.files import Label, open_locked, pack_files
from bailiwick.store.packs import PackStore
from bailiwick.store.references import referred_packs, still_referred_packs
from bailiwick.store.rewrite import adopt, batches, rewrite, survey
from bailiwick.store.shelf import PackRow, Shelf

Advance = Callable[[int], None]
"""Says how many bytes of packs are looked at by now."""
Mover = Callable[[Database, int, int, PackStore], tuple[int, int]]
"""`rewrite` or `adopt`."""

_AT_ONCE = 16
"""Packs that are held and removed together: before each removal the tables are read once."""
_ORPHAN_SECONDS = 60.0
"""A file is an orphan at this age at least: for a moment, a new one has neither lock nor row."""


@dataclass(slots=True)
class Swept:
    """What a sweep did; of a dry run, what it would do."""

    removed: int = 0
    """Packs that nothing referred to, those that were written anew included."""
    removed_bytes: int = 0
    rewritten: int = 0
    copied: int = 0
    """Bodies that were copied out of them, and their bytes."""
    copied_bytes: int = 0
    orphans: int = 0
    """Files that the database knew nothing of."""
    young: int = 0
    busy: int = 0
    kept: int = 0
    """Packs in which enough is alive."""
    stuck: int = 0
    """Packs that should go, but a page still refers to a body in there that cannot be moved: unreadable, or busy."""
    foreign: int = 0
    """Files that belong to another database."""

    @property
    def freed_bytes(self) -> int:
        return self.removed_bytes - self.copied_bytes


def sweep(shelf: Shelf, *, is_dry: bool = False, advance: Advance = lambda _: None) -> Swept:
    """Make room. With `is_dry` only say what would be done. DiskLowError when there is no room for the copies.

    Removal comes first, and needs no room.
    """
    with shelf.database.read() as conn:
        rows = shelf.rows(conn)
        referred = referred_packs(conn)
    work = _Sweep(shelf, advance, is_dry=is_dry)
    work.remove_orphans(rows)
    work.remove(row for row in rows if row.id not in referred)
    with closing(PackStore(shelf, takes_over=False)) as copies:
        work.renew((row for row in rows if row.id in referred), copies)
    return work.done


@dataclass(frozen=True, slots=True)
class _Held:
    """A pack that no other process can touch now. Without a descriptor: one of which only the row is left."""

    row: PackRow
    descriptor: int | None
    size: int


class _Sweep:
    def __init__(self, shelf: Shelf, advance: Advance, *, is_dry: bool) -> None:
        self._shelf, self._is_dry, self._advance = shelf, is_dry, advance
        self._age_seconds = shelf.settings.sweep_after_hours * 3600
        self._passed = 0
        self.done = Swept()

    def remove_orphans(self, rows: list[PackRow]) -> None:
        """Files without a row: a sweep that was killed, a database that was restored.

        Only where other packs are this database's beyond doubt: else the directory is another one's.
        """
        known = {row.file for row in rows}
        unknown = [name for name in pack_files(self._shelf.directory) if name not in known]
        if unknown and not any(_label(self._shelf.path(row.id)) == row.label for row in rows):
            self.done.foreign += len(unknown)
            return
        for name in unknown:
            self._remove_orphan(self._shelf.directory / name)

    def remove(self, rows: Iterable[PackRow]) -> None:
        """Packs that nothing refers to."""
        for group in batches(rows, _AT_ONCE):
            with ExitStack() as stack:
                held = [pack for row in group if (pack := self._hold(row, stack))]
                self.done.kept += len(self._delete(held))

    def renew(self, rows: Iterable[PackRow], copies: PackStore) -> None:
        """Packs of which less than half is alive, or that hold what was purged: what is alive moves, they go."""
        for group in batches(rows, _AT_ONCE):
            with ExitStack() as stack:
                held = [pack for row in group if (pack := self._hold(row, stack))]
                left = self._delete([pack for pack in held if self._emptied(pack, copies)])
                left = self._delete([pack for pack in left if self._moved(adopt, pack, copies)])
                self.done.stuck += len(left)

    def _hold(self, row: PackRow, stack: ExitStack) -> _Held | None:
        """The pack, locked until the stack ends; None if it is to be left alone, which is counted."""
        path = self._shelf.path(row.id)
        descriptor = open_locked(path) if row.is_old else None
        if descriptor is not None:
            stack.callback(os.close, descriptor)
            return self._if_ripe(row, descriptor)
        if not path.exists():
            return _Held(row, None, 0) if row.is_old and row.machine == self._shelf.machine else None
        self._pass_over(path.stat().st_size)
        self.done.busy += row.is_old
        self.done.young += not row.is_old
        return None

    def _if_ripe(self, row: PackRow, descriptor: int) -> _Held | None:
        size = os.fstat(descriptor).st_size
        if Label.read(descriptor) not in (None, row.label):
            self.done.foreign += 1
        elif not _is_older(descriptor, self._age_seconds):
            # The row tells when it was begun; somebody has appended to it since.
            self.done.young += 1
        else:
            return _Held(row, descriptor, size)
        self._pass_over(size)
        return None

    def _emptied(self, pack: _Held, copies: PackStore) -> bool:
        """Move what is alive, if the pack is worth it; says whether it should be removed now."""
        if pack.descriptor is None:
            return False
        begin = self._passed
        try:
            found = survey(self._shelf.database, pack.row.id, pack.descriptor, lambda at: self._advance(begin + at))
        except OSError:
            self.done.stuck += 1
            return False
        finally:
            self._pass_over(pack.size)
        if not found.purged and found.live_bytes * 2 >= pack.size:
            self.done.kept += 1
            return False
        self.done.rewritten += 1
        if self._is_dry:
            self.done.copied += found.live
            self.done.copied_bytes += found.live_bytes
            return True
        return self._moved(rewrite, pack, copies)

    def _moved(self, move: Mover, pack: _Held, copies: PackStore) -> bool:
        if pack.descriptor is None:
            return False
        try:
            count, size = move(self._shelf.database, pack.row.id, pack.descriptor, copies)
        except OSError:
            self.done.stuck += 1
            return False
        self.done.copied += count
        self.done.copied_bytes += size
        return True

    def _delete(self, held: list[_Held]) -> list[_Held]:
        """Remove these packs, except those that a row refers to after all: these are returned."""
        gone, still = {pack.row.id for pack in held}, set[int]()
        if held and not self._is_dry:
            with _making_room(self._shelf.database) as conn:
                ids = list(conn.execute(select(packs.c.id).where(packs.c.id.in_(gone)).with_for_update()).scalars())
                still = still_referred_packs(conn, ids)
                gone = set(ids) - still
                conn.execute(delete(packs).where(packs.c.id.in_(gone)))
        for pack in held:
            if pack.row.id in gone:
                self._unlink(self._shelf.path(pack.row.id), pack.size)
        return [pack for pack in held if pack.row.id in still]

    def _remove_orphan(self, path: Path) -> None:
        descriptor = open_locked(path)
        if descriptor is None:
            self.done.busy += path.exists()
            return
        try:
            with self._shelf.database.read() as conn:
                has_row = conn.execute(select(packs.c.id).where(packs.c.file == path.name)).first() is not None
            if has_row:
                return
            if not _is_older(descriptor, max(self._age_seconds, _ORPHAN_SECONDS)):
                self.done.young += 1
                return
            self.done.orphans += 1
            self._unlink(path, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)

    def _unlink(self, path: Path, size: int) -> None:
        if not self._is_dry:
            path.unlink(missing_ok=True)
        self.done.removed += 1
        self.done.removed_bytes += size

    def _pass_over(self, size: int) -> None:
        self._passed += size
        self._advance(self._passed)


@contextmanager
def _making_room(database: Database) -> Iterator[Connection]:
    """A transaction that writes also where `Database.begin` refuses for want of room: this is what makes it."""
    with database.bare() as conn:
        limits = {"revision": HEAD, "lock_ms": database.settings.database.lock_timeout_seconds * 1000}
        conn.execute(text("select bailiwick_enter(:revision, true, :lock_ms, 0)"), limits)
        yield conn


def _is_older(descriptor: int, age_seconds: float) -> bool:
    return time.time() - os.fstat(descriptor).st_mtime >= age_seconds


def _label(path: Path) -> Label | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return Label.read(descriptor)
    finally:
        os.close(descriptor)
