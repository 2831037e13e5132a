"""The real program on a real local web: what every end-to-end test of the crawl uses."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg.rows import namedtuple_row

from bailiwick.app import App
from bailiwick.crawl.outcomes import MEANINGS
from bailiwick.demo.web.running import Running
from tests.cli.tools import PROGRAM, Ran, environment
from tests.program import run_program
from tests.registry.tools import shift_clock


@dataclass
class Land:
    """One project and the web that it crawls."""

    home: Path
    running: Running
    database_url: str

    @property
    def env(self) -> dict[str, str]:
        return {"BAILIWICK_DATABASE_URL": self.database_url, "BAILIWICK_CRAWL_CONTACT": "tests@example.org"}

    def name(self, host: str) -> str:
        return self.running.name(host)

    def run(self, *arguments: str, code: int | None = 0, stdin: str = "", seconds: float = 120, **env: str) -> Ran:
        """One command, to its end."""
        given = environment(**(self.env | env))
        done = run_program(arguments, cwd=self.home, env=given, stdin=stdin, seconds=seconds)
        ran = Ran(done.returncode, done.stdout, done.stderr)
        assert code is None or ran.code == code, ran
        return ran

    def crawl(
        self,
        *arguments: str,
        code: int | None = 0,
        delay: str = "0",
        parse: bool = False,
        seconds: float = 120,
        **env: str,
    ) -> Ran:
        """Only tests of content have it parsed, too."""
        options = ("--resolve", self.running.resolve, "--delay", delay, *(() if parse else ("--no-parse",)))
        return self.run("crawl", *arguments, *options, code=code, seconds=seconds, **env)

    def crawl_due(self, *arguments: str, code: int | None = 0, **env: str) -> Ran:
        """Without seeds, so the domains' own delay holds: none, for the test's sake."""
        self.rows_done("update domains set crawl_delay_seconds = 0")
        return self.run("crawl", "--no-parse", "--resolve", self.running.resolve, *arguments, code=code, **env)

    def summary(self, *arguments: str, **env: str) -> dict[str, dict[str, Any]]:
        """A crawl's own account, by host."""
        rows = self.crawl(*arguments, "--json", **env).rows
        return {row["domain"].partition(":")[0]: row for row in rows}

    @contextmanager
    def start(self, *arguments: str, delay: str = "0", parse: bool = False, **env: str) -> Iterator["Started"]:
        """A crawl that goes on beside the test; killed at the end if it still runs."""
        options = ("--resolve", self.running.resolve, "--delay", delay) if "--resolve" not in arguments else ()
        options += () if parse else ("--no-parse",)
        process = subprocess.Popen(
            [PROGRAM, "crawl", *arguments, *options], cwd=self.home, env=environment(**(self.env | env)),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        started = Started(process)
        try:
            yield started
        finally:
            started.end()

    @contextmanager
    def app(self) -> Iterator[App]:
        os.environ["BAILIWICK_DATABASE_URL"] = self.database_url
        try:
            with App.at(self.home) as app:
                yield app
        finally:
            del os.environ["BAILIWICK_DATABASE_URL"]

    def rows(self, sql: str, **parameters: object) -> list[Any]:
        with psycopg.connect(self.database_url, row_factory=namedtuple_row) as conn:
            return conn.execute(re.sub(r"(?<!:):(\w+)\b", r"%(\1)s", sql), parameters).fetchall()

    def rows_done(self, sql: str) -> None:
        """Change something behind everybody's back."""
        with psycopg.connect(self.database_url) as conn:
            conn.execute(sql)

    def shift_clock(self, by: str) -> None:
        """Move the database's clock: `1 hour`."""
        with self.app() as app:
            shift_clock(app.database, by)

    def value(self, sql: str, **parameters: object) -> Any:
        [[found]] = self.rows(sql, **parameters)
        return found

    def fetched(self, host: str) -> set[str]:
        """Paths of pages with a stored 200."""
        sql = """
            select p.path from pages p join domains d on d.id = p.domain_id
            where d.name = :name and p.state = 'fetched' and p.last_status in (200, 304)"""
        return {row.path for row in self.rows(sql, name=self.name(host))}

    def crawl_state(self, host: str) -> str:
        return str(self.value("select crawl from domains where name = :name", name=self.name(host)))

    def check(self) -> None:
        """What must hold after every crawl: counters equal the log, bodies can be read, P1, a sound queue."""
        for what, rows in self.differences().items():
            assert rows == [], what
        bodies = self.run("storage", "verify", "--json")
        assert bodies.code == 0, bodies

    def differences(self) -> dict[str, list[Any]]:
        """Rows of the books that disagree, by what they should agree with: each list is empty."""
        from tests.registry.tools import faults

        differ = self.rows(
            """
            select d.name, p.pages_crawled, l.fetches, p.total_error_count, l.errors
            from domain_progress p join domains d on d.id = p.domain_id
            left join lateral (
                select count(*) as fetches, count(*) filter (where outcome = any(:errors)) as errors,
                       coalesce(sum(images_found), 0) as images
                from fetch_log f where f.domain_id = p.domain_id) l on true
            where p.pages_crawled <> l.fetches or p.total_error_count <> l.errors or p.images_found <> l.images""",
            errors=[outcome.value for outcome, meaning in MEANINGS.items() if meaning.is_error],
        )
        uncounted = self.rows("""
            select d.name, p.pages_discovered, n.known, p.pages_waiting, n.waiting, p.pages_failed, n.failed
            from domain_progress p join domains d on d.id = p.domain_id
            cross join lateral (
                select count(*) as known, count(*) filter (where state = 'pending') as waiting,
                       count(*) filter (where state = 'failed') as failed
                from pages where domain_id = p.domain_id) n
            where p.pages_discovered <> n.known or p.pages_waiting <> n.waiting or p.pages_failed <> n.failed""")
        runs = self.rows("""
            select r.run_id, r.domain_id, r.pages_done, count(f.*) from run_domains r
            left join fetch_log f on f.run_id = r.run_id and f.domain_id = r.domain_id
            group by 1, 2, 3 having r.pages_done <> count(f.*)""")
        with self.app() as app, app.database.read() as conn:
            queue = faults(conn)
        return {"the log": differ, "the pages": uncounted, "the log by run": runs, "the queue's rule": queue}

    def answered(self, host: str) -> set[str]:
        """Paths that the server answered with 200."""
        return {path for asked, path in self.running.log.answered_200() if asked == host}

    def wait_for(self, sql: str, *, seconds: float = 30, **parameters: object) -> None:
        """Until the query says true."""
        deadline = time.monotonic() + seconds
        while not self.value(sql, **parameters):
            assert time.monotonic() < deadline, f"never came true: {sql}"
            time.sleep(0.05)


@dataclass
class Started:
    """A crawl under way: the small parent, and the engine that is its child."""

    process: "subprocess.Popen[str]"

    def engine(self, *, seconds: float = 20) -> psutil.Process:
        """The process that does the work."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            children = psutil.Process(self.process.pid).children()
            if children:
                return children[0]
            time.sleep(0.02)
        raise TimeoutError("no engine was started")

    def wait(self, *, seconds: float = 60) -> Ran:
        out, err = self.process.communicate(timeout=seconds)
        return Ran(self.process.returncode, out, err)

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def _stopped(self) -> list[psutil.Process]:
        """The command and all its children, each at a halt first: one that runs would start those killed anew."""
        command = psutil.Process(self.process.pid)  # not waited for yet, so it is there, if only as a zombie
        stopped: list[psutil.Process] = []
        while running := [one for one in (command, *command.children(recursive=True)) if one not in stopped]:
            for one in running:
                with suppress(psutil.NoSuchProcess):
                    one.suspend()
            stopped += running
        return stopped

    def end(self) -> None:
        if self.process.poll() is None:
            for one in self._stopped():
                with suppress(psutil.NoSuchProcess):
                    one.kill()
        if self.process.stdout is not None and not self.process.stdout.closed:
            self.process.communicate(timeout=20)
