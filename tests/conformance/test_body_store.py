"""What every BodyStore must do, whatever it keeps the bodies in."""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest

from bailiwick.base.errors import BailiwickError, NotFoundError
from bailiwick.base.sections import StorageSettings
from bailiwick.db.engine import Database
from bailiwick.ports import BodyRef, BodyStore, StoredBody
from bailiwick.store.packs import PackStore
from bailiwick.store.shelf import Shelf

Open = Callable[[], BodyStore]
"""Another store over the same bodies, as another process has it."""


def _packs(database: Database, directory: Path) -> BodyStore:
    return PackStore(Shelf(database, directory / "packs", "a machine", StorageSettings()))


IMPLEMENTATIONS = {"packs": _packs}


@pytest.fixture(params=IMPLEMENTATIONS)
def open_store(request: pytest.FixtureRequest, database: Database, tmp_path: Path) -> Iterator[Open]:
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(IMPLEMENTATIONS[request.param](database, tmp_path)))


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Odd:  \xff two  spaces \r\n\r\n"
ODD_BODIES = {
    "empty": b"",
    "one byte": b"\x00",
    "text": "<p>Grüße, 世界</p>".encode() * 100,
    "binary": random.Random(1).randbytes(50_000),
    "every byte": bytes(range(256)) * 3,
    "ten megabytes": b"all the same" * 900_000,
    "ten megabytes that cannot be compressed": random.Random(2).randbytes(10_000_000),
}


def test_what_was_put_comes_back_to_the_byte(open_store: Open) -> None:
    store = open_store()
    put = [StoredBody(7, number, HEAD, body) for number, body in enumerate(ODD_BODIES.values())]
    refs = [store.put(stored) for stored in put]
    assert len(set(refs)) == len(refs)
    assert [store.get(ref) for ref in refs] == put, "before it is synced"
    store.sync()
    assert [store.get(ref) for ref in refs] == put, "after it"
    other = open_store()
    assert [other.get(ref) for ref in reversed(refs)] == put[::-1], "from another store"
    store.close()
    assert [open_store().get(ref) for ref in refs] == put, "after the writer has closed"


@pytest.mark.parametrize("head", [b"", b"\x00\xff", b"x" * 100_000])
def test_the_head_is_kept_as_it_is(open_store: Open, head: bytes) -> None:
    store = open_store()
    for body in (b"", b"body"):
        assert store.get(store.put(StoredBody(1, 2, head, body))) == StoredBody(1, 2, head, body)


def test_ids_and_hashes_have_64_bits_and_a_sign(open_store: Open) -> None:
    store = open_store()
    for extreme in (-(2**63), -1, 0, 2**63 - 1):
        stored = StoredBody(extreme, -1 - extreme, HEAD, b"x")
        assert store.get(store.put(stored)) == stored


def test_the_same_body_twice_is_two_bodies(open_store: Open) -> None:
    store = open_store()
    stored = StoredBody(1, 2, HEAD, b"again")
    assert store.put(stored) != store.put(stored)


def test_two_writers_do_not_disturb_each_other(open_store: Open) -> None:
    stores = open_store(), open_store()
    put = {}
    for number in range(200):
        stored = StoredBody(1, number, HEAD, b"%d" % number * number)
        put[stores[number % 2].put(stored)] = stored
    for store in stores:
        store.sync()
    assert {ref: stores[0].get(ref) for ref in put} == put


def test_what_is_not_there_is_not_found(open_store: Open) -> None:
    store = open_store()
    with pytest.raises(NotFoundError):
        store.get(BodyRef(999_999_999, 0, 100))
    ref = store.put(StoredBody(1, 2, HEAD, b"body"))
    store.sync()
    with pytest.raises(NotFoundError):
        store.get(replace(ref, offset=10**9))


def test_syncing_and_closing_again_is_harmless(open_store: Open) -> None:
    store = open_store()
    store.sync()
    store.close()
    store = open_store()
    ref = store.put(StoredBody(1, 2, HEAD, b"body"))
    store.sync()
    store.sync()
    store.close()
    store.close()
    assert open_store().get(ref).body == b"body"


def test_one_thread_puts_while_another_syncs_and_a_third_reads(open_store: Open) -> None:
    store, done, failed = open_store(), Event(), list[Exception]()
    put: dict[BodyRef, StoredBody] = {}

    def again_and_again(act: Callable[[], object]) -> None:
        try:
            while not done.is_set():
                act()
        except (BailiwickError, AssertionError, OSError) as error:
            failed.append(error)

    def read() -> None:
        for ref, stored in list(put.items())[-20:]:
            assert store.get(ref) == stored

    threads = [Thread(target=again_and_again, args=(act,)) for act in (store.sync, read)]
    for thread in threads:
        thread.start()
    for number in range(1500):
        stored = StoredBody(1, number, HEAD, random.Random(number).randbytes(number * 3))
        put[store.put(stored)] = stored
    done.set()
    for thread in threads:
        thread.join()
    assert failed == []
    store.close()
    other = open_store()
    assert all(other.get(ref) == stored for ref, stored in put.items())
