"""Stored bodies as an operator sees them: counts, a sweep after a purge, and a check that finds what is broken."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import delete

from bailiwick.base.sections import StorageSettings
from bailiwick.base.settings import Settings
from bailiwick.db.engine import Database
from bailiwick.db.tables import pages
from bailiwick.model.names import DomainName
from bailiwick.ports import BodyRef
from bailiwick.registry.records import get
from bailiwick.registry.workers import machine_id
from bailiwick.store.packs import PackStore
from bailiwick.store.shelf import Shelf
from tests.cli.domain_tools import done
from tests.cli.tools import Ran, bailiwick
from tests.store.tools import made, refer

NOW = {"BAILIWICK_STORAGE_SWEEP_AFTER_HOURS": "0"}


def storage(*arguments: str, cwd: Path, **env: str) -> Ran:
    return bailiwick("storage", *arguments, cwd=cwd, **env)


@pytest.fixture
def land(home: Path) -> Path:
    """A project of each test's own: packs are counted to the byte."""
    assert bailiwick("db", "upgrade", cwd=home).code == 0
    return home


@pytest.fixture
def store(land: Path) -> Iterator[Database]:
    with Database(land / ".bailiwick", Settings()) as opened:
        yield opened


@pytest.fixture
def refs(land: Path, store: Database) -> dict[int, BodyRef]:
    """Twenty pages of kept.org and ten of gone.org, with their bodies."""
    done("submit", "kept.org", "gone.org", "--approve", cwd=land)
    packs = PackStore(Shelf(store, land / ".bailiwick" / "packs", machine_id(), StorageSettings()))
    found: dict[int, BodyRef] = {}
    with closing(packs), store.begin() as conn:
        for number in range(30):
            name = "kept.org" if number < 20 else "gone.org"
            stored = made(number, domain_id=get(conn, DomainName(name)).id)
            found[number] = packs.put(stored)
            refer(conn, stored, found[number])
        packs.sync()
    return found


def test_look_verify_purge_and_sweep(land: Path, store: Database, refs: dict[int, BodyRef]) -> None:
    directory = land / ".bailiwick" / "packs"
    [facts] = storage("status", "--json", cwd=land).rows
    assert facts["directory"] == str(directory)
    assert (facts["packs"], facts["sealed"], facts["bodies"], facts["orphans"]) == (1, 0, 30, 0)
    assert facts["live_bytes"] == sum(ref.length for ref in refs.values()) == facts["disk_bytes"] - 32
    shown = dict(line.split(None, 1) for line in storage("status", cwd=land).out.splitlines())
    assert shown["packs"] == "1 (0 sealed)"
    assert shown["bodies"] == "30"

    sound = storage("verify", cwd=land)
    assert (sound.code, sound.err) == (0, "")
    assert sound.out.startswith("30 bodies read (")
    assert sound.out.endswith("): all sound\n")
    assert storage("verify", "--domain", "https://gone.org/", "--json", cwd=land).rows[0]["checked"] == 10
    assert storage("verify", "--domain", "nowhere.org", cwd=land).code == 1

    young = storage("sweep", cwd=land)
    assert (young.code, young.out) == (0, "nothing to remove\n")
    assert young.err == "left alone: 1 pack younger than 24 hours\n"
    with store.begin() as conn:
        gone = get(conn, DomainName("gone.org")).id
        conn.execute(delete(pages).where(pages.c.domain_id == gone))
    would = storage("sweep", "--dry-run", cwd=land, **NOW)
    assert would.out.startswith("1 pack would be removed (")
    assert "1 of them after copying out 20 live bodies; " in would.out
    [counts] = storage("sweep", "--json", cwd=land, **NOW).rows
    assert (counts["removed"], counts["rewritten"], counts["copied"], counts["dry_run"]) == (1, 1, 20, False)
    assert counts["freed_bytes"] == facts["live_bytes"] + 32 - counts["copied_bytes"]
    assert storage("verify", "--json", cwd=land).rows[0]["checked"] == 20
    again = storage("sweep", cwd=land, **NOW)
    assert (again.out, again.err) == ("nothing to remove\n", "left alone: 1 pack mostly alive\n")


def test_verify_ends_with_1_when_a_body_is_damaged_or_missing(
    land: Path, store: Database, refs: dict[int, BodyRef]
) -> None:
    with store.begin() as conn:
        kept = get(conn, DomainName("kept.org")).id
        refer(conn, made(4, domain_id=kept), BodyRef(10**6, 0, 100))
    file = land / ".bailiwick" / "packs" / f"{refs[7].pack_id:08}.pack"
    with file.open("r+b") as opened:
        opened.seek(refs[7].offset + 90)
        opened.write(b"\xff\x00")
    broken = storage("verify", cwd=land)
    assert broken.code == 1
    lines = broken.out.splitlines()
    assert lines[0].split() == ["KIND", "DOMAIN", "PATH", "WHY"]
    assert {tuple(line.split()[:3]) for line in lines[1:3]} == {
        ("damaged", "kept.org", "/7"),
        ("missing", "kept.org", "/4"),
    }
    assert lines[3].endswith("1 damaged, 1 missing")
    as_json = storage("verify", "--json", cwd=land)
    assert as_json.code == 1
    assert sorted(row["kind"] for row in as_json.rows[:2]) == ["damaged", "missing"]
    assert (as_json.rows[2]["checked"], as_json.rows[2]["damaged"], as_json.rows[2]["missing"]) == (30, 1, 1)


def test_before_anything_was_crawled(home: Path) -> None:
    assert storage("status", cwd=home).code == 1
    bailiwick("db", "upgrade", cwd=home)
    assert storage("status", "--json", cwd=home).rows[0]["packs"] == 0
    assert storage("verify", cwd=home).out == "0 bodies read (0 B): all sound\n"
    assert storage("sweep", cwd=home).out == "nothing to remove\n"
    assert not (home / ".bailiwick" / "packs").exists()
