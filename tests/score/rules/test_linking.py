"""Which links a probe follows and which are checked: deterministic, distinct, and none that does something."""

import pytest

from bailiwick.model.material import PageLink, PageMaterial
from bailiwick.score.rules import likely_pages, links_to_check
from tests.score.rules.pages import FILLER, HOME, page_of

MENU = """
<a href="/">Home</a><a href="/about">About</a><a href="/kontakt#form">Kontakt</a>
<a href="/write-for-us">Write for us</a>
<a href="/blog/guest-post">Guest post</a><a href="/pricing">Pricing</a><a href="https://other.example/contact">Contact</a>
<a href="/guidelines-for-contributors">Guidelines for contributors</a><a href="/author/ada">Ada</a>
<a href="https://shop.acme.example/pricing">Prices</a><a href="mailto:a@acme.example">Contact</a>
<a href="/logout">Contact</a>
"""


def linked(*urls: str) -> PageMaterial:
    return PageMaterial(url=HOME, html="", text="", links=tuple(PageLink(url) for url in urls))


def test_likely_pages_are_the_best_of_each_flag_within_the_domain() -> None:
    page = page_of(MENU, language="de")
    found = likely_pages(page)
    assert set(found) == {
        "https://acme.example/kontakt",
        "https://acme.example/write-for-us",
        "https://acme.example/pricing",
        "https://acme.example/guidelines-for-contributors",
        "https://acme.example/author/ada",
    }
    assert found[0] == "https://acme.example/write-for-us"
    assert found == likely_pages(page)


def test_likely_pages_go_by_language_and_number() -> None:
    page = page_of(MENU, language="de")
    assert "https://acme.example/kontakt" in likely_pages(page, ("de",))
    assert "https://acme.example/kontakt" not in likely_pages(page, ("fr",))
    assert likely_pages(page, most=2) == likely_pages(page)[:2]
    assert likely_pages(page, most=0) == ()


def test_one_page_that_answers_two_flags_is_asked_for_once() -> None:
    page = page_of('<a href="/write-for-us">Write for us: submission guidelines</a>')
    assert likely_pages(page) == ("https://acme.example/write-for-us",)


def test_a_page_without_such_links_leads_nowhere() -> None:
    assert likely_pages(page_of(f'<a href="/a">A</a>{FILLER}')) == ()
    assert likely_pages(PageMaterial(url="about:blank", html="", text="", links=(PageLink("/contact"),))) == ()


def test_links_to_check_are_own_and_others_in_turn() -> None:
    own = [f"https://acme.example/{n}" for n in range(60)]
    others = [f"https://other{n % 3}.example/{n}" for n in range(60)]
    found = links_to_check(linked(*own, *others))
    assert len(found) == len(set(found)) == 20
    assert sum(url.startswith("https://acme.example/") for url in found) == 10
    assert {url.split("/")[2] for url in found} == {
        "acme.example",
        "other0.example",
        "other1.example",
        "other2.example",
    }
    assert found == links_to_check(linked(*own, *others))
    assert any(int(url.rpartition("/")[2]) >= 40 for url in found if "acme" in url), "from all over the page"


def test_one_kind_of_links_fills_the_room_of_the_other() -> None:
    own = [f"https://acme.example/{n}" for n in range(60)]
    assert len(links_to_check(linked(*own, "https://other.example/"))) == 20
    assert len(links_to_check(linked(*own), most=5)) == 5
    assert links_to_check(linked(*own), most=0) == ()


def test_links_that_differ_in_their_fragment_are_one() -> None:
    assert links_to_check(linked("https://a.example/x#1", "https://a.example/x#2", f"{HOME}#top")) == (
        "https://a.example/x",
    )


@pytest.mark.parametrize(
    "url",
    [
        "mailto:a@acme.example", "tel:+49123", "javascript:void(0)", "data:text/html,x", "ftp://acme.example/x", "#top",
        "https://acme.example/logout", "https://acme.example/user/log-out?next=/", "https://acme.example/wp-login.php",
        "https://acme.example/delete/5", "https://acme.example/delete-account", "https://acme.example/shop?add-to-cart=5",
        "https://acme.example/cart", "https://acme.example/warenkorb/", "https://acme.example/unsubscribe?u=1",
        "https://acme.example/newsletter/abmelden", "https://acme.example/x;jsessionid=A1B2C3D4", "https://acme.example/x?PHPSESSID=abc",
        "https://acme.example/x?sid=1234", "https://acme.example/item?action=delete&id=4", "https://acme.example/post?do=vote",
        "https://user:pass@acme.example/", "https://social.example/sharer/sharer.php?u=x", "https://acme.example/x?_wpnonce=4a5b",
        "https://acme.example/x?k=0123456789abcdef0123456789abcdef", "https://acme.example/a?replytocom=55#respond",
        "https://acme.example/" + "x" * 3000,
    ],
)  # fmt: skip
def test_never_a_link_that_does_something(url: str) -> None:
    assert links_to_check(linked(url)) == ()


@pytest.mark.parametrize(
    "url",
    [
        "https://acme.example/how-to-delete-old-files-safely",
        "https://acme.example/articles?page=2",
        "https://acme.example/search?q=barns",
        "https://acme.example/blog/the-logout-button-nobody-found",
    ],
)
def test_a_link_about_it_is_one_like_any_other(url: str) -> None:
    assert links_to_check(linked(url)) == (url,)
