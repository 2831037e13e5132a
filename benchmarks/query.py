"""Search over a million pages, and exports of them at flat memory. `make bench-query`.

`python -m benchmarks.query search` asks filtered and unfiltered questions, words of every frequency, each many times
with other words, on an embedded server as a user gets it; `… products` does so over a million products. `… export`
writes all rows, and a tenth of them, in each format, in a process of its own, and looks at its largest memory. Nothing
fails when a figure is not met. `--keep DIR` makes the rows there once and finds them the next time. A small try:
`python -m benchmarks.query all --pages 20000 --times 10`.
"""

import argparse
import json
import multiprocessing
import os
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

from sqlalchemy import text

from bailiwick.backends.index_postgres import PostgresSearchIndex
from bailiwick.base.settings import Settings
from bailiwick.db.engine import Database
from bailiwick.model.search import Facet, OfferFilter, SearchQuery
from bailiwick.query.export.rows import Which
from bailiwick.query.export.service import Request, encoder_for, to_file
from benchmarks.embedded import embedded
from benchmarks.query_rows import DOMAINS, VOCABULARY, fill, word
from benchmarks.registry import busy_seconds

WANTED_MS = 50.0
LARGE, MIDDLE, SMALL = (1,), (12,), (250,)
"""Domains: about a sixth of all pages, one in a hundred, a few hundred."""
Ask = Callable[[random.Random], SearchQuery]


def frequent(dice: random.Random) -> str:
    """In 6 to 30 of a hundred pages, as the most frequent words are that are no stop words."""
    return word(dice.randrange(30, 200))


def medium(dice: random.Random) -> str:
    return word(dice.randrange(300, 3_000))


def rare(dice: random.Random) -> str:
    return word(dice.randrange(30_000, VOCABULARY))


FILTERED: dict[str, Ask] = {
    "rare, large domain": lambda d: SearchQuery(rare(d), domain_ids=LARGE),
    "medium, large domain": lambda d: SearchQuery(medium(d), domain_ids=LARGE),
    "frequent, large domain": lambda d: SearchQuery(frequent(d), domain_ids=LARGE),
    "frequent, middle domain": lambda d: SearchQuery(frequent(d), domain_ids=MIDDLE),
    "frequent, small domain": lambda d: SearchQuery(frequent(d), domain_ids=SMALL),
    "frequent, any domain of many": lambda d: SearchQuery(frequent(d), domain_ids=(d.randrange(1, DOMAINS),)),
    "two frequent, large domain": lambda d: SearchQuery(f"{frequent(d)} {frequent(d)}", domain_ids=LARGE),
    "frequent -medium, middle domain": lambda d: SearchQuery(f"{frequent(d)} -{medium(d)}", domain_ids=MIDDLE),
    "medium OR medium, middle domain": lambda d: SearchQuery(f"{medium(d)} OR {medium(d)}", domain_ids=MIDDLE),
    "medium, kind product": lambda d: SearchQuery(medium(d), kinds=("product",)),
    "frequent, kind product": lambda d: SearchQuery(frequent(d), kinds=("product",)),
    "frequent, kind page, facets": lambda d: SearchQuery(frequent(d), kinds=("page",), facets=tuple(Facet)),
    "phrase, large domain": lambda d: SearchQuery(f'"{frequent(d)} {frequent(d)}"', domain_ids=LARGE),
    "prefix of 4 letters, large domain": lambda d: SearchQuery(f"{medium(d)[:4]}*", domain_ids=LARGE),
    "frequent, relevant, german, middle": lambda d: SearchQuery(
        frequent(d), domain_ids=MIDDLE, languages=("de",), only_relevant=True
    ),
}
OFFER_FACETS = (Facet.BRAND, Facet.CATEGORY, Facet.DOMAIN, Facet.AVAILABILITY)


def offer(dice: random.Random, **more: object) -> OfferFilter:
    """10..100, 3..30 and the like, in stock."""
    low = Decimal(str(round(10 ** dice.uniform(0, 3), 2)))
    return OfferFilter(low=low, high=low * 10, in_stock=True, **more)  # type: ignore[arg-type]


