"""Page URLs: a page is (domain, path + query); scheme, `www.` and fragment are no part of it (DESIGN 3).

The path is what browsers send (WHATWG: dot segments resolved, non-ASCII percent-encoded), normalised further:

- Percent-encoding is in upper case, and letters, digits and `-._~` are not encoded (RFC 3986 section 6.2.2:
  the only characters for which no server may see a difference).
- Parameters that only follow the visitor are removed, empty ones too, and the `?` of a query left empty.
- The order of the query stays, unless the rules say sort.

A page is fetched by this form: what identity forgets is not sent either.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from string import ascii_letters, digits
from typing import Self, TypeAlias

from bailiwick.base.errors import NameRefusedError
from bailiwick.model.names import (
    MAX_TEXT_CHARS,
    DomainName,
    canonical_name,
    refused,
    split_url,
    typed_url,
)

PlainPage: TypeAlias = tuple[str, str]
"""(canonical domain name, path + query), where an object a link would cost too much."""

TRACKING_PREFIXES = ("hsa_", "itm_", "mtm_", "utm_", "vero_")
# Only names with one well-known meaning: `ref`, `source`, `cid` and their like choose content on some sites.
TRACKING_PARAMETERS = frozenset(
    """
    __hsfp __hssc __hstc __s _ga _gl _hsenc _hsmi _openstat cjevent dclid dm_i epik fb_action_ids
    fb_action_types fb_ref fb_source fbclid gad_campaignid gad_source gbraid gclid gclsrc guce_referrer
    guce_referrer_sig igshid irclickid jsessionid li_fat_id mc_cid mc_eid mkt_tok ml_subscriber
    ml_subscriber_hash msclkid oly_anon_id oly_enc_id phpsessid piwik_campaign piwik_kwd pk_campaign
    pk_content pk_keyword pk_kwd pk_medium pk_source rb_clickid s_kwcid srsltid ttclid twclid wbraid
    wickedid wt.mc_id yclid ysclid zanpid
    """.split()  # noqa: SIM905 (57 lines of quotes and commas otherwise)
)

# The group is missing after a stray `%`, as in `%%37E`: decoding there would spell a new triplet, and parsing
# twice would lead to another page.
_TRIPLET = re.compile(r"(?P<free>(?<!%)(?<!%[0-9A-Fa-f]))?%[0-9A-Fa-f]{2}")
_UNRESERVED = {f"%{ord(char):02X}": char for char in f"{ascii_letters}{digits}-._~"}


@dataclass(frozen=True, slots=True)
class UrlRules:
    """How URLs become pages. Parameter names are given in lower case and matched in any case."""

    tracking_parameters: frozenset[str] = TRACKING_PARAMETERS
    tracking_prefixes: tuple[str, ...] = TRACKING_PREFIXES
    sort_query: bool = False
    max_path_chars: int = 2_000
    allow_private: bool = False

    def tracks(self, parameter: str) -> bool:
        name = _name_of(parameter).lower()
        return name in self.tracking_parameters or name.startswith(self.tracking_prefixes)


DEFAULT_RULES = UrlRules()


@dataclass(frozen=True, slots=True, order=True)
class PageUrl:
    """One page of one domain. The constructor trusts its arguments; all else goes through `parse`."""

    domain: DomainName
    path: str
    """Path and query: the page's identity within its domain. ASCII, begins with `/`."""

    @classmethod
    def parse(cls, text: str, base: str | None = None, *, rules: UrlRules = DEFAULT_RULES) -> Self:
        """The page that a link found in the page `base` leads to, read as browsers read it.

        Without a base, the page that a person means by the text. Raises NameRefusedError, and nothing else.
        """
        url = typed_url(text) if base is None else _joined(base, text)
        name, path = _page_of(url, rules)
        return cls(DomainName(name), path)

    @property
    def key(self) -> bytes:
        return page_key(self.path)

    @property
    def sha256_hex(self) -> str:
        """The full digest of which `key` is the first eight bytes."""
        return sha256(self.path.encode()).hexdigest()

    def fetch_url(self, base_url: str | None = None) -> str:
        """The URL to request, at the domain's learned origin (`https://www.example.org`) if there is one."""
        origin = base_url or f"https://{self.domain}"
        return f"{origin.rstrip('/')}{self.path}"

    def __str__(self) -> str:
        return f"{self.domain}{self.path}"


