"""Domain names: parsed once at the edge, canonical inside (DESIGN section 3, "Names").

The canonical name is what browsers make of the host, less what says nothing about who is governed: scheme,
credentials, ports 80 and 443, `www.`, case, one trailing dot. Two rules are ours, not the browsers' (WHATWG):

- Only letters, digits, `-` and `_` make a label. Browsers let `kernel.exit(1)` through; no site is called so.
- `www.` stays where what follows is a public suffix (`www.gov.uk`, `www.com`, `www.github.io`): dropping it
  would leave the site. Else it is dropped as often as it stands there, so that parsing twice changes nothing.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn, Self

from bailiwick.base.errors import NameRefusedError

if TYPE_CHECKING:
    from bailiwick.model.suffixes import SuffixList

MAX_TEXT_CHARS = 10_000
"""Longer text is refused unread: `data:` links reach megabytes."""

_EXAMPLE_HINT = "give a domain such as example.org"
_PRIVATE_HINT = "IP addresses, localhost and one-word names need the setting names.allow_private"

# What pasted text brings along: C0 controls and space, which browsers strip too, and invisible Unicode space.
_EDGES = "".join(map(chr, range(0x21))) + "\x7f\xa0\u200b\u2028\u2029\u3000\ufeff"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# No scheme: "localhost:8080" (a port), "http:8080" (the canonical name of a host called http), "fe80::1".
_SCHEME = re.compile(r"([a-z][a-z0-9+-]*):(?!:|\d+(?:[/\\?#]|$))", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:[a-z]+:)?[/\\]*([^/\\?#]*)", re.IGNORECASE)
# Its own canonical name, whatever is allowed: most lines of a list. The parser's other rules cannot apply to it.
_PLAIN = re.compile(r"(?!www\.)(?:(?!xn--)[a-z0-9_-]{1,63}\.)+(?!localhost$)[a-z]{1,63}")
_HOST = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*", re.IGNORECASE)
_IPV6_LIKE = re.compile(r"\[.*|[0-9a-f.]*:[0-9a-f.]*:[0-9a-f.:]*", re.IGNORECASE | re.DOTALL)

# As browsers have it: Japanese, Chinese and Korean mix their scripts and Latin; nobody else does.
_WRITTEN_TOGETHER = (
    {"CJK", "HIRAGANA", "KATAKANA", "LATIN"},
    {"CJK", "BOPOMOFO", "LATIN"},
    {"CJK", "HANGUL", "LATIN"},
)
_CYRILLIC_LIKE_LATIN = frozenset("аеорсухіјѕһԁԛԝӏьгпҽѵ")


@dataclass(frozen=True, slots=True, order=True)
class DomainName:
    """A canonical name: `example.org`, `blog.example.org:8080`, `xn--mnchen-3ya.de`, `[::1]`.

    The constructor trusts its argument, for names out of our own tables; all else goes through `parse`.
    """

    name: str

    @classmethod
    def parse(cls, text: str, *, allow_private: bool = False, collapse_subdomains: bool = False) -> Self:
        """The domain that a person means by a name or an http(s) URL.

        Path, query and credentials are dropped. `allow_private` admits IP addresses, `localhost` and one-word
        names; `collapse_subdomains` reduces the host to its site. Raises NameRefusedError, and nothing else.
        """
        if is_plain(text):
            domain = cls(text)
        else:
            authority, _ = split_url(typed_url(text))
            domain = cls(canonical_name(authority, allow_private=allow_private))
        return cls(_join_port(domain.site, domain.port)) if collapse_subdomains else domain

    @property
    def host(self) -> str:
        return _split_port(self.name)[0]

    @property
    def port(self) -> int | None:
        """None stands for the default ports, 80 and 443."""
        return _split_port(self.name)[1]

    @property
    def is_address(self) -> bool:
        return _is_address(self.host)

    @property
    def site(self) -> str:
        """For trust and grouping: public suffix + 1 by the whole list; the host where there is none."""
        return _registrable(self.host, icann_only=False)

    @property
    def shared_key(self) -> str:
        """For politeness, what one operator probably runs: ICANN suffix + 1, or the IP address."""
        host = self.host
        return _plain_address(host) if _is_address(host) else _registrable(host, icann_only=True)

    @property
    def warnings(self) -> tuple[str, ...]:
        return name_warnings(self.name)

    def __str__(self) -> str:
        return self.name


def is_plain(text: str) -> bool:
    """Whether the text is a public name in canonical form already. No is no answer: then it has to be parsed."""
    return len(text) <= 253 and _PLAIN.fullmatch(text) is not None


def name_warnings(name: str) -> tuple[str, ...]:
    """One sentence for each label of a canonical name that may be dressed up as another one.

    Scripts are told by the first word of each letter's Unicode name: good enough to make a person look twice.
    """
    labels = _split_port(name)[0].split(".")
    return tuple(filter(None, (_label_warning(label) for label in labels if label.startswith("xn--"))))


def typed_url(text: str) -> str:
    """The http(s) URL, in WHATWG form, that a person means by a URL or a bare name (https, then).

    Stricter than a browser where that would guess: a line break inside does not run two names together,
    `/etc/passwd` is not the host `etc`, `me@example.org` is an e-mail address. Raises NameRefusedError.
    """
    from ada_url import normalize_url

    text = text.strip(_EDGES)
    url = _with_scheme(text)
    try:
        return normalize_url(url)
    except ValueError:
        _refuse_unreadable(text, url)


def split_url(url: str) -> tuple[str, str]:
    """(host and port, path and query) of an http(s) URL in WHATWG form; credentials and fragment end here."""
    start = url.index("//") + 2
    end = url.index("/", start)
    return url[start:end].rpartition("@")[2], url[end:].partition("#")[0]


@lru_cache(maxsize=8192)  # links name the same hosts over and over
def canonical_name(authority: str, *, allow_private: bool) -> str:
    """The canonical name of a host and port out of `split_url`. Raises NameRefusedError."""
    host, port = _split_port(authority)
    host = host.removesuffix(".")
    if port == 0:
        raise refused(authority, "names port 0, where nothing can listen", hint="leave the port out")
    if not _is_address(host):
        _check_labels(host)
        host = _without_www(host)
    if not allow_private and _is_private(host):
        kind = "an IP address" if _is_address(host) else "not a public domain name"
        raise refused(host, f"is {kind}", hint=_PRIVATE_HINT)
    # A name has no scheme, so either default port is "the" default one (specification 002 section 3.2).
    return _join_port(host, None if port in (80, 443) else port)


def refused(text: str, why: str, *, hint: str) -> NameRefusedError:
    """The error about this text: quoted, escaped, short, and without what may be a password."""
    before, _, after = text.rpartition("@")
    shown = f"…@{after}" if before else text
    return NameRefusedError(f"{shown if len(shown) <= 80 else f'{shown[:79]}…'!r} {why}", hint=hint)


def _with_scheme(text: str) -> str:
    if not text:
        raise NameRefusedError("the name is empty", hint=_EXAMPLE_HINT)
    if len(text) > MAX_TEXT_CHARS:
        raise refused(text, f"is {len(text):,} characters long", hint="give one domain or URL")
    if _CONTROL.search(text):
        raise refused(text, "holds a control character or a line break", hint="give one name at a time")
    scheme = _SCHEME.match(text)
    if scheme and scheme[1].lower() in ("http", "https"):
        return text
    if text.startswith("//"):
        return f"https:{text}"
    if text.startswith(("/", "\\")):
        raise refused(text, "is a path without a host", hint="put the domain in front of it")
    if "@" in _authority_of(text) and not (scheme and text.startswith("//", scheme.end())):
        raise refused(text, "looks like an e-mail address", hint="give the domain alone")
    if scheme:
        raise refused(text, "is neither http nor https", hint="give a web address or a domain name")
    return f"https://{text}"


def _refuse_unreadable(text: str, url: str) -> NoReturn:
    """Say why ada refused: it says only that it did."""
    authority = _authority_of(url).rpartition("@")[2]
    host, _, port = authority.partition(":")
    why, hint = "has characters that no host name has", _EXAMPLE_HINT
    if not authority:
        why = "has no host name"
    elif _IPV6_LIKE.fullmatch(authority):
        why, hint = "is not a valid IPv6 address", "write IPv6 addresses in brackets: [2001:db8::1]"
    elif port and not (port.isdecimal() and int(port[:6]) <= 65_535):
        why, hint = "has no valid port", "ports go from 1 to 65535"
    elif _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
        why, hint = "ends in a number and is not a valid IPv4 address", "host names end in a word"
    raise refused(text, why, hint=hint) from None


def _authority_of(url: str) -> str:
    found = _AUTHORITY.match(url)
    return found[1] if found else ""


def _label_warning(label: str) -> str | None:
    from unicodedata import category, name

    from ada_url import idna_to_ascii

    try:
        text = label[4:].encode("ascii").decode("punycode")
        valid = idna_to_ascii(text) == label.encode("ascii")
    except UnicodeError:
        valid = False
    if not valid:
        return f"{label} is not the punycode of any name"
    letters = {letter for letter in text if category(letter) in ("Ll", "Lo")}
    scripts = {name(letter, "UNKNOWN").split()[0] for letter in letters}
    if len(scripts) > 1 and not any(scripts <= together for together in _WRITTEN_TOGETHER):
        return f"{label} ({text!r}) mixes scripts: {', '.join(sorted(scripts)).lower()}"
    if letters and letters <= _CYRILLIC_LIKE_LATIN:
        return f"{label} ({text!r}) is Cyrillic and looks like Latin"
    return None


def _split_port(authority: str) -> tuple[str, int | None]:
    if ":" not in authority or authority.endswith("]"):
        return authority, None
    host, _, port = authority.rpartition(":")
    return host, int(port)


def _join_port(host: str, port: int | None) -> str:
    return host if port is None else f"{host}:{port}"


def _is_address(host: str) -> bool:
    # In WHATWG form a last label that is a number means IPv4: the parser refused everything else like it.
    return host.startswith("[") or host.rpartition(".")[2].isdecimal()


def _is_private(host: str) -> bool:
    return _is_address(host) or "." not in host or host.endswith(".localhost")  # RFC 6761 section 6.3


def _check_labels(host: str) -> None:
    labels = host.split(".")
    if "" in labels:
        raise refused(host, "has an empty label", hint="write one dot between two labels")
    if len(host) > 253 or max(map(len, labels)) > 63:
        raise refused(host, "is too long for DNS", hint="at most 253 characters, 63 between two dots")
    if not _HOST.fullmatch(host):
        raise refused(host, "has characters that no host name has", hint=_EXAMPLE_HINT)


def _without_www(host: str) -> str:
    while host.startswith("www.") and not _suffixes(icann_only=False).is_suffix(host[4:]):
        host = host[4:]
    return host


def _registrable(host: str, *, icann_only: bool) -> str:
    return host if _is_address(host) else _suffixes(icann_only=icann_only).registrable(host)


def _plain_address(host: str) -> str:
    from ipaddress import IPv6Address, ip_address

    address = ip_address(host.strip("[]"))
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return str(address.ipv4_mapped)  # the same machine by another spelling
    return str(address)


@lru_cache
def _suffixes(*, icann_only: bool) -> "SuffixList":
    from bailiwick.model.suffixes import SuffixList

    return SuffixList(icann_only=icann_only)
