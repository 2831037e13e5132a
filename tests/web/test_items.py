"""The items of a domain, as the web interface shows them: counted, filtered, paged, with where they come from."""

import json
import re
from collections.abc import Mapping

import pytest
from pydantic import JsonValue
from selectolax.lexbor import LexborHTMLParser

from bailiwick.model.urls import hash_of
from tests.web.tools import Land

NAME = "items.example"
HTMX = {"HX-Request": "true"}
LAMP = {
    "url": "https://items.example/lamp", "name": "Brass lamp", "price": "89.90", "currency": "EUR",
    "availability": "InStock", "brand": {"name": "Joiner"}, "description": "x" * 1000,
}  # fmt: skip
GRANT = {"name": "Small sparks", "amountMax": "1500", "currency": "EUR", "deadline": "2027-06-30", "rolling": True}
OTHERS: tuple[tuple[str, Mapping[str, JsonValue], str], ...] = (
    ("funding_programme", GRANT, "up to 1500 EUR · 2027-06-30"),
    ("funding_programme", {"name": "Kitchens", "amountMin": "2000", "amountMax": "15000"}, "2000 to 15000"),
    ("contact", {"name": "Ada", "email": "ada@items.example", "role": "head"}, "ada@items.example · head"),
    ("service", {"name": "Rooms", "telephone": "+44 1632 960 145"}, "+44 1632 960 145"),
    ("article", {"headline": "News", "datePublished": "2026-01-02"}, "2026-01-02"),
)


def page(land: Land, path: str, *, snapshot: int) -> dict[str, object]:
    [[domain_id]] = land.do("select id from domains where name = :n", n=NAME)
    key = {"domain_id": domain_id, "path_hash": hash_of(path)}
    land.do("insert into pages (domain_id, path_hash, path, state) values (:domain_id, :path_hash, :path, 'fetched')"
            " on conflict do nothing", **key, path=path)  # fmt: skip
    land.do("insert into page_parses (domain_id, path_hash, body_hash, outcome, snapshot_id, extractor_version,"
            " profile, profile_mark) values (:domain_id, :path_hash, 'b', 'parsed', :s, 1, 'general', 1)"
            " on conflict (domain_id, path_hash) do update set snapshot_id = :s", **key, s=snapshot)  # fmt: skip
    return key


def add(land: Land, path: str, kind: str, data: Mapping[str, object], *, snapshot: int, position: int = 0) -> None:
    more = {"extractor": "shop.ShelfPage", "extractor_version": 3, "content_hash": b"h"}
    land.insert("items", **page(land, path, snapshot=snapshot), snapshot_id=snapshot, kind=kind, position=position,
                data=json.dumps(data), confidence=0.87, fields=json.dumps({"price": 0.66}), **more)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def items(land: Land) -> None:
    land.admitted(NAME, "empty.example")
    add(land, "/lamp?a=1&b=2", "product", {**LAMP, "name": "Old lamp"}, snapshot=1)
    add(land, "/lamp?a=1&b=2", "product", LAMP, snapshot=2)
    for n, (kind, data, _) in enumerate(OTHERS):
        add(land, f"/{kind}{n}", kind, data, snapshot=10 + n)
    for n in range(60):
        add(land, "/many", "business", {"name": f"Shop {n:02}"}, snapshot=50, position=n)


def titles(html: str) -> list[str]:
    return [node.text() for node in LexborHTMLParser(html).css(".items summary .name")]


def test_the_domain_page_counts_them_by_kind(land: Land) -> None:
    tree = LexborHTMLParser(land.browser("viewer").get(f"/domains/{NAME}").text)
    listed = {row.text(): row.parent.text() for row in tree.css("[aria-labelledby=items] li a") if row.parent}
    assert listed == {
        "article": "article1", "business": "business60", "contact": "contact1",
        "funding programme": "funding programme2", "product": "product1", "service": "service1",
    }  # fmt: skip
    assert 'aria-labelledby="items"' not in land.browser("viewer").get("/domains/empty.example").text


def test_an_item_is_shown_with_its_fields_and_where_it_comes_from(land: Land) -> None:
    html = land.browser("viewer").get(f"/domains/{NAME}/items?kind=product").text
    assert titles(html) == ["Brass lamp"]  # not what the page held before
    tree = LexborHTMLParser(html)
    [row] = tree.css(".items > li")
    summary = row.css_first("summary")
    assert summary is not None
    assert (
        re.sub(r"\s+", " ", summary.text()).strip() == "product Brass lamp 89.90 EUR · InStock · Joinerhow sure: 0.87"
    )
    told = {dt.text(): dd.text() for dt, dd in zip(row.css("dt"), row.css("dd"), strict=True)}
    assert told["price"] == "89.90how sure: 0.66"
    assert told["brand"] == "Joiner"
    assert list(told)[:4] == ["url", "name", "brand", "price"]  # as the schema has them
    assert told["description"] == "x" * 400 + "…"
    assert "by shop.ShelfPage version 3; found" in html
    [link] = row.css("p a")
    assert link.text() == "/lamp?a=1&b=2"
    assert link.attributes["href"] == f"/domains/{NAME}/pages?view=fetched&path=%2Flamp%3Fa%3D1%26b%3D2"
    assert land.browser("viewer").get(str(link.attributes["href"])).status_code == 200


@pytest.mark.parametrize(("kind", "data", "facts"), OTHERS, ids=lambda value: str(value)[:20])
def test_the_facts_that_matter_stand_in_the_line(
    land: Land, kind: str, data: Mapping[str, JsonValue], facts: str
) -> None:
    tree = LexborHTMLParser(land.browser("viewer").get(f"/domains/{NAME}/items?kind={kind}").text)
    assert facts in [str(node.text()) for node in tree.css(".items summary .soft")]


def test_a_long_list_is_paged_without_gaps_and_doubles(land: Land) -> None:
    viewer, seen, path = land.browser("viewer"), [], f"/domains/{NAME}/items"
    while path:
        html = viewer.get(path).text
        seen += titles(html)
        found = re.search(r'<a class="button quiet" href="([^"]+)">More</a>', html)
        path = found[1].replace("&amp;", "&") if found else ""
    assert len(seen) == len(set(seen)) == 66
    business = viewer.get(f"/domains/{NAME}/items?kind=business").text
    assert titles(business) == [f"Shop {n:02}" for n in range(25)]
    assert "kind=business" in business


def test_a_fragment_is_the_list_alone(land: Land) -> None:
    html = land.browser("viewer").get(f"/domains/{NAME}/items?kind=contact", headers=HTMX).text
    assert (titles(html), "<html" in html, "<select" in html) == (["Ada"], False, False)
    empty = land.browser("viewer").get(f"/domains/{NAME}/items?kind=image").text
    assert "No items of kind image." in empty
    assert "No items." in land.browser("viewer").get("/domains/empty.example/items").text


@pytest.mark.parametrize(
    "query", ["kind=thing", "after=1", "after=product", "after=product,x", "after=thing,1", "after=product,1,1",
              "after=product,99999999999999999999"],
)  # fmt: skip
def test_nonsense_in_the_address_is_told(land: Land, query: str) -> None:
    assert land.browser("viewer").get(f"/domains/{NAME}/items?{query}").status_code == 400


def test_an_item_of_many_fields_is_cut(land: Land) -> None:
    add(land, "/wide", "opportunity", {f"field{n}": [n] * 100 for n in range(100)}, snapshot=99)
    html = land.browser("viewer").get(f"/domains/{NAME}/items?kind=opportunity").text
    assert html.count("<dt>") == 60
    assert "40 more fields." in html
    land.do("delete from items where snapshot_id = 99")
