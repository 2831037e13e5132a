"""The parse stage with real children: what kills or hangs them is found out, and everything else is parsed."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from bailiwick.base.sections import DatabaseSettings
from bailiwick.base.settings import Settings
from bailiwick.db.engine import Database
from bailiwick.extract.content import ContentLimits
from bailiwick.extract.pool import ExtractionPool, PoolLimits
from bailiwick.extract.stage import ParseProgress, ParseStage, Work
from bailiwick.extract.version import EXTRACTOR_VERSION
from bailiwick.model.content import ParseOutcome
from bailiwick.model.profile_files import load_profile
from tests.extract.tools import Shelved, count, rows, shelved, taker
from tests.servers import TestServers

PAGE = "<html lang=en><title>{n}</title><body><article><h1>Page {n}</h1><p>{words}</p></article></body></html>"
WORDS = "The society for the advancement of small bridges meets every second Tuesday in the town hall. " * 5


@pytest.fixture
def database(servers: TestServers) -> Iterator[Database]:
    """One server is enough here: what is written is tried on all of them by the tests of writing."""
    with servers.cloned("pg18") as url, Database(Path("/nowhere"), _settings(url)) as opened:
        yield opened


def _settings(url: str) -> Settings:
    return Settings(database=DatabaseSettings(url=url))


@pytest.fixture
def pages(database: Database, tmp_path: Path) -> Iterator[Shelved]:
    found = shelved(database, tmp_path)
    yield found
    found.store.close()


def fill(pages: Shelved, number: int, *, words: str = WORDS) -> None:
    for n in range(number):
        pages.put(f"/{n}", PAGE.format(n=n, words=f"{words} {n}").encode())


def pool(size: int = 2, seconds: float = 20) -> ExtractionPool:
    return ExtractionPool(size, None, PoolLimits(ContentLimits(), seconds, 2_000_000_000))


def stage_of(pages: Shelved, pool: ExtractionPool, *, batch: int = 20) -> ParseStage:
    marks = {"general": load_profile("general", None).mark}
    return ParseStage(Work(pages.database, pages.store, pool, taker(), lambda: marks, batch))


def parse(pages: Shelved, *, seconds: float = 20, batch: int = 20) -> ParseProgress:
    async def run() -> ParseProgress:
        return await stage_of(pages, pool(seconds=seconds), batch=batch).run()

    return asyncio.run(run())


def children_of(process: psutil.Process) -> list[psutil.Process]:
    """Those that extract; a test's servers may be children, too."""
    found = []
    for child in process.children():
        with suppress(psutil.Error):
            if "bailiwick.extract.child" in child.cmdline():
                found.append(child)
    return found


def outcomes(pages: Shelved) -> dict[object, object]:
    with pages.database.read() as conn:
        return dict(rows(conn, "select outcome, count(*) from page_parses group by 1"))  # type: ignore[arg-type]


def test_everything_that_waits_is_parsed(pages: Shelved) -> None:
    fill(pages, 50)
    progress = parse(pages)
    assert progress.outcomes == {ParseOutcome.PARSED: 50}
    assert (progress.relevant, progress.changed) == (50, 50)
    with pages.database.read() as conn:
        [(title, text, version)] = rows(
            conn,
            "select title, text, s.extractor_version from page_snapshots s"
            " join pages using (domain_id, path_hash) where path = '/7'",
        )
    assert (title, version) == ("7", EXTRACTOR_VERSION)
    assert "second Tuesday" in str(text)


def test_nothing_is_done_twice(pages: Shelved) -> None:
    fill(pages, 5)
    parse(pages)
    fill(pages, 5)  # the same bodies wait once more, as after a restore
    again = parse(pages)
    assert (again.outcomes, again.changed, again.relevant) == ({ParseOutcome.PARSED: 5}, 0, 0)
    assert count(pages.database, "page_snapshots") == count(pages.database, "snapshot_history") == 5


