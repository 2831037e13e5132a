"""What an address says about the page behind it: its folders as words, and whether they belong to an article."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote_plus

from bailiwick.base.errors import NameRefusedError
from bailiwick.model.material import PageLink
from bailiwick.model.names import DomainName
from bailiwick.score.rules.shipped import shipped_set
from bailiwick.score.rules.wording import words_in

_MOST_CHARS = 2_000
_MOST_FOLDERS = 12
_FIRST_LINKS, _LAST_LINKS = 4_000, 1_000
_PARTS = re.compile(r"(https?)://([^/?#\\\s]+)([^?#]*)(?:\?([^#]*))?", re.I)
_ENDING = re.compile(r"\.(?:x?html?|php\d?|aspx?|jspx?|cfm|do|shtml|page)$", re.I)
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DATE = re.compile(r"/(?:19|20)\d\d(?:[/-]\d\d?){0,2}(?:/|$)")
_FOLDERS = "folders.toml"


@dataclass(frozen=True, slots=True)
class Address:
    """An http(s) address, taken apart."""

    url: str
    """Without its fragment."""
    host: str
    path: str
    query: str
    folders: tuple[tuple[str, ...], ...]
    """The words of each folder of the path."""

    @property
    def last(self) -> tuple[str, ...]:
        """The folder that says what the page is; of `?page=contact` that."""
        folders = [folder for folder in self.folders if "".join(folder) not in shipped_set(_FOLDERS, "trailing")]
        return folders[-1] if folders else self._asked_for()

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word for folder in self.folders for word in folder) or self._asked_for()

    @property
    def is_subject(self) -> bool:
        """One of a list of tags, products, articles of a reference work."""
        return not shipped_set(_FOLDERS, "subjects").isdisjoint(self._outer)

    @property
    def is_plain(self) -> bool:
        """Such as a site's own pages have: short, not dated, in no folder of articles."""
        return (
            len(self.folders) <= 3
            and len(self.last) <= 4
            and self._outer.isdisjoint(shipped_set(_FOLDERS, "articles") | shipped_set(_FOLDERS, "subjects"))
            and not self.is_dated
        )

    @property
    def is_among_articles(self) -> bool:
        """In a folder in which nothing but articles are."""
        articles = shipped_set(_FOLDERS, "articles") - shipped_set(_FOLDERS, "sections")
        return not articles.isdisjoint(self._outer)

    @property
    def is_dated(self) -> bool:
        return _DATE.search(self.path) is not None

    @property
    def is_form(self) -> bool:
        """At one of the services that make forms for others."""
        return any(self.host == host or self.host.endswith(f".{host}") for host in shipped_set(_FOLDERS, "form_hosts"))

    @property
    def _outer(self) -> frozenset[str]:
        """The folders that the last one lies in."""
        return frozenset("".join(folder) for folder in self.folders[:-1])

    def _asked_for(self) -> tuple[str, ...]:
        for part in self.query.split("&", 8)[:8]:
            name, _, value = part.partition("=")
            if name.lower() in shipped_set(_FOLDERS, "parameters") and not value.isdigit():
                return _words(value)
        return ()


@lru_cache(maxsize=16_384)
def address_of(url: str) -> Address | None:
    """None for all that is no http(s) address of ordinary length."""
    found = _PARTS.match(url) if len(url) <= _MOST_CHARS else None
    if found is None:
        return None
    host = found[2].rpartition("@")[2].lower().removeprefix("www.").removesuffix(":443").removesuffix(":80")
    folders = [_words(_ENDING.sub("", folder)) for folder in found[3].split("/")[: _MOST_FOLDERS + 1]]
    return Address(found[0], host, found[3], found[4] or "", tuple(folder for folder in folders if folder))


def some_links(links: Sequence[PageLink]) -> Sequence[PageLink]:
    """A page's first and last links: menus and footers, where those to a site's own pages are."""
    if len(links) <= _FIRST_LINKS + _LAST_LINKS:
        return links
    return (*links[:_FIRST_LINKS], *links[-_LAST_LINKS:])


def same_domain(one: Address, other: Address) -> bool:
    return one.host == other.host


def same_site(one: Address, other: Address) -> bool:
    """Under one registrable name: a blog's contact page may be its company's."""
    return one.host == other.host or _site_of(one.host) == _site_of(other.host)


@lru_cache(maxsize=8_192)
def _site_of(host: str) -> str:
    try:
        return DomainName.parse(host, allow_private=True, collapse_subdomains=True).name
    except NameRefusedError:
        return host


def _words(folder: str) -> tuple[str, ...]:
    return words_in(_CAPITAL.sub(" ", unquote_plus(folder)))
