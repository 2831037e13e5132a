"""Products of shops on the public benchmark, with its own scoring; and no products on pages that are none."""

import json

from bailiwick.extract.content import ContentLimits, Opened, open_body, read_opened
from bailiwick.extract.items.product import products_of
from bailiwick.extract.items.source import Source
from bailiwick.model.content import Content
from tests.quality.products import score
from tests.quality.test_articles import pages as article_pages
from tests.suites import suite_path

PRODUCTS, ARTICLES = suite_path("products"), suite_path("articles")
FLOORS = {"price": 0.75, "sku": 0.65, "availability": 0.80}


if PRODUCTS is not None:

    def test_the_benchmark() -> None:
        scores, faults = score(PRODUCTS)
        for name, found in scores.items():
            print(f"{name:<14}F1 {found.f1:.3f}  right {found.right}, wrong {found.wrong}, missed {found.missed}")
        for fault in faults:
            print(json.dumps(fault, ensure_ascii=False))
        assert {name: found.f1 >= FLOORS[name] for name, found in scores.items()} == dict.fromkeys(FLOORS, True)


if ARTICLES is not None:

    def test_articles_are_no_products() -> None:
        """Not many: some articles sell a book, or have a shop beside them."""
        taken = []
        for body, url, _ in article_pages():
            opened = open_body(body, "text/html; charset=utf-8", ContentLimits())
            assert isinstance(opened, Opened)
            content = read_opened(opened, url, ContentLimits())
            assert isinstance(content, Content)
            if found := products_of(Source(url, opened.text, content)).items:
                taken.append((url, found[0].data.get("name"), found[0].data.get("price"), found[0].fields))
        print(*taken, sep="\n")
        assert len(taken) <= 2
