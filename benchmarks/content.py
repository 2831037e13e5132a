"""The parse stage from end to end: pages a CPU-second of the client, database server beside it. `make bench-content`.

Bodies of the local web (about 40 KB, 60 links) lie in packs and wait; `bailiwick parse` reads them, as a user would run
it. By `funding` they are irrelevant: content, hashes, relevance by meaning, a snapshot each, and nothing else. By
`general` each gets markdown too. In the same run, on the same core: the libraries alone, which only turn a string into
text. A small try: `python -m benchmarks.content --pages 300 --rounds 1`.
"""

import argparse
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import trafilatura
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree
from sqlalchemy import Connection, text

from bailiwick.app import App
from bailiwick.demo.web.answers import Request
from bailiwick.demo.web.sites import Web
from bailiwick.model.urls import hash_of
from bailiwick.ports import StoredBody
from benchmarks.race.meters import Cores, choose_cores, on_core, run_measured
from benchmarks.race.ours import PROGRAM, Project, project

WANTED = 400.0
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
HOST = "example.org"
_DISTINCT = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast stored pages are parsed.")
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the samples there, as JSON")
    options = parser.parse_args()
    cores = choose_cores()
    scratch = Path(tempfile.mkdtemp(prefix="bwcontent-"))
    scratch.chmod(0o755)
    try:
        bodies = local_bodies(options.pages)
        size = sum(map(len, bodies)) / len(bodies) / 1000
        print(f"{len(bodies):,} pages of {size:.0f} KB, {cores}")
        plain = [alone(bodies[:300], resiliparse_alone, cores)]
        irrelevant = [measure(scratch, cores, bodies, "funding", n) for n in range(options.rounds)]
        plain.append(alone(bodies[:300], resiliparse_alone, cores))
        dear = alone(bodies[:60], trafilatura_alone, cores)
        markdown = measure(scratch, cores, bodies[: max(len(bodies) // 20, 50)], "general", 0)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if options.out:
        samples = {"pages": options.pages, "irrelevant": irrelevant, "markdown": markdown, "resiliparse": plain,
                   "trafilatura": dear, "load": os.getloadavg()}  # fmt: skip
        options.out.write_text(json.dumps(samples, indent=1) + "\n")
    found = statistics.median(irrelevant)
    rounds = ", ".join(f"{rate:.0f}" for rate in irrelevant)
    print(f"irrelevant pages: {found:.0f} pages a client CPU-second (median of {rounds})")
    print(f"with markdown for every page: {markdown:.0f}")
    print(f"alone: resiliparse {', '.join(f'{rate:.0f}' for rate in plain)}, trafilatura {dear:.0f}; "
          f"ours is {found / statistics.mean(plain):.2f} and {found / dear:.1f} times that")  # fmt: skip
    print(f"wanted {WANTED:.0f}: {'met' if found >= WANTED else 'NOT met'}, {found / WANTED:.2f} times")


def local_bodies(number: int) -> list[bytes]:
    """So many; beyond a thousand the same again, each with other bytes."""
    site = Web.generate(7, hosts=[HOST], pages_per_host=min(number, _DISTINCT), links_per_page=60, page_bytes=40_000)[
        HOST
    ]
    found = [site.answer(Request(HOST, path)).payload() for path in sorted(site.reachable())]
    return [found[n % len(found)] + b"<!-- %d -->" % n for n in range(number)]


def resiliparse_alone(html: str) -> object:
    return extract_plain_text(HTMLTree.parse(html), main_content=True)


def trafilatura_alone(html: str) -> object:
    return trafilatura.extract(html, output_format="markdown")


def alone(bodies: list[bytes], read: Callable[[str], object], cores: Cores) -> float:
    """Pages a CPU-second of a library by itself: no child, no database, nothing kept."""
    pages = [body.decode() for body in bodies]
    with on_core(cores.client):
        read(pages[0])
        started = time.process_time()
        for page in pages:
            read(page)
        return len(pages) / (time.process_time() - started)


def measure(scratch: Path, cores: Cores, bodies: list[bytes], profile: str, number: int) -> float:
    """Pages a CPU-second of the client and its children, everything from start to end."""
    with project(scratch, f"{profile}{number}", core=cores.other) as made:
        with made.app() as app:
            fill(app, bodies, profile)
        before = made.database.cpu_seconds()
        command = [PROGRAM, "-q", "parse", "--no-index", "--json"]
        spent = run_measured(command, core=cores.client, cwd=made.home, env=made.env, output=made.said)
        server = made.database.cpu_seconds() - before
        told = json.loads(made.said.read_text())
        check(made, told, len(bodies))
    rate = len(bodies) / spent.cpu_seconds
    print(
        f"  {profile}: {rate:.0f} pages a client CPU-second, {len(bodies) / (spent.cpu_seconds + server):.0f} with the "
        f"server's; {told['relevant']:,} relevant; {spent.peak_bytes / 1e6:.0f} MB at most",
        flush=True,
    )
    return rate


def check(made: Project, told: dict[str, object], number: int) -> None:
    with made.database.connect() as conn:
        found = conn.execute("select count(*) from page_snapshots").fetchone()
    if told["outcomes"] != {"parsed": number} or found != (number,):
        raise RuntimeError(f"not all were parsed: {told}, {found}")


def fill(app: App, bodies: list[bytes], profile: str) -> None:
    """Pages as a crawl leaves them."""
    with app.database.begin() as conn:
        values = {"name": HOST, "profile": profile}
        domain_id = conn.execute(
            text("""
                insert into domains (name, site, shared_key, approval, profile)
                values (:name, :name, :name, 'approved', :profile) returning id"""),
            values,
        ).scalar_one()
    for start in range(0, len(bodies), 500):
        part = list(enumerate(bodies[start : start + 500], start))
        rows = [_put(app, domain_id, n, body) for n, body in part]
        app.body_store.sync()
        with app.database.begin() as conn:
            _insert(conn, rows)


def _put(app: App, domain_id: int, n: int, body: bytes) -> dict[str, object]:
    path = f"/page/{n}"
    key = hash_of(path)
    ref = app.body_store.put(StoredBody(domain_id, key, HEAD, body))
    return {"d": domain_id, "p": key, "path": path, "b": sha256(body).digest(), "k": ref.pack_id, "o": ref.offset,
            "l": ref.length}  # fmt: skip


def _insert(conn: Connection, rows: list[dict[str, object]]) -> None:
    conn.execute(
        text("""
            insert into pages (domain_id, path_hash, path, state, body_hash, content_type, pack_id, pack_offset,
                               pack_length, last_fetched_at, last_status)
            values (:d, :p, :path, 'fetched', :b, 'text/html; charset=utf-8', :k, :o, :l, bailiwick_now(), 200)"""),
        rows,
    )
    conn.execute(text("insert into parse_queue (domain_id, path_hash, body_hash) values (:d, :p, :b)"), rows)


if __name__ == "__main__":
    main()
