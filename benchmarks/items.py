"""How fast items are extracted, beside the libraries alone. `make bench-items`.

Pages of the public products suite (half a megabyte each): everything that the profile `products` makes of one, from its
bytes to the answer that a child process sends: content, relevance, products. In the same run, on the same core: extruct
alone, with all of its syntaxes, and with those that we use; and content alone. Pages per CPU-second, best and all.
Besides, the five kinds that rules read (services to contacts) on gold pages of 60 KB, with prose and links around them.
"""

import argparse
import cProfile
import gc
import json
import pstats
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tests.quality.gold import gold_pages, source_of
from tests.quality.products import ShopPage, shop_pages
from tests.suites import suite_path

from bailiwick.extract.child import COLLECT_AFTER
from bailiwick.extract.content import ContentLimits, read_content
from bailiwick.extract.items import EXTRACTORS
from bailiwick.extract.items.source import Source
from bailiwick.extract.page import Body, PageExtractor
from bailiwick.extract.wire import pack_answer
from bailiwick.model.content import Relevance, RelevanceSource
from bailiwick.model.items import ItemKind

WANTED = 40
SMALLER = "the smaller half"
"""Everything, of the pages below the median size."""
HTML = "text/html; charset=utf-8"
LIMITS = ContentLimits()
RULED = (ItemKind.SERVICE, ItemKind.OPPORTUNITY, ItemKind.BUSINESS, ItemKind.FUNDING_PROGRAMME, ItemKind.CONTACT)
FIVE_KINDS = "five kinds, rules"
Page = TypeVar("Page")
RELEVANT = Relevance(1.0, True, "for the benchmark", RelevanceSource.ALL)


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast items are extracted.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--profile", action="store_true", help="Print where the time goes.")
    parser.add_argument("--out", type=Path, help="Write the samples here.")
    options = parser.parse_args()
    folder = suite_path("products")
    if folder is None:
        raise SystemExit("the products suite is not found")
    gc.set_threshold(COLLECT_AFTER)  # as a child process has it
    pages = list(shop_pages(folder))
    size = sum(len(page.body) for page in pages) / len(pages)
    print(f"{len(pages)} pages of {size / 1000:.0f} KB; wanted: {WANTED} pages a CPU-second")
    small = sorted(pages, key=lambda page: len(page.body))[: len(pages) // 2]
    works = {
        "everything": everything(),
        "content alone": content,
        "extruct, all": extruct_all,
        "extruct, ours": extruct_ours,
    }
    rates: dict[str, list[float]] = {name: [] for name in (*works, SMALLER, FIVE_KINDS)}
    for _ in range(options.rounds):
        for name, work in works.items():
            rates[name].append(len(pages) / seconds(pages, work))
        rates[SMALLER].append(len(small) / seconds(small, works["everything"]))
        padded = padded_gold()
        rates[FIVE_KINDS].append(len(padded) / seconds(padded, five_kinds))
    for name, found in rates.items():
        ratio = max(found) / max(rates["extruct, all"])
        print(
            f"{name:18} {max(found):8.1f}  {ratio:5.2f} of extruct  "
            + " ".join(f"{rate:.1f}" for rate in sorted(found))
        )
    if options.profile:
        with cProfile.Profile() as profile:
            seconds(pages, works["everything"])
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
    if options.out:
        told = {"pages": len(pages), "bytes": round(size), "rates": rates}
        options.out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def everything() -> Callable[[ShopPage], object]:
    extractor = PageExtractor(None, LIMITS)
    return lambda page: pack_answer(extractor.extract(Body(page.body, HTML, page.url, "products", relevance=RELEVANT)))


def content(page: ShopPage) -> object:
    return read_content(page.body, HTML, page.url, LIMITS)


def extruct_all(page: ShopPage) -> object:
    import extruct

    return extruct.extract(page.body, base_url=page.url, encoding="utf-8", errors="ignore")


def extruct_ours(page: ShopPage) -> object:
    import extruct

    syntaxes = ["json-ld", "microdata", "opengraph"]
    return extruct.extract(page.body, base_url=page.url, encoding="utf-8", errors="ignore", syntaxes=syntaxes)


def padded_gold() -> list[Source]:
    """Gold pages of about 60 KB, made anew for each round: a source remembers what was read of it."""
    prose = "The choir sings on every Tuesday of the year, come rain or snow, and all are welcome. " * 6
    padding = "".join(
        f'<div class="teaser"><h3>Story {n}</h3><p>{prose}</p><a href="/{n}">more</a></div>' for n in range(90)
    )
    made = []
    for kind in RULED[:-1]:
        for page in [page for page in gold_pages(kind.value) if page.items][:8]:
            read = source_of(page)
            html = read.html.replace("</body>", f"<section>{padding}</section></body>")
            made.append(Source(read.url, html, read.content, seen_on=read.seen_on))
            assert made[-1].tree is not None
    return made


def five_kinds(page: Source) -> None:
    for kind in RULED:
        EXTRACTORS[kind](page)


def seconds(pages: list[Page], work: Callable[[Page], object]) -> float:
    start = time.process_time()
    for page in pages:
        work(page)
    return time.process_time() - start


if __name__ == "__main__":
    main()