def page_key(path: str) -> bytes:
    """The key of a page in its domain: the first 8 bytes of the SHA-256 of path + query."""
    return sha256(path.encode()).digest()[:8]


def hash_of(path: str) -> int:
    """The key of a page (or another address) as the database keeps it: eight bytes as a signed number."""
    return int.from_bytes(page_key(path), "big", signed=True)


class LinkJoiner:
    """Joins the links of many pages: plain strings in, plain pages out.

    The pages of a site share most of their links, so what was joined once is remembered, under the part of
    the base that such a link depends on: the origin (`/a`, `https://…`) or the folder (`a.html`). Before a
    page that finds `capacity_bytes` (estimated) in use it forgets them all, so memory stays flat.
    """

    def __init__(self, rules: UrlRules = DEFAULT_RULES, *, capacity_bytes: int = 16_000_000) -> None:
        self.rules = rules
        self._capacity_bytes = capacity_bytes
        self._used_bytes = 0
        self._known: dict[str, dict[str, PlainPage]] = {}

    def page_urls(self, base_url: str, hrefs: Iterable[str]) -> list[PlainPage]:
        """`LinkBase.pages` of this base. Raises NameRefusedError if that is no URL."""
        return self.at(base_url).pages(hrefs)

    def at(self, base_url: str) -> "LinkBase":
        """The page on which links are found. Raises NameRefusedError if that is no URL."""
        if self._used_bytes >= self._capacity_bytes:
            self._known.clear()
            self._used_bytes = 0
        return LinkBase(self, base_url if self._is_in_form(base_url) else _joined(base_url, ""))

    def _is_in_form(self, url: str) -> bool:
        """Whether a parser would leave it as it is: a plain path at an origin that was parsed before."""
        start = url.find("//") + 2
        end = url.find("/", start)
        return start > 1 and end > 0 and url[:end] in self._known and _is_plain(url[end:])

    def table(self, place: str) -> dict[str, PlainPage]:
        """What is remembered of links found there."""
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = {}
            self._used_bytes += _ENTRY_BYTES + len(place)
        return known

    def count(self, characters: int) -> None:
        """One more link of so many characters is remembered."""
        self._used_bytes += _ENTRY_BYTES + characters


