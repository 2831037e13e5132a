"""Who we say we are, to servers and in robots.txt."""

import re

from bailiwick import __version__
from bailiwick.base.sections import CrawlSettings


def user_agent(settings: CrawlSettings) -> str:
    """Who we say we are: the product, and how to reach its operator."""
    if settings.user_agent:
        return settings.user_agent
    return f"Bailiwick/{__version__}" + (f" (+{settings.contact})" if settings.contact else "")


def product(agent: str) -> str:
    """The name by which robots.txt knows us: the User-Agent's first word, without its version."""
    found = re.match(r"[A-Za-z_-]+", agent)
    return found[0] if found else "Bailiwick"
