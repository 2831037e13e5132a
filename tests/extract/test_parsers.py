"""Site parsers on pages, in real children: what they give, and what becomes of a page whose parser fails."""

import asyncio
from pathlib import Path

import pytest

from bailiwick.extract.content import ContentLimits
from bailiwick.extract.page import Body, Extracted
from bailiwick.extract.parsers.facts import ParserOrder
from bailiwick.extract.parsers.survey import survey
from bailiwick.extract.pool import ExtractionPool, PoolLimits
from bailiwick.model.items import ItemKind, ParserOutcome
from tests.extract.parser_files import GOOD, URL, page, returning, write

MARKED = b"""<html><script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product",
"name": "Stool by markup", "offers": {"price": "12.00", "priceCurrency": "EUR"}}</script><p>A stool for the kitchen."""


def extract(folder: Path, *bodies: Body, seconds: float = 1.0, page_seconds: float = 20) -> list[Extracted]:
    found = survey(folder)
    order = ParserOrder(found.sources, frozenset(found.hosts), seconds)

    async def run() -> list[Extracted]:
        pool = ExtractionPool(1, None, PoolLimits(ContentLimits(), page_seconds, 2_000_000_000), order)
        try:
            answers = await pool.extract(bodies)
        finally:
            pool.close()
        assert all(isinstance(answer, Extracted) for answer in answers), answers
        return [answer for answer in answers if isinstance(answer, Extracted)]

    return asyncio.run(run())


def body(data: bytes, url: str = URL.format(n=1), kinds: tuple[ItemKind, ...] = (ItemKind.PRODUCT,)) -> Body:
    return Body(data, "text/html; charset=utf-8", url, "general", kinds=kinds)


def test_a_parser_takes_the_place_of_the_generic_extractor(tmp_path: Path) -> None:
    folder = write(tmp_path / "parsers", shop=GOOD)
    [own, port, other] = extract(
        folder,
        body(
            MARKED.replace(b"<p>", b"<i id=productTitle>Stool by hand</i><i class=whole>49</i><i class=fraction>90</i>")
        ),
        body(page(), "http://www.shop.example:8080/dp/7"),
        body(MARKED, "https://other.example/dp/1"),
    )
    [item] = own.items
    assert (item.extractor, item.version, item.confidence) == ("shop.ShelfPage", 3, 0.95)
    assert item.data == {
        "url": "https://shop.example/dp/1", "name": "Stool by hand", "price": "49.90", "currency": "EUR",
        "brand": {"name": "Joiner"},
    }  # fmt: skip
    assert [(one.parser, one.version, one.outcome) for one in own.tries] == [("shop.ShelfPage", 3, "succeeded")]
    assert port.items[0].data["name"] == "Stool"
    assert other.tries == []
    assert other.items[0].data["name"] == "Stool by markup"


def test_a_page_that_has_a_parser_is_relevant(tmp_path: Path) -> None:
    """By the profile `products` its words are not enough: there is no price with a sign, no button, no markup."""
    urls = ("https://shop.example/dp/1", "https://other.example/dp/1")
    one, other = (Body(page(), "text/html", url, "products") for url in urls)
    [read, left] = extract(write(tmp_path / "parsers", shop=GOOD), one, other)
    assert read.relevance is not None
    assert (read.relevance.is_relevant, len(read.items)) == (True, 1)
    assert read.relevance.reason.startswith("a site parser reads it; ")
    assert left.relevance is not None
    assert (left.relevance.is_relevant, left.items) == (False, [])


def test_kinds_that_are_not_wanted_are_not_parsed(tmp_path: Path) -> None:
    [found] = extract(write(tmp_path / "parsers", shop=GOOD), body(page(), kinds=(ItemKind.ARTICLE,)))
    assert (found.items, found.tries) == ([], [])


def test_dicts_lists_schemas_and_inputs(tmp_path: Path) -> None:
    dicts = returning('return [{"name": "A", "price": "1.00"}, {"name": "B"}, None]', "a.example")
    own = """
import attrs
from web_poet import HttpResponse, ItemPage, PageParams, ResponseUrl, handle_urls
from bailiwick.model.schemas import Product

@handle_urls("b.example")
@attrs.define
class Page(ItemPage[Product]):
    response: HttpResponse
    url: ResponseUrl
    params: PageParams

    async def to_item(self):
        return Product(url=str(self.url), name=f"{self.response.status} {len(self.response.body)} {dict(self.params)}")
"""
    data = page()
    [first, second] = extract(
        write(tmp_path / "parsers", a=dicts, b=own),
        body(data, "https://a.example/"),
        body(data, "https://b.example/x"),
    )
    assert [(item.position, item.data["name"], item.data["url"]) for item in first.items] == [
        (0, "A", "https://a.example/"),
        (1, "B", "https://a.example/"),
    ]
    assert second.items[0].data == {"url": "https://b.example/x", "name": f"200 {len(data)} {{}}"}


