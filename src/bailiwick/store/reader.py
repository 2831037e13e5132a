"""Reading records by reference, with a few packs kept open."""

import os
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from bailiwick.base.errors import BodyDamagedError, NotFoundError
from bailiwick.ports import BodyRef
from bailiwick.store.files import disk_faults

_OPEN_PACKS = 16


class PackReader:
    """Bytes of packs, for any number of threads."""

    def __init__(self, path: Callable[[int], Path]) -> None:
        self._path = path
        self._open: OrderedDict[int, _Descriptor] = OrderedDict()
        self._lock = Lock()

    def read(self, ref: BodyRef) -> bytes:
        """The bytes of the record. NotFoundError if the pack is gone or ends before; BodyDamagedError."""
        pack = self._opened(ref.pack_id)
        # Also keeps a false length from asking for more memory than there are bytes.
        if ref.offset < 0 or ref.length < 0 or ref.offset + ref.length > os.fstat(pack.number).st_size:
            raise NotFoundError(f"{_called(ref)} is not there: the pack is shorter")
        try:
            return os.pread(pack.number, ref.length, ref.offset)
        except OSError as error:
            raise BodyDamagedError(f"{_called(ref)} cannot be read: {error.strerror}") from error

    def close(self) -> None:
        with self._lock:
            self._open.clear()

    def _opened(self, pack_id: int) -> "_Descriptor":
        with self._lock:
            pack = self._open.get(pack_id)
            if pack is None or pack.is_removed:
                self._forget_removed()
                pack = self._open[pack_id] = _Descriptor(self._path(pack_id))
            self._open.move_to_end(pack_id)
            if len(self._open) > _OPEN_PACKS:
                self._open.popitem(last=False)
            return pack

    def _forget_removed(self) -> None:
        """The room of a file that is removed is free only when nobody has it open any more."""
        for pack_id in [pack_id for pack_id, pack in self._open.items() if pack.is_removed]:
            del self._open[pack_id]


class _Descriptor:
    """Closed when the last thread that reads from it is done, not when the cache drops it."""

    __slots__ = ("number",)

    def __init__(self, path: Path) -> None:
        self.number = -1
        try:
            with disk_faults(path, "read"):
                self.number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise NotFoundError(f"there is no pack {path}", hint="bailiwick storage verify looks at all") from error

    @property
    def is_removed(self) -> bool:
        return os.fstat(self.number).st_nlink == 0

    def __del__(self) -> None:
        if self.number >= 0:
            os.close(self.number)


def _called(ref: BodyRef) -> str:
    return f"the body at byte {ref.offset} of pack {ref.pack_id}"
