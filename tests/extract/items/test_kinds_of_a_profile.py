"""From bytes to items, as a profile wants them; and all of them as typed as their schemas say."""

from pathlib import Path

import pytest

from bailiwick.extract.content import ContentLimits
from bailiwick.extract.page import Body, Extracted, PageExtractor
from bailiwick.model.items import ItemKind
from bailiwick.model.schemas import SCHEMAS
from tests.quality.gold import FOLDER, gold_pages


@pytest.mark.parametrize(
    ("profile", "kind", "number"),
    [
        ("general", ItemKind.SERVICE, "02"),
        ("general", ItemKind.OPPORTUNITY, "01"),
        ("general", ItemKind.BUSINESS, "02"),
        ("funding", ItemKind.FUNDING_PROGRAMME, "03"),
        ("general", ItemKind.CONTACT, "02"),
    ],
)
def test_by_profile(tmp_path: Path, profile: str, kind: ItemKind, number: str) -> None:
    page = next(page for page in gold_pages(kind.value) if page.name == f"{kind.value}/{number}.html")
    body = (FOLDER / page.name).read_bytes()
    found = PageExtractor(tmp_path, ContentLimits()).extract(Body(body, "text/html; charset=utf-8", page.url, profile))
    assert isinstance(found, Extracted)
    assert found.relevance is not None
    assert found.relevance.is_relevant
    items = [item for item in found.items if item.kind is kind]
    assert items
    for item in items:
        assert SCHEMAS[kind].model_validate(item.data)
        assert 0 < item.confidence <= 1
        assert all(0 < sure <= 1 for sure in item.fields.values())
