"""What every SearchIndex must do, whatever it keeps its documents in."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bailiwick.backends.index_postgres import PostgresSearchIndex
from bailiwick.db.engine import Database
from bailiwick.model.search import Facet, Offer, OfferFilter, PageKey, SearchAnswer, SearchQuery, marked
from bailiwick.ports import SearchIndex
from bailiwick.query.documents import documents_of
from tests.query.content_tools import AT, Made, domain, key_of, parsed

IMPLEMENTATIONS: dict[str, Callable[[Database], SearchIndex]] = {"postgres": PostgresSearchIndex}


@dataclass
class Library:
    """An index, and the pages it is made of."""

    database: Database
    index: SearchIndex

    def add(self, name: str, path: str, made: Made | None) -> PageKey:
        """A page with this content now, indexed."""
        with self.database.begin() as conn:
            domain_id = domain(conn, name)
            parsed(conn, domain_id, path, made)
            key = key_of(domain_id, path)
            self.index.replace(conn, [key], documents_of(conn, [key]))
        return key

    def ask(self, text: str, **more: object) -> SearchAnswer:
        return self.index.search(SearchQuery(text, **more))  # type: ignore[arg-type]

    def found(self, text: str, **more: object) -> list[str]:
        return [f"{hit.kind} {hit.url.removeprefix('https://')}" for hit in self.ask(text, **more).hits]


@pytest.fixture(params=IMPLEMENTATIONS)
def library(request: pytest.FixtureRequest, database: Database) -> Library:
    return Library(database, IMPLEMENTATIONS[request.param](database))


@pytest.fixture
def shelf(library: Library) -> Library:
    library.add(
        "a.org", "/grants", Made("Funding for young researchers in Europe.", title="Research grants", language="en")
    )
    library.add("a.org", "/loans", Made("A loan for students, no grant at all.", title="Loans", is_relevant=False))
    library.add(
        "b.org", "/shop",
        Made("We sell kettles.", title="Kettles", language="de", at=AT + timedelta(days=90),
             items=[("product", {"name": "Red kettle", "description": "boils water", "offers": [{"price": 12.5}]}),
                    ("product", {"name": "Blue kettle", "image": "https://b.org/blue.png"})]),
    )  # fmt: skip
    return library


def test_words_are_found_with_their_endings(shelf: Library) -> None:
    assert shelf.found("grant") == ["page a.org/grants", "page a.org/loans"]
    assert shelf.found("researcher") == ["page a.org/grants"]
    assert shelf.found("GRANT Student") == ["page a.org/loans"], "all words, in any case"


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ('"young researchers"', {"/grants"}),
        ('"researchers young"', set()),
        ("kettles OR loan", {"/loans", "/shop"}),
        ("kettles | loan", {"/loans", "/shop"}),
        ("grant -students", {"/grants"}),
        ('grant -"young researchers"', {"/loans"}),
        ("research*", {"/grants"}),
        ("fund* young", {"/grants"}),
        ("grant loan OR europe", {"/grants", "/loans"}),
        ("unheardof", set()),
        ('"young researchers', {"/grants"}),
        ("grant OR", {"/grants", "/loans"}),
        ("OR grant", {"/grants", "/loans"}),
    ],
)
def test_the_syntax_for_people(shelf: Library, text: str, paths: set[str]) -> None:
    hits = shelf.ask(text, kinds=("page",)).hits
    assert {hit.url.removeprefix("https://")[5:] for hit in hits} == paths


@pytest.mark.parametrize(
    "text", ["", "   ", "-grant", "-", "the", '""', "*", "!&|()", "' : * <->", "\x00", "\ud800", "(" * 900]
)
def test_a_text_without_words_finds_nothing_and_says_so(shelf: Library, text: str) -> None:
    assert shelf.ask(text) == SearchAnswer(has_words=False)


NAUGHTY = st.text(max_size=300) | st.text(alphabet="ab\"'-*|&!():<> \\\x01\x02ORé漢\ud800", max_size=60)


@given(text=NAUGHTY)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_is_an_error(shelf: Library, text: str) -> None:
    shelf.ask(text, kinds=("page", text))


@pytest.mark.parametrize(
    "text", ["x" * 100_000, "é" * 1500, "漢" * 5000, '"' + "y " * 2000, "-z " * 5000, "a*" * 999, "w " * 5000]
)
def test_long_texts_are_no_errors(shelf: Library, text: str) -> None:
    shelf.ask(text)


def test_a_title_weighs_more_than_a_text(library: Library) -> None:
    library.add("a.org", "/text", Made("Some words, and one of them is heron."))
    library.add("a.org", "/described", Made("Some words, and not that one.", description="about a heron"))
    library.add("a.org", "/title", Made("Some words, and not that one at all.", title="Heron"))
    hits = library.ask("heron").hits
    assert [hit.url for hit in hits] == [f"https://a.org/{path}" for path in ("title", "described", "text")]
    assert [hit.rank for hit in hits] == sorted((hit.rank for hit in hits), reverse=True)


def test_filters(shelf: Library) -> None:
    a, b = (key.domain_id for key in (shelf.add("a.org", "/x", None), shelf.add("b.org", "/x", None)))
    assert set(shelf.found("kettle OR grant", kinds=("product",))) == {"product b.org/shop"}
    assert set(shelf.found("kettle OR grant", domain_ids=(a,))) == {"page a.org/grants", "page a.org/loans"}
    assert set(shelf.found("kettle OR grant", domain_ids=(a, b), kinds=("page",), languages=("de",))) == {
        "page b.org/shop"
    }
    assert shelf.found("grant", only_relevant=True) == ["page a.org/grants"]
    assert shelf.found("kettle", since=AT + timedelta(days=91)) == []
    assert shelf.found("kettle", since=AT + timedelta(days=89), kinds=("page",)) == ["page b.org/shop"]
    assert len(shelf.found("grant OR kettle", since=datetime(1, 1, 1, tzinfo=UTC))) == 5
    assert shelf.found("grant", kinds=("page' | 'x",)) == []


def test_items_are_found_by_all_their_words(shelf: Library) -> None:
    [hit] = shelf.ask("boils").hits
    assert (hit.kind, hit.position, hit.title, hit.url) == ("product", 0, "Red kettle", "https://b.org/shop")
    assert marked(hit.snippet, "[", "]") == "kettle 12.5 [boils] water"
    assert [hit.title for hit in shelf.ask("blue").hits] == ["Blue kettle"]
    assert shelf.found("png") == []


def test_matches_are_marked_and_nothing_can_forge_a_mark(library: Library) -> None:
    evil = "\ue000forged\ue001 <b>heron</b> \x1b[31m [heron] StartSel \ue001heron\ue000"
    library.add("a.org", "/", Made(evil, title=f"{evil}"))
    [hit] = library.ask("heron").hits
    assert {part.text for part in hit.snippet if part.is_match} == {"heron"}
    assert "forged" in marked(hit.snippet, "", "")


def test_pages_of_hits_do_not_overlap(library: Library) -> None:
    for number in range(25):
        library.add("a.org", f"/{number}", Made("same words here"))
    pages = [library.ask("words", limit=10, after=after) for after in (0, 10, 20, 30)]
    assert [len(page.hits) for page in pages] == [10, 10, 5, 0]
    assert len({hit.url for page in pages for hit in page.hits}) == 25
    assert {(page.total, page.is_capped) for page in pages} == {(25, False)}


def test_facets_count_all_matches(shelf: Library) -> None:
    answer = shelf.ask("grant OR kettle", limit=1, facets=(Facet.KIND, Facet.DOMAIN, Facet.LANGUAGE))
    assert answer.facets == {
        Facet.KIND: (("page", 3), ("product", 2)),
        Facet.DOMAIN: (("b.org", 3), ("a.org", 2)),
        Facet.LANGUAGE: (("de", 3), ("en", 2)),
    }
    assert shelf.ask("grant").facets == {}


def test_more_than_a_thousand_are_not_counted_and_titles_come_first(library: Library) -> None:
    keys = [library.add("a.org", f"/{number}", Made(f"heron {number}")) for number in range(2)]
    with library.database.begin() as conn:
        domain_id = keys[0].domain_id
        for number in range(1_100):
            parsed(conn, domain_id, f"/many/{number}", Made("a heron again"), tell=False)
        many = [key_of(domain_id, f"/many/{number}") for number in range(1_100)]
        library.index.replace(conn, many, documents_of(conn, many))
    library.add("a.org", "/last", Made("none", title="The heron"))
    answer = library.ask("heron")
    assert (answer.total, answer.is_capped) == (1_000, True)
    assert answer.hits[0].url == "https://a.org/last"


def test_replacing_twice_is_the_same_as_once(shelf: Library) -> None:
    before = shelf.ask("kettle")
    key = shelf.add("b.org", "/shop", None)
    assert shelf.ask("kettle").hits == ()
    made = Made("We sell kettles.", items=[("product", {"name": "Red kettle"})])
    for _ in range(2):
        assert shelf.add("b.org", "/shop", made) == key
    assert [hit.kind for hit in before.hits].count("product") == 2
    assert sorted(shelf.found("kettle")) == ["page b.org/shop", "product b.org/shop"]


def test_what_is_dropped_is_gone_and_nothing_else(library: Library) -> None:
    keys = sorted(library.add(name, f"/{n}", Made("heron")) for name in ("a.org", "b.org") for n in range(5))
    with library.database.begin() as conn:
        assert library.index.drop_between(conn, keys[1], keys[6], [keys[3]]) == 4
    left = {hit.page for hit in library.ask("heron").hits}
    assert left == {*keys[:2], keys[3], *keys[7:]}
    with library.database.begin() as conn:
        lowest, highest = PageKey(-(2**63), -(2**63)), PageKey(2**63 - 1, 2**63 - 1)
        assert library.index.drop_between(conn, lowest, highest, []) == 6


def test_huge_and_odd_documents_are_taken(library: Library) -> None:
    words = " ".join(f"wörd{n}-compound.example/{n}" for n in range(60_000))
    for number, text in enumerate(
        [words, "x" * 3_000_000, "漢字" * 200_000, "\x01dforged \x02title", "a\u2028b\u0007"]
    ):
        library.add(
            "a.org", f"/{number}", Made(text, title=text[:5_000], description=text[:50_000], language="x" * 500)
        )
    assert library.found("wörd17-compound.example/17") == ["page a.org/0"]


def test_what_is_rolled_back_was_never_there(library: Library) -> None:
    """An index in the same database; another one must only not fail."""
    key = library.add("a.org", "/", Made("heron"))

    def fail() -> None:
        with library.database.begin() as conn:
            [document] = documents_of(conn, [key])
            library.index.replace(conn, [key], [replace(document, text="stork")])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert library.found("heron") == ["page a.org/"]


def test_its_name_is_stable(library: Library) -> None:
    assert library.index.name == type(library.index)(library.database).name  # type: ignore[call-arg]


@pytest.fixture
def shop(library: Library) -> Library:
    """Ten kettles of 5, 15, ... 95 euros, every third out of stock, and a page about them."""
    for n in range(10):
        brand = {"name": "Boil" if n % 2 else "Steam"}
        data = {
            "name": f"Kettle {n}", "price": f"{n * 10 + 5}.00", "currency": "EUR" if n else "USD", "brand": brand,
            "availability": "OutOfStock" if n % 3 == 0 else "InStock", "category": "Kitchen" if n < 5 else "Camping",
        }  # fmt: skip
        library.add("shop.org", f"/k{n}", Made(f"Buy kettle {n}.", title=f"Kettle {n}", items=[("product", data)]))
    library.add("shop.org", "/about", Made("All about every kettle.", title="Kettles"))
    library.add("shop.org", "/odd", Made("x", items=[("product", {"name": "Odd", "price": "free", "brand": "B"})]))
    return library


def prices(answer: SearchAnswer) -> list[float | None]:
    return [float(hit.offer.price) if hit.offer and hit.offer.price is not None else None for hit in answer.hits]


@pytest.mark.parametrize("words", ["kettle", ""])
def test_products_by_what_they_cost(shop: Library, words: str) -> None:
    def asked(**offer: object) -> list[float | None]:
        found = prices(shop.ask(words, offer=OfferFilter(**offer)))  # type: ignore[arg-type]
        return found if not words else sorted(found, key=lambda price: price or 0)

    assert asked(low=Decimal(15), high=Decimal("45.00")) == [15, 25, 35, 45]
    assert asked(high=Decimal("14.99")) == [5]
    assert asked(low=Decimal(90)) == [95]
    assert asked(low=Decimal(15), high=Decimal(95), in_stock=True) == [15, 25, 45, 55, 75, 85]
    assert asked(brands=("BOIL",), high=Decimal(50)) == [15, 35]
    assert asked(categories=("camping",), in_stock=True) == [55, 75, 85]
    assert asked(currencies=("usd",)) == [5]
    assert asked(low=Decimal(15), high=Decimal(15)) == [15]
    assert asked(high=Decimal(0)) == []


def test_products_without_words_come_by_price(shop: Library) -> None:
    answer = shop.ask("", offer=OfferFilter(), limit=3, facets=(Facet.BRAND, Facet.CATEGORY, Facet.AVAILABILITY))
    assert prices(answer) == [5, 15, 25]
    assert (answer.total, answer.is_capped) == (11, False)
    assert dict(answer.facets[Facet.BRAND]) == {"Boil": 5, "Steam": 5, "B": 1}
    assert dict(answer.facets[Facet.CATEGORY]) == {"Kitchen": 5, "Camping": 5}
    assert dict(answer.facets[Facet.AVAILABILITY]) == {"in_stock": 6, "out_of_stock": 4}
    assert prices(shop.ask("", offer=OfferFilter(), limit=2, after=10)) == [None], "without a price they come last"
    [first] = shop.ask("", offer=OfferFilter(high=Decimal(5))).hits
    assert (first.kind, first.title, first.url, first.offer) == (
        "product", "Kettle 0", "https://shop.org/k0", Offer(Decimal("5.00"), "USD", "out_of_stock", "Steam", "Kitchen"),
    )  # fmt: skip


@pytest.mark.parametrize("words", ["kettle", ""])
def test_what_is_free_and_what_costs_next_to_nothing_is_found(library: Library, words: str) -> None:
    for n, price in enumerate(("0", "0.00000001", "0.01", "999999999999999")):
        library.add("a.org", f"/{n}", Made("x", items=[("product", {"name": "A kettle", "price": price})]))
    for low, high, number in (("0", "0", 1), ("0", "0.005", 2), ("0.005", "0.01", 1), ("1", "1000000000000000", 1)):
        answer = library.ask(words, offer=OfferFilter(low=Decimal(low), high=Decimal(high)))
        assert answer.total == number, (low, high)


def test_prices_at_the_ends_of_steps(library: Library) -> None:
    """10 ** (n / 5), where prices are sorted into steps, and what lies next to it."""
    near = [f"{10 ** (n / 5) + by:.4f}" for n in range(-5, 20) for by in (-0.0001, 0, 0.0001)]
    for n, price in enumerate(near):
        library.add("a.org", f"/{n}", Made("x", items=[("product", {"name": "A kettle", "price": price})]))
    for price in near:
        exactly = OfferFilter(low=Decimal(price), high=Decimal(price))
        assert library.ask("kettle", offer=exactly).total == near.count(price), price
        assert library.ask("", offer=exactly).total == near.count(price), price


def test_products_without_words_are_counted_by_anything(shop: Library) -> None:
    facets = shop.ask("", offer=OfferFilter(brands=("boil", "steam")), facets=tuple(Facet)).facets
    assert dict(facets[Facet.BRAND]) == {"Boil": 5, "Steam": 5}
    assert dict(facets[Facet.DOMAIN]) == {"shop.org": 10}
    assert dict(facets[Facet.KIND]) == {"product": 10}
    assert shop.ask("", offer=OfferFilter(), after=500).hits == ()


def test_names_of_any_length_are_taken(library: Library) -> None:
    name = "".join(chr(0x4E00 + n * 7919 % 20_000) for n in range(9_000))
    data = {"name": "A kettle", "price": "1", "brand": {"name": name}, "category": name[::-1], "currency": name}
    library.add("a.org", "/", Made("x", items=[("product", data)]))
    for words in ("kettle", ""):
        [hit] = library.ask(words, offer=OfferFilter(brands=(name,), categories=(name[::-1],))).hits
        assert hit.offer is not None
        assert hit.offer.brand == name[:100]


def test_an_offer_is_no_reason_to_find_what_is_excluded(shop: Library) -> None:
    assert shop.ask("-kettle", offer=OfferFilter()) == SearchAnswer(has_words=False)
    assert not shop.ask("kettle", offer=OfferFilter(), domain_ids=(999_999,)).hits
    assert not shop.ask("", offer=OfferFilter(), domain_ids=(999_999,)).hits
