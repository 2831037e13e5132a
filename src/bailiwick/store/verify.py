"""Reading every body again that a page refers to. Changes nothing."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal, TypeAlias

from sqlalchemy import Row

from bailiwick.base.errors import BodyDamagedError, NotFoundError
from bailiwick.db.engine import Database
from bailiwick.ports import BodyRef, BodyStore
from bailiwick.store.references import SQL

_BATCH = 500
_FAULTS_KEPT = 1000
_LOOKS = 3
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1

Kind: TypeAlias = Literal["damaged", "missing"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A page whose body is not what it should be."""

    domain: str
    path: str
    kind: Kind
    why: str


@dataclass(slots=True)
class Verified:
    """How far a verification has got, and what it found."""

    checked: int = 0
    body_bytes: int = 0
    damaged: int = 0
    missing: int = 0
    elsewhere: int = 0
    """Bodies in packs of other machines: to be verified there."""
    faults: list[Fault] = field(default_factory=list)
    """The first ones; `damaged` and `missing` count them all."""

    @property
    def is_sound(self) -> bool:
        return self.damaged + self.missing == 0


def verify(database: Database, store: BodyStore, *, machine: str, domain_id: int | None = None) -> Iterator[Verified]:
    """Read all bodies, or those of one domain; yields the same tally after every few hundred.

    Compared are SHA-256 and page with what the page's row says. A page that is fetched again, moved by a sweep or
    purged meanwhile is looked at again before it counts as a fault.
    """
    checker = _Checker(database, store, machine)
    for bodies in _batches(database, domain_id):
        # In the order in which they lie in the packs.
        for body in sorted(bodies, key=lambda body: (body.ref.pack_id, body.ref.offset)):
            checker.check(body)
        yield checker.tally


@dataclass(frozen=True, slots=True)
class _Body:
    domain_id: int
    path_hash: int
    body_hash: bytes | None
    ref: BodyRef

    @classmethod
    def of(cls, domain_id: int, path_hash: int, row: Row[tuple[object, ...]]) -> "_Body":
        ref = BodyRef(row.pack_id, row.pack_offset, row.pack_length)
        return cls(domain_id, path_hash, None if row.body_hash is None else bytes(row.body_hash), ref)


class _Problem(Exception):  # noqa: N818 - a finding, not an error
    """What is wrong with a body."""

    def __init__(self, kind: Kind, why: str) -> None:
        super().__init__(why)
        self.kind, self.why = kind, why


class _Checker:
    def __init__(self, database: Database, store: BodyStore, machine: str) -> None:
        self._database, self._store, self._machine = database, store, machine
        self.tally = Verified()

    def check(self, body: _Body | None) -> None:
        """Count one body; one that seems faulty is looked up again first."""
        for _ in range(_LOOKS):
            if body is None:
                return
            try:
                size = self._read(body)
            except _Problem as problem:
                before, body = body, self._again(body, problem)
                if body == before:
                    return
            else:
                self.tally.checked += 1
                self.tally.body_bytes += size
                return

    def _read(self, body: _Body) -> int:
        try:
            stored = self._store.get(body.ref)
        except NotFoundError as error:
            raise _Problem("missing", error.message) from error
        except BodyDamagedError as error:
            raise _Problem("damaged", error.message) from error
        # A page that was merged into another domain keeps its body, and the hash in its row.
        is_own_domain = stored.domain_id == body.domain_id or body.body_hash is not None
        if stored.path_hash != body.path_hash or not is_own_domain:
            raise _Problem("damaged", f"{body.ref} is the body of another page")
        if body.body_hash is not None and sha256(stored.body).digest() != body.body_hash:
            raise _Problem("damaged", f"{body.ref} is not the body that the page's row tells of")
        return len(stored.body)

    def _again(self, body: _Body, problem: _Problem) -> _Body | None:
        """The page as it is now. If it still refers to the same body, that is told."""
        key = {"domain_id": body.domain_id, "path_hash": body.path_hash}
        with self._database.read() as conn:
            row = conn.exec_driver_sql(SQL["one_body"], key).one_or_none()
        if row is None:
            return None
        now = _Body.of(body.domain_id, body.path_hash, row)
        if now == body:
            self._tell(row, problem)
        return now

    def _tell(self, row: Row[tuple[object, ...]], problem: _Problem) -> None:
        tally = self.tally
        if problem.kind == "missing" and row.machine not in (None, self._machine):
            tally.elsewhere += 1
            return
        tally.checked += 1
        tally.damaged += problem.kind == "damaged"
        tally.missing += problem.kind == "missing"
        if len(tally.faults) < _FAULTS_KEPT:
            tally.faults.append(Fault(row.domain, row.path, problem.kind, problem.why))


def _batches(database: Database, domain_id: int | None) -> Iterator[list[_Body]]:
    """All bodies that pages refer to, in the order of the primary key, a transaction each few hundred."""
    first, last = (0, _HIGHEST) if domain_id is None else (domain_id, domain_id)
    after = (first - 1, _HIGHEST)
    while True:
        place = {"first": first, "last": last, "domain_id": after[0], "path_hash": after[1], "limit": _BATCH}
        with database.read() as conn:
            rows = conn.exec_driver_sql(SQL["next_bodies"], place).all()
        yield [_Body.of(row.domain_id, row.path_hash, row) for row in rows]
        if len(rows) < _BATCH:
            return
        after = (rows[-1].domain_id, rows[-1].path_hash)
