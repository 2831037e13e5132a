"""Status, verify and sweep: nothing that a page refers to is ever lost, and what nothing refers to goes."""

import shutil
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from sqlalchemy import delete, func, select, text, update

from bailiwick.base.errors import DiskLowError, NotFoundError
from bailiwick.db.engine import Database
from bailiwick.db.sql import by_index
from bailiwick.db.tables import packs, pages
from bailiwick.ports import BodyRef, StoredBody
from bailiwick.store import references, status, sweep, verify
from bailiwick.store.files import pack_name
from bailiwick.store.packs import PackStore
from bailiwick.store.references import SQL
from bailiwick.store.shelf import Shelf
from bailiwick.store.sweep import Swept
from bailiwick.store.verify import Verified
from tests.registry.tools import admit, shift_clock
from tests.servers import TestServers, available_kinds
from tests.store.tools import (
    MACHINE,
    age,
    files_in,
    known_packs,
    made,
    opened,
    put_all,
    records_in,
    refer,
    referred,
    shelf_at,
)

ROOT = Path(__file__).parents[2]
DEATHS = ["before copy", "after copy", "before sync", "after sync", "before repoint", "after repoint",
          "before remove", "before unlink", "after unlink"]  # fmt: skip


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "packs"


def crawled(shelf: Shelf, numbers: range, *, domain_id: int = 1) -> dict[int, BodyRef]:
    """Bodies that pages refer to."""
    with closing(PackStore(shelf)) as store:
        refs = put_all(store, numbers, domain_id=domain_id)
        store.sync()
        with shelf.database.begin() as conn:
            for number, ref in refs.items():
                refer(conn, made(number, domain_id=domain_id), ref)
    return refs


def purged(database: Database, numbers: range, *, domain_id: int = 1) -> None:
    with database.begin() as conn:
        conn.execute(delete(pages).where(pages.c.domain_id == domain_id, pages.c.path_hash.in_(numbers)))


def verified(shelf: Shelf, domain_id: int | None = None) -> Verified:
    with closing(PackStore(shelf)) as store:
        *_, tally = verify.verify(shelf.database, store, machine=shelf.machine, domain_id=domain_id)
    return tally


def assert_all_there(shelf: Shelf, count: int) -> None:
    tally = verified(shelf)
    assert (tally.checked, tally.damaged, tally.missing, tally.elsewhere) == (count, 0, 0, 0), tally.faults


def all_records(directory: Path) -> list[int]:
    """The pages of all records that can be found in the directory."""
    ids = [int(path.stem) for path in directory.iterdir()]
    return sorted(found.header.path_hash for pack_id in ids for found in records_in(directory, pack_id))


# Verify


def test_verify_reads_every_body_and_names_what_is_wrong(database: Database, directory: Path) -> None:
    shelf = shelf_at(database, directory)
    with database.begin() as conn:
        [one, two] = [domain.id for domain in admit(conn, "one.org", "two.org")]
    refs = crawled(shelf, range(30), domain_id=one)
    crawled(shelf, range(1200), domain_id=two)
    with database.begin() as conn:
        conn.execute(text("insert into pages (domain_id, path_hash, path) values (:d, 999, '/pending')"), {"d": one})
    assert_all_there(shelf, 1230)
    sizes = [len(made(number).body) for number in range(30)]
    assert verified(shelf, one) == Verified(checked=30, body_bytes=sum(sizes))

    damaged = refs[3]
    file = directory / pack_name(damaged.pack_id)
    with file.open("r+b") as opened_file:
        opened_file.seek(damaged.offset + damaged.length - 1)
        opened_file.write(b"?")
    with database.begin() as conn:
        refer(conn, made(5, domain_id=one), refs[6])
        changed = update(pages).where(pages.c.domain_id == one)
        conn.execute(changed.where(pages.c.path_hash == 7).values(body_hash=bytes(32)))
        conn.execute(changed.where(pages.c.path_hash == 8).values(pack_id=10**6))
        conn.execute(changed.where(pages.c.path_hash == 9).values(pack_offset=10**9))
    tally = verified(shelf)
    assert (tally.checked, tally.damaged, tally.missing, tally.elsewhere) == (1230, 3, 2, 0)
    assert not tally.is_sound
    found = {fault.path: (fault.domain, fault.kind) for fault in tally.faults}
    assert found == {f"/{n}": ("one.org", "damaged" if n < 8 else "missing") for n in (3, 5, 7, 8, 9)}
    assert any("checksum differs" in fault.why for fault in tally.faults)
    assert verified(shelf, two).is_sound


