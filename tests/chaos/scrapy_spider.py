"""Scrapy on the driver's web: `python scrapy_spider.py JOBDIR OUT DELAY URL…`. Runs in the peers' environment.

As its documentation says for jobs that are to be resumed: a JOBDIR, one process at a time. Each page's URL is appended
to OUT and flushed as its callback runs. Start pages are remembered as seen, like any other.
"""

import sys
from pathlib import Path
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.resolver import dnscache

SETTINGS = {
    "AUTOTHROTTLE_ENABLED": False,
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 3,
    "LOG_LEVEL": "ERROR",
    "RANDOMIZE_DOWNLOAD_DELAY": False,
    "ROBOTSTXT_OBEY": True,
    "TELNETCONSOLE_ENABLED": False,
    "USER_AGENT": "ChaosBot",
}


class TownsSpider(scrapy.Spider):
    """All pages of some hosts."""

    name = "towns"

    def __init__(self, out: Path, urls: list[str]) -> None:
        super().__init__()
        self.allowed_domains = sorted({urlsplit(url).hostname for url in urls})
        self._urls = urls
        self._extractor = LinkExtractor()
        self._out = out.open("a")

    async def start(self):
        for url in self._urls:
            yield scrapy.Request(url)

    def parse(self, response):
        self._out.write(f"{response.url}\n")
        self._out.flush()
        yield from response.follow_all(self._extractor.extract_links(response))


def main(jobdir: str, out: str, delay: str, *urls: str) -> None:
    for url in urls:  # these names are nobody's: all are on loopback
        dnscache[urlsplit(url).hostname] = "127.0.0.1"
    process = CrawlerProcess(SETTINGS | {"JOBDIR": jobdir, "DOWNLOAD_DELAY": float(delay)})
    process.crawl(TownsSpider, out=Path(out), urls=list(urls))
    process.start()


if __name__ == "__main__":
    main(*sys.argv[1:])
