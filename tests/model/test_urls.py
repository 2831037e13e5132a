from hashlib import sha256

import pytest

from bailiwick.base.errors import NameRefusedError
from bailiwick.model.names import DomainName
from bailiwick.model.urls import LinkJoiner, PageUrl, PlainPage, UrlRules, page_key

BASE = "https://www.example.org/shop/list.html?page=1"


def page(path: str, domain: str = "example.org") -> PageUrl:
    return PageUrl(DomainName(domain), path)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("example.org", "/"),
        ("http://www.example.org:80/#top", "/"),
        ("example.org/a/./b/../c//d", "/a/c//d"),
        ("example.org/%2e%2E/a%2Eb", "/a.b"),
        ("example.org/%7Eme/%41%2f%2F%c3%a9", "/~me/A%2F%2F%C3%A9"),
        ("example.org/é ü", "/%C3%A9%20%C3%BC"),
        ("example.org/100%", "/100%"),
        ("example.org/%%37%45", "/%%37E"),
        ("example.org/%4%31", "/%4%31"),
        ("example.org/%252e%252e/a", "/%252e%252e/a"),
        ("example.org/a?", "/a"),
        ("example.org/a?&&", "/a"),
        ("example.org/a?b=2&&a=1&b=1&", "/a?b=2&a=1&b=1"),
        ("example.org/a?b&c=", "/a?b&c="),
        ("example.org/a?q=a+b%20c&d=%26", "/a?q=a+b%20c&d=%26"),
        ("example.org/a?utm_source=x&id=7&UTM_Medium=y&fbclid=z#f", "/a?id=7"),
        ("example.org/a?utm%5Fsource=x", "/a"),
        ("example.org/?gclid=1", "/"),
        ("example.org/a?author=me&ref=7", "/a?author=me&ref=7"),
        ("https://me:pw@example.org/a", "/a"),
    ],
)
def test_the_same_page_has_one_path(text: str, path: str) -> None:
    assert PageUrl.parse(text) == page(path)


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("item.html", page("/shop/item.html")),
        (" ../a\tb\n", page("/ab")),
        ("?page=2", page("/shop/list.html?page=2")),
        ("#top", page("/shop/list.html?page=1")),
        ("", page("/shop/list.html?page=1")),
        ("//other.org/x", page("/x", "other.org")),
        ("http:other.org", page("/", "other.org")),
        ("https:item.html", page("/shop/item.html")),
        ("https://blog.example.org:8080", page("/", "blog.example.org:8080")),
        ("other.org", page("/shop/other.org")),
    ],
)
def test_links_are_joined_as_browsers_join_them(href: str, expected: PageUrl) -> None:
    assert PageUrl.parse(href, BASE) == expected


@pytest.mark.parametrize(
    ("href", "message"),
    [
        ("mailto:me@example.org", "'…@example.org' is neither http nor https"),
        ("https://", "'https://' leads nowhere"),
        ("\udcff", r"'\udcff' leads nowhere"),
        ("http://10.0.0.1/", "'10.0.0.1' is an IP address"),
        (f"data:{'x' * 10_000}", f"'data:{'x' * 74}…' is 10,005 characters long"),
        ("/" * 2_001, f"'{'/' * 79}…' leads nowhere"),
        (f"/{'x' * 2_000}", f"'/{'x' * 78}…' is 2,001 characters long"),
    ],
)
def test_what_is_no_page_is_refused_with_the_reason(href: str, message: str) -> None:
    with pytest.raises(NameRefusedError) as caught:
        PageUrl.parse(href, BASE)
    assert caught.value.message == message
    assert caught.value.hint


def test_length_is_counted_after_what_is_dropped() -> None:
    path = f"/{'x' * 1_999}"
    assert PageUrl.parse(f"https://example.org{path}?utm_source={'y' * 500}") == page(path)


def test_rules_can_be_changed() -> None:
    text = "http://127.0.0.1/a?b=2&a=9&utm_source=x&a=1&sid=5"
    rules = UrlRules(tracking_parameters=frozenset({"sid"}), tracking_prefixes=(), sort_query=True, allow_private=True)
    assert PageUrl.parse(text, rules=rules) == page("/a?a=9&a=1&b=2&utm_source=x", "127.0.0.1")
    with pytest.raises(NameRefusedError, match="characters long"):
        PageUrl.parse("example.org/12345", rules=UrlRules(max_path_chars=5))


def test_the_key_is_the_head_of_the_digest_of_the_path() -> None:
    digest = sha256(b"/a?b=1").digest()
    found = PageUrl.parse("https://www.example.org/a?b=1#c")
    assert found.key == page_key("/a?b=1") == digest[:8]
    assert found.sha256_hex == digest.hex()


def test_a_page_is_fetched_at_the_learned_origin() -> None:
    assert page("//a?b").fetch_url("http://www.example.org:8080/") == "http://www.example.org:8080//a?b"
    assert page("/a").fetch_url() == "https://example.org/a"
    assert str(page("/a", "[::1]:8000")) == "[::1]:8000/a"


BASES = [
    BASE,
    "https://www.example.org/shop/other.html",
    "https://www.example.org/shop/deep/",
    "http://www.example.org/shop/list.html",
    "https://other.org/shop/list.html",
]
HREFS = [
    "a", "../a", "./?q", "/a", "//x.org:8/a", "?q", " ?q", "\t?q", "http:?q", "HTTPS:?q", "https:a", "h:a", "httpd",
    "https://x.org/",
]  # fmt: skip


def test_joiner_gives_distinct_plain_pages_in_order() -> None:
    hrefs = ["b", "/a", "b#x", "mailto:me@example.org", "#", "", "?page=2", "http://www.example.org/a?utm_id=1"]
    assert LinkJoiner().page_urls(BASE, [*hrefs, "/a", "c #x", "//x.org"]) == [
        ("example.org", "/shop/b"),
        ("example.org", "/a"),
        ("example.org", "/shop/list.html?page=2"),
        ("example.org", "/shop/c%20"),
        ("x.org", "/"),
    ]


def test_a_joiner_that_met_an_origin_joins_as_a_new_one() -> None:
    joiner = LinkJoiner()
    for base in [*BASES, *BASES]:
        assert joiner.page_urls(base, HREFS) == LinkJoiner().page_urls(base, HREFS)


def test_a_link_leads_to_one_page_from_everywhere_in_its_place() -> None:
    """And what depends on more than that has no place."""
    meant: dict[tuple[str, str], PlainPage | None] = {}
    for base in (LinkJoiner().at(url) for url in BASES):
        for href in HREFS:
            if (place := base.place_of(href)) is not None:
                assert meant.setdefault((place, href), base.page(href)) == base.page(href)
    assert {href for _, href in meant} == {"a", "../a", "/a", "//x.org:8/a", "./?q", "httpd", "https://x.org/"}


def test_joiner_forgets_origins_rather_than_grow() -> None:
    joiner = LinkJoiner()
    for number in range(10_001):
        joiner.at(f"https://{number}.example.org/")
    assert len(joiner._names) == 1


def test_joiner_refuses_a_base_that_is_no_url() -> None:
    with pytest.raises(NameRefusedError):
        LinkJoiner().page_urls("example.org", ["/a"])
