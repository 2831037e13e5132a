"""One page for one person, put together from the App."""

import asyncio

from bailiwick.app import App
from bailiwick.crawl.single import Errand, fetch_single
from bailiwick.model.urls import UrlRules
from bailiwick.net.agent import product, user_agent
from bailiwick.net.client import HttpFetcher
from bailiwick.net.guard import Guard, Resolve
from bailiwick.ports import FetchAnswer


def fetch(app: App, url: str, resolves: tuple[Resolve, ...]) -> FetchAnswer:
    """Fetch it politely. Errors say why not."""
    return asyncio.run(_fetch(app, url, resolves))


async def _fetch(app: App, url: str, resolves: tuple[Resolve, ...]) -> FetchAnswer:
    settings = app.settings
    guard = Guard(allow_private=settings.net.allow_private_networks, resolves=resolves)
    name = user_agent(settings.crawl)
    fetcher = HttpFetcher(settings.net, guard, user_agent=name)
    rules = UrlRules(allow_private=settings.names.allow_private)
    try:
        return await fetch_single(Errand(app.database, fetcher, rules, product(name), app.actor), url)
    finally:
        await fetcher.close()
