"""Every plug-in point, in one place. Each is a Protocol with a conformance suite in `tests/conformance`."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class BodyRef:
    """Where a body lies: written to the page's row by the flush that makes it true."""

    pack_id: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class StoredBody:
    """An answer as it was stored: status line and raw headers, the body with its content coding removed."""

    domain_id: int
    path_hash: int
    head: bytes
    body: bytes


class BodyStore(Protocol):
    """Bodies, written once and read by reference. One writer a process; what was put is safe after `sync`."""

    def put(self, stored: StoredBody) -> BodyRef:
        """Append a body. Not safe against a crash before `sync`. DiskLowError when there is no room."""
        ...

    def sync(self) -> None:
        """Make everything put so far survive a power cut. Called once a flush, before its transaction."""
        ...

    def get(self, ref: BodyRef) -> StoredBody:
        """Read one body. NotFoundError if there is no such record any more; BodyDamagedError if it cannot be read."""
        ...

    def close(self) -> None:
        """Sync, and give up whatever is held open. Safe to call again."""
        ...
