"""A file that is written in parts and appears whole: FILE.part grows, FILE.part.json says how far it is good.

Killed in the middle, the same export cuts the part to the last noted length and goes on from there. Under its final
name there is never half a file: it gets it by a rename, after everything is on the disk.
"""

import fcntl
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel, JsonValue, ValidationError

from bailiwick.base.errors import ConflictError, UsageError
from bailiwick.model.search import PageKey
from bailiwick.query.export.formats import Encoder

_NOTE_SECONDS, _NOTE_BYTES = 2.0, 64_000_000


class Noted(BaseModel):
    """How far a part is good, and what it is a part of."""

    request: dict[str, JsonValue]
    since: str | None
    until: str
    domain_id: int
    path_hash: int
    rows: int = 0
    looked_at: int = 0
    bytes: int = 0


@dataclass
class Spool:
    """One export's file while it is written. One process at a time: the part is locked."""

    path: Path
    _file: BinaryIO
    noted: Noted
    is_resumed: bool
    _last_note: float = 0.0

    @classmethod
    def open(cls, path: Path, fresh: Noted, *, force: bool) -> "Spool":
        """Go on with the part of the same export, or begin one. ConflictError if another one is in the way."""
        if path.exists() and not force:
            raise UsageError(f"{path} exists already", hint="another name with -o, or --force to replace it")
        part, file = _part(path), None
        try:
            file = os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644), "r+b", buffering=0)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close() if file else None
            raise ConflictError(
                f"another export is writing {part}", hint="wait for it, or choose another file"
            ) from None
        except OSError as error:
            raise UsageError(f"cannot write {part}: {error.strerror}") from error
        known = _read_note(path)
        if known is not None and known.bytes <= part.stat().st_size and not (force and known.request != fresh.request):
            if known.request != fresh.request:
                file.close()
                raise ConflictError(
                    f"{part} is part of another export", hint="finish that one first, or begin anew with --force"
                )
            spool = cls(path, file, known, is_resumed=True)
        else:
            spool = cls(path, file, fresh, is_resumed=False)
        file.truncate(spool.noted.bytes)
        file.seek(spool.noted.bytes)
        return spool

    def append(self, data: bytes, *, rows: int, looked_at: int, after: PageKey) -> None:
        """Write a chunk; now and then, make all of them so far safe."""
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]
        noted, size = self.noted, self._file.tell()
        self.noted = noted.model_copy(
            update={
                "domain_id": after.domain_id,
                "path_hash": after.path_hash,
                "rows": noted.rows + rows,
                "looked_at": noted.looked_at + looked_at,
                "bytes": size,
            }
        )
        if time.monotonic() - self._last_note > _NOTE_SECONDS:
            self._note()

    def publish(self, encoder: Encoder, *, force: bool) -> None:
        """Give it its name. Everything is on the disk before."""
        self._note()
        ready = _part(self.path)
        if encoder.finish is not None:
            ready = self.path.with_name(f"{self.path.name}.part.out")
            encoder.finish(_part(self.path), ready)
            _sync(ready)
        if self.path.exists() and not force:
            raise UsageError(
                f"{self.path} has come up meanwhile", hint="another name with -o, or --force to replace it"
            )
        ready.replace(self.path)
        _sync(self.path.parent)
        _note_path(self.path).unlink(missing_ok=True)
        _part(self.path).unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Leave the part to whoever goes on with it."""
        if not self._file.closed:
            self._file.close()

    def _note(self) -> None:
        os.fsync(self._file.fileno())
        temporary = self.path.with_name(f"{self.path.name}.part.json.new")
        temporary.write_text(self.noted.model_dump_json(), encoding="utf-8")
        _sync(temporary)
        temporary.replace(_note_path(self.path))
        self._last_note = time.monotonic()


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _note_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.part.json")


def _read_note(path: Path) -> Noted | None:
    try:
        return Noted.model_validate(json.loads(_note_path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError, ValidationError):
        return None


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
