"""Products: found on pages, checked, kept with their history. One page at a time, then through the database."""

# ruff: noqa: RUF001 - signs of currencies are Cyrillic, too

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import zyte_common_items
from pydantic import JsonValue

from bailiwick.crawl.flush import SQL as CRAWL_SQL
from bailiwick.db.engine import Database
from bailiwick.extract.content import ContentLimits, Opened, open_body, read_opened
from bailiwick.extract.items.checked import Maker, checked
from bailiwick.extract.items.product import products_of
from bailiwick.extract.items.source import Source
from bailiwick.model.content import Content, ParseOutcome
from bailiwick.model.currencies import currency_of
from bailiwick.model.items import Gathered, Item, ItemKind, Reject
from bailiwick.model.schemas import SCHEMAS
from tests.crawl.desk_tools import hash_of
from tests.extract.tools import Shelved, found, parsed, rows, shelved, unread

URL = "https://shop.example/kettle-4711"
PROSE = "<p>" + "A kettle boils water, and this one does it in two minutes. " * 5 + "</p>"


def gather(body: str, url: str = URL) -> Gathered:
    opened = open_body(f"<html><body>{body}</body></html>".encode(), "text/html; charset=utf-8", ContentLimits())
    assert isinstance(opened, Opened)
    content = read_opened(opened, url, ContentLimits())
    assert isinstance(content, Content)
    return products_of(Source(url, opened.text, content))


def data(body: str, url: str = URL) -> dict[str, JsonValue]:
    [item] = gather(body, url).items
    return item.data


def json_ld(**product: object) -> str:
    thing = {"@context": "https://schema.org", "@type": "Product", "name": "Kettle", **product}
    return f'<script type="application/ld+json">{json.dumps(thing)}</script><h1>Kettle</h1>{PROSE}'


OFFER = {"@type": "Offer", "price": "49.90", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}


def test_json_ld() -> None:
    got = data(
        json_ld(
            offers=OFFER, sku="K-1", brand={"@type": "Brand", "name": "Boil"}, gtin13="4006381333931",
            image=["/k.png", "/l.png"], aggregateRating={"ratingValue": "9", "bestRating": "10", "reviewCount": "12"},
        )
    )  # fmt: skip
    assert got == {
        "url": URL,
        "name": "Kettle",
        "brand": {"name": "Boil"},
        "price": "49.90",
        "currency": "EUR",
        "currencyRaw": "EUR",
        "availability": "InStock",
        "sku": "K-1",
        "productId": "4711",
        "gtin": [{"type": "gtin13", "value": "4006381333931"}],
        "mainImage": {"url": "https://shop.example/k.png"},
        "images": [{"url": "https://shop.example/k.png"}, {"url": "https://shop.example/l.png"}],
        "aggregateRating": {"ratingValue": 4.5, "bestRating": 5.0, "reviewCount": 12},
    }


def test_microdata_rdfa_and_opengraph() -> None:
    microdata = """<div itemscope itemtype="http://schema.org/Product"><h1 itemprop="name">Kettle</h1>
        <div itemprop="offers" itemscope itemtype="http://schema.org/Offer">
        <meta itemprop="priceCurrency" content="GBP">
        <span itemprop="price" content="12.50">£12.50</span><link itemprop="availability" href="https://schema.org/OutOfStock">
        </div></div>"""
    rdfa = """<div vocab="https://schema.org/" typeof="Product"><h1 property="name">Kettle</h1>
        <div property="offers" typeof="Offer"><span property="price" content="12.50"></span>
        <span property="priceCurrency" content="GBP"></span><link property="availability" href="https://schema.org/OutOfStock">
        </div></div>"""
    opengraph = """<meta property="og:type" content="product"><meta property="og:title" content="Kettle">
        <meta property="product:price:amount" content="12.50"><meta property="product:price:currency" content="GBP">
        <meta property="product:availability" content="oos"><h1>Kettle</h1>"""
    for page in (microdata, rdfa, opengraph):
        got = data(page + PROSE)
        assert [got.get(name) for name in ("name", "price", "currency", "availability")] == [
            "Kettle", "12.50", "GBP", "OutOfStock",
        ]  # fmt: skip


