"""What visits work with, put together once for a process."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.crawl.html import Parsed
from bailiwick.model.urls import LinkJoiner, UrlRules
from bailiwick.net.credentials import Credentials
from bailiwick.ports import BodyStore, Fetcher

Parse: TypeAlias = Callable[[bytes, str, str], Awaitable[Parsed]]
"""Body, content type and host in."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What a visit works with."""

    fetcher: Fetcher
    store: BodyStore
    joiner: LinkJoiner
    rules: UrlRules
    credentials: Credentials
    max_retries: int
    retry_backoff_seconds: float
    agent: str
    """Our name in robots.txt."""
    reserve: Callable[[str], Awaitable[float]]
    """Reserve a request to a host that nobody holds; how many seconds to wait for it? Infinite: somebody holds it."""
