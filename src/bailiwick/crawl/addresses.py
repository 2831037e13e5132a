"""Addresses in the crawl: where a redirect leads, and what is on a domain's own hosts."""

from bailiwick.base.errors import NameRefusedError
from bailiwick.model.names import DomainName
from bailiwick.model.urls import PageUrl, UrlRules
from bailiwick.ports import FetchAnswer

_LONGEST = 2048
_ANY = UrlRules(allow_private=True)


def redirect_target(answer: FetchAnswer, rules: UrlRules = _ANY) -> tuple[str, PageUrl] | None:
    """(URL, page) that a redirect leads to; None if it is no page of the web. Credentials in it are dropped."""
    from ada_url import join_url

    location = answer.headers.get("location", "").strip()
    try:
        where = PageUrl.parse(location, base=answer.url, rules=rules)
        url = join_url(answer.url, location).partition("#")[0]
    except (NameRefusedError, ValueError):
        return None
    return f"{origin_of(url)}/{url.partition('://')[2].partition('/')[2]}", where


def own_url(domain: DomainName, base: str, href: str) -> str | None:
    """The absolute address of something on this domain's own hosts; None for all else."""
    from ada_url import join_url

    try:
        url = join_url(base, href.strip()).partition("#")[0]
    except ValueError:
        return None
    return url if len(url) <= _LONGEST and is_own(domain, url) else None


def is_own(domain: DomainName, url: str) -> bool:
    """Whether the domain's lease covers this host."""
    if host_of(url).removeprefix("www.") == domain.name:
        return True  # as it is almost always
    try:
        return PageUrl.parse(url, rules=_ANY).domain == domain
    except NameRefusedError:
        return False


def origin_of(url: str) -> str:
    """Scheme and host; what stands in front of the host as credentials is dropped."""
    return f"{url.partition('://')[0]}://{host_of(url)}"


def host_of(url: str) -> str:
    """Host and port of an absolute URL."""
    return url.partition("://")[2].partition("/")[0].rpartition("@")[2].lower()
