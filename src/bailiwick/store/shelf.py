"""The packs of one directory and their rows: which one to append to, and when it is full."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, func, select, update

from bailiwick.base.errors import BailiwickError
from bailiwick.base.sections import StorageSettings
from bailiwick.db.engine import Database
from bailiwick.db.tables import packs
from bailiwick.store.files import (
    Label,
    create_locked,
    disk_faults,
    highest_number,
    make_directory,
    open_locked,
    pack_name,
    write_at,
)
from bailiwick.store.references import SQL
from bailiwick.store.writer import PackWriter


@dataclass(frozen=True, slots=True)
class PackRow:
    """One pack as the database knows it. `is_old` says whether `storage.sweep_after_hours` have passed for it."""

    id: int
    file: str
    machine: str
    created_at: datetime
    is_old: bool

    @property
    def label(self) -> Label:
        return Label.of(self.id, self.created_at)


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where the packs of this machine stand. Each is held by at most one process, by a lock on its file."""

    database: Database
    directory: Path
    machine: str
    settings: StorageSettings

    def path(self, pack_id: int) -> Path:
        return self.directory / pack_name(pack_id)

    def take_or_begin(self) -> PackWriter:
        """A pack to append to: one that its process left unfinished, or a new one. DiskLowError, PlaceError."""
        return next(self._unfinished(), None) or self.begin()

    def begin(self) -> PackWriter:
        """A new pack. Its number was never in use, neither in the database nor in the directory."""
        make_directory(self.directory)
        with ExitStack() as undo:
            with self.database.begin() as conn:
                number, created_at = self._next_number(conn)
                path = self.path(number)
                # Before its row: whoever sees that must find a file that is held.
                with disk_faults(path):
                    descriptor = create_locked(path)
                    undo.callback(os.close, descriptor)
                    undo.callback(path.unlink)
                    write_at(descriptor, bytes(Label.of(number, created_at)), 0)
                row = {"id": number, "machine": self.machine, "file": path.name, "created_at": created_at}
                conn.exec_driver_sql(SQL["add_pack"], row)
            undo.pop_all()
        return PackWriter(number, path, descriptor)

    def seal(self, pack_id: int, size: int) -> None:
        """Nobody appends to it any more."""
        with self.database.begin() as conn:
            values = {"bytes": size, "sealed_at": func.coalesce(packs.c.sealed_at, func.bailiwick_now())}
            conn.execute(update(packs).where(packs.c.id == pack_id).values(values))

    def note_size(self, writer: PackWriter) -> None:
        """Keep how far a pack has got. The row may lag, only people read it: a server that is gone is no error."""
        with suppress(BailiwickError):
            if writer.end >= self.settings.pack_bytes:
                self.seal(writer.pack_id, writer.end)
            else:
                with self.database.begin() as conn:
                    conn.execute(update(packs).where(packs.c.id == writer.pack_id).values(bytes=writer.end))

    def rows(self, conn: Connection) -> list[PackRow]:
        """All packs, those of other machines too."""
        age = {"age_seconds": self.settings.sweep_after_hours * 3600}
        return [PackRow(*row) for row in conn.exec_driver_sql(SQL["all_packs"], age)]

    def _unfinished(self) -> Iterator[PackWriter]:
        """Packs of this machine that are neither full nor held, each taken before it is yielded."""
        with self.database.read() as conn:
            rows = conn.exec_driver_sql(SQL["open_packs"], {"machine": self.machine}).all()
        for row in rows:
            descriptor = open_locked(self.path(row.id))
            if descriptor is None:
                continue
            if self._may_append(descriptor, Label.of(row.id, row.created_at)):
                yield PackWriter(row.id, self.path(row.id), descriptor)
            else:
                os.close(descriptor)

    def _may_append(self, descriptor: int, label: Label) -> bool:
        if Label.read(descriptor) != label:
            return False
        size = os.fstat(descriptor).st_size
        if size >= self.settings.pack_bytes:
            self.seal(label.pack_id, size)
            return False
        # Again, now that it is held: it may have been sealed or swept since the rows were read.
        still_open = select(packs.c.id).where(packs.c.id == label.pack_id, packs.c.sealed_at.is_(None))
        with self.database.read() as conn:
            return conn.execute(still_open).first() is not None

    def _next_number(self, conn: Connection) -> tuple[int, datetime]:
        highest, numbers = highest_number(self.directory), 1
        while numbers > 0:
            number, created_at = conn.exec_driver_sql(SQL["next_pack"], {"numbers": numbers}).one()
            numbers = highest + 1 - number
        return number, created_at
