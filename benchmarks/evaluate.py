"""One job of 100,000 URLs as a user runs it: taken in, evaluated, paused, resumed, deleted. `make bench-evaluate`.

Most URLs are of domains that were turned away, so that nothing is fetched; the others are pages of the local web that
lie in packs as a crawl leaves them, and are evaluated by all three layers, without a network. Wanted: memory that does
not grow with the job, and a progress that can be seen. A small try: `python -m benchmarks.evaluate --urls 6000
--stored 200`.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection, text

from bailiwick.app import App
from bailiwick.demo.web.answers import Request
from bailiwick.demo.web.sites import Web
from bailiwick.model.urls import hash_of
from bailiwick.ports import StoredBody
from benchmarks.race.meters import memory_of
from benchmarks.race.ours import PROGRAM, Project, project

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
JOB = "vetting"
HOSTS = 20
REFUSED = 500
_LOOK_SECONDS = 1.0
_A_LOOK = ("taken_in", "settled", "own_mb", "children_mb")
# No registry is asked: where nobody answers, a factor is unchecked.
_NOBODY = {
    "BAILIWICK_SCORE_RDAP_BOOTSTRAP_URL": "http://127.0.0.1:9/dns.json",
    "BAILIWICK_SCORE_WHOIS_SERVER": "127.0.0.1:9",
    "BAILIWICK_SCORE_REGISTRY_DELAY_SECONDS": "0",
    "BAILIWICK_SCORE_REGISTRY_TIMEOUT_SECONDS": "1",
    "BAILIWICK_NET_ALLOW_PRIVATE_NETWORKS": "false",
}


@dataclass(frozen=True, slots=True)
class Look:
    """How things stand at a moment: URLs of the job that are in it, and settled; bytes of the program, its children."""

    taken_in: int
    settled: int
    own_bytes: int
    child_bytes: int


@dataclass
class Step:
    """What one command cost."""

    what: str
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    looks: list[Look] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description="How a large job of evaluations behaves.")
    parser.add_argument("--urls", type=int, default=100_000)
    parser.add_argument("--stored", type=int, default=2000, help="how many of them are pages to look at")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the samples there, as JSON")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="bwevaluate-"))
    scratch.chmod(0o755)
    try:
        with project(scratch, "job") as made:
            steps = measure(made, options.urls, options.stored)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for step in steps:
        show(step)
    if options.out:
        told = {"urls": options.urls, "stored": options.stored, "load": os.getloadavg(), "a_look": _A_LOOK}
        lines = ",\n".join(json.dumps(as_row(step)) for step in steps)
        options.out.write_text(f'{json.dumps(told)[:-1]}, "steps": [\n{lines}\n]}}\n')


def measure(made: Project, urls: int, stored: int) -> list[Step]:
    """Each step checks what it came to, or the figures would say nothing."""
    with made.app() as app:
        pages = list(fill(app, stored))
    refused = [f"https://refused{n % REFUSED}.example/page/{n}" for n in range(urls - len(pages))]
    given = [*pages, *refused]
    random.Random(1).shuffle(given)
    (made.home / "urls.txt").write_text("\n".join(given) + "\n")
    steps = [run(made, "taken in", ["evaluate", "urls.txt", "--name", JOB, "--queue-only"])]
    steps.append(run(made, "evaluated to the middle", ["evaluate"], pause_at=urls // 2))
    expect(made.run("job", "show", JOB, "--json"), "state", "paused")
    made.run("job", "resume", JOB)
    steps.append(run(made, "evaluated to the end", ["evaluate"]))
    shown = made.run("job", "show", JOB, "--json")
    for name, value in (("state", "finished"), ("urls", urls), ("left", 0), ("evaluated", len(pages))):
        expect(shown, name, value)
    steps.append(run(made, "deleted", ["job", "delete", JOB], said="y\n"))
    with made.database.connect() as conn:
        left = conn.execute("select (select count(*) from job_urls) + (select count(*) from evaluations)").fetchone()
    if left != (0,):
        raise RuntimeError(f"{left} rows are left of a job that was deleted")
    return steps


def expect(shown: str, name: str, value: object) -> None:
    found = json.loads(shown)[name]
    if found != value:
        raise RuntimeError(f"{name} is {found!r}, not {value!r}: {shown}")


def run(made: Project, what: str, arguments: Sequence[str], *, pause_at: int | None = None, said: str = "") -> Step:
    """A command to its end, looked at now and then; its job is paused by another one when so many URLs are settled."""
    step, started = Step(what), time.monotonic()
    with made.said.open("wb") as output, made.database.connect() as conn:
        process = subprocess.Popen(
            [PROGRAM, *arguments], cwd=made.home, env=made.env | _NOBODY, stdin=subprocess.PIPE, stdout=output,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        if process.stdin is not None:
            process.stdin.write(said.encode())
            process.stdin.close()
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            found = conn.execute("select count(*), count(*) filter (where state <> 'waiting') from job_urls").fetchone()
            own, children = memory_of(process.pid)
            if found is not None and own:
                step.looks.append(Look(int(str(found[0])), int(str(found[1])), own, children))
            if pause_at is not None and step.looks and step.looks[-1].settled >= pause_at:
                made.run("job", "pause", JOB)
                pause_at = None
            time.sleep(_LOOK_SECONDS)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{what}: {made.said.read_text()}")
    step.seconds, step.cpu_seconds = time.monotonic() - started, usage.ru_utime + usage.ru_stime
    return step


def as_row(step: Step) -> dict[str, object]:
    looks = [(one.taken_in, one.settled, round(one.own_bytes / 1e6, 1), round(one.child_bytes / 1e6, 1))
             for one in step.looks]  # fmt: skip
    return {"what": step.what, "seconds": round(step.seconds, 1), "cpu_seconds": round(step.cpu_seconds, 1),
            "looks": looks}  # fmt: skip


def show(step: Step) -> None:
    print(f"{step.what}: {step.seconds:.0f} s, {step.cpu_seconds:.1f} CPU-seconds of the program and its children")
    for look in some(step.looks, 8):
        print(
            f"  {look.taken_in:>9,} in the job, {look.settled:>9,} settled: "
            f"{look.own_bytes / 1e6:4.0f} MB, children {look.child_bytes / 1e6:4.0f} MB"
        )


def some(looks: Sequence[Look], number: int) -> list[Look]:
    """So many of them at the most, evenly chosen, the last among them."""
    every = max(1, -(-len(looks) // number))
    return list(looks[::-1][::every][::-1])


def fill(app: App, stored: int) -> Iterator[str]:
    """Pages as a crawl leaves them, and domains that were turned away; gives the pages' addresses."""
    web = Web.generate(7, hosts=HOSTS, pages_per_host=-(-stored // HOSTS), page_bytes=12_000, noise=False)
    with app.database.begin() as conn:
        for n in range(REFUSED):
            add_domain(conn, f"refused{n}.example", "pending_review")
        conn.execute(text("update domains set approval = 'rejected', review_reason = 'spam'"))
    left = stored
    for host in web.hosts:
        site = web[host]
        paths = sorted(site.reachable())[:left]
        left -= len(paths)
        with app.database.begin() as conn:
            domain_id = add_domain(conn, host, "approved")
        rows = [put(app, domain_id, path, site.answer(Request(host, path)).payload()) for path in paths]
        app.body_store.sync()
        with app.database.begin() as conn:
            conn.execute(_PAGE, rows)
        yield from (f"http://{host}:8080{path}" for path in paths)


def add_domain(conn: Connection, name: str, approval: str) -> int:
    # Of plain http at a port of its own: there is no certificate to look at.
    name = f"{name}:8080" if approval == "approved" else name
    values = {"name": name, "approval": approval, "url": f"http://{name}" if approval == "approved" else None}
    made: int = conn.execute(_DOMAIN, values).scalar_one()
    return made


def put(app: App, domain_id: int, path: str, body: bytes) -> dict[str, object]:
    ref = app.body_store.put(StoredBody(domain_id, hash_of(path), HEAD, body))
    return {"d": domain_id, "p": hash_of(path), "path": path, "b": sha256(body).digest(), "k": ref.pack_id,
            "o": ref.offset, "l": ref.length}  # fmt: skip


_DOMAIN = text("""
    insert into domains (name, site, shared_key, approval, base_url)
    values (:name, :name, :name, :approval, :url) returning id""")
_PAGE = text("""
    insert into pages (domain_id, path_hash, path, state, body_hash, content_type, pack_id, pack_offset, pack_length,
                       last_fetched_at, last_status, last_outcome)
    values (:d, :p, :path, 'fetched', :b, 'text/html; charset=utf-8', :k, :o, :l, bailiwick_now(), 200, 'fetched')""")

if __name__ == "__main__":
    main()
