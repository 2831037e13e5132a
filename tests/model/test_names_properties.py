"""What must hold for every name and URL that anybody may give."""

import re
from string import ascii_lowercase, digits

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from publicsuffixlist import PublicSuffixList

from bailiwick.base.errors import NameRefusedError
from bailiwick.model.names import DomainName, canonical_name, is_plain, split_url, typed_url
from bailiwick.model.suffixes import SuffixList
from bailiwick.model.urls import LinkJoiner, PageUrl, UrlRules

ANYWHERE = UrlRules(allow_private=True)
LETTERS = ascii_lowercase + "äöüßéñжщλ中文日本"

labels = st.text(LETTERS, min_size=1, max_size=12)
# No name under "example" is a public suffix; `us.org` is one.
hosts = st.lists(labels, min_size=1, max_size=4).map(lambda parts: ".".join([*parts, "example"]))
suffixes = st.sampled_from(["com", "org", "co.uk", "github.io", "ck", "kawasaki.jp", "city.kawasaki.jp", "example"])
ports = st.sampled_from(["", ":8080", ":65535"])
# Pieces that mean something to a URL parser, so that random text gets past its first character.
pieces = st.sampled_from(
    [*":/\\?#@[]%&=. \t\n-_~'", "http:", "https://", "//", "www.", "%2e", "%2F", "%7e", "%%", "utm_id=1", "1", "0x"]
)
anything = st.text() | st.lists(pieces | st.text(max_size=3) | labels, max_size=12).map("".join)
paths = st.lists(pieces | labels, max_size=10).map(lambda parts: "/" + re.sub(r"[#\t\n]", "", "".join(parts)))
# Near the border of what needs no parsing.
nearly_plain = st.lists(
    st.text(ascii_lowercase + digits + "-_", max_size=64)
    | st.sampled_from(["www", "xn--", "xn--mnchen-3ya", "XN--a", "ab--c", "localhost", "0x1", "1", "com", "a" * 63]),
    min_size=1,
    max_size=6,
).map(".".join)
SUFFIX_LISTS = {icann_only: SuffixList(icann_only=icann_only) for icann_only in (False, True)}
rules = st.sampled_from(sorted(SUFFIX_LISTS[False]._publicsuffix))
queries = st.lists(st.text(ascii_lowercase + digits + "%=_~é", max_size=8), max_size=5).map("&".join)


def named(text: str) -> DomainName | None:
    try:
        return DomainName.parse(text, allow_private=True)
    except NameRefusedError:
        return None


def paged(text: str, base: str | None = None) -> PageUrl | None:
    try:
        return PageUrl.parse(text, base, rules=ANYWHERE)
    except NameRefusedError:
        return None


@given(anything)
def test_a_name_is_refused_or_is_its_own_canonical_name(text: str) -> None:
    if domain := named(text):
        assert named(domain.name) == domain
        assert domain.name.isascii()
        assert domain.host.endswith(domain.site)
        assert domain.is_address or domain.site.endswith(domain.shared_key)
        assert all(warning.isprintable() for warning in domain.warnings)


@given(anything)
def test_no_private_name_without_permission(text: str) -> None:
    try:
        domain = DomainName.parse(text)
    except NameRefusedError:
        return
    assert domain == named(text)
    assert "." in domain.host
    assert not domain.is_address


@given(hosts, ports)
def test_spellings_of_one_host_meet(host: str, port: str) -> None:
    domain = DomainName.parse(f"{host}{port}")
    for spelling in (
        f"{host}{port}/",
        f"{host}.{port}",
        f"//{host}{port}",
        f"http://www.{host}{port}/a?b#c",
        f"https://me:pw@WWW.{host}.{port}",
        f"https://{host}{port or ':443'}",
        f"http:\\\\{host}{port or ':80'}",
        f" {host.replace('.', '。')}{port}\n",
        f"{domain.host.upper()}{port}",
    ):
        assert DomainName.parse(spelling) == domain, spelling


@given(nearly_plain | anything, st.booleans())
@example("example.localhost", False)
@example("a.0x", False)
@example(".".join(["a" * 63] * 4), True)
def test_a_plain_name_is_what_parsing_makes_of_it(text: str, allow_private: bool) -> None:
    if is_plain(text):
        authority, path = split_url(typed_url(text))
        assert (canonical_name(authority, allow_private=allow_private), path) == (text, "/")
        assert DomainName.parse(text, allow_private=allow_private) == DomainName(text)


