"""The `file` engine: every usual export is read, what cannot be read is counted, and memory stays flat."""

import csv
import io
import json
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bailiwick.app import App
from bailiwick.backends.engine_file import FileEngine, Rejects
from bailiwick.base.errors import NotFoundError, SettingsError, UsageError
from bailiwick.ports import EngineAnswer, EngineHit, EngineOutcome, EngineQuestion
from tests.backends.engine_servers import Asked, brave, entries, run, searxng, tavily

Read = Callable[..., tuple[list[EngineHit], Rejects, EngineAnswer]]


def read(path: Path, *, query: str = "", count: int = 1000) -> tuple[list[EngineHit], Rejects, EngineAnswer]:
    """All pages of a file; what was rejected; the last answer."""

    async def story() -> tuple[list[EngineHit], Rejects, EngineAnswer]:
        engine, hits, page = FileEngine(str(path)), [], 0
        while True:
            page += 1
            answer = await engine.ask(EngineQuestion(query, page, count))
            hits += answer.hits
            if not answer.has_more:
                await engine.close()
                return hits, engine.rejects, answer

    found: tuple[list[EngineHit], Rejects, EngineAnswer] = run(story())
    return found


@pytest.fixture
def given(tmp_path: Path) -> Callable[..., Path]:
    """A file with this text, by a name that says nothing about it."""

    def write(text: str | bytes) -> Path:
        path = tmp_path / "export.dat"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


HIT = EngineHit("https://a.example/", "A", "S")
ANSWER = {"query": "q", "results": [{"url": HIT.url, "title": "A", "content": "S"}]}

FORMS: dict[str, str | bytes] = {
    "CSV": "url,title,snippet\nhttps://a.example/,A,S\n",
    "CSV in other words": "Position,Page Title,Result URL,Description\r\n,A,https://a.example/,S\r\n",
    "CSV with semicolons": "name;link;text\nA;https://a.example/;S\n",
    "CSV of a spreadsheet": "\ufeffsep=;\nTitle;Address;Summary\n\"A\";\"https://a.example/\";\"S\"\n",
    "tabs": "href\ttitle\tcontent\nhttps://a.example/\tA\tS\n",
    "tabs in UTF-16": "url\ttitle\tsnippet\nhttps://a.example/\tA\tS\n".encode("utf-16"),
    "no header": "https://a.example/,A,S\n",
    "JSON lines": '{"link": "https://a.example/", "name": "A", "text": "S"}\n',
    "JSON lines after empty ones": '\n  \n{"Url": "https://a.example/", "Title": "A", "Snippet": "S"}',
    "a JSON list": '[{"url": "https://a.example/", "title": "A", "description": "S"}]',
    "a JSON list over lines": json.dumps([{"url": HIT.url, "title": "A", "snippet": "S"}], indent=2),
    "an answer": json.dumps(ANSWER),
    "an answer over lines": json.dumps(ANSWER, indent=2),
    "answers, one a line": f'{json.dumps(ANSWER)}\n{{"results": []}}\n',
    "an answer of Brave": json.dumps({"web": {"results": [{"url": HIT.url, "title": "A", "description": "S"}]}}),
    "an answer of Google": json.dumps({"items": [{"link": HIT.url, "title": "A", "snippet": "S"}]}, indent=1),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_known_by_its_content(given: Callable[..., Path], form: str) -> None:
    hits, rejects, answer = read(given(FORMS[form]))
    assert (hits, rejects.count, answer.outcome) == ([HIT], 0, EngineOutcome.ANSWERED)


def test_saved_answers_of_engines_are_read(given: Callable[..., Path]) -> None:
    asked = Asked("GET", "/search", {"q": "a", "format": "json"}, {}, {})
    saved = [searxng(asked, entries(3)).body]
    key = {"authorization": "Bearer bw-test-only-key", "x-subscription-token": "bw-test-only-key"}
    saved.append(tavily(Asked("POST", "/search", {}, key, {"query": "a"}), entries(3)).body)
    saved.append(brave(Asked("GET", "/res/v1/web/search", {"q": "a"}, key, {}), entries(3)).body)
    for body in saved:
        hits, _, _ = read(given(body))
        assert [hit.url for hit in hits] == [entry.url for entry in entries(3)]
        assert hits[0].snippet == "Who may apply &amp; until when."


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the file is empty"),
        (" \n \n", "the file is empty"),
        ("a,b\n1,2\n", "no column of its first line is called url, link or href: 'a,b'"),
        ("<!doctype html>\n<title>x</title>", "no column"),
        (b"\x00\x01\x02\xff" * 1000, "no column"),
        ("x" * 200_000, "no column"),
    ],
)
def test_a_file_of_another_kind_is_told(given: Callable[..., Path], text: str | bytes, why: str) -> None:
    hits, _, answer = read(given(text))
    assert (hits, answer.outcome) == ([], EngineOutcome.INVALID)
    assert why in answer.why


