"""A parsed page that was answered with 200 comes in; out goes what it is instead of content, or None."""

from bailiwick.crawl.lookalikes.judge import Lookalike, looks_like
from bailiwick.crawl.lookalikes.redirects import leads_to_login

__all__ = ["Lookalike", "leads_to_login", "looks_like"]
