"""A labelled corpus of pages: precision and recall of either kind."""

from functools import cache
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from bailiwick.crawl.lookalikes import Lookalike, looks_like
from bailiwick.net.charsets import decode

CORPUS = Path(__file__).parent / "lookalikes"
PRECISION, RECALL = 0.95, 0.8
POSITIVES, NEGATIVES = 30, 60


@cache
def judged() -> dict[str, tuple[str, Lookalike | None]]:
    """By file: (the folder it is in, what it was taken for)."""
    return {
        f"{file.parent.name}/{file.name}": (
            file.parent.name,
            looks_like(LexborHTMLParser(decode(file.read_bytes(), "text/html"))),
        )
        for file in sorted(CORPUS.glob("*/*.html"))
    }


@pytest.mark.parametrize("kind", Lookalike)
def test_precision_and_recall(kind: Lookalike) -> None:
    pages = judged()
    true = {name for name, (folder, _) in pages.items() if folder == kind}
    found = {name for name, (_, verdict) in pages.items() if verdict is kind}
    assert len(true) >= POSITIVES
    assert sum(folder == "ordinary" for folder, _ in pages.values()) >= NEGATIVES
    precision = len(true & found) / max(1, len(found))
    recall = len(true & found) / len(true)
    report = (
        f"precision {precision:.3f}, recall {recall:.3f}\n"
        f"taken for {kind}: {sorted(found - true)}\nmissed: {sorted(true - found)}"
    )
    assert precision >= PRECISION, report
    assert recall >= RECALL, report
