"""Packs on a real disk: who writes where, and what is left after crashes, faults and full disks."""

import errno
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread, Timer

import psutil
import pytest
from sqlalchemy import select, text, update

from bailiwick.base.errors import BailiwickError, BodyDamagedError, DiskLowError, NotFoundError, PlaceError
from bailiwick.db.embedded.locks import try_lock
from bailiwick.db.engine import Database
from bailiwick.db.tables import packs
from bailiwick.ports import BodyRef
from bailiwick.store import files, records, writer
from bailiwick.store.files import pack_name
from bailiwick.store.packs import PackStore
from bailiwick.store.records import HEADER_BYTES, MAGIC
from tests.store.pack_process import heard
from tests.store.tools import MACHINE, files_in, known_packs, made, opened, put_all, records_in, shelf_at

ROOT = Path(__file__).parents[2]


def test_a_new_pack_is_held_even_if_a_sweep_looks_at_it_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its look at orphans comes between making the file and locking it; it lets go a moment later."""
    path, sweeps, endings = tmp_path / pack_name(1), list[int](), list[Timer]()

    def after_a_sweep(descriptor: int) -> bool:
        if not sweeps:
            sweeps.append(os.open(path, os.O_RDWR))
            assert try_lock(sweeps[0])
            endings.append(Timer(0.05, os.close, sweeps))
            endings[0].start()
        return try_lock(descriptor)

    monkeypatch.setattr(files, "try_lock", after_a_sweep)
    descriptor = files.create_locked(path)
    endings[0].join()
    assert files.open_locked(path) is None, "the sweep is gone, and nobody but us can hold it"
    os.close(descriptor)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "data" / "packs"


@contextmanager
def process(*words: object) -> Iterator["subprocess.Popen[str]"]:
    """`tests.store.pack_process` with these words."""
    command = [sys.executable, "-m", "tests.store.pack_process", *map(str, words)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:  # fmt: skip
        yield child


def open_packs() -> int:
    """How many packs this process has open, removed ones included."""
    return sum(".pack" in str(fd.readlink()) for fd in Path("/proc/self/fd").iterdir() if fd.is_symlink())


def test_files_are_closed_to_others_and_have_their_rows(one_database: Database, directory: Path) -> None:
    old_mask = os.umask(0)
    try:
        store = PackStore(shelf_at(one_database, directory))
        assert not directory.exists(), "nothing is made before it is needed"
        refs = put_all(store, range(3))
        store.close()
    finally:
        os.umask(old_mask)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    [pack_id] = known_packs(one_database)
    file = directory / f"{pack_id:08}.pack"
    assert files_in(directory) == [file.name]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with one_database.read() as conn:
        row = conn.execute(select(packs)).one()
    assert (row.machine, row.file, row.bytes, row.sealed_at) == (MACHINE, file.name, file.stat().st_size, None)
    last = refs[2]
    assert last.offset + last.length == file.stat().st_size


def test_a_full_pack_is_sealed_and_another_begun(one_database: Database, directory: Path) -> None:
    shelf = shelf_at(one_database, directory)
    with closing(PackStore(shelf)) as store:
        refs: dict[int, BodyRef] = {}
        for first in range(0, 200, 10):
            refs |= put_all(store, range(first, first + 10))
            store.sync()
        assert len({ref.pack_id for ref in refs.values()}) > 3
    with one_database.read() as conn:
        rows = conn.execute(select(packs).order_by(packs.c.id)).all()
    assert [row.sealed_at is not None for row in rows] == [True] * (len(rows) - 1) + [False]
    for row in rows:
        file = directory / row.file
        assert row.bytes == file.stat().st_size
        found = records_in(directory, row.id)
        assert [BodyRef(row.id, f.offset, f.header.record_bytes) for f in found] == [
            ref for ref in refs.values() if ref.pack_id == row.id
        ]
        assert (file.stat().st_size >= shelf.settings.pack_bytes) == (row.sealed_at is not None)
        assert found[-1].offset < shelf.settings.pack_bytes, "only the last record goes over"


def test_a_full_pack_is_held_until_the_flush_is_over(one_database: Database, directory: Path) -> None:
    """Its last bodies are synced, but the transaction that refers to them comes after that."""
    shelf = shelf_at(one_database, directory)
    with closing(PackStore(shelf)) as store:
        refs = put_all(store, range(60))
        assert len({ref.pack_id for ref in refs.values()}) > 1
        store.sync()
        with closing(PackStore(shelf)) as other:
            assert other.put(made(1)).pack_id not in {ref.pack_id for ref in refs.values()}
        with one_database.read() as conn:
            assert conn.execute(select(packs.c.id).where(packs.c.sealed_at.is_not(None))).all() == []
        store.sync()
        with one_database.read() as conn:
            assert conn.execute(select(packs.c.id).where(packs.c.sealed_at.is_not(None))).all() != []


def test_an_unfinished_pack_is_gone_on_with(one_database: Database, directory: Path) -> None:
    shelf = shelf_at(one_database, directory)
    with closing(PackStore(shelf)) as store:
        first = store.put(made(1))
        with closing(PackStore(shelf)) as beside:
            second = beside.put(made(2))
        assert second.pack_id != first.pack_id, "it was held"
    with closing(PackStore(shelf)) as store:
        third = store.put(made(3))
        assert third == replace(third, pack_id=first.pack_id, offset=first.offset + first.length)
        with closing(PackStore(shelf_at(one_database, directory, machine="another"))) as other:
            assert other.put(made(4)).pack_id not in (first.pack_id, second.pack_id)
        assert [store.get(ref) for ref in (first, second, third)] == [made(1), made(2), made(3)]
    with closing(PackStore(shelf, takes_over=False)) as store:
        assert store.put(made(5)).pack_id == max(known_packs(one_database))


def test_no_pack_is_gone_on_with_that_is_sealed_full_missing_or_another_ones(
    one_database: Database, directory: Path
) -> None:
    shelf = shelf_at(one_database, directory)
    stores = [PackStore(shelf) for _ in range(5)]
    sealed, full, missing, strange, beheaded = (store.put(made(n)).pack_id for n, store in enumerate(stores))
    for store in stores:
        store.close()
    with one_database.begin() as conn:
        conn.execute(update(packs).where(packs.c.id == sealed).values(sealed_at=text("bailiwick_now()")))
        # As if the numbers of another database had led here.
        conn.execute(update(packs).where(packs.c.id == strange).values(created_at=text("created_at - interval '1 s'")))
    os.truncate(directory / pack_name(full), shelf.settings.pack_bytes)
    (directory / pack_name(missing)).unlink()
    os.truncate(directory / pack_name(beheaded), 10)
    with closing(PackStore(shelf)) as store:
        assert store.put(made(9)).pack_id > beheaded
    with one_database.read() as conn:
        [row] = conn.execute(select(packs).where(packs.c.id == full, packs.c.sealed_at.is_not(None))).all()
    assert row.bytes == shelf.settings.pack_bytes


def test_a_number_is_never_used_again(one_database: Database, directory: Path) -> None:
    """A restored database counts from an older number, and the directory still has what came after it."""
    directory.mkdir(parents=True)
    later = directory / pack_name(40)
    later.write_bytes(b"bodies of the time after the backup")
    with closing(PackStore(shelf_at(one_database, directory, pack_bytes=1))) as store:
        assert [store.put(made(n)).pack_id for n in range(3)] == [41, 42, 43]
    assert later.read_bytes() == b"bodies of the time after the backup"


def test_a_pack_without_a_row_does_not_come_to_be(one_database: Database, directory: Path) -> None:
    with one_database.bare() as conn:
        conn.execute(text("alter table packs add constraint never check (machine <> 'here')"))
    before = psutil.Process().num_fds()
    store = PackStore(shelf_at(one_database, directory))
    with pytest.raises(BailiwickError):
        store.put(made(1))
    assert files_in(directory) == []
    assert psutil.Process().num_fds() <= before + 1, "the database's connection, no file"
    with one_database.bare() as conn:
        conn.execute(text("alter table packs drop constraint never"))
    assert store.get(store.put(made(1))) == made(1)
    store.close()


def test_processes_at_once_never_share_a_pack(one_url: str, directory: Path) -> None:
    with process("hold", one_url, directory, 0) as a, process("hold", one_url, directory, 100) as b:
        refs = []
        for child in (a, b):
            assert child.stdout is not None
            refs.append(heard(child.stdout.readline()))
        used = [{ref.pack_id for ref in told.values()} for told in refs]
        assert used[0].isdisjoint(used[1])
        for child in (a, b):
            assert child.stdin is not None
            child.stdin.write("go on\n")
            child.stdin.flush()
        for told, child in zip(refs, (a, b), strict=True):
            assert child.stdout is not None
            told.update(heard(child.stdout.readline()))
            assert child.wait(20) == 0
    assert len(refs[0]) == len(refs[1]) == 40
    places = [(ref.pack_id, ref.offset) for told in refs for ref in told.values()]
    assert len(set(places)) == 80
    with opened(one_url) as database, closing(PackStore(shelf_at(database, directory))) as store:
        for told in refs:
            assert all(store.get(ref) == made(number) for number, ref in told.items())


def test_what_was_synced_survives_kill_9_and_later_writers_are_right(one_url: str, directory: Path) -> None:
    chance = random.Random(9)
    refs: dict[int, BodyRef] = {}
    with opened(one_url) as database:
        for round_number in range(6):
            with process("roam", one_url, directory, 1000 * round_number) as child:
                assert child.stdout is not None
                for _ in range(chance.randrange(1, 8)):
                    refs |= heard(child.stdout.readline())
                time.sleep(chance.uniform(0, 0.03))  # anywhere in its work
                os.kill(child.pid, signal.SIGKILL)
                for line in child.stdout:
                    refs |= heard(line)
            with closing(PackStore(shelf_at(database, directory, pack_bytes=400_000))) as store:
                refs |= put_all(store, [500 + round_number])
        assert len(refs) > 100
        with closing(PackStore(shelf_at(database, directory))) as store:
            assert all(store.get(ref) == made(number) for number, ref in refs.items())
        walked = {(pack_id, f.offset) for pack_id in known_packs(database) for f in records_in(directory, pack_id)}
    assert {(ref.pack_id, ref.offset) for ref in refs.values()} <= walked, "a walk finds them all"


def _tails() -> dict[str, bytes]:
    whole = records.Packer(1).pack(made(77, size=3000))
    forged = records.Packer(1).pack(made(78, size=100))
    # Incompressible, so that the pack has it as it is: a page that contains a record.
    outer = records.Packer(1).pack(replace(made(79), body=random.Random(1).randbytes(50_000) + forged))
    assert forged in outer
    return {
        "half a header": whole[:40],
        "a header alone": whole[:HEADER_BYTES],
        "half a frame": whole[:-200],
        "all but a byte": whole[:-1],
        "zeros": bytes(5000),
        "a beginning of a beginning": MAGIC * 3,
        "zeros instead of the frame": whole[:HEADER_BYTES] + bytes(len(whole) - HEADER_BYTES),
        "a torn record around a forged one": outer[:-1],
    }


@pytest.mark.parametrize("tail", _tails().values(), ids=_tails().keys())
def test_a_torn_tail_is_passed_over(one_database: Database, directory: Path, tail: bytes) -> None:
    shelf = shelf_at(one_database, directory, pack_bytes=200_000)
    with closing(PackStore(shelf)) as store:
        before = put_all(store, range(3))
    pack_id = before[0].pack_id
    with (directory / pack_name(pack_id)).open("ab") as file:
        file.write(tail)
    with closing(PackStore(shelf)) as store:
        after = put_all(store, range(10, 13))
        assert {ref.pack_id for ref in after.values()} == {pack_id}
        assert all(store.get(ref) == made(number) for number, ref in (before | after).items())
    found = [f for f in records_in(directory, pack_id) if f.header.path_hash != 78]
    assert [f.offset for f in found] == [ref.offset for ref in (*before.values(), *after.values())]


def test_a_tail_longer_than_one_read_is_passed_over(one_database: Database, directory: Path) -> None:
    shelf = shelf_at(one_database, directory, pack_bytes=10_000_000)
    for length in range((1 << 20) - 9, (1 << 20) + 2):
        with closing(PackStore(shelf)) as store:
            ref = store.put(made(1))
        with (directory / pack_name(ref.pack_id)).open("ab") as file:
            file.write(b"\x89" * length)
        with closing(PackStore(shelf)) as store:
            last = store.put(made(2))
        assert records_in(directory, last.pack_id)[-1].offset == last.offset
        (directory / pack_name(ref.pack_id)).unlink()


def test_a_flipped_bit_is_noticed_wherever_it_is(one_database: Database, directory: Path) -> None:
    shelf = shelf_at(one_database, directory)
    with closing(PackStore(shelf)) as store:
        ref = store.put(made(1, size=600))
        after = store.put(made(2))
        store.sync()
        file = directory / pack_name(ref.pack_id)
        sound = file.read_bytes()
        for at in range(ref.length):
            broken = bytearray(sound)
            broken[ref.offset + at] ^= 1 << at % 8
            file.write_bytes(broken)
            with pytest.raises(BodyDamagedError, match="is damaged"):
                store.get(ref)
            assert [f.offset for f in records_in(directory, ref.pack_id)] == [after.offset]
        file.write_bytes(sound)
        assert store.get(ref) == made(1, size=600)
        for wrong in (replace(ref, offset=ref.offset + 1), replace(ref, length=ref.length - 1)):
            with pytest.raises(BodyDamagedError):
                store.get(wrong)


def _resealed(record: bytes, *, frame: bytes | None = None, **changes: int) -> bytes:
    """A record with other fields and right checksums."""
    names = ("magic", "version", "domain_id", "path_hash", "head", "body", "frame_bytes", "frame_crc", "hash")
    fields = dict(zip(names, records._FIELDS.unpack_from(record), strict=True))
    frame = record[HEADER_BYTES:] if frame is None else frame
    fields |= {"frame_bytes": len(frame), "frame_crc": zlib.crc32(frame), **changes}
    packed = records._FIELDS.pack(*fields.values())
    return packed + zlib.crc32(packed).to_bytes(4, "little") + frame


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"body": 2**32 - 1}, "claims to hold 4,294,967"),
        ({"body": 1_000_000_000}, "lengths differ"),
        ({"head": 0}, "lengths differ"),
        ({"version": 2}, "header is damaged"),
        ({"frame_bytes": 1}, "bytes long"),
    ],
)
def test_a_record_that_claims_what_is_not_so_is_refused(changes: dict[str, int], why: str) -> None:
    with pytest.raises(BodyDamagedError, match=why):
        records.unpack(_resealed(records.Packer(1).pack(made(1)), **changes))


def test_a_frame_that_claims_more_than_its_header_is_never_inflated() -> None:
    bomb = records.Packer(19).pack(replace(made(1), head=b"", body=bytes(200_000_000)))
    with pytest.raises(BodyDamagedError, match="lengths differ"):
        records.unpack(_resealed(bomb, body=10))
    with pytest.raises(BodyDamagedError, match="cannot be decompressed"):
        records.unpack(_resealed(bomb, frame=bomb[HEADER_BYTES:-10]))


@pytest.mark.parametrize(("where", "refused"), [("put", 4), ("sync", 2)])
def test_a_full_disk_is_told_and_the_store_goes_on_when_there_is_room(
    one_url: str, directory: Path, where: str, refused: int
) -> None:
    """The file size limit of a real process: EFBIG in the middle of a write."""
    with process("limited", one_url, directory, where) as child:
        assert child.stdout is not None
        assert int(child.stdout.readline()) == refused
        refs = heard(child.stdout.readline())
        assert child.wait(20) == 0
    assert sorted(refs) == [*range(10), *(range(10, 90) if where == "sync" else ()), *range(100, 110)]
    with opened(one_url) as database, closing(PackStore(shelf_at(database, directory))) as store:
        assert all(store.get(ref) == made(number) for number, ref in refs.items())
        [pack_id] = known_packs(database)
    assert [f.offset for f in records_in(directory, pack_id)] == [ref.offset for ref in refs.values()]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes, where root may mount one."""
    place = tmp_path / "tiny"
    place.mkdir()
    command = [shutil.which("mount") or "false", "-t", "tmpfs", "-o", "size=2m", "none", place]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        yield place / "none"
        return
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_disk_that_is_really_full(one_database: Database, tiny_disk: Path) -> None:
    if not tiny_disk.is_dir():  # nothing to mount here: the limit on a file's size has shown the same
        return
    filler = tiny_disk / "filler"
    filler.write_bytes(bytes(1_000_000))
    shelf = shelf_at(one_database, tiny_disk / "packs", pack_bytes=10_000_000)
    store = PackStore(shelf)
    refs = put_all(store, range(100))
    store.sync()
    with pytest.raises(DiskLowError, match="No space left"):
        store.put(made(200, size=4_000_000))
    lost = made(201, size=1_900_000)  # less than the buffer holds
    ref = store.put(lost)
    with pytest.raises(DiskLowError):
        store.sync()
    assert store.get(ref) == lost
    filler.unlink()
    store.sync()
    refs |= put_all(store, range(300, 310))
    store.close()
    with closing(PackStore(shelf)) as other:
        assert other.get(ref) == lost
        assert all(other.get(ref) == made(number) for number, ref in refs.items())
    assert len(records_in(tiny_disk / "packs", ref.pack_id)) == 111
    for directory in (tiny_disk / "new", tiny_disk / "packs"):
        with suppress(OSError):
            filler.write_bytes(bytes(4_000_000))
        with pytest.raises(DiskLowError):
            PackStore(shelf_at(one_database, directory, machine="another")).put(made(1))
        filler.unlink()


