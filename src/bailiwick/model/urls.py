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
    """Joins the links of many pages: plain strings in, plain pages out. Knows the origins that it met, no link."""

    def __init__(self, rules: UrlRules = DEFAULT_RULES) -> None:
        self.rules = rules
        self._names: dict[str, str | None] = {}
        """Canonical names, by origins that were met; None for one whose name is refused."""

    def page_urls(self, base_url: str, hrefs: Iterable[str]) -> list[PlainPage]:
        """`LinkBase.pages` of this base. Raises NameRefusedError if that is no URL."""
        return self.at(base_url).pages(hrefs)

    def at(self, base_url: str) -> "LinkBase":
        """The page on which links are found. Raises NameRefusedError if that is no URL."""
        if len(self._names) >= _MOST_ORIGINS:
            self._names.clear()
        return LinkBase(self.rules, base_url if self._is_in_form(base_url) else _joined(base_url, ""), self._names)

    def _is_in_form(self, url: str) -> bool:
        """Whether a parser would leave it as it is: a plain path at an origin that was parsed before."""
        start = url.find("//") + 2
        end = url.find("/", start)
        return start > 1 and end > 0 and url[:end] in self._names and _is_plain(url[end:])


class LinkBase:
    """A page on which links are found, taken apart once."""

    __slots__ = ("_folder", "_rules", "_url", "folder", "name", "origin")

    def __init__(self, rules: UrlRules, url: str, names: dict[str, str | None]) -> None:
        self._url, self._rules = url, rules
        authority, target = split_url(url)
        self.origin = f"{url[: url.index(':')]}://{authority}"
        if self.origin not in names:
            names[self.origin] = _name_or_none(authority, rules)
        self.name = names[self.origin]
        self._folder = f"{target.partition('?')[0].rpartition('/')[0]}/"
        self.folder = f"{self.origin}{self._folder}"

    def place_of(self, href: str) -> str | None:
        """The part of the base that a link depends on: it leads to one page from everywhere there.

        The origin (`/a`, `https://…`) or the folder (`a.html`, `../a`); None where it may be the whole base.
        """
        if href.startswith(("/", "https://", "http://")):
            return self.origin
        if href[:1] in _FOLDER_STARTS and not (":" in href and href[0] in "hH"):
            return self.folder
        return None  # `?page=2`, `http:page`, a leading space

    def pages(self, hrefs: Iterable[str]) -> list[PlainPage]:
        """The distinct pages that the links lead to, in order; what is no page of a web domain is left out.

        So are links to the base itself (`#top`, the empty one).
        """
        found = dict.fromkeys(map(self.page, dict.fromkeys(hrefs)))
        found.pop(None, None)
        return list(found)  # type: ignore[arg-type]  # None is out

    def page(self, href: str) -> PlainPage | None:
        """Where a link leads; None if to no page of a web domain, or to the base itself."""
        if "#" in href:
            href = _without_fragment(href)
        if not href:
            return None
        try:
            plain = self._plain(href)  # most links need no parser of URLs
            if plain is None:
                return _plain_page(href, self._rules) or _page_of(_joined(self._url, href), self._rules)
            return None if self.name is None else (self.name, _identity(plain, self._rules))
        except NameRefusedError:
            return None

    def _plain(self, href: str) -> str | None:
        """The path and query that a link into the same origin leads to; None if there is anything to think about."""
        if href.startswith("/"):
            path = href
        elif href.startswith(self.origin):
            path = href[len(self.origin) :]
        elif href[0] == "?":
            return None
        else:
            folder = self._folder
            while href.startswith("../"):
                href, folder = href[3:], f"{folder[:-1].rpartition('/')[0]}/"
            path = f"{folder}{href}"
        return path if _is_plain(path) else None


_MOST_ORIGINS = 10_000
_OCTET = r"%(?!2[eE])[0-9A-Fa-f]{2}"  # but for an encoded dot, which parsers take for a dot
_PATH, _QUERY = r"[A-Za-z0-9_.~/-]", r"[A-Za-z0-9_.~/=&-]"
_PLAIN = re.compile(rf"/(?!/){_PATH}*(?:{_OCTET}{_PATH}*)*(?:\?(?!\Z){_QUERY}*(?:{_OCTET}{_QUERY}*)*)?")
_PLAIN_CHARS = 1_000


def _is_plain(path: str) -> bool:
    """A path and query of characters that no parser of URLs changes; dot segments are sought a little too far."""
    return _PLAIN.fullmatch(path) is not None and "/." not in path and len(path) <= _PLAIN_CHARS


_FOLDER_STARTS = frozenset(f"{ascii_letters}{digits}._")


def _without_fragment(href: str) -> str:
    cut = href[: href.index("#")]
    # Browsers keep the space in "a #b" and strip it from "a ": such a link stays whole.
    return href if cut and cut[-1] <= " " else cut


def _name_or_none(authority: str, rules: UrlRules) -> str | None:
    try:
        return canonical_name(authority, allow_private=rules.allow_private)
    except NameRefusedError:
        return None


_ELSEWHERE = re.compile(r"https?://((?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*)(/.*)")


def _plain_page(href: str, rules: UrlRules) -> PlainPage | None:
    """Where a whole URL leads that no parser of URLs changes; None if there is anything to think about."""
    found = _ELSEWHERE.fullmatch(href)
    if found is None or "xn--" in found[1] or not _is_plain(found[2]):
        return None
    return canonical_name(found[1], allow_private=rules.allow_private), _identity(found[2], rules)


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
