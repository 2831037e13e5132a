"""The small readers under layer 3: tags that fit together, prose, places that links lead to, structured data."""

# ruff: noqa: RUF001 - letters of other alphabets

import pytest

from bailiwick.score.sophistication import places
from bailiwick.score.sophistication.balance import Balance, balance_of
from bailiwick.score.sophistication.prose import prose_of
from bailiwick.score.sophistication.structured import structured_of


@pytest.mark.parametrize(
    ("html", "faults"),
    [
        ("<div><b>x</b></div>", 0),
        ("<p>one<p>two<ul><li>a<li>b</ul><br><img src=x>", 0),
        ("<DIV><Span>x</SPAN></div>", 0),
        ("<div><b>x</div>", 1),
        ("<b><i>x</b></i>", 2),
        ("</em>", 1),
        ("<div><div>", 2),
        ("<script>if (a<b) document.write('<div><b>')</script>", 0),
        ("<!-- <div> --><!--[if IE]><div><![endif]-->", 0),
        ("<svg><path d='M0'/><g></svg>", 0),
        ("<my-part/><my-part></my-part>", 0),
        ("<script>never ends <div>", 1),
        ("<div><!-- never ends", 2),
    ],
)
def test_tags_that_do_not_fit_are_counted(html: str, faults: int) -> None:
    assert balance_of(html, is_cut=False).faults == faults


def test_what_is_open_at_a_cut_is_no_fault() -> None:
    assert balance_of("<main><div><b>x", is_cut=True) == Balance(3, 0)


def test_repetition_is_measured_by_length() -> None:
    one, other = "This sentence is here for the first time.", "And this one is here only once, whatever comes."
    assert prose_of(f"{one} {other}").repeated_share == 0
    assert prose_of(f"{one} {other} {one}").repeated_share == pytest.approx(
        len(one) / (2 * len(one) + len(other)), 0.05
    )
    assert prose_of(f"{one}\n\n{one}\n\n{one}").repeated_share == pytest.approx(2 / 3)
    assert prose_of("Menu Menu Menu Menu").repeated_share == 0


def test_variety_needs_some_words_and_counts_runs() -> None:
    assert prose_of("too few words").variety is None
    assert prose_of(" ".join(map(str, range(100)))).variety == 1
    assert (prose_of("the same four words " * 30).variety or 0) < 0.1
    assert (prose_of("蜂蜜の量は去年より多い" * 20).variety or 1) < 0.2, "a letter is a word where there are no spaces"


@pytest.mark.parametrize(
    "text",
    [
        "it\u00e2\u20ac\u2122s", "caf\u00c3\u00a9", "\u00d0\u00bf\u00d1\u20ac", "\ufffd", "\u00ec\u2022\u02c6",
        "\u00d7\u00a9\u00d7\u0153",
    ],
)  # fmt: skip
def test_letters_read_in_a_wrong_encoding_are_seen(text: str) -> None:
    assert prose_of(text).garbled > 0


@pytest.mark.parametrize(
    "text",
    [
        "it's",
        "it’s “so”",
        "café, NÃO, À l’été, «LIBERTÉ»",
        "привет",
        "안녕하세요",
        "שלום",
        "Größe „HÖHE“",
        "2×3 ½",
        "São João",
    ],
)
def test_letters_of_all_kinds_are_not_garbled(text: str) -> None:
    assert prose_of(text).garbled == 0


def test_figures_of_a_text() -> None:
    found = prose_of("Dr. Ada wrote it!!!! Soooo nice… “This is a long passage of speech”, she said 😀. ISBN 3 [1]")
    assert (found.exclamations, found.emoji, found.quotations, found.references) == (4, 1, 1, 2)
    assert found.oddities >= 2
    assert found.credentials == 1
    assert prose_of("WORD " * 30).capital_share == 1
    assert prose_of("honey " * 50 + "comb " * 50).top_word_share == 0.5
    assert prose_of("Lorem ipsum dolor sit amet").fillers == 2
    assert prose_of("This site is under construction.").placeholders == 1


@pytest.mark.parametrize(
    ("href", "text", "kind"),
    [
        ("/contact-us", "x", places.CONTACT),
        ("/de/kontakt.html?x=1#y", "", places.CONTACT),
        ("/x", "Contact our newsroom", places.CONTACT),
        ("https://a.example/quienes-somos/", "", places.ABOUT),
        ("/p/12", "О компании", places.ABOUT),
        ("/p", "Mentions légales", places.LAW),
        ("/p", "隐私政策", places.LAW),
        ("/contact-lenses", "Daily lenses", None),
        ("/all-about-bees", "All about bees", None),
        ("", "", None),
    ],
)
def test_links_by_where_they_lead(href: str, text: str, kind: frozenset[str] | None) -> None:
    assert places.kind_of(href, text) is kind


def test_sources_are_sites_of_others() -> None:
    assert places.site_of("https://www.news.bbc.co.uk/x") == "bbc.co.uk"
    assert places.site_of("//user:pass@data.gov.uk:8080/") == places.site_of("https://data.gov.uk/")
    assert [places.site_of(href) for href in ("/x", "x.html", "mailto:a@b.org", "https://", "http://[::1]/")] == [
        ""
    ] * 5
    assert not places.is_source("facebook.com", "paper.org")
    assert not places.is_source("paper.org", "paper.org")
    assert not places.is_source("paper-shop.com", "paper.org"), "its own name"
    assert places.is_source("nature.com", "paper.org")
    assert all(map(places.is_scholarly, ("nasa.gov", "mit.edu", "ox.ac.uk", "doi.org", "gov.uk", "who.int")))
    assert not any(map(places.is_scholarly, ("gov.example.com", "education.com", "edu.com")))


def test_structured_data_is_read_as_far_as_it_can_be() -> None:
    graph = '{"@graph": [{"@type": ["Article"], "author": [{"name": "Ada", "sameAs": "/a"}], "dateModified": "2024"}]}'
    found = structured_of([graph, "{bad"], ["https://schema.org/LocalBusiness"])
    assert (found.things, found.bad, found.author) == (2, 1, "Ada")
    assert found.has_profile
    assert found.has_organisation
    assert found.is_kept_up
    assert not found.is_dated


def test_a_reviewer_is_no_author_and_an_address_no_name() -> None:
    assert structured_of(['{"@type": "Review", "author": "Naoo49"}'], []).author == ""
    assert structured_of(['{"@type": "Article", "author": "https://a.example/ada"}'], []).author == ""


@pytest.mark.parametrize("script", ["", "null", "[]", "1", '"x"', "[" * 100_000, '{"@type": {"a": 1}, "author": 7}'])
def test_odd_data_is_no_harm(script: str) -> None:
    assert structured_of([script], []).author == ""
