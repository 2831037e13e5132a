"""Real pages that are news or sell something are no services, opportunities, businesses or programmes."""

import gzip
import json

from bailiwick.extract.content import ContentLimits, Opened, open_body, read_opened
from bailiwick.extract.items import EXTRACTORS
from bailiwick.extract.items.source import Source
from bailiwick.model.content import Content
from bailiwick.model.items import ItemKind
from tests.suites import suite_path

KINDS = (ItemKind.SERVICE, ItemKind.OPPORTUNITY, ItemKind.BUSINESS, ItemKind.FUNDING_PROGRAMME)
SUITES = [path for path in map(suite_path, ("articles", "products")) if path is not None]


def test_news_and_goods_hold_none_of_these() -> None:
    taken = []
    for suite in SUITES:
        for key, truth in json.loads((suite / "ground-truth.json").read_text(encoding="utf-8")).items():
            body = gzip.decompress((suite / "html" / f"{key}.html.gz").read_bytes())
            opened = open_body(body, "text/html; charset=utf-8", ContentLimits())
            assert isinstance(opened, Opened)
            content = read_opened(opened, truth["url"], ContentLimits())
            if isinstance(content, Content):
                page = Source(truth["url"], opened.text, content)
                taken += [
                    (truth["url"], item.kind, item.data) for kind in KINDS for item in EXTRACTORS[kind](page).items
                ]
    print(*taken, sep="\n")
    assert len(taken) <= 2
