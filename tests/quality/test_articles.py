"""Floors on the public articles suite, scored as its authors do (scrapinghub/article-extraction-benchmark).

Words are put together in fours; precision and recall are those of the shingles of each page, each averaged over the
pages, and F1 is that of the two averages.
"""

import gzip
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from statistics import mean

from bailiwick.extract.content import ContentLimits, read_content
from bailiwick.extract.items.article import article_of
from bailiwick.extract.markdown import markdown_of, text_of_markdown
from bailiwick.model.content import Content
from tests.suites import suite_path

HTML = "text/html; charset=utf-8"
SHINGLE = 4
SUITE = suite_path("articles")
MARKDOWN_FLOOR, TEXT_FLOOR = 0.95, 0.89


def shingles(text: str) -> Counter[tuple[str, ...]]:
    """With repetitions; a text of fewer than four words is one shingle."""
    words = re.findall(r"\w+", text)
    found = (tuple(words[at : at + SHINGLE]) for at in range(max(1, len(words) - SHINGLE + 1)))
    return Counter(shingle for shingle in found if shingle)


def f1_of(pairs: list[tuple[str, str]]) -> float:
    """Of (what is right, what was found), one pair a page."""
    precisions, recalls = [], []
    for right, found in pairs:
        wanted, given = shingles(right), shingles(found)
        hits = (wanted & given).total()
        if given:
            precisions.append(hits / given.total())
        if wanted:
            recalls.append(hits / wanted.total())
    precision, recall = mean(precisions), mean(recalls)
    return 2 * precision * recall / (precision + recall)


def test_the_scoring() -> None:
    assert f1_of([("one two three four five", "one two three four five")]) == 1
    assert f1_of([("a b c d e", "b c d e f"), ("x", "x")]) == 0.75
    assert f1_of([("a b c d", "a b c d e"), ("a b c d", "")]) == 0.5


if SUITE is not None:

    @cache
    def pages() -> list[tuple[bytes, str, str]]:
        """(body, URL, the article's text)."""
        folder = Path(str(SUITE))
        truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
        return [
            (gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes()), case["url"], case["articleBody"])
            for name, case in truth.items()
        ]

    def contents() -> list[Content]:
        found = [read_content(body, HTML, url, ContentLimits()) for body, url, _ in pages()]
        return [one for one in found if isinstance(one, Content)]

    def test_the_words_of_the_markdown() -> None:
        found = [(text, text_of_markdown(markdown_of(body, HTML, url) or "")) for body, url, text in pages()]
        assert len(found) == 79
        assert f1_of(found) >= MARKDOWN_FLOOR

    def test_the_main_text() -> None:
        assert len(contents()) == 79
        assert f1_of([(text, one.text) for (_, _, text), one in zip(pages(), contents(), strict=True)]) >= TEXT_FLOOR

    def test_metadata_is_found() -> None:
        found = contents()
        assert all(one.title and one.language for one in found)
        assert sum(one.published_at is not None for one in found) >= 55
        assert sum(one.author is not None for one in found) >= 40

    def test_most_of_them_are_articles() -> None:
        found = [article_of(one, None, url) for one, (_, url, _) in zip(contents(), pages(), strict=True)]
        assert sum(one is not None for one in found) >= 65