def test_verify_knows_packs_of_other_machines(one_database: Database, directory: Path, tmp_path: Path) -> None:
    crawled(shelf_at(one_database, directory), range(3))
    crawled(shelf_at(one_database, tmp_path / "away", machine="away"), range(10, 15))
    tally = verified(shelf_at(one_database, directory))
    assert (tally.checked, tally.elsewhere, tally.is_sound) == (3, 5, True)
    shutil.rmtree(directory)
    lost = verified(shelf_at(one_database, directory))
    assert (lost.checked, lost.missing, lost.elsewhere) == (3, 3, 5)
    assert not directory.exists(), "looking makes nothing"


def test_verify_counts_all_faults_and_lists_some(
    one_database: Database, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "_FAULTS_KEPT", 5)
    shelf = shelf_at(one_database, directory)
    crawled(shelf, range(20))
    shutil.rmtree(directory)
    tally = verified(shelf)
    assert (tally.missing, len(tally.faults)) == (20, 5)


def test_a_page_that_changes_while_it_is_verified_is_no_fault(one_database: Database, directory: Path) -> None:
    shelf = shelf_at(one_database, directory)
    refs = crawled(shelf, range(4))
    with closing(PackStore(shelf)) as writing, closing(PackStore(shelf)) as reading:
        fresh = writing.put(made(1, size=50))
        writing.sync()

        class Meanwhile:
            """One page is fetched again and another one purged before its old body is read."""

            put, sync, close = reading.put, reading.sync, reading.close

            def get(self, ref: BodyRef) -> StoredBody:
                if ref == refs[1]:
                    with one_database.begin() as conn:
                        refer(conn, made(1, size=50), fresh)
                    raise NotFoundError("swept")
                if ref == refs[2]:
                    purged(one_database, range(2, 3))
                    raise NotFoundError("swept")
                return reading.get(ref)

        *_, tally = verify.verify(one_database, Meanwhile(), machine=MACHINE)
    assert (tally.checked, tally.is_sound, tally.faults) == (3, True, [])


# Status


