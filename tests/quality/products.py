"""The public product benchmark, scored as it scores itself: one prediction a field, several right answers a page."""

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from bailiwick.extract.content import ContentLimits, Opened, open_body, read_opened
from bailiwick.extract.items.product import products_of
from bailiwick.extract.items.source import Source
from bailiwick.model.content import Content
from bailiwick.model.items import Item

FIELDS = ("price", "sku", "availability")


@dataclass(frozen=True, slots=True)
class ShopPage:
    key: str
    url: str
    body: bytes
    truth: dict[str, list[str]]


def shop_pages(folder: Path) -> Iterator[ShopPage]:
    truths = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    for key, truth in truths.items():
        body = gzip.decompress((folder / "html" / f"{key}.html.gz").read_bytes())
        yield ShopPage(key, truth["url"], body, {name: value for name, value in truth.items() if name != "url"})


def extract(page: ShopPage) -> Item | None:
    opened = open_body(page.body, "text/html; charset=utf-8", ContentLimits())
    assert isinstance(opened, Opened)
    content = read_opened(opened, page.url, ContentLimits())
    assert isinstance(content, Content)
    items = products_of(Source(page.url, opened.text, content)).items
    return items[0] if items else None


@dataclass(slots=True)
class Score:
    right: int = 0
    wrong: int = 0
    missed: int = 0

    def count(self, truth: list[str], given: str | None, same: Callable[[str, str], bool]) -> bool:
        """Whether it is right; a wrong answer is both wrong and a miss."""
        is_right = given is not None and any(same(one, given) for one in truth)
        self.right += is_right
        self.wrong += given is not None and not is_right
        self.missed += bool(truth) and not is_right
        return is_right or (given is None and not truth)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)


def same_amount(one: str, other: str) -> bool:
    try:
        return Decimal(one.strip()) == Decimal(other)
    except InvalidOperation:
        return False


def same_text(one: str, other: str) -> bool:
    return one == other


def score(folder: Path) -> tuple[dict[str, Score], list[tuple[str, str, list[str], str | None, str]]]:
    """The scores by field, and what was not right: page, field, truth, answer, address."""
    scores = {name: Score() for name in FIELDS}
    faults = []
    for page in shop_pages(folder):
        item = extract(page)
        for name, one in scores.items():
            value = item.data.get(name) if item else None
            given = value if isinstance(value, str) else None
            truth = page.truth.get(name, [])
            if not one.count(truth, given, same_amount if name == "price" else same_text):
                faults.append((page.key[:6], name, truth, given, page.url))
    return scores, faults
