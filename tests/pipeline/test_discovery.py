"""A session with engines, from order to candidates: interrupted, gone on with, and with engines that fail."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from bailiwick.app import App
from bailiwick.discover.sessions import Order
from bailiwick.model.profile_files import load_profile
from bailiwick.pipeline.discovery import Discovered, Watch, discover
from tests.backends.engine_servers import KEY, EngineServer, Entry, engine_server, fault
from tests.servers import TestServers

QUERIES = ("grants", "prizes", "awards")


@pytest.fixture
def brave() -> Iterator[EngineServer]:
    with engine_server("brave") as server:
        server.web = [Entry("https://a.example/", "Community grants of the Oak Foundation")]
        yield server


@pytest.fixture
def app(servers: TestServers, tmp_path: Path, brave: EngineServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    monkeypatch.setenv("BRAVE_API_KEY", KEY)
    monkeypatch.setenv("BAILIWICK_BRAVE_BASE_URL", brave.url)
    monkeypatch.setenv("BAILIWICK_BRAVE_PRICE_PER_REQUEST", "0.1")
    monkeypatch.setenv("BAILIWICK_BRAVE_REQUESTS_PER_MINUTE", "100000")
    monkeypatch.setenv("BAILIWICK_BRAVE_MAX_RETRIES", "0")
    with servers.cloned("pg18") as url:
        monkeypatch.setenv("BAILIWICK_DATABASE_URL", url)
        with App.at(tmp_path) as opened:
            yield opened


def run(app: App, watch: Watch | None = None, engines: tuple[str, ...] = ("brave",)) -> Discovered:
    profile = load_profile("funding", app.place.profiles)
    return discover(app, Order(QUERIES, engines, "funding", 0.6, 20), profile, watch or Watch())


def test_what_was_paid_for_before_an_interruption_is_counted_and_not_paid_twice(app: App, brave: EngineServer) -> None:
    def stop_after_one(done: int, _of: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(app, Watch(asked=stop_after_one))
    found = run(app)
    assert found.goes_on
    assert [asked.query["q"] for asked in brave.requests] == ["grants", "prizes", "awards"]
    assert (found.stats.engine_calls, found.stats.cost, found.stats.results) == (3, 0.3, 3)


def test_an_engine_that_failed_before_an_interruption_is_asked_again_and_counted_once(
    app: App, brave: EngineServer
) -> None:
    brave.says = [fault(500)] * 3

    def stop(_done: int, _of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(app, Watch(judged=stop), engines=("brave", f"file:{_file(app)}"))
    brave.says = [fault(500)]
    found = run(app, engines=("brave", f"file:{_file(app)}"))
    assert (found.goes_on, found.stats.engine_failures) == (True, 1)
    assert found.problems == ["brave: brave answered 500"]


def test_the_row_of_a_file_without_places_says_nothing(app: App) -> None:
    run(app, engines=(f"file:{_file(app)}",))
    with app.database.read() as conn:
        scores, found_by = conn.execute(text("select judge_scores, found_by from candidates")).one()
    assert "agreement" not in {score["judge_name"] for score in scores}
    assert found_by[0] == {"engine": "file", "query": "grants", "position": 1}


def _file(app: App) -> Path:
    path = app.place.root / "results.csv"
    path.write_text("url,title\nhttps://b.example/,Community grants of the Elm Foundation\n")
    return path