PRODUCTS: dict[str, Ask] = {
    "price, in stock": lambda d: SearchQuery("", offer=offer(d)),
    "price, in stock, facets": lambda d: SearchQuery("", offer=offer(d), facets=OFFER_FACETS),
    "price, in stock, brand": lambda d: SearchQuery("", offer=offer(d, brands=(f"brand {d.randrange(1, 2000)}",))),
    "price, in stock, category": lambda d: SearchQuery(
        "", offer=offer(d, categories=(f"category {d.randrange(211)}",))
    ),
    "price, in stock, large domain": lambda d: SearchQuery("", offer=offer(d), domain_ids=LARGE),
    "price, in stock, any domain": lambda d: SearchQuery("", offer=offer(d), domain_ids=(d.randrange(1, DOMAINS),)),
    "rare word, price, in stock": lambda d: SearchQuery(rare(d), offer=offer(d)),
    "medium word, price, in stock": lambda d: SearchQuery(medium(d), offer=offer(d)),
    "frequent word, price, in stock": lambda d: SearchQuery(frequent(d), offer=offer(d)),
    "frequent word, price, facets": lambda d: SearchQuery(frequent(d), offer=offer(d), facets=OFFER_FACETS),
    "two frequent words, price": lambda d: SearchQuery(f"{frequent(d)} {frequent(d)}", offer=offer(d)),
    "frequent word, category": lambda d: SearchQuery(
        frequent(d), offer=OfferFilter(categories=(f"category {d.randrange(211)}",))
    ),
    "frequent word, brand, price": lambda d: SearchQuery(
        frequent(d), offer=offer(d, brands=(f"brand {d.randrange(1, 2000)}",))
    ),
    "medium word, large domain, price": lambda d: SearchQuery(medium(d), offer=offer(d), domain_ids=LARGE),
}
UNFILTERED: dict[str, Ask] = {
    "rare": lambda d: SearchQuery(rare(d)),
    "medium": lambda d: SearchQuery(medium(d)),
    "frequent": lambda d: SearchQuery(frequent(d)),
    "a word of every page": lambda _: SearchQuery(word(0)),
    "phrase of frequent words": lambda d: SearchQuery(f'"{frequent(d)} {frequent(d)}"'),
    "prefix of 4 letters": lambda d: SearchQuery(f"{medium(d)[:4]}*"),
}


def main() -> None:
    options = arguments()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    print(f"cores: {os.cpu_count()}, load before: {os.getloadavg()}, {options.pages:,} pages")
    measured: dict[str, object] = {"pages": options.pages, "loads": [os.getloadavg()]}
    with library(options) as database:
        show_size(database)
        if options.what in ("search", "all"):
            asked = {"filtered": FILTERED, "not filtered": UNFILTERED}
            measured["milliseconds"] = measure_search(database, asked, options)
        if options.what == "products":
            measured["milliseconds"] = measure_search(database, {"products": PRODUCTS}, options)
        if options.what in ("export", "all"):
            measured["exports"] = measure_exports(database, options)
    print(f"load after: {os.getloadavg()}")
    if options.out:
        options.out.write_text(json.dumps(measured, separators=(",", ":")).replace('],"', '],\n"') + "\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("search", "products", "export", "all"))
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=60, help="questions of each kind")
    parser.add_argument("--cold", action="store_true", help="every question from the disk, with a new server")
    parser.add_argument("--formats", default="jsonl,csv,parquet")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="make the rows there, or take those that are there")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the raw samples there, as JSON")
    return parser.parse_args()


@contextmanager
def library(options: argparse.Namespace) -> Iterator[Database]:
    """An embedded server, as a user gets it, full of pages."""
    with embedded(options.keep) as (database, is_new):
        if is_new:
            fill(database, options.pages, every=1 if options.what == "products" else 8)
        yield database