@given(st.lists(labels.filter(str.isascii) | st.sampled_from(["www", "city", "-"]), max_size=3), rules, st.booleans())
def test_the_quick_site_is_the_librarys(parts: list[str], rule: str, icann_only: bool) -> None:
    suffixes = SUFFIX_LISTS[icann_only]
    host = ".".join([*parts, *rule.removeprefix("!").replace("*", "any").split(".")[-4:]])
    for name in (host, host.partition(".")[2] or host):
        assert suffixes.registrable(name) == (suffixes.privatesuffix(name) or name)
        assert suffixes.is_suffix(name) == suffixes.is_public(name)


@given(st.lists(st.sampled_from(["www", "a", "us"]), min_size=1, max_size=4), suffixes)
def test_www_never_leaves_the_site(parts: list[str], suffix: str) -> None:
    host = ".".join([*parts, suffix])
    domain = DomainName.parse(host)
    assert domain.site == DomainName(host).site
    assert domain.shared_key == DomainName(host).shared_key
    assert DomainName.parse(domain.name) == domain


@given(anything, st.sampled_from([None, "https://example.org/a/b?c=d"]))
@example("example.org/%%37%45", None)
@example("example.org/%4%31", None)
def test_a_page_is_refused_or_is_its_own_identity(text: str, base: str | None) -> None:
    if page := paged(text, base):
        assert paged(str(page)) == page
        assert paged(page.path if not page.path.startswith("//") else page.fetch_url(), page.fetch_url()) == page
        assert page.path.startswith("/")
        assert page.path.isascii()
        assert page.path.isprintable()


@given(paths, queries, st.text(max_size=8))
def test_scheme_fragment_and_tracking_are_no_part_of_a_page(path: str, query: str, fragment: str) -> None:
    assume("?" not in path)
    page = paged(f"https://example.org{path}?{query}", "about:blank")
    assert page
    for spelling in (
        f"http://www.example.org{path}?{query}#{fragment}",
        f"//EXAMPLE.org{path}?{query}&utm_source={fragment.replace('&', '').replace('#', '')}",
        f"https://example.org:443{path}?fbclid=1&{query}#?",
        f"https://me@example.org{path}?{query}&GCLID",
    ):
        assert paged(spelling, "http://base.org") == page, spelling


@given(queries)
def test_sorted_queries_forget_their_order(query: str) -> None:
    rules = UrlRules(sort_query=True)
    names = [part.partition("=")[0] for part in query.split("&")]
    assume(len(set(names)) == len(names))
    backwards = "&".join(reversed(query.split("&")))
    page = PageUrl.parse(f"example.org/?{query}", rules=rules)
    assert PageUrl.parse(f"example.org/?{backwards}", rules=rules) == page
    assert PageUrl.parse(str(page), rules=rules) == page


# Links as sites write them, most of which need no parser, and what is one character away from them.
link_pieces = st.sampled_from(
    ["a", "b.html", "/", "//", "..", "../", "./", ".", "?", "q=1", "&", "#", "%41", "~", "-", ":", "@", "\\", " ", "é",
     "https://example.org", "https://example.org/", "https://example.org:443/", "HTTPS://example.org/", "http:",
     "http://www.other.co.uk/", "https://a.ck/", "https://other-.example", "https://a.xn--p1ai/", "https://1.2.3.4/",
     "https://a.0x1/", "https://www.b.kawasaki.jp/", "A", ".com/", ".com", "utm_id=1"]
)  # fmt: skip
written_links = st.lists(link_pieces, max_size=6).map("".join)
folders = st.sampled_from(["", "a/b/c?x=/y", "a//b/", "a%20b/%7Ec/d.html", ".../x/", "a/./b/../c", "a/b/;c/d"])


@given(
    st.lists(anything | written_links, max_size=8),
    st.lists((anything | folders).map(lambda text: f"https://example.org/{text}"), max_size=4),
)
@example(["0 #"], ["https://example.org/"])
@example(["..//a", "https://example.orga", "?", "../../.."], ["https://example.org/a//b/c"])
def test_the_joiner_agrees_with_parsing_each_link(hrefs: list[str], bases: list[str]) -> None:
    joiner = LinkJoiner(ANYWHERE)
    for base in bases:
        if paged("", base) is None:
            continue
        links = [paged(href, base) for href in hrefs if href.partition("#")[0]]
        expected = list(dict.fromkeys((link.domain.name, link.path) for link in links if link))
        assert joiner.page_urls(base, hrefs) == expected


@pytest.mark.parametrize("icann_only", [False, True])
def test_the_rules_are_the_librarys(icann_only: bool) -> None:
    library = PublicSuffixList(only_icann=icann_only)
    assert SUFFIX_LISTS[icann_only]._publicsuffix == library._publicsuffix
    assert SUFFIX_LISTS[icann_only]._maxlabel == library._maxlabel
