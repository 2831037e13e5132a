"""Scrapy on the race's site: `python scrapy_site.py URL JOBDIR [FOLDER]`. Runs in the peers' environment.

Settings as a careful user would have them: 16 requests at once, no delay, robots.txt obeyed, the queue on disk. Links
come from its own LinkExtractor, and it leaves out what it has seen by itself. Without FOLDER bodies are not kept; with
it each is written to a gzip file (level 1, as Bailiwick's zstd level is 1).
"""

import gzip
import sys
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

SETTINGS = {
    "AUTOTHROTTLE_ENABLED": False,
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "DOWNLOAD_DELAY": 0,
    "HTTPCACHE_ENABLED": False,
    "LOG_LEVEL": "WARNING",
    "ROBOTSTXT_OBEY": True,
    "TELNETCONSOLE_ENABLED": False,
    "USER_AGENT": "RaceBot",
}


class SiteSpider(scrapy.Spider):
    """All pages of one site."""

    name = "site"

    def __init__(self, url: str, folder: Path | None) -> None:
        super().__init__()
        self.allowed_domains = [urlsplit(url).hostname]
        self._url = url
        self._extractor = LinkExtractor()
        self._folder = folder

    async def start(self):
        yield scrapy.Request(self._url)  # as `start_urls`, but remembered as seen: no page is asked for twice

    def parse(self, response):
        if self._folder is not None:
            self._keep(response)
        yield from response.follow_all(self._extractor.extract_links(response))

    def _keep(self, response) -> None:
        file = self._folder / f"{sha256(response.url.encode()).hexdigest()}.gz"
        file.write_bytes(gzip.compress(response.body, compresslevel=1))


def main(url: str, jobdir: str, folder: str | None = None) -> None:
    process = CrawlerProcess(SETTINGS | {"JOBDIR": jobdir})
    process.crawl(SiteSpider, url=url, folder=Path(folder) if folder else None)
    process.start()


if __name__ == "__main__":
    main(*sys.argv[1:])
