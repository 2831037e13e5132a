"""What the sample web offers: real pictures and a real PDF, goods of which the example parser knows all."""

import asyncio
import io
import struct
import zlib
from pathlib import Path

import pytest

from bailiwick.demo.web.goods import JSON_LD, MICRODATA, OWN_MARKUP
from bailiwick.demo.web.offers import CALL
from bailiwick.demo.web.sample import sample_web
from bailiwick.extract.content import ContentLimits, read_content
from bailiwick.extract.page import Body, Extracted
from bailiwick.extract.parsers.facts import ParserOrder
from bailiwick.extract.parsers.survey import survey
from bailiwick.extract.pool import ExtractionPool, PoolLimits
from bailiwick.model.content import Content, Unread
from bailiwick.model.items import Item, ItemKind

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "src/bailiwick/demo/parsers/shop_example.py"
WEB = sample_web()


def body(host: str, path: str) -> bytes:
    page = WEB[host].page(path)
    assert page is not None, path
    return page.body if isinstance(page.body, bytes) else page.body.encode()


def products(paths: list[str], parsers: Path | None) -> list[Extracted]:
    found = survey(parsers)
    order = ParserOrder(found.sources, frozenset(found.hosts))

    async def run() -> list[Extracted | Unread]:
        pool = ExtractionPool(1, None, PoolLimits(ContentLimits(), 20, 2_000_000_000), order)
        bodies = [
            Body(body("shop.example", path), "text/html", f"http://shop.example:81{path}", "general",
                 kinds=[ItemKind.PRODUCT])
            for path in paths
        ]  # fmt: skip
        try:
            return await pool.extract(bodies)
        finally:
            pool.close()

    answers = asyncio.run(run())
    return [answer for answer in answers if isinstance(answer, Extracted)]


def only(found: Extracted) -> Item:
    [item] = found.items
    return item


def test_the_example_parser_knows_all_of_a_page() -> None:
    found = products([f"/dp/{good.code}" for good in OWN_MARKUP], EXAMPLE.parent)
    for good, page in zip(OWN_MARKUP, found, strict=True):
        item = only(page)
        assert item.extractor == "shop_example.ShelfPage"
        told = item.data
        assert (told["name"], told["sku"], told["price"], told["currency"]) == (good.name, good.code, good.price, "EUR")
        assert told["availability"] == ("InStock" if good.left else "OutOfStock")
        assert told["brand"] == {"name": good.brand}
        assert told["aggregateRating"] == {
            "ratingValue": float(good.rating), "bestRating": 5.0, "reviewCount": good.reviews,
        }  # fmt: skip
        assert told["mainImage"] == {"url": f"http://shop.example:81{good.picture}"}
        assert [step["name"] for step in told["breadcrumbs"]][-1] == good.category  # type: ignore[index,union-attr,call-overload]
        assert page.rejects == []


def test_without_it_less_is_known() -> None:
    """That is what the example is for."""
    for page in products([f"/dp/{good.code}" for good in OWN_MARKUP], None):
        assert not page.tries
        known = page.items[0].data if page.items else {}
        assert not {"sku", "price", "brand", "availability"} <= known.keys()


@pytest.mark.parametrize(("folder", "goods"), [("tea", JSON_LD), ("kitchen", MICRODATA)])
def test_marked_up_goods_need_no_parser(folder: str, goods: tuple[object, ...]) -> None:
    found = products([f"/{folder}/{good.code}" for good in goods], None)  # type: ignore[attr-defined]
    assert [(only(page).data["name"], only(page).data["price"]) for page in found] == [
        (good.name, good.price)
        for good in goods  # type: ignore[attr-defined]
    ]


def test_every_picture_that_a_page_shows_is_one() -> None:
    from PIL import Image

    seen: set[bytes] = set()
    for host, paths in (("shop.example", ["/shelf"]), ("library.example", ["/services/room-hire"]),
                        ("foundation.example", ["/programmes/community-kitchens"])):  # fmt: skip
        for path in paths:
            for part in body(host, path).decode().split('<img src="')[1:]:
                address, rest = part.split('"', 1)
                assert 'alt="' in rest.split(">")[0]
                data = body(host, address)
                with Image.open(io.BytesIO(data)) as image:
                    image.load()
                    assert image.size == (320, 240)
                seen.add(data)
    assert len(seen) == 14


def test_a_picture_is_small_and_whole() -> None:
    data = body("shop.example", OWN_MARKUP[0].picture)
    assert len(data) < 5_000
    length = struct.unpack(">I", data[8:12])[0]
    assert zlib.crc32(data[12 : 16 + length]) == struct.unpack(">I", data[16 + length : 20 + length])[0]


def test_one_pdf_can_be_read_and_one_cannot() -> None:
    good = read_content(
        body("foundation.example", CALL), "application/pdf", "http://foundation.example/x", ContentLimits()
    )
    assert isinstance(good, Content)
    assert good.title == "Small sparks: call for applications 2027"
    assert "Deadline for applications: 30 June 2027." in good.text
    from bailiwick.demo.web.answers import Request

    broken = WEB["foodbank.example"].answer(Request("foodbank.example", "/annual-report.pdf")).payload()
    assert isinstance(read_content(broken, "application/pdf", "http://foodbank.example/x", ContentLimits()), Unread)


def test_the_guide_shows_the_example_as_it_is() -> None:
    guide = (ROOT / "docs/guides/site-parsers.md").read_text()
    assert EXAMPLE.read_text().partition('"""\n\n')[2] in guide