def test_a_put_does_not_wait_for_a_running_sync(
    one_database: Database, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = Event(), Event()

    def slow(descriptor: int) -> None:
        begun.set()
        assert go_on.wait(20)
        os.fsync(descriptor)

    monkeypatch.setattr(writer, "make_durable", slow)
    with closing(PackStore(shelf_at(one_database, directory, pack_bytes=50_000_000))) as store:
        first = store.put(made(1))
        syncing = Thread(target=store.sync)
        syncing.start()
        assert begun.wait(20)
        refs = put_all(store, range(2, 1200))  # more than the buffer holds
        assert syncing.is_alive()
        assert store.get(refs[2]) == made(2)
        go_on.set()
        syncing.join()
        assert store._writers[-1].is_synced is False, "what came after the sync began is not safe yet"
        store.sync()
        assert store._writers[-1].is_synced
        assert all(store.get(ref) == made(number) for number, ref in {1: first, **refs}.items())


def test_what_a_failed_sync_left_in_doubt_is_written_again(
    one_database: Database, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a failed fdatasync Linux takes the pages for clean: a second one would say yes to what is not there."""
    faults = [OSError(errno.EIO, "Input/output error"), OSError(errno.ENOSPC, "No space left on device")]
    written: list[tuple[int, int]] = []

    def failing(descriptor: int) -> None:
        if faults:
            raise faults.pop()

    def noted(descriptor: int, data: bytes, offset: int) -> None:
        written.append((offset, len(data)))
        os.pwrite(descriptor, data, offset)

    monkeypatch.setattr(writer, "make_durable", failing)
    monkeypatch.setattr(writer, "write_at", noted)
    with closing(PackStore(shelf_at(one_database, directory))) as store:
        refs = put_all(store, range(5))
        places = [(ref.offset, ref.length) for ref in refs.values()]
        with pytest.raises(DiskLowError):
            store.sync()
        written.clear()
        with pytest.raises(PlaceError, match="Input/output error"):
            store.sync()
        assert written == places
        store.sync()
        assert written == places * 2
        store.sync()
        assert written == places * 2, "once it is safe, no more"
        faults.append(OSError(errno.EIO, "Input/output error"))
        lost = store.put(made(9))
        with pytest.raises(PlaceError):
            store.sync()
        with (directory / pack_name(lost.pack_id)).open("r+b") as file:
            file.seek(lost.offset + 100)
            file.write(bytes(50))
        with pytest.raises(PlaceError, match="bodies are lost"):
            store.sync()
        with pytest.raises(PlaceError):
            store.close()
    assert open_packs() == 0, "it lets go of everything all the same"


def test_a_new_name_is_made_durable_once(
    one_database: Database, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(writer, "sync_directory", synced.append)
    with closing(PackStore(shelf_at(one_database, directory))) as store:
        store.sync()
        for number in range(3):
            store.put(made(number))
            store.sync()
    assert synced == [directory]


def test_few_packs_are_open_and_removed_ones_are_let_go(one_database: Database, directory: Path) -> None:
    with closing(PackStore(shelf_at(one_database, directory, pack_bytes=1))) as store:
        refs = put_all(store, range(40))
    assert len(files_in(directory)) == 40
    with closing(PackStore(shelf_at(one_database, directory))) as store:
        for number in random.Random(4).choices(range(40), k=400):
            assert store.get(refs[number]) == made(number)
        assert open_packs() == 16
        for path in directory.iterdir():
            path.unlink()
        for ref in refs.values():
            with pytest.raises(NotFoundError):
                store.get(ref)
        assert open_packs() == 0


def test_a_store_does_not_cross_a_fork(
    one_database: Database, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(PackStore(shelf_at(one_database, directory))) as store:
        store.put(made(1))
        # As a child would see it. A real fork is no good idea in a test process with threads.
        monkeypatch.setattr(os, "getpid", lambda: 1)
        with pytest.raises(RuntimeError, match="forked"):
            store.put(made(2))


def test_a_directory_that_cannot_be_used_is_told(one_database: Database, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(PlaceError, match="cannot write"):
        PackStore(shelf_at(one_database, tmp_path / "file" / "packs")).put(made(1))
    with pytest.raises(ValueError, match="could not be read back"):
        records.Packer(1).pack(replace(made(1), body=bytes(records.MAX_CONTENT_BYTES)))
