"""Settings in the database: they win over defaults only, and every change has its author."""

from pathlib import Path

import pytest
from sqlalchemy import text

from bailiwick.base.errors import SettingsError
from bailiwick.base.settings import Origin, load
from bailiwick.db.engine import Database
from bailiwick.ledger import settings as kept
from tests.ledger.tools import make_member

KEY = "outbox.keep_days"


def test_a_kept_value_holds_and_its_history_names_the_author(database: Database) -> None:
    with database.begin() as conn:
        anna, ben = make_member(conn, "anna"), make_member(conn, "ben")
        assert kept.put(conn, load(None), KEY, 20, anna) == 20
        kept.put(conn, load(None), KEY, 30, ben, reason="more room")
        loaded = load(None, kept.stored(conn))
        assert (loaded.tree.outbox.keep_days, loaded.origins[KEY]) == (30, Origin.DATABASE)
        told = [(e.actor, e.verb, e.before, e.after, e.reason) for e in kept.history(conn, KEY, limit=10)]
        assert told == [("ben", "set", 20, 30, "more room"), ("anna", "set", None, 20, None)]
        assert kept.reset(conn, KEY, anna)
        assert not kept.reset(conn, KEY, anna)
        assert load(None, kept.stored(conn)).setting(KEY).origin is Origin.DEFAULT
        assert len(kept.history(conn, KEY, limit=10)) == 3


def test_setting_a_shadowed_one_is_an_error(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "bailiwick.toml"
    file.write_text("[outbox]\nkeep_days = 3\n")
    with database.begin() as conn:
        anna = make_member(conn, "anna")
        with pytest.raises(SettingsError, match=r"set in bailiwick\.toml"):
            kept.put(conn, load(file), KEY, 20, anna)
        monkeypatch.setenv("BAILIWICK_OUTBOX_KEEP_DAYS", "5")
        with pytest.raises(SettingsError, match="set in BAILIWICK_OUTBOX_KEEP_DAYS"):
            kept.put(conn, load(None), KEY, 20, anna)
        with pytest.raises(SettingsError, match="before the database is open"):
            kept.put(conn, load(None), "database.url", "postgresql://x", anna)
        assert kept.stored(conn) == {}


def test_bad_values_are_refused_and_leave_no_trace(database: Database) -> None:
    with database.begin() as conn:
        anna = make_member(conn, "anna")
        for value in (0, -1, "many", None, [1], 10**9):
            with pytest.raises(SettingsError, match=r"outbox\.keep_days"):
                kept.put(conn, load(None), KEY, value, anna)
        assert kept.history(conn, KEY, limit=10) == []


def test_a_key_of_a_newer_program_is_left_alone(database: Database) -> None:
    with database.begin() as conn:
        conn.execute(text("insert into settings (key, value, set_by) values ('future.thing', '1', 1)"))
        assert load(None, kept.stored(conn)).tree.outbox.keep_days == 14