class LinkBase:
    """A page on which links are found, taken apart once."""

    __slots__ = ("_authority", "_by_folder", "_by_origin", "_folder", "_joiner", "_origin", "_rules", "_url")

    def __init__(self, joiner: LinkJoiner, url: str) -> None:
        self._joiner, self._url, self._rules = joiner, url, joiner.rules
        self._authority, target = split_url(url)
        self._origin = f"{url[: url.index(':')]}://{self._authority}"
        self._folder = f"{target.partition('?')[0].rpartition('/')[0]}/"
        self._by_origin = joiner.table(self._origin)
        self._by_folder = joiner.table(f"{self._origin}{self._folder}")

    def pages(self, hrefs: Iterable[str]) -> list[PlainPage]:
        """The distinct pages that the links lead to, in order; what is no page of a web domain is left out.

        So are links to the base itself (`#top`, the empty one).
        """
        by_origin, by_folder = self._by_origin, self._by_folder
        pages: dict[PlainPage, None] = {}
        for href in dict.fromkeys([href if "#" not in href else _without_fragment(href) for href in hrefs]):
            page = by_origin.get(href) or by_folder.get(href) or self._joined(href)
            if page is not _NO_PAGE:
                pages[page] = None
        return list(pages)

    def _joined(self, href: str) -> PlainPage:
        page = self._page_of(href)
        if href.startswith(("/", "https://", "http://")):
            self._by_origin[href] = page
        elif href.startswith("../"):
            return page  # quickly joined, and seldom the same again: it would crowd out the others
        elif href[:1] in _FOLDER_STARTS and not (":" in href and href[0] in "hH"):
            self._by_folder[href] = page
        else:
            return page  # `?page=2`, `http:page`, a leading space: may depend on the whole base
        self._joiner.count(len(href) + len(page[1]))
        return page

    def _page_of(self, href: str) -> PlainPage:
        """Where a link leads; `_NO_PAGE` if to none. Most links need no parser of URLs."""
        try:
            plain = self._plain(href)
            if plain is None:
                return _page_of(_joined(self._url, href), self._rules) if href else _NO_PAGE
            name = canonical_name(self._authority, allow_private=self._rules.allow_private)
            return name, _identity(plain, self._rules)
        except NameRefusedError:
            return _NO_PAGE

    def _plain(self, href: str) -> str | None:
        """The path and query that a link into the same origin leads to; None if there is anything to think about."""
        if href.startswith("/"):
            path = href
        elif href.startswith(self._origin):
            path = href[len(self._origin) :]
        elif href[:1] in ("", "?"):
            return None
        else:
            folder = self._folder
            while href.startswith("../"):
                href, folder = href[3:], f"{folder[:-1].rpartition('/')[0]}/"
            path = f"{folder}{href}"
        return path if _is_plain(path) else None


_PLAIN = re.compile(r"/(?!/)[A-Za-z0-9_.~/-]*(?:\?[A-Za-z0-9_.~/=&-]+)?")
_PLAIN_CHARS = 1_000


def _is_plain(path: str) -> bool:
    """A path and query of characters that no parser of URLs changes; dot segments are sought a little too far."""
    return _PLAIN.fullmatch(path) is not None and "/." not in path and len(path) <= _PLAIN_CHARS


_NO_PAGE = ("", "")
_ENTRY_BYTES = 250  # two strings, a tuple and their place in a dict, besides the characters (measured)
_FOLDER_STARTS = frozenset(f"{ascii_letters}{digits}._")


def _without_fragment(href: str) -> str:
    cut = href[: href.index("#")]
    # Browsers keep the space in "a #b" and strip it from "a ": such a link stays whole.
    return href if cut and cut[-1] <= " " else cut


def _page_of(url: str, rules: UrlRules) -> PlainPage:
    authority, target = split_url(url)
    return canonical_name(authority, allow_private=rules.allow_private), _identity(target, rules)


def _joined(base: str, href: str) -> str:
    from ada_url import join_url

    if len(href) > MAX_TEXT_CHARS:
        raise refused(href, f"is {len(href):,} characters long", hint="give one URL")
    try:
        url = join_url(base, href)
    except ValueError:
        raise refused(href, "leads nowhere", hint="give an http or https URL") from None
    if not url.startswith(("https://", "http://")):
        raise refused(href, "is neither http nor https", hint="give a web address")
    return url


def _identity(target: str, rules: UrlRules) -> str:
    if "%" in target:
        target = _TRIPLET.sub(_normalised, target)
    if "?" in target:
        path, _, query = target.partition("?")
        kept = [parameter for parameter in query.split("&") if parameter and not rules.tracks(parameter)]
        if rules.sort_query:
            kept.sort(key=_name_of)
        target = f"{path}?{'&'.join(kept)}" if kept else path
    if len(target) > rules.max_path_chars:
        limit = f"at most {rules.max_path_chars:,} are kept"
        raise refused(target, f"is {len(target):,} characters long", hint=limit)
    return target


def _normalised(triplet: re.Match[str]) -> str:
    encoded = triplet[0].upper()
    return encoded if triplet["free"] is None else _UNRESERVED.get(encoded, encoded)


def _name_of(parameter: str) -> str:
    return parameter.partition("=")[0]
