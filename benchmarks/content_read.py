"""How fast a page is read: decoding, tree, main text, metadata and hashes. `python -m benchmarks.content_read`.

Pages of the local web at 40 KB, and those of the public articles suite where it is found. Prints pages per CPU-second
of one process, best and all of the rounds; `--profile` prints where the time goes, `--markdown` adds the dear step.
"""

import argparse
import cProfile
import gzip
import pstats
import time
from collections.abc import Callable

from tests.suites import suite_path

from bailiwick.demo.web.answers import Request
from bailiwick.demo.web.sites import Web
from bailiwick.extract.content import ContentLimits, read_content
from bailiwick.extract.markdown import markdown_of

LIMITS = ContentLimits()
HTML = "text/html; charset=utf-8"
ROUNDS = 7


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast a page is read.")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    corpora = {"local web, 40 KB": local_pages()} | articles()
    print(f"{'pages':28} {'number':>6} {'KB':>6} {'pages/CPU-s':>12}  rounds")
    for name, pages in corpora.items():
        report(name, pages, read)
        if options.markdown:
            report(f"{name}: markdown", pages[:30], to_markdown)
        if options.profile:
            with cProfile.Profile() as profile:
                for page in pages:
                    read(page)
            pstats.Stats(profile).sort_stats("tottime").print_stats(15)


def read(page: bytes) -> object:
    return read_content(page, HTML, "https://example.org/a/page", LIMITS)


def to_markdown(page: bytes) -> object:
    return markdown_of(page, HTML, "https://example.org/a/page")


def report(name: str, pages: list[bytes], work: Callable[[bytes], object]) -> None:
    work(pages[0])
    rates = sorted(len(pages) / seconds(pages, work) for _ in range(ROUNDS))
    size = sum(map(len, pages)) / len(pages) / 1_000
    print(f"{name:28} {len(pages):6} {size:6.0f} {rates[-1]:12.0f}  {' '.join(f'{rate:.0f}' for rate in rates)}")


def seconds(pages: list[bytes], work: Callable[[bytes], object]) -> float:
    start = time.process_time()
    for page in pages:
        work(page)
    return time.process_time() - start


def local_pages() -> list[bytes]:
    site = Web.generate(7, hosts=["example.org"], pages_per_host=150, links_per_page=60, page_bytes=40_000)[
        "example.org"
    ]
    return [site.answer(Request("example.org", path)).payload() for path in sorted(site.reachable())]


def articles() -> dict[str, list[bytes]]:
    folder = suite_path("articles/html")
    if folder is None:
        print("the articles suite is not found: the local web alone")
        return {}
    pages = [gzip.decompress(file.read_bytes()) for file in sorted(folder.glob("*.html.gz"))]
    return {"articles, 25 to 60 KB": [page for page in pages if 25_000 <= len(page) <= 60_000], "articles, all": pages}


if __name__ == "__main__":
    main()
