"""`bailiwick learn` as an admin uses it: train, compare, switch on, watch, switch off."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bailiwick.accounts.members import local_admin
from bailiwick.base.sections import DatabaseSettings
from bailiwick.base.settings import Settings
from bailiwick.db.engine import Database
from bailiwick.model.states import Role
from tests.cli.tools import Ran, bailiwick
from tests.learn.tools import examples, keep_review, keep_scored
from tests.ledger.tools import make_member
from tests.servers import TestServers


class Command:
    """The program on a database of its own."""

    def __init__(self, home: Path, url: str) -> None:
        self._home, self._url = home, url

    def __call__(self, *arguments: str, code: int = 0, stdin: str = "") -> Ran:
        ran = bailiwick(*arguments, cwd=self._home, stdin=stdin, BAILIWICK_DATABASE_URL=self._url)
        assert ran.code == code, ran
        return ran


@pytest.fixture
def run(servers: TestServers, tmp_path: Path) -> Iterator[Command]:
    with servers.cloned("pg18") as url:
        with Database(tmp_path, Settings(database=DatabaseSettings(url=url))) as database, database.begin() as conn:
            me = local_admin(conn)
            make_member(conn, "rita", Role.REVIEWER)
            keep_review(conn, examples(110), me)
            for half_days in range(140):
                at = datetime(2026, 11, 16, tzinfo=UTC) - timedelta(hours=12 * half_days)
                keep_scored(conn, me, at, 0.9, is_wanted=half_days > 60)
        yield Command(tmp_path, url)


def test_from_decisions_to_a_model_in_use(run: Command) -> None:
    assert "too few to learn from: 0 decisions" in run("learn", "train", "--profile", "funding", code=2).err
    [made] = run("learn", "train", "--json").rows
    assert (made["version"], made["state"], made["task"], made["profile"]) == (1, "trained", "review", "general")
    assert {part["name"] for part in made["signals"]} == {"care", "age", "luck"}
    assert made["report"]["comparison"]["bands"]["to_people"] > 0
    number = str(made["id"])

    shown = run("learn", "show", number).out
    for told in ("AUC 0.", "reviews saved:", "to people", "page text", "care", "wanted"):
        assert told in shown
    refused = run("learn", "use", number, code=130, stdin="n\n")
    assert "reviews saved" in refused.err
    assert "extrapolated" in refused.err, "an admin is told what is not known"
    run("--as", "rita", "learn", "use", number, "--yes", code=2)

    assert "is used now" in run("learn", "use", number, "--yes", "--reason", "saves work").out
    [row] = run("learn", "list", "--task", "review", "--profile", "general", "--limit", "5", "--json").rows
    assert (row["state"], row["activated_by"] is not None) == ("active", True)
    assert "is retired" in run("learn", "stop", number).out
    verbs = [row["did"] for row in run("events", "--of", "model:review/general/1", "--json").rows]
    assert sorted(verbs) == ["activate", "retire", "train"]


def test_drift_is_told_by_week_with_a_warning(run: Command) -> None:
    found = run("learn", "drift", "--json")
    assert (found.rows[0]["agreement"], found.rows[-1]["agreement"]) == (1.0, 0.0)
    assert sum(row["decisions"] for row in found.rows) == 140
    assert "warning: agreement fell" in found.err
    assert "nothing yet" in run("learn", "drift", "--task", "candidate", "--limit", "2").err
