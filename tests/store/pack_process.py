"""A process that puts bodies, or sweeps: `python -m tests.store.pack_process COMMAND URL DIRECTORY [WORD]`.

`hold` puts, syncs, tells where, and waits for a line. `roam` puts and syncs until it is killed. `crawl` does so with
pages that refer to the bodies, until its input ends. `limited` meets the end of the room, and more room. `sweep` dies
at the step that WORD names. What is put and synced is told as JSON lines.
"""

import itertools
import json
import os
import random
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bailiwick.base.errors import DiskLowError
from bailiwick.db.engine import Database
from bailiwick.ports import BodyRef
from bailiwick.store import rewrite, sweep
from bailiwick.store.packs import PackStore
from tests.store.tools import made, opened, put_all, refer, shelf_at


def tell(refs: dict[int, BodyRef]) -> None:
    print(json.dumps({number: [ref.pack_id, ref.offset, ref.length] for number, ref in refs.items()}), flush=True)


def heard(line: str) -> dict[int, BodyRef]:
    """What `tell` told; nothing if the process died in the middle of the line."""
    return {int(number): BodyRef(*ref) for number, ref in json.loads(line).items()} if line.endswith("\n") else {}


def hold(database: Database, directory: Path, first: str) -> None:
    store = PackStore(shelf_at(database, directory))
    refs = put_all(store, range(int(first), int(first) + 20))
    store.sync()
    tell(refs)
    sys.stdin.readline()
    more = put_all(store, range(int(first) + 20, int(first) + 40))
    store.close()
    tell(more)


def roam(database: Database, directory: Path, first: str) -> None:
    store = PackStore(shelf_at(database, directory, pack_bytes=400_000))
    numbers = itertools.count(int(first))
    chance = random.Random(int(first))
    while True:
        refs = put_all(store, itertools.islice(numbers, chance.randrange(1, 40)))
        store.sync()
        tell(refs)


def crawl(database: Database, directory: Path, first: str) -> None:
    """Fetches the forty pages of a domain again and again, a few of them at a time."""
    store = PackStore(shelf_at(database, directory, pack_bytes=30_000))
    chance = random.Random(int(first))
    os.set_blocking(0, False)
    while sys.stdin.buffer.read(1) is None:
        some = [
            made(number, domain_id=int(first), size=chance.randrange(4000)) for number in chance.sample(range(40), 6)
        ]
        refs = [store.put(stored) for stored in some]
        store.sync()
        with database.begin() as conn:
            for stored, ref in zip(some, refs, strict=True):
                refer(conn, stored, ref)
    store.close()


def limited(database: Database, directory: Path, word: str) -> None:
    """Meets the limit once while putting or while syncing, then gets more room and goes on in the same pack."""
    store = PackStore(shelf_at(database, directory, pack_bytes=50_000_000))
    refs = put_all(store, range(10))
    store.sync()
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
    refused = 0
    if word == "put":
        for number in range(10, 14):
            try:
                refs[number] = store.put(made(number, size=2_400_000))
            except DiskLowError:
                refused += 1
    else:
        refs |= put_all(store, range(10, 90))
        for _ in range(2):
            try:
                store.sync()
            except DiskLowError:
                refused += 1
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    refs |= put_all(store, range(100, 110))
    store.close()
    print(refused, flush=True)
    tell(refs)


def sweep_to_death(database: Database, directory: Path, step: str) -> None:
    """As a power cut or kill -9 would end it, before or after the named step."""
    when, _, what = step.partition(" ")
    owner: Any = {"copy": PackStore, "sync": PackStore, "repoint": rewrite, "unlink": Path, "remove": sweep._Sweep}[
        what
    ]
    name = {"copy": "put_record", "remove": "_delete"}.get(what, what)
    setattr(owner, name, _dying(getattr(owner, name), when))
    sweep.sweep(shelf_at(database, directory))


def _dying(step: Callable[..., object], when: str) -> Callable[..., object]:
    def stand_in(*arguments: object, **named: object) -> None:
        if when == "after":
            step(*arguments, **named)
        os._exit(137)

    return stand_in


COMMANDS = {"hold": hold, "roam": roam, "crawl": crawl, "limited": limited, "sweep": sweep_to_death}

if __name__ == "__main__":
    with opened(sys.argv[2]) as opened_database:
        COMMANDS[sys.argv[1]](opened_database, Path(sys.argv[3]), sys.argv[4])
