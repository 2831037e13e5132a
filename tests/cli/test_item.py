"""`bailiwick item`, products in `search`, and `export products`, as people use them."""

from pathlib import Path

import pytest
from sqlalchemy import text

from bailiwick.db.engine import Database
from tests.cli.tools import bailiwick
from tests.query.content_tools import Made, domain, parsed, sold


@pytest.fixture(scope="module", autouse=True)
def shop(store: Database) -> None:
    """Four kettles, the last one without a price; and what was refused of the first."""
    with store.begin() as conn:
        shop = domain(conn, "shop.org")
        for n, price in enumerate(("10.00", "20.50", "300", None)):
            data = {
                "url": f"https://shop.org/k{n}", "name": f"Kettle {n}", "currency": "EUR", "brand": {"name": "Boil"},
                "availability": "InStock" if n % 2 == 0 else "OutOfStock", **({"price": price} if price else {}),
            }  # fmt: skip
            items = [("product", data), *([("contact", {"email": "a@shop.org"})] if n == 0 else [])]
            parsed(conn, shop, f"/k{n}", Made(f"Buy kettle {n}.", title=f"Kettle {n}", items=items))
        sold(conn)
        conn.execute(
            text(
                "insert into item_rejects (snapshot_id, domain_id, path_hash, kind, position, field, value, reason,"
                " extractor, extractor_version) select snapshot_id, domain_id, path_hash, kind, 0, 'currency', 'XXX',"
                " 'is no currency of ISO 4217', 'product', 1 from items order by id limit 1"
            )
        )


def test_items_are_listed_by_kind_page_by_page(land: Path) -> None:
    titles, after = [], ":0"
    for _ in range(3):
        rows = bailiwick("item", "list", "--json", "--limit", "2", "--after", after, cwd=land).rows
        titles += [row["title"] for row in rows]
        after = rows[-1]["cursor"]
    assert titles == ["a@shop.org", "Kettle 0", "Kettle 1", "Kettle 2", "Kettle 3"]
    only = bailiwick("item", "list", "--json", "--kind", "contact", "--domain", "shop.org", cwd=land).rows
    assert [row["title"] for row in only] == ["a@shop.org"]
    ran = bailiwick("item", "list", "--limit", "1", cwd=land)
    assert "contact  a@shop.org  0.9         shop.org/k0" in ran.out
    assert "more: bailiwick item list --limit 1 --after contact:" in ran.err
    assert bailiwick("item", "list", "--after", "x", cwd=land).code == 2


def test_the_items_of_a_page(land: Path) -> None:
    ran = bailiwick("item", "show", "https://shop.org/k1", cwd=land)
    assert "product  Kettle 1" in ran.out
    assert "20.50 EUR  out of stock" in ran.out, "the history of its price"
    [row] = bailiwick("item", "show", "shop.org/k1", "--json", cwd=land).rows
    assert [(line["price"], line["availability"]) for line in row["price_history"]] == [("20.50", "out_of_stock")]
    nothing = bailiwick("item", "show", "https://shop.org/none", cwd=land)
    assert (nothing.code, nothing.out) == (1, "")
    assert "there are no items of shop.org/none" in nothing.err


def test_what_was_refused(land: Path) -> None:
    ran = bailiwick("item", "rejects", "--domain", "shop.org", cwd=land)
    assert "currency  XXX    is no currency of ISO 4217  shop.org/k0" in ran.out


def test_products_by_price_and_stock(land: Path) -> None:
    ran = bailiwick("search", "--kind", "product", "--price", "10..100", "--in-stock", cwd=land)
    assert ran.out == "Kettle 0  [product]\n  https://shop.org/k0\n  10.00 EUR · in stock · Boil\n" + _snippet(ran.out)
    rows = bailiwick("search", "kettle", "--price", "15..", "--json", cwd=land).rows
    assert {(row["title"], row["price"]) for row in rows} == {("Kettle 1", "20.50"), ("Kettle 2", "300")}
    facets = bailiwick("search", "--brand", "boil", "--facets", cwd=land).err
    assert "brand: Boil 4" in facets
    assert "availability: in_stock 2, out_of_stock 2" in facets
    every = bailiwick("search", "--kind", "product", "--json", cwd=land).rows
    assert [row["price"] for row in every] == ["10.00", "20.50", "300", None]


def _snippet(out: str) -> str:
    return "".join(f"{line}\n" for line in out.splitlines()[3:])


@pytest.mark.parametrize("wrong", ["x", "10..x", "100..10", "-5..", "..", "1e400", "nan"])
def test_a_range_that_is_none(land: Path, wrong: str) -> None:
    ran = bailiwick("search", f"--price={wrong}", cwd=land)
    assert (ran.code, ran.out) == (2, "")
    assert "is no range of prices" in ran.err


def test_offers_are_those_of_products(land: Path) -> None:
    ran = bailiwick("search", "kettle", "--kind", "page", "--in-stock", cwd=land)
    assert (ran.code, "--kind product" in ran.err) == (2, True)


def test_products_are_exported(land: Path) -> None:
    rows = bailiwick("export", "products", cwd=land).rows
    assert sorted((row["product_name"], row["price"], row["availability"], row["brand"]) for row in rows) == [
        ("Kettle 0", 10.0, "in_stock", "Boil"),
        ("Kettle 1", 20.5, "out_of_stock", "Boil"),
        ("Kettle 2", 300.0, "in_stock", "Boil"),
        ("Kettle 3", None, "out_of_stock", "Boil"),
    ]
