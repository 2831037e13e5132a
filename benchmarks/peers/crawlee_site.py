"""Crawlee for Python on the race's site: `python crawlee_site.py URL FOLDER`. Runs in the peers' environment.

ParselCrawler with its storage in files, so that its queue survives a restart, 16 requests at once all the time,
robots.txt obeyed. Bodies are not kept.
"""

import asyncio
import sys

from crawlee import ConcurrencySettings
from crawlee.configuration import Configuration
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import FileSystemStorageClient


async def main(url: str, folder: str) -> None:
    crawler = ParselCrawler(
        configuration=Configuration(storage_dir=folder, log_level="WARNING"),
        storage_client=FileSystemStorageClient(),
        concurrency_settings=ConcurrencySettings(min_concurrency=16, max_concurrency=16, desired_concurrency=16),
        respect_robots_txt_file=True,
        configure_logging=False,
    )

    @crawler.router.default_handler
    async def follow(context: ParselCrawlingContext) -> None:
        await context.enqueue_links(strategy="same-hostname")

    await crawler.run([url])


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