def test_a_bad_line_costs_itself_alone(given: Callable[..., Path]) -> None:
    lines = ['{"url": "https://a.example/"}', "{", "7", '{"title": "no address"}', f'{{"url": "{"x" * 1_100_000}"}}',
             "[" * 100_000, '{"url": {"a": 1}}', '{"url": "https://b.example/"}']  # fmt: skip
    hits, rejects, _ = read(given("\n".join(lines)))
    assert [hit.url for hit in hits] == ["https://a.example/", "https://b.example/"]
    assert rejects.count == 6
    assert [(reject.line, reject.why) for reject in rejects.examples] == [
        (2, "is not JSON: Expecting property name enclosed in double quotes at character 2"),
        (3, "is no object"),
        (4, "has no url"),
        (5, "is longer than 1,000,000 characters"),
        (6, "is not JSON: nested too deeply"),
        (7, "has no url"),
    ]


def test_a_bad_row_of_csv_costs_itself_alone(given: Callable[..., Path]) -> None:
    text = (
        'url,title\nhttps://a.example/,"two\nlines"\n,none\nhttps://b.example/\nhttps://c.example/,5" disk\n'
        f'https://d.example/,D,more,cells\nhttps://e.example/,{"x" * 1_100_000}\n"https://f.example/,open\n'
        "https://g.example/,G\n"
    )
    hits, rejects, _ = read(given(text))
    assert [hit.url[8] for hit in hits] == ["a", "b", "c", "d", "g"]
    assert hits[0].title == "two\nlines"
    assert [(reject.line, reject.why.partition(":")[0]) for reject in rejects.examples] == [
        (4, "has no url"),
        (8, "is longer than 1,000,000 characters"),
        (9, "is not CSV"),
    ]


def test_a_broken_list_goes_on_at_the_next_object(given: Callable[..., Path]) -> None:
    text = '[\n{"url": "https://a.example/"},\n{"url": oops},\n3,\n{"url": "https://b.example/"}\n]'
    hits, rejects, _ = read(given(text))
    assert [hit.url for hit in hits] == ["https://a.example/", "https://b.example/"]
    assert rejects.examples[0].line == 3
    hits, rejects, _ = read(given('[{"url": "https://a.example/"}, 3, {"url": "https://b.ex'))
    assert ([hit.url for hit in hits], rejects.count) == (["https://a.example/"], 2)
    assert rejects.examples[1].why.endswith("what follows it is not read")


def test_a_query_column_chooses_the_rows(given: Callable[..., Path]) -> None:
    path = given(
        "Keyword,Rank,URL\nIsland Grants,3,https://a.example/\nboats,1,https://b.example/\n,,https://c.example/\n"
    )
    # A row that does not say which query it answers is not lost: it answers each.
    assert [(hit.url[8], hit.position) for hit in read(path, query="island  grants")[0]] == [("a", 3), ("c", None)]
    assert [hit.url[8] for hit in read(path)[0]] == ["a", "b", "c"]
    without = given("url\nhttps://a.example/\nhttps://b.example/\n")
    assert len(read(without, query="anything")[0]) == 2


def test_keywords_that_are_no_text_say_nothing_of_the_query(given: Callable[..., Path]) -> None:
    path = given('{"url": "https://a.example/", "keywords": ["boats", "sails"]}')
    assert [hit.url for hit in read(path, query="island grants")[0]] == ["https://a.example/"]


def test_rows_that_answer_other_queries_are_told_of(given: Callable[..., Path]) -> None:
    path = given("url,query\nhttps://a.example/,Boats\nhttps://b.example/,boats\nhttps://c.example/,sails\n")

    def unasked(*queries: str) -> str | None:
        async def story() -> str | None:
            engine = FileEngine(str(path))
            for query in queries:
                await engine.ask(EngineQuestion(query, 1, 1000))
            await engine.close()
            return engine.unasked

        told: str | None = run(story())
        return told

    assert unasked("grants", "prizes") == f"3 rows of {path} answer other queries, such as 'Boats'"
    assert unasked("sails") == f"2 rows of {path} answer other queries, such as 'Boats'"
    assert unasked("sails", "boats") is unasked("") is None


def test_a_field_may_be_as_long_as_a_line(given: Callable[..., Path]) -> None:
    hits, rejects, _ = read(given(f"url,title,snippet\nhttps://a.example/,A,{'x' * 200_000}\n"))
    assert ([hit.title for hit in hits], rejects.count) == (["A"], 0)