def test_a_page_that_kills_its_parser_is_isolated(pages: Shelved, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAILIWICK_FAILPOINT", "parse:kill-the-parser")
    fill(pages, 10)
    pages.put("/bad", PAGE.format(n=0, words="kill-the-parser").encode())
    parse(pages)
    assert outcomes(pages) == {"parsed": 10, "poison": 1}


def test_a_page_that_never_ends_is_isolated(pages: Shelved, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAILIWICK_FAILPOINT", "hang:never-end")
    fill(pages, 10)
    pages.put("/bad", PAGE.format(n=0, words="never-end").encode())
    parse(pages, seconds=3)
    assert outcomes(pages) == {"parsed": 10, "timeout": 1}


def test_a_child_that_hangs_ends_by_itself_when_its_parent_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its parent is killed; nobody is left to look at the clock."""
    monkeypatch.setenv("BAILIWICK_FAILPOINT", "hang:never-end")
    code = """
import asyncio
from bailiwick.extract.page import Body as B
from tests.extract.test_stage import pool
asyncio.run(pool(1, seconds=3).extract([B(b"never-end", "text/html", "https://example.org/", "general")]))
"""
    parent = subprocess.Popen([sys.executable, "-c", code])
    try:
        while not (children := children_of(psutil.Process(parent.pid))):
            assert parent.poll() is None
            time.sleep(0.05)
        time.sleep(1.5)
    finally:
        parent.kill()
        parent.wait()
    psutil.wait_procs(children, timeout=10)
    assert not children[0].is_running()


def test_a_child_that_is_stopped_is_ended(pages: Shelved) -> None:
    """By whoever looks at the clock beside it."""
    fill(pages, 3)

    async def run() -> ParseProgress:
        stage = stage_of(pages, pool(1, seconds=1))
        task = asyncio.create_task(stage.run())
        while not (children := children_of(psutil.Process())):
            await asyncio.sleep(0.01)
        children[0].suspend()
        return await task

    progress = asyncio.run(run())
    assert progress.outcomes == {ParseOutcome.TIMEOUT: 1, ParseOutcome.PARSED: 2}


def test_killing_children_condemns_no_page(pages: Shelved) -> None:
    """Twenty kills from outside while sixty pages are parsed."""
    fill(pages, 60, words=WORDS * 20)

    async def run() -> ParseProgress:
        stage = stage_of(pages, pool(2))
        task = asyncio.create_task(stage.run())
        kills = 0
        while not task.done() and kills < 20:
            for child in children_of(psutil.Process()):
                with suppress(ProcessLookupError):
                    os.kill(child.pid, signal.SIGKILL)
                    kills += 1
            await asyncio.sleep(0.7)
        return await task

    asyncio.run(run())
    assert outcomes(pages) == {"parsed": 60}


def test_a_stop_gives_back_what_is_not_parsed(pages: Shelved) -> None:
    fill(pages, 40, words=WORDS * 20)

    async def run() -> None:
        stage = stage_of(pages, pool(1), batch=40)
        task = asyncio.create_task(stage.run())
        await asyncio.sleep(1.5)
        stage.stop()
        await asyncio.wait_for(task, 10)

    asyncio.run(run())
    done = count(pages.database, "page_parses")
    assert done + count(pages.database, "parse_queue") == 40
    with pages.database.read() as conn:
        assert rows(conn, "select count(*) from parse_queue where worker is not null") == [(0,)]
    parse(pages)
    assert outcomes(pages) == {"parsed": 40}


def test_pages_of_an_unknown_profile_wait(database: Database, tmp_path: Path) -> None:
    pages = shelved(database, tmp_path, profile="no-such-profile")
    fill(pages, 3)
    progress = parse(pages)
    assert progress.unknown_profiles == {"no-such-profile": 3}
    assert (count(database, "parse_queue"), count(database, "page_parses")) == (3, 0)


def test_a_body_that_is_gone_is_said(pages: Shelved) -> None:
    fill(pages, 2)
    with pages.database.begin() as conn:
        conn.exec_driver_sql("update pages set pack_offset = pack_offset + 1 where path = '/1'")
    parse(pages)
    assert outcomes(pages) == {"parsed": 1, "no_body": 1}
