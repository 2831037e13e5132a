"""Bulk import: a million domains in a minute, in batches that each commit, one event for all of it."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice

from pydantic import JsonValue
from sqlalchemy import Connection

from bailiwick.base.sections import PrioritySettings
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.registry.apply import SQL
from bailiwick.registry.permission import ADMINS, SUBMITTERS, require
from bailiwick.registry.priority import weights
from bailiwick.registry.seeds import Seed
from bailiwick.registry.submit import submitter_type

BATCH = 20_000
_WRITERS = 2
"""The server takes four times as long for a batch as the client: one writer would leave a core idle."""
_AHEAD = 4
"""Batches read and not yet written: those being written, and as many that wait, so that no writer does."""


@dataclass(frozen=True, slots=True)
class Import:
    """How a list comes in: where it is from, and whether an admin vouches for it."""

    source: str
    approve: bool = False
    profile: str = "general"


@dataclass(frozen=True, slots=True)
class Added:
    """What one batch came to."""

    added: int
    known: int


def add_all(
    begin: Callable[[], AbstractContextManager[Connection]],
    seeds: Iterable[Seed],
    how: Import,
    actor: Actor,
    priority: PrioritySettings,
) -> Iterator[Added]:
    """Add a list of any length: read here, written by two threads, each batch in a transaction of its own (`begin`).

    Memory stays flat: a few batches are alive at a time. After an error some of the batches around it are in; a second
    run adds the rest. Of two lines with one name less than two batches apart, either may be the first.
    """

    def write(batch: list[Seed]) -> Added:
        with begin() as conn:
            added = add_batch(conn, batch, how, actor, priority)
        return Added(added, len(batch) - added)

    lines = iter(seeds)
    with ThreadPoolExecutor(_WRITERS, "import") as writers:
        written: deque[Future[Added]] = deque()
        while batch := list(islice(lines, BATCH)):
            if len(written) == _AHEAD:
                yield written.popleft().result()
            written.append(writers.submit(write, batch))
        while written:
            yield written.popleft().result()


def add_batch(conn: Connection, seeds: Sequence[Seed], how: Import, actor: Actor, priority: PrioritySettings) -> int:
    """Add what is not known yet, in the caller's transaction; returns how many. Known domains keep their state."""
    require(actor, ADMINS if how.approve else SUBMITTERS)
    raw = conn.connection.cursor()
    raw.execute(SQL["incoming"])
    with raw.copy("copy incoming (name, site, shared_key, rank) from stdin") as copy:
        for seed in seeds:
            copy.write_row((seed.name.name, seed.name.site, seed.name.shared_key, seed.rank))
    raw.execute(
        SQL["import"],
        {
            "approve": how.approve,
            "actor": actor.id,
            "submitter_type": submitter_type(actor),
            "source": how.source,
            "profile": how.profile,
            "weights": weights(priority),
        },
    )
    row = raw.fetchone()
    return int(row[0]) if row else 0


def record_import(conn: Connection, how: Import, actor: Actor, *, added: int, known: int, rejected: int) -> None:
    """One event for the whole import, not a million."""
    counts: JsonValue = {"added": added, "known": known, "rejected": rejected, "approved": how.approve}
    act = Act("import", after="approved" if how.approve else "pending_review", details=counts)
    record(conn, actor, Subject("import", how.source), act)
