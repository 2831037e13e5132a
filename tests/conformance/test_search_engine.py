"""What every SearchEngine must do, whatever is behind it."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from bailiwick.backends.engine_file import FileEngine
from bailiwick.ports import EngineAnswer, EngineHit, EngineOutcome, EngineQuestion, SearchEngine
from tests.backends.engine_servers import KEY, KEY_NAME, KINDS, engine_server, entries

Story = Callable[[SearchEngine], Awaitable[Any]]
Play = Callable[[Story], Any]


@contextmanager
def _service(name: str, _: Path) -> Iterator[SearchEngine]:
    with engine_server(name) as server:
        server.web = entries(1_500)
        yield server.kind.engine(server.settings())


@contextmanager
def _file(_: str, place: Path) -> Iterator[SearchEngine]:
    path = place / "results.jsonl"
    path.write_text("".join(json.dumps({"url": entry.url, "title": entry.title}) + "\n" for entry in entries(1_500)))
    yield FileEngine(str(path))


IMPLEMENTATIONS = {**dict.fromkeys(KINDS, _service), "file": _file}


@pytest.fixture(params=IMPLEMENTATIONS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def play(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    """Runs a story with an engine that knows 1,500 results, and closes it."""
    monkeypatch.setenv(KEY_NAME, KEY)
    with ExitStack() as stack:
        engine = stack.enter_context(IMPLEMENTATIONS[name](name, tmp_path))

        def run(story: Story) -> Any:
            async def whole() -> Any:
                try:
                    return await story(engine)
                finally:
                    await engine.close()

            return asyncio.run(whole())

        yield run


def check(answer: EngineAnswer, engine: SearchEngine) -> None:
    assert isinstance(answer, EngineAnswer)
    assert len(answer.hits) <= engine.page_size
    assert all(isinstance(hit, EngineHit) for hit in answer.hits)
    assert all(type(text) is str for hit in answer.hits for text in (hit.url, hit.title, hit.snippet))
    assert answer.milliseconds >= 0
    assert answer.pause_seconds >= 0
    assert answer.outcome is EngineOutcome.ANSWERED or (answer.why and not answer.hits and not answer.has_more)
    assert KEY not in answer.why


def test_it_has_a_name_and_a_page_size(play: Play, name: str) -> None:
    async def story(engine: SearchEngine) -> None:
        assert (engine.name, engine.page_size > 0) == (name, True)
        assert engine.most_pages is None or engine.most_pages >= 1

    play(story)


def test_it_answers_with_results_best_first(play: Play) -> None:
    async def story(engine: SearchEngine) -> None:
        answer = await engine.ask(EngineQuestion("grants", count=5))
        check(answer, engine)
        assert answer.outcome is EngineOutcome.ANSWERED
        assert [hit.url for hit in answer.hits[:5]] == [entry.url for entry in entries(5)]

    play(story)


def test_pages_follow_each_other(play: Play) -> None:
    async def story(engine: SearchEngine) -> None:
        first = await engine.ask(EngineQuestion("grants", count=5))
        second = await engine.ask(EngineQuestion("grants", page=2, count=5))
        check(second, engine)
        found = [hit.url for hit in (*first.hits, *second.hits)]
        assert found == [entry.url for entry in entries(len(found))]
        assert bool(second.hits) == first.has_more

    play(story)


@pytest.mark.parametrize(
    "text", ["", " ", "\x00", "\ud800", "x" * 100_000, "'; drop table", "日本語 \u202e", "a\r\nX: y"]
)
def test_no_query_makes_it_raise(play: Play, text: str) -> None:
    async def story(engine: SearchEngine) -> None:
        check(await engine.ask(EngineQuestion(text)), engine)

    play(story)


@pytest.mark.parametrize(("page", "count"), [(0, 5), (-1, 5), (1, 0), (1, -7), (1, 10**9), (10**9, 5), (10**9, 10**9)])
def test_no_page_makes_it_raise(play: Play, page: int, count: int) -> None:
    async def story(engine: SearchEngine) -> None:
        check(await engine.ask(EngineQuestion("grants", page, count)), engine)

    play(story)


def test_many_ask_at_once(play: Play) -> None:
    async def story(engine: SearchEngine) -> None:
        answers = await asyncio.gather(*(engine.ask(EngineQuestion(f"grants {at}", count=5)) for at in range(20)))
        for answer in answers:
            check(answer, engine)
            assert [hit.url for hit in answer.hits[:5]] == [entry.url for entry in entries(5)]

    play(story)


def test_it_closes_twice_and_can_be_asked_again(play: Play) -> None:
    async def story(engine: SearchEngine) -> None:
        await engine.ask(EngineQuestion("grants"))
        await engine.close()
        await engine.close()
        check(await engine.ask(EngineQuestion("grants")), engine)

    play(story)