def test_the_parser_with_the_narrowest_pattern_or_the_highest_priority_wins(tmp_path: Path) -> None:
    files = {
        "wide": returning('return {"name": "wide"}', "shop.example"),
        "narrow": returning('return {"name": "narrow"}', "shop.example/dp/"),
        "first": returning('return {"name": "first"}', "p.example").replace('example")', 'example", priority=900)'),
        "second": returning('return {"name": "second"}', "p.example/dp/"),
    }
    urls = ("https://shop.example/dp/1", "https://shop.example/x", "https://p.example/dp/1")
    found = extract(write(tmp_path / "parsers", **files), *(body(page(), url) for url in urls))
    assert [one.items[0].data["name"] for one in found] == ["narrow", "wide", "first"]


@pytest.mark.parametrize(
    ("does", "outcome", "why"),
    [
        ('raise ValueError("no price")', "raised", "ValueError: no price (shop.py, line 13)"),
        ("raise SystemExit(3)", "raised", "SystemExit: 3 (shop.py, line 13)"),
        ("return None", "empty", "it gave nothing"),
        ('return {"url": "https://shop.example/"}', "empty", "it gave nothing but the address"),
        ("return []", "empty", "it gave nothing"),
        ("return 7", "raised", "TypeError: a parser returns an item or a dict, not int"),
        ('return {"price": "12.00"}', "refused", "name: Field required"),
        ('return {"name": "x" * 6_000_000}', "raised", "ValueError: it gave an item of more than 5,000,000 characters"),
        ("while True: pass", "timeout", "it took more than 1 s"),
        ("time.sleep(60)", "timeout", "it took more than 1 s"),
        ('return re.match("(a+)+$", "a" * 60 + "b")', "timeout", "it took more than 1 s"),
        ("os._exit(3)", "died", "its process ended over it"),
        ("os.abort()", "died", "its process ended over it"),
    ],
)  # fmt: skip
def test_a_parser_that_fails_leaves_the_page_to_the_generic_extractor(
    tmp_path: Path, does: str, outcome: str, why: str
) -> None:
    folder = write(tmp_path / "parsers", shop=returning(does))
    [found, other] = extract(folder, body(MARKED), body(MARKED, "https://other.example/"))
    assert [(one.outcome, one.why) for one in found.tries] == [(outcome, why)]
    assert [(item.data["name"], item.extractor) for item in found.items] == [("Stool by markup", "product")]
    assert (other.tries, len(other.items)) == ([], 1)


def test_a_parser_that_nothing_stops_costs_its_page_nothing_but_time(tmp_path: Path) -> None:
    """It catches even what stops it: the page's own alarm ends the process, and the page is read without it."""
    stubborn = "while True:\n    try:\n        time.sleep(1)\n    except BaseException:\n        pass"
    [found] = extract(write(tmp_path / "parsers", shop=returning(stubborn)), body(MARKED), seconds=0.5, page_seconds=3)
    assert [(one.outcome, one.why) for one in found.tries] == [(ParserOutcome.TIMEOUT, "it never ended")]
    assert found.items[0].data["name"] == "Stool by markup"


def test_what_a_parser_prints_is_no_answer(tmp_path: Path) -> None:
    folder = write(tmp_path / "parsers", shop=returning('print("x" * 100_000)\nreturn {"name": "A"}'))
    [found] = extract(folder, body(page()))
    assert found.items[0].data["name"] == "A"


def test_what_the_schema_refuses_is_recorded(tmp_path: Path) -> None:
    told = '{"name": "A", "price": "about 5", "colour": "red", "brand": {"name": "B", "since": 1900}, "sku": None}'
    [found] = extract(write(tmp_path / "parsers", shop=returning(f"return {told}")), body(page()))
    assert found.items[0].data == {"url": URL.format(n=1), "name": "A", "brand": {"name": "B"}}
    assert {(reject.field, reject.value) for reject in found.rejects} == {("price", "about 5"), ("colour", '"red"')}
    assert {reject.extractor for reject in found.rejects} == {"shop.Page"}