def test_without_markup() -> None:
    """As a person reads it; prices of other products, old ones and shipping are none."""
    got = data(
        """<div class="related"><div class="tile"><a href="/x">Mug</a> <span class="price">3,00 €</span></div></div>
        <h1>Wasserkocher Blitz</h1><div class="buybox"><del class="old-price">59,90 €</del>
        <span class="price">1.049,90 €</span><p>zzgl. <span class="shipping">4,95 €</span> Versand</p>
        <p>Art.-Nr.: WK-77</p><button>In den Warenkorb</button></div>"""
        + PROSE
    )
    assert [got.get(name) for name in ("name", "price", "currency", "sku", "availability")] == [
        "Wasserkocher Blitz", "1049.90", "EUR", "WK-77", "InStock",
    ]  # fmt: skip


def test_a_price_that_is_crossed_out_is_not_the_price() -> None:
    shown = '<span class="price old-price">EUR 49.90</span> <span class="price special-price">EUR 39.90</span>'
    got = data(json_ld(offers=OFFER) + f"<div>{shown}<button>Add to cart</button></div>")
    assert (got["price"], got["regularPrice"]) == ("39.90", "49.90")


def test_pages_that_sell_nothing_or_many_things() -> None:
    many = "".join(
        f'<li class="product-item"><a href="/p{n}">Mug {n}</a><b class="price">€{n}.50</b>'
        "<button>Add to cart</button></li>"
        for n in range(1, 30)
    )
    listing = f"<h1>Mugs</h1><ul>{many}</ul>{PROSE}"
    article = f"<h1>How we sold a house for $250,000</h1>{PROSE}<p>The price was <b class='price'>$250,000</b>.</p>"
    for page in (listing, article, PROSE):
        assert gather(page).items == []


def test_the_main_product_of_several() -> None:
    more = [
        {"@type": "Product", "name": name, "offers": OFFER | {"price": price}}
        for name, price in (("Mug", 1), ("Kettle Pro", 2))
    ]
    page = f'<script type="application/ld+json">{json.dumps(more)}</script><h1>Kettle Pro</h1>{PROSE}'
    assert (data(page)["name"], data(page)["price"]) == ("Kettle Pro", "2")


@pytest.mark.parametrize(
    ("offer", "field", "value"),
    [
        ({"priceCurrency": "EURO"}, "currency", None),
        ({"price": "-5"}, "price", "5"),
        ({"price": "on request"}, "price", None),
        ({"availability": "perhaps"}, "availability", "InStock"),
    ],
)
def test_bad_values_do_not_take_the_product_along(offer: dict[str, Any], field: str, value: str | None) -> None:
    assert data(json_ld(offers=OFFER | offer)).get(field) == value


def test_what_the_schema_refuses_is_recorded() -> None:
    raw: dict[str, JsonValue] = {
        "url": URL, "name": "Kettle\x00", "price": "12,50", "currency": "XXX", "regularPrice": "1",
        "aggregateRating": {"ratingValue": 7.0}, "sku": "x" * 101,
    }  # fmt: skip
    found = checked(ItemKind.PRODUCT, raw, {"name": 0.9, "price": 0.8}, Maker("test", 3))
    [item] = found.items
    assert item.data == {"url": URL, "name": "Kettle", "regularPrice": "1"}
    assert (item.confidence, item.fields) == (0.9, {"name": 0.9})
    assert {reject.field for reject in found.rejects} == {"price", "currency", "aggregateRating", "sku"}
    assert all((reject.extractor, reject.version) == ("test", 3) and reject.why for reject in found.rejects)
    nameless = checked(ItemKind.PRODUCT, raw | {"name": ""}, {}, Maker("test", 3))
    assert nameless.items == []
    assert [reject.field for reject in nameless.rejects] == [None]


def test_a_discount_has_to_be_one() -> None:
    raw: dict[str, JsonValue] = {"url": URL, "name": "Kettle", "price": "20", "regularPrice": "20"}
    found = checked(ItemKind.PRODUCT, raw, {}, Maker("test", 1))
    assert found.items[0].data == {"url": URL, "name": "Kettle", "price": "20"}
    assert [(reject.field, reject.value) for reject in found.rejects] == [("regularPrice", "20")]


