"""The BodyStore that needs nothing but a directory: packs, append-only files of compressed bodies."""

import os
from threading import Lock

from bailiwick.base.errors import BodyDamagedError
from bailiwick.ports import BodyRef, BodyStore, StoredBody
from bailiwick.store.reader import PackReader
from bailiwick.store.records import Packer, unpack
from bailiwick.store.shelf import Shelf
from bailiwick.store.writer import PackWriter


class PackStore(BodyStore):
    """Bodies in packs. Opens nothing before it is used; not to be carried into a forked process.

    One thread puts; `sync` and `get` may be called from others. `put` writes a row only when it needs another pack.
    """

    def __init__(self, shelf: Shelf, *, takes_over: bool = True) -> None:
        """With `takes_over` it goes on in a pack that an ended process of this machine left unfinished."""
        self._shelf, self._takes_over = shelf, takes_over
        self._packer = Packer(shelf.settings.compression_level)
        self._reader = PackReader(shelf.path)
        self._writers: list[PackWriter] = []
        """The last one is appended to; those before are full and wait for their seal."""
        self._lock = Lock()
        self._syncing = Lock()
        self._pid = os.getpid()

    def put(self, stored: StoredBody, body_hash: bytes | None = None) -> BodyRef:
        """Append a body. Not safe against a crash before `sync`. DiskLowError when there is no room."""
        return self.put_record(self._packer.pack(stored, body_hash))

    def put_record(self, record: bytes) -> BodyRef:
        """Append a record as it is, from another pack."""
        if os.getpid() != self._pid:
            raise RuntimeError("a PackStore was carried into a forked process, which would write over its parent's")
        writer = self._writers[-1] if self._writers else None
        if writer is None or writer.end >= self._shelf.settings.pack_bytes:
            writer = self._shelf.take_or_begin() if self._takes_over else self._shelf.begin()
            with self._lock:
                self._writers.append(writer)
        return BodyRef(writer.pack_id, writer.append(record), len(record))

    def sync(self) -> None:
        """Make everything put so far survive a power cut. Called once a flush, before its transaction.

        A full pack is let go one sync later: the flush that refers to its last bodies is over by then, and until then
        no sweep can take it for one that nothing refers to.
        """
        with self._syncing:
            with self._lock:
                writers = tuple(self._writers)
            over = [writer for writer in writers[:-1] if writer.is_synced]
            for writer in writers:
                writer.sync()
            for writer in over:
                self._shelf.seal(writer.pack_id, writer.end)
                self._let_go(writer)

    def get(self, ref: BodyRef) -> StoredBody:
        """Read one body. NotFoundError if there is no such record any more; BodyDamagedError if it cannot be read."""
        record = self._unwritten(ref) or self._reader.read(ref)
        try:
            return unpack(record)
        except BodyDamagedError as error:
            where = f"the body at byte {ref.offset} of {self._shelf.path(ref.pack_id)}"
            raise BodyDamagedError(
                f"{where} is damaged: {error.message}", hint="bailiwick storage verify looks at all of them"
            ) from error

    def close(self) -> None:
        """Sync, and give up whatever is held open. Safe to call again."""
        try:
            self.sync()
        finally:
            for writer in tuple(self._writers):
                self._shelf.note_size(writer)
                self._let_go(writer)
            self._reader.close()

    def _unwritten(self, ref: BodyRef) -> bytes | None:
        with self._lock:
            writers = tuple(self._writers)
        record = next((w.unwritten(ref.offset) for w in writers if w.pack_id == ref.pack_id), None)
        return record if record and len(record) == ref.length else None

    def _let_go(self, writer: PackWriter) -> None:
        with self._lock:
            self._writers.remove(writer)
        writer.close()
