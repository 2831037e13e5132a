"""The open end of one pack: records gather in memory, and are written and made durable behind the appender's back."""

import os
from contextlib import suppress
from pathlib import Path
from threading import Lock

from bailiwick.base.errors import BailiwickError, PlaceError
from bailiwick.store.files import CHUNK_BYTES, disk_faults, make_durable, sync_directory, write_at
from bailiwick.store.walk import walk

_BUFFER_BYTES = CHUNK_BYTES


class PackWriter:
    """One pack that this process holds. One thread appends, another may sync at the same time.

    An append waits for the disk only when the buffer is full, and never for a running `sync`. Every record has its
    place from the moment it is appended: a write that fails is done again at the same place.
    """

    def __init__(self, pack_id: int, path: Path, descriptor: int) -> None:
        self.pack_id, self.path = pack_id, path
        self._descriptor = descriptor
        self._end = self._written = self._synced = os.fstat(descriptor).st_size
        self._pending: list[bytes] = []
        self._is_listed = self._is_doubtful = False
        self._lock = Lock()  # the positions and the buffer; never held while the disk works
        self._writing = Lock()  # held while the buffer is written

    @property
    def end(self) -> int:
        return self._end

    @property
    def is_synced(self) -> bool:
        return self._end == self._synced

    def append(self, record: bytes) -> int:
        """Where the record lies from now on. DiskLowError, PlaceError: then it does not."""
        with self._lock:
            offset = self._end
            self._pending.append(record)
            self._end += len(record)
            is_full = self._end - self._written >= _BUFFER_BYTES
        if is_full:
            with self._writing:
                try:
                    self._write_pending()
                except BailiwickError:
                    with self._lock:
                        self._end -= len(self._pending.pop())
                    raise
        return offset

    def unwritten(self, offset: int) -> bytes | None:
        """The record at this place, if it is only in memory yet."""
        with self._lock:
            at = self._written
            for record in self._pending:
                if at == offset:
                    return record
                at += len(record)
        return None

    def sync(self) -> None:
        """Make everything appended so far survive a power cut; quick if nothing was. DiskLowError, PlaceError."""
        if self.is_synced:
            return
        with self._writing:
            self._write_pending()
            written = self._written
        if self._is_doubtful:
            self._write_again(written)
        with disk_faults(self.path):
            self._is_doubtful = True
            make_durable(self._descriptor)
            if not self._is_listed:
                sync_directory(self.path.parent)
        self._is_doubtful, self._is_listed = False, True
        self._synced = written

    def close(self) -> None:
        """Let the pack go; what was not synced may be lost."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _write_pending(self) -> None:
        """To be called by who holds `_writing`."""
        with self._lock:
            records = self._pending[:]
        if not records:
            return
        data = b"".join(records)
        try:
            with disk_faults(self.path):
                write_at(self._descriptor, data, self._written)
        except BailiwickError:
            # Half a record is no harm where it is, but whoever takes over this pack would append behind it.
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._written)
            raise
        with self._lock:
            del self._pending[: len(records)]
            self._written += len(data)

    def _write_again(self, end: int) -> None:
        """After a sync that failed, the system holds pages for clean that never reached the disk: make them dirty."""
        at = self._synced
        with disk_faults(self.path):
            for found in walk(self._descriptor, start=self._synced, end=end):
                if found.offset != at:
                    break
                record = os.pread(self._descriptor, found.header.record_bytes, at)
                write_at(self._descriptor, record, at)
                at += len(record)
        if at != end:
            raise PlaceError(f"bodies are lost: {self.path} was not written to the disk", hint="see the system's log")
