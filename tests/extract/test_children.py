"""Bursts: every page has its own answer, whatever the others do to the process and however large they are."""

import asyncio
from collections.abc import Iterator

import pytest

from bailiwick.extract.children import Child
from bailiwick.extract.content import ContentLimits
from bailiwick.extract.page import Body, Extracted
from bailiwick.extract.pool import ExtractionPool, PoolLimits
from bailiwick.model.content import ParseOutcome, Unread

ARGUMENTS = ["", "", "20", "2000000000"]


def page(word: str, words: int = 50) -> Body:
    text = " ".join(f"{word}{number}" for number in range(words))
    return Body(f"<title>{word}</title><p>{text}</p>".encode(), "text/html", f"https://example.org/{word}", "general")


def titles(answers: list[Extracted | Unread]) -> list[str | None]:
    return [answer.content.title if isinstance(answer, Extracted) else answer.outcome for answer in answers]


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    monkeypatch.setenv("BAILIWICK_FAILPOINT", "parse:deadly")
    made = Child(ARGUMENTS)
    yield made
    made.kill()
    made.drop()


def test_a_burst_is_answered_in_order(child: Child) -> None:
    words = [f"page{number}" for number in range(8)]
    answers, death = child.ask([page(word) for word in words])
    assert titles(answers) == words
    assert death is None


def test_what_was_answered_before_a_death_is_kept(child: Child) -> None:
    answers, death = child.ask([page("one"), page("two"), page("deadly"), page("four")])
    assert titles(answers) == ["one", "two"]
    assert death is not None
    assert death < 0
    assert titles(child.ask([page("four")])[0]) == ["four"]


def test_answers_that_no_pipe_holds(child: Child) -> None:
    """Two bodies fit into a burst, and their answers take more room than there is."""
    words = [f"large{number}" for number in range(4)]
    bodies = [page(word, 25_000) for word in words]
    found: list[Extracted | Unread] = []
    while len(found) < len(bodies):
        answers, death = child.ask(bodies[len(found) :])
        assert answers
        assert death is None
        found += answers
    assert titles(found) == words


def test_a_body_that_no_pipe_holds(child: Child) -> None:
    huge = Body(b"<title>huge</title>" + b"<!-- x -->" * 400_000, "text/html", "https://example.org/", "general")
    answers, death = child.ask([huge, page("small")])
    assert titles(answers) == ["huge"]
    assert death is None
    assert titles(child.ask([page("small")])[0]) == ["small"]


def test_one_page_of_a_batch_is_poison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAILIWICK_FAILPOINT", "parse:deadly")
    pool = ExtractionPool(1, None, PoolLimits(ContentLimits(), 20, 2_000_000_000))
    words = ["one", "two", "deadly", "four", "five"]
    try:
        answers = asyncio.run(pool.extract([page(word) for word in words]))
    finally:
        pool.close()
    assert titles(answers) == ["one", "two", ParseOutcome.POISON, "four", "five"]