def show_size(database: Database) -> None:
    with database.read() as conn:
        sizes = "pg_size_pretty(pg_table_size('search_documents')), pg_size_pretty(pg_indexes_size('search_documents'))"
        table, indexes = conn.execute(text(f"select {sizes}")).one()
    print(f"search_documents: {table}, its indexes {indexes}")


def measure_search(
    database: Database, asked: dict[str, dict[str, Ask]], options: argparse.Namespace
) -> dict[str, list[float]]:
    """The clock is around the whole question: connection, parsing, ranking, snippets of 20 hits, facets."""
    index = PostgresSearchIndex(database)
    samples = {}
    for title, asks in asked.items():
        together: list[float] = []
        print(f"\n{title:36}    p50    p95    max  ms    CPU ms  (matches of the last)")
        for what, ask in asks.items():
            dice = random.Random(what)
            index.search(ask(dice))
            measured, cpu = [], 0.0
            before = sum(busy_seconds(database))
            for _ in range(options.times):
                query = ask(dice)
                if options.cold:
                    forget(database)
                    index.search(SearchQuery("unheardof"))
                    before = sum(busy_seconds(database))
                start = time.perf_counter()
                answer = index.search(query)
                measured.append((time.perf_counter() - start) * 1000)
                cpu += (sum(busy_seconds(database)) - before) if options.cold else 0
            cpu = (cpu or sum(busy_seconds(database)) - before) / options.times * 1000
            samples[f"{title}: {what}"] = measured
            together += measured
            total = f"more than {answer.total:,}" if answer.is_capped else f"{answer.total:,}"
            print(f"  {what:34} {spread(measured)}      {cpu:6.1f}  ({total})")
        wanted = f"wanted: p95 below {WANTED_MS:g}" if title != "not filtered" else ""
        print(f"  {'all of these':34} {spread(together)}       {wanted}")
    return samples


def forget(database: Database) -> None:
    """A server with empty buffers, and none of its files in the system's cache: as after the start of a machine."""
    database.close()
    database.server.stop()  # type: ignore[union-attr]
    for path in database.server.data_root.rglob("*"):  # type: ignore[union-attr]
        if path.is_file() and path.stat().st_size:
            file = os.open(path, os.O_RDONLY)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


def spread(measured: list[float]) -> str:
    parts = statistics.quantiles(measured, n=20)
    return f"{parts[9]:6.1f} {parts[18]:6.1f} {max(measured):6.1f}"


def measure_exports(database: Database, options: argparse.Namespace) -> dict[str, object]:
    print(f"\n{'export':34} rows       s    rows/s      MB  peak memory, MB")
    with database.read() as conn:
        counted = text("select domain_id, count(*) from page_parses group by 1 order by abs(count(*) - :tenth) limit 1")
        domain_id, _ = conn.execute(counted, {"tenth": options.pages // 10}).one()
    found: dict[str, object] = {}
    for format_ in options.formats.split(","):
        for which in (Which(domain_ids=(domain_id,)), Which()):
            out = database.server.data_root.parent / f"export.{format_}"  # type: ignore[union-attr]
            context = multiprocessing.get_context("spawn")
            with context.Pool(1) as pool:
                root = str(database.server.data_root)  # type: ignore[union-attr]
                rows, seconds, peak = pool.apply(export_one, (root, format_, which, str(out)))
            size = out.stat().st_size
            out.unlink()
            name = f"{format_}, {'all' if not which.domain_ids else 'about a tenth'}"
            print(f"  {name:28} {rows:9,} {seconds:7.1f} {rows / seconds:9,.0f} {size / 1e6:7.0f} {peak / 1024:16.0f}")
            found[name] = [rows, seconds, peak]
    return found


def export_one(root: str, format_: str, which: Which, out: str) -> tuple[int, float, int]:
    """In a process of its own: rows, seconds, kilobytes at most."""
    with Database(Path(root), Settings()) as database:
        request = Request("pages", format_, which)
        start = time.perf_counter()
        encoder = encoder_for(request, lambda: sys.exit("no bodies here"))
        done = to_file(database, request, Path(out), encoder, advance=lambda _: None)
        seconds = time.perf_counter() - start
    return done.rows, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