def test_status_counts_rows_files_and_what_is_referred_to(
    database: Database, directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = shelf_at(database, directory)
    with database.read() as conn:
        assert status.status(conn, directory) == status.StorageStatus(0, 0, 0, 0, 0, 0, 0, 0, is_estimate=False)
    refs = crawled(shelf, range(100))
    crawled(shelf_at(database, tmp_path / "away", machine="away"), range(1000, 1001))
    purged(database, range(50))
    (directory / pack_name(99)).write_bytes(b"strange")
    (directory / "notes.txt").write_text("not ours")
    with database.read() as conn:
        found = status.status(conn, directory)
        monkeypatch.setattr(status, "_MOST_BLOCKS", 1)
        estimate = status.status(conn, directory)
    ours = [path.stat().st_size for path in directory.glob("*.pack")]
    away = referred_length(database, 1000)
    assert found == status.StorageStatus(
        packs=len(ours),
        sealed=len(ours) - 2,
        elsewhere=1,
        disk_bytes=sum(ours),
        orphans=1,
        orphan_bytes=7,
        bodies=51,
        live_bytes=sum(ref.length for number, ref in refs.items() if number >= 50) + away,
        is_estimate=False,
    )
    assert estimate.is_estimate


def referred_length(database: Database, number: int) -> int:
    with database.read() as conn:
        return referred(conn, made(number)).length


# Sweep


def test_a_pack_that_nothing_refers_to_goes_when_it_is_old(database: Database, directory: Path) -> None:
    crawled(shelf_at(database, directory), range(120))
    purged(database, range(120))
    shelf = shelf_at(database, directory, hours=24)
    packs_before = known_packs(database)
    size = sum(path.stat().st_size for path in directory.iterdir())

    assert sweep.sweep(shelf) == Swept(young=len(packs_before)), "young by their rows"
    shift_clock(database, "25 hours")
    assert sweep.sweep(shelf) == Swept(young=len(packs_before)), "young by their files: somebody wrote to them"
    for path in directory.iterdir():
        age(path, 25)
    shift_clock(database, "1 hour")
    assert sweep.sweep(shelf) == Swept(young=len(packs_before)), "young by their rows again"
    shift_clock(database, "25 hours")
    done = Swept(removed=len(packs_before), removed_bytes=size)
    assert sweep.sweep(shelf, is_dry=True) == done
    assert known_packs(database) == packs_before
    assert len(files_in(directory)) == len(packs_before)
    assert sweep.sweep(shelf) == done
    assert known_packs(database) == files_in(directory) == []
    assert sweep.sweep(shelf) == Swept()


def test_a_mostly_dead_pack_is_written_anew(database: Database, directory: Path) -> None:
    shelf = shelf_at(database, directory, pack_bytes=20_000_000)
    crawled(shelf, range(700))
    [old] = known_packs(database)
    # Fetched again, into the same pack: what was there before is dead.
    crawled(shelf, range(300))
    assert sweep.sweep(shelf) == Swept(kept=1)
    crawled(shelf, range(450))
    size = (directory / pack_name(old)).stat().st_size
    would = sweep.sweep(shelf, is_dry=True)
    assert (would.removed, would.removed_bytes, would.rewritten, would.copied) == (1, size, 1, 700)
    assert known_packs(database) == [old]
    assert sweep.sweep(shelf) == would
    [new] = known_packs(database)
    assert new != old
    assert files_in(directory) == [pack_name(new)]
    assert would.freed_bytes == size - (directory / pack_name(new)).stat().st_size + 32
    assert_all_there(shelf, 700)
    assert all_records(directory) == list(range(700))


def test_purged_bodies_go_even_from_a_pack_that_is_mostly_alive(database: Database, directory: Path) -> None:
    shelf = shelf_at(database, directory)
    crawled(shelf, range(100))
    crawled(shelf, range(100, 200), domain_id=2)
    purged(database, range(150, 152), domain_id=2)
    before = known_packs(database)
    done = sweep.sweep(shelf)
    assert (done.rewritten, done.removed, done.kept) == (1, 1, len(before) - 1)
    assert_all_there(shelf, 198)
    assert all_records(directory) == [n for n in range(200) if n not in (150, 151)]
    assert sweep.sweep(shelf) == Swept(kept=len(known_packs(database)))


def test_a_superseded_body_alone_is_no_reason_to_write_anew(one_database: Database, directory: Path) -> None:
    shelf = shelf_at(one_database, directory)
    crawled(shelf, range(20))
    crawled(shelf, range(2))
    assert sweep.sweep(shelf) == Swept(kept=1)
    assert len(all_records(directory)) == 22


def test_what_is_in_use_is_left_alone(one_database: Database, directory: Path) -> None:
    """Its bodies are there before the flush that refers to them commits."""
    shelf = shelf_at(one_database, directory)
    with closing(PackStore(shelf)) as store:
        refs = put_all(store, range(100))
        store.sync()
        assert sweep.sweep(shelf) == Swept(busy=len(known_packs(one_database)))
        with one_database.begin() as conn:
            for number, ref in refs.items():
                refer(conn, made(number), ref)
    assert_all_there(shelf, 100)
    assert sweep.sweep(shelf).removed == 0


def test_a_reference_that_comes_late_saves_the_pack(
    one_database: Database, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right before it deletes, it looks again: here another one refers to the pack after it was found dead."""
    shelf = shelf_at(one_database, directory)
    refs = crawled(shelf, range(3))
    purged(one_database, range(3))
    late = made(1)

    def hold(self: sweep._Sweep, *arguments: object) -> object:
        with one_database.begin() as conn:
            refer(conn, late, refs[1])
        return usual(self, *arguments)  # type: ignore[arg-type]

    usual = sweep._Sweep._hold
    monkeypatch.setattr(sweep._Sweep, "_hold", hold)
    assert sweep.sweep(shelf) == Swept(kept=1)
    assert_all_there(shelf, 1)


def test_a_page_fetched_again_meanwhile_keeps_its_new_body(
    one_database: Database, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body that is dead by the time its copy could be referred to does not come back; nor does a purged page."""
    shelf = shelf_at(one_database, directory, pack_bytes=200_000)
    crawled(shelf, range(40))
    purged(one_database, range(30))
    fresh: dict[int, BodyRef] = {}
    usual = references.repoint

    def repoint(*arguments: object) -> int:
        with closing(PackStore(shelf)) as store, one_database.begin() as conn:
            fresh[35] = store.put(made(35, size=70))
            store.sync()
            refer(conn, made(35, size=70), fresh[35])
            conn.execute(delete(pages).where(pages.c.path_hash == 36))
        return usual(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("bailiwick.store.rewrite.repoint", repoint)
    done = sweep.sweep(shelf)
    assert (done.rewritten, done.copied, done.stuck) == (1, 10, 0)
    with one_database.read() as conn:
        assert referred(conn, made(35)) == fresh[35]
        assert conn.execute(select(pages.c.path_hash).where(pages.c.path_hash == 36)).first() is None
    assert_all_there(shelf, 9)
    monkeypatch.undo()
    assert sweep.sweep(shelf).rewritten == 1, "the copy of a page that is purged goes, too"
    assert 36 not in all_records(directory)
    assert_all_there(shelf, 9)


def test_a_row_that_a_flush_holds_is_not_waited_for(one_database: Database, directory: Path) -> None:
    shelf = shelf_at(one_database, directory)
    crawled(shelf, range(20))
    purged(one_database, range(15))
    with one_database.begin() as flush:
        flush.execute(select(pages).where(pages.c.path_hash == 17).with_for_update())
        done = sweep.sweep(shelf)
    assert (done.rewritten, done.copied, done.removed, done.stuck) == (1, 6, 0, 1), "it is tried twice"
    assert_all_there(shelf, 5)
    assert sweep.sweep(shelf).removed == 1
    assert all_records(directory) == [15, 16, 17, 17, 17, 18, 19], "copies that came too late are dead, not purged"
    assert_all_there(shelf, 5)


def test_pages_of_a_merged_domain_keep_their_bodies(one_database: Database, directory: Path) -> None:
    """Their records have the name of the domain that is gone: they are found by the rows, and get the new name."""
    shelf = shelf_at(one_database, directory)
    crawled(shelf, range(20))
    with one_database.begin() as conn:
        columns = "path_hash, path, state, body_hash, pack_id, pack_offset, pack_length"
        conn.execute(
            text(
                "with moved as (delete from pages where domain_id = 1 and path_hash < 15 returning *) "
                f"insert into pages (domain_id, {columns}) select 2, {columns} from moved"
            )
        )
    assert_all_there(shelf, 20)
    done = sweep.sweep(shelf)
    assert (done.rewritten, done.copied, done.removed, done.stuck) == (1, 20, 1, 0)
    assert_all_there(shelf, 20)
    [new] = known_packs(one_database)
    names = {found.header.path_hash: found.header.domain_id for found in records_in(directory, new)}
    assert names == {number: 2 if number < 15 else 1 for number in range(20)}
    assert sweep.sweep(shelf) == Swept(kept=1)


def test_a_body_beyond_reading_keeps_its_pack(one_database: Database, directory: Path) -> None:
    """A page refers to it, and a bad disk broke it: nothing is gained by losing the rest of it, too."""
    shelf = shelf_at(one_database, directory)
    refs = crawled(shelf, range(20))
    purged(one_database, range(5))
    [old] = known_packs(one_database)
    for broken, at in ((7, 0), (8, 90)):
        with (directory / pack_name(old)).open("r+b") as file:
            file.seek(refs[broken].offset + at)
            file.write(b"?!")
    done = sweep.sweep(shelf)
    assert (done.rewritten, done.copied, done.removed, done.stuck) == (1, 13, 0, 1)
    assert sweep.sweep(shelf).stuck == 1
    assert verified(shelf).damaged == 2
    purged(one_database, range(7, 9))
    assert sweep.sweep(shelf).removed == 1
    assert_all_there(shelf, 13)


def test_orphans_go_but_not_from_another_databases_directory(one_database: Database, directory: Path) -> None:
    directory.mkdir()
    orphan, young = directory / pack_name(500), directory / pack_name(501)
    orphan.write_bytes(b"left by a sweep that was killed")
    young.write_bytes(b"a pack that is being made")
    (directory / "notes.txt").write_text("not ours")
    age(orphan, 2)
    shelf = shelf_at(one_database, directory)
    assert sweep.sweep(shelf) == Swept(foreign=2), "no pack here is this database's"
    crawled(shelf, range(3))
    would = Swept(removed=1, removed_bytes=31, orphans=1, young=1, kept=1)
    assert sweep.sweep(shelf, is_dry=True) == would
    assert orphan.exists()
    assert sweep.sweep(shelf) == would
    assert files_in(directory) == [pack_name(501), pack_name(*known_packs(one_database)), "notes.txt"]


def test_the_wrong_database_sweeps_nothing(directory: Path, servers: TestServers, one_database: Database) -> None:
    """Its packs have the same numbers; the files say that they are not its own."""
    shelf = shelf_at(one_database, directory)
    crawled(shelf, range(100))
    count = len(known_packs(one_database))
    with servers.cloned(available_kinds()[0]) as url, opened(url) as wrong:
        with wrong.begin() as conn:
            for number in range(1, count):
                row = {"machine": MACHINE, "file": pack_name(number)}
                conn.execute(text("insert into packs (machine, file) values (:machine, :file)"), row)
        assert sweep.sweep(shelf_at(wrong, directory)) == Swept(foreign=count)
        with closing(PackStore(shelf_at(wrong, directory))) as store:
            assert store.put(made(1)).pack_id == count + 1
    assert_all_there(shelf, 100)


def test_a_row_without_a_file_goes_unless_it_is_another_machines(one_database: Database, directory: Path) -> None:
    with one_database.begin() as conn:
        for machine in (MACHINE, "another"):
            conn.execute(packs.insert().values(machine=machine, file=machine))
    assert sweep.sweep(shelf_at(one_database, directory)).removed == 1
    with one_database.read() as conn:
        assert conn.execute(select(packs.c.machine)).scalars().all() == ["another"]


def test_removing_needs_no_room_but_copying_does(
    one_database: Database, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = shelf_at(one_database, directory)
    dead = {ref.pack_id for ref in crawled(shelf, range(100)).values()}
    crawled(shelf_at(one_database, directory, machine="another"), range(200, 210))
    purged(one_database, range(209))

    class Full:
        def check(self) -> None:
            raise DiskLowError("full")

    monkeypatch.setattr(one_database, "disk", Full())
    with pytest.raises(DiskLowError):
        sweep.sweep(shelf)
    assert not dead & set(known_packs(one_database))
    monkeypatch.undo()
    assert_all_there(shelf, 1)


@pytest.mark.parametrize("step", DEATHS)
def test_a_sweep_may_die_at_any_step(one_url: str, directory: Path, step: str) -> None:
    with opened(one_url) as database:
        shelf = shelf_at(database, directory)
        crawled(shelf, range(60))
        purged(database, range(40))
        command = [sys.executable, "-m", "tests.store.pack_process", "sweep", one_url, str(directory), step]
        assert subprocess.run(command, cwd=ROOT, timeout=60, check=False).returncode == 137
        assert_all_there(shelf, 20)
        for path in directory.iterdir():
            age(path, 1)
        sweep.sweep(shelf)
        assert_all_there(shelf, 20)
        assert set(all_records(directory)) == set(range(40, 60)), "what was purged is gone"
        for path in directory.iterdir():
            age(path, 1)
        sweep.sweep(shelf)
        assert all_records(directory) == list(range(40, 60)), "and so are copies that nothing refers to"
        assert {pack_name(pack_id) for pack_id in known_packs(database)} == set(files_in(directory))
        assert_all_there(shelf, 20)


def test_sweeps_beside_crawls_lose_nothing(one_url: str, directory: Path) -> None:
    """Two processes fetch their pages again and again; packs are old at once, and only their locks protect them."""
    command = [sys.executable, "-m", "tests.store.pack_process", "crawl", one_url, str(directory)]
    with ExitStack() as ending, opened(one_url) as database:
        crawls = [subprocess.Popen([*command, str(n)], cwd=ROOT, stdin=subprocess.PIPE) for n in range(2)]
        for crawl in crawls:  # whatever comes: they would go on in the next test's database
            ending.callback(crawl.wait)
            ending.callback(crawl.kill)
        shelf = shelf_at(database, directory, pack_bytes=30_000)
        removed = rewritten = 0
        while removed < 30 or rewritten < 3:
            done = sweep.sweep(shelf)
            removed, rewritten = removed + done.removed, rewritten + done.rewritten
            tally = verified(shelf)
            assert tally.is_sound, tally.faults
            assert all(crawl.poll() is None for crawl in crawls)
        for crawl in crawls:
            assert crawl.stdin is not None
            crawl.stdin.close()
            assert crawl.wait(20) == 0
        sweep.sweep(shelf)
        with database.read() as conn:
            count = conn.execute(select(func.count()).where(pages.c.pack_id.is_not(None))).scalar_one()
        assert_all_there(shelf, count)


# How PostgreSQL answers


@pytest.fixture
def many_pages(one_database: Database) -> Database:
    with one_database.begin() as conn:
        conn.execute(
            text(
                "insert into pages (domain_id, path_hash, path, pack_id, pack_offset, pack_length) "
                "select n % 300 + 1, n, '/' || n, n / 2000 + 1, n * 100, 100 from generate_series(1, 80000) as n"
            )
        )
    with one_database.bare() as conn:
        conn.execute(text("analyze pages"))
    return one_database


_KEYS = {"domain_ids": [n % 300 + 1 for n in range(1, 501)], "path_hashes": list(range(1, 501))}
_MOVES = {"from_pack": 1, "from_offsets": [n * 100 for n in range(1, 501)], "to_packs": [9] * 500,
          "to_offsets": list(range(500))}  # fmt: skip
_PLACE = {"first": 0, "last": 2**63 - 1, "domain_id": 100, "path_hash": 5, "limit": 500}
PLANS: dict[str, dict[str, object]] = {
    "probe": {**_KEYS},
    "repoint": {**_KEYS, **_MOVES},
    "next_bodies": {**_PLACE},
    "one_body": {"domain_id": 5, "path_hash": 304},
}


def test_pages_are_found_by_their_primary_key(many_pages: Database) -> None:
    for name, values in PLANS.items():
        with many_pages.bare() as conn:
            if name in ("probe", "repoint"):
                by_index(conn)
            statement = SQL[name].format(table="pages")
            plan = "\n".join(conn.exec_driver_sql(f"explain {statement}", values).scalars())
        assert "Seq Scan on pages" not in plan, f"{name}:\n{plan}"
        assert "_pkey" in plan


def test_every_table_with_a_pack_is_in_the_list(one_database: Database) -> None:
    """A table that refers to bodies and is not in `BODY_TABLES` would lose them."""
    with one_database.read() as conn:
        found = conn.execute(
            text(
                "select c.relname from pg_attribute as a join pg_class as c on c.oid = a.attrelid "
                "where a.attname = 'pack_id' and c.relkind in ('r', 'p') and not c.relispartition"
            )
        ).scalars()
        assert sorted(found) == sorted(references.BODY_TABLES)