def test_field_names_are_those_of_the_library() -> None:
    """`category` is ours: the library leaves it in the breadcrumbs."""
    ours = {ItemKind.PRODUCT: {"category"}, ItemKind.ARTICLE: set[str]()}
    for kind, theirs in ((ItemKind.PRODUCT, zyte_common_items.Product), (ItemKind.ARTICLE, zyte_common_items.Article)):
        assert set(SCHEMAS[kind].model_fields) - {field.name for field in attrs.fields(theirs)} == ours[kind]


@pytest.mark.parametrize(
    ("sign", "host", "code"),
    [("€", "", "EUR"), ("eur", "", "EUR"), ("$", "shop.ca", "CAD"), ("$", "shop.com", None), ("kr", "shop.se", "SEK"),
     ("kr", "shop.com", None), ("zł", "", "PLN"), ("??", "", None), (None, "", None)],
)  # fmt: skip
def test_currencies(sign: str | None, host: str, code: str | None) -> None:
    assert currency_of(sign, host) == code


LOCALES = {
    "1.234,56 €": "1234.56", "€ 1.234,56": "1234.56", "1 234,56 €": "1234.56", "1\u00a0234,56 €": "1234.56",
    "1\u202f234,56 €": "1234.56", "1'234.56 CHF": "1234.56", "CHF 1\u2019234.56": "1234.56", "$1,234.56": "1234.56",
    "US$ 1,234.56": "1234.56", "£1,234.56": "1234.56", "1.234,56 kr": "1234.56", "1 234,56 kr": "1234.56",
    "1 234 Kč": "1234", "1 234,56 Kč": "1234.56", "1 234,56 zł": "1234.56", "1234,56 zł": "1234.56",
    "12.345 Ft": "12345", "12 345 Ft": "12345", "1.234,56 lei": "1234.56", "1 234,56 лв.": "1234.56",
    "1 234 ₽": "1234", "1 234,56 руб.": "1234.56", "1 234 грн": "1234", "1 234 ₸": "1234", "¥1,234": "1234",
    "1,234円": "1234", "￥1,234": "1234", "₩12,345": "12345", "12,345원": "12345", "NT$1,234": "1234",
    "HK$1,234.50": "1234.50", "₹1,23,456.00": "123456.00", "Rs. 1,234": "1234", "R$ 1.234,56": "1234.56",
    "₪1,234.56": "1234.56", "1.234,56 TL": "1234.56", "₺1.234,56": "1234.56", "AED 1,234.50": "1234.50",
    "฿1,234": "1234", "1.234.000 ₫": "1234000", "Rp 1.234.000": "1234000", "RM 1,234.50": "1234.50",
}  # fmt: skip


@pytest.mark.parametrize("shown", LOCALES)
def test_prices_of_forty_locales(shown: str) -> None:
    page = f"<h1>Kettle</h1><div class='price'>{shown}</div><button>Add to cart</button>{PROSE}"
    assert float(str(data(page)["price"])) == float(LOCALES[shown])


def test_hostile_markup() -> None:
    deep = '{"@type":"Product","isRelatedTo":' * 5000 + "{}" + "}" * 5000
    wide = json.dumps([{"@type": "Product", "name": f"p{n}"} for n in range(20_000)])
    circular = json.dumps(
        {"@graph": [{"@id": "#a", "@type": "Product", "name": "Kettle", "isRelatedTo": {"@id": "#a"},
                     "offers": {"@id": "#b"}},
                    {"@id": "#b", "@type": "Offer", "price": "5", "itemOffered": {"@id": "#a"}}]}
    )  # fmt: skip
    scripts = [
        deep,
        wide,
        "{",
        '{"@type": "Product", "name": "x", }',
        "<!-- {} -->",
        "null",
        '"' * 999,
        "[" * 99_999,
        circular,
    ]
    called = '{"@id": "#a", "@type": "Product", "name": {"@id": "#a"}, "offers": {"@id": "#a"}}'
    rated = '{"@type": "Product", "name": "x", "aggregateRating": {"ratingValue": 4, "reviewCount": "%s"}}' % (
        "9" * 400
    )
    for script in (*scripts, called, rated):
        gather(f'<script type="application/ld+json">{script}</script><h1>Kettle</h1>{PROSE}')
    assert data(f'<script type="application/ld+json">{circular}</script><h1>Kettle</h1>{PROSE}')["price"] == "5"
    nested = "<div itemscope itemtype='http://schema.org/Product' itemprop='isRelatedTo'>" * 800 + "</div>" * 800
    around = "<div itemscope itemtype='http://schema.org/Product' itemref='a' id='a'><p itemprop='name'>x</p></div>"
    big = f"<div itemscope itemtype='http://schema.org/Product'><p itemprop='name' content='{'x' * 1_000_000}'></div>"
    for page in (nested, around, big, "<b class='price'>" + "9" * 100_000 + "</b><h1>x</h1><button>buy now</button>"):
        gather(page + PROSE)