def _csv(rows: int) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["url", "title", "snippet"])
    writer.writerows([f"https://site{row}.example/", f"Title {row}", "a snippet, with a comma"] for row in range(rows))
    return text.getvalue()


def _lines(rows: int) -> str:
    return "".join(f'{{"url": "https://site{row}.example/", "title": "Title {row}"}}\n' for row in range(rows))


@pytest.mark.parametrize("make", [_csv, _lines, lambda rows: f"[{_lines(rows).strip().replace(chr(10), ',')}]"])
def test_100_000_rows_are_read_in_flat_memory(given: Callable[..., Path], make: Callable[[int], str]) -> None:
    path = given(make(100_000))

    async def story() -> int:
        engine, rows, page = FileEngine(str(path)), 0, 0
        while True:
            page += 1
            answer = await engine.ask(EngineQuestion("", page, 1000))
            assert answer.hits[0].url == f"https://site{rows}.example/"
            rows += len(answer.hits)
            if not answer.has_more:
                await engine.close()
                return rows

    tracemalloc.start()
    try:
        assert run(story()) == 100_000
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_100_000_bad_rows_are_counted_once(given: Callable[..., Path]) -> None:
    path = given("url\n" + "https://a.example/\n" + ",\n" * 100_000 + "https://b.example/\n")

    async def story() -> Rejects:
        engine = FileEngine(str(path))
        for query in ("one", "two"):
            answer = await engine.ask(EngineQuestion(query))
            assert len(answer.hits) == 2
        await engine.close()
        return engine.rejects

    rejects = run(story())
    assert rejects.count in (0, 100_000), "empty lines are no rows"
    path.write_text("url,x\n" + "https://a.example/,\n" + ",x\n" * 100_000 + "https://b.example/,\n")
    rejects = run(story())
    assert (rejects.count, len(rejects.examples), rejects.examples[0].line) == (100_000, 20, 3)


def test_pages_may_be_asked_in_any_order(given: Callable[..., Path]) -> None:
    path = given(_lines(25))

    async def story() -> list[tuple[int, str, bool]]:
        engine = FileEngine(str(path))
        answers = [await engine.ask(EngineQuestion("", page, 10)) for page in (3, 1, 2, 2, 4)]
        await engine.close()
        return [(len(a.hits), a.hits[0].url if a.hits else "", a.has_more) for a in answers]

    at = "https://site{}.example/".format
    assert run(story()) == [
        (5, at(20), False),
        (10, at(0), True),
        (10, at(10), True),
        (10, at(10), True),
        (0, "", False),
    ]


def test_100_kb_texts_are_bounded(given: Callable[..., Path]) -> None:
    row = {"url": "https://a.example/" + "x" * 100_000, "title": "T" * 100_000, "snippet": "S" * 100_000}
    [hit], rejects, _ = read(given(json.dumps(row)))
    assert (len(hit.url), len(hit.title), len(hit.snippet), rejects.count) == (4_001, 5_000, 20_000, 0)


def test_standard_input_is_read_once_and_asked_often(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(_lines(3).encode())

    monkeypatch.setattr(sys, "stdin", Stdin())

    async def story() -> list[int]:
        engine = FileEngine("-")
        counts = [len((await engine.ask(EngineQuestion(text))).hits) for text in ("a", "b")]
        await engine.close()
        await engine.close()
        return counts

    assert run(story()) == [3, 3]


def test_a_file_that_goes_away_is_a_value(given: Callable[..., Path]) -> None:
    path = given(_lines(3))
    engine = FileEngine(str(path))
    path.unlink()
    answer = run(engine.ask(EngineQuestion("")))
    assert (answer.outcome, answer.why) == (
        EngineOutcome.INVALID, f"the file {path} cannot be used: No such file or directory",
    )  # fmt: skip


def test_the_app_opens_engines_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TAVILY_API_KEY", "BAILIWICK_SEARXNG_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "results.csv"
    path.write_text("url\nhttps://a.example/\n")
    with App.at(tmp_path) as app:
        assert app.search_engine(f"file:{path}").name == "file"
        monkeypatch.setenv("BRAVE_API_KEY", "k")
        assert app.search_engine("brave").name == "brave"
        expected: list[tuple[str, type[Exception], str]] = [
            ("file", UsageError, "needs a file"),
            (f"file:{path}x", NotFoundError, "there is no file"),
            ("google", NotFoundError, "there is no search engine 'google'"),
            ("brave:x", NotFoundError, "no search engine"),
            ("searxng", SettingsError, r"searxng\.base_url is not set"),
            ("tavily", SettingsError, "TAVILY_API_KEY is not set"),
        ]
        for name, error, text in expected:
            with pytest.raises(error, match=text) as raised:
                app.search_engine(name)
            hint: Any = getattr(raised.value, "hint", None)
            assert hint