def product(name: str = "Kettle", **more: JsonValue) -> Item:
    return Item(ItemKind.PRODUCT, 0, {"url": URL, "name": name, **more}, 0.9, "product", 1, {"name": 0.9})


@pytest.fixture
def pages(database: Database, tmp_path: Path) -> Iterator[Shelved]:
    found = shelved(database, tmp_path)
    yield found
    found.store.close()


def test_products_follow_their_pages(pages: Shelved) -> None:
    """Upsert by page; `updated_at` moves with the data; a line of history a price; back to old content, gone, back."""
    database = pages.database
    steps: list[tuple[str, list[Item] | None]] = [
        ("one", [product(price="10", currency="EUR", availability="InStock")]),
        ("two", [product(price="10", currency="EUR", availability="InStock")]),
        ("three", [product(price="12.5", currency="EUR", availability="OutOfStock")]),
        ("one", None),
        ("none", []),
        ("three", None),
    ]
    seen = []
    for body, (words, items) in enumerate(steps):
        pages.put("/kettle", b"%d" % body)
        if items is None:
            parsed(database, {"/kettle": found(words, relevance=None)})
        else:
            parsed(database, {"/kettle": found(words, items=items)})
        with database.begin() as conn:
            [now] = rows(conn, "select price::float8, availability, gone_at is null, updated_at from products")
            history = len(rows(conn, "select 1 from price_history"))
        seen.append((*now, history))
    assert [row[:3] + row[4:] for row in seen] == [
        (10.0, "in_stock", True, 1),
        (10.0, "in_stock", True, 1),
        (12.5, "out_of_stock", True, 2),
        (10.0, "in_stock", True, 3),
        (10.0, "in_stock", False, 3),
        (12.5, "out_of_stock", True, 4),
    ]
    moved = [row[3] for row in seen]
    assert moved[0] == moved[1] < moved[2] < moved[3] == moved[4] < moved[5]


def test_what_cannot_be_fetched_or_read_any_more_is_not_sold(pages: Shelved) -> None:
    pages.put("/kettle", b"1")
    parsed(pages.database, {"/kettle": found("one", items=[product(price="10")])})
    pages.put("/kettle", b"2")
    parsed(pages.database, {"/kettle": unread(ParseOutcome.EMPTY)})
    with pages.database.read() as conn:
        assert rows(conn, "select gone_at is not null from products") == [(True,)]
    pages.put("/kettle", b"1")
    parsed(pages.database, {"/kettle": found("one", items=[product(price="10")])})
    key = {"domain_id": [pages.domain_id], "path_hash": [hash_of("/kettle")]}
    for name, is_gone in (("end_products", True), ("revive_products", False)):
        with pages.database.begin() as conn:
            conn.exec_driver_sql(CRAWL_SQL[name], key)
            assert rows(conn, "select gone_at is not null from products") == [(is_gone,)]


def test_rejects_are_kept_with_their_snapshot_and_replaced(pages: Shelved) -> None:
    reject = Reject(ItemKind.PRODUCT, 0, "price\x00", "free\x00", "is no amount", "product", 1)
    for body, rejects in ((b"1", [reject, reject]), (b"2", [reject])):
        pages.put("/a", body)
        one = found("same", items=[product()])
        one.rejects.extend(rejects)
        parsed(pages.database, {"/a": one})
    with pages.database.read() as conn:
        assert rows(conn, "select kind, field, value, reason from item_rejects") == [
            ("product", "price ", "free ", "is no amount")
        ]
        assert rows(conn, "select fields from items") == [({"name": 0.9},)]
