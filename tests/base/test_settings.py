"""Settings: precedence, origins, and errors that name the place."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.base.errors import SettingsError
from bailiwick.base.settings import Origin, check_value, environment_name, keys, load


@pytest.fixture(autouse=True)
def no_settings_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("BAILIWICK_"):
            monkeypatch.delenv(name)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "bailiwick.toml"


def test_everything_has_a_default_and_a_description() -> None:
    loaded = load(None)
    assert {s.key for s in loaded} == set(keys())
    assert all(s.description.endswith(".") and s.origin is Origin.DEFAULT for s in loaded)


def test_environment_wins_over_file_wins_over_database_wins_over_default(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "outbox.keep_days"
    seen = [load(file).setting(key)]
    seen.append(load(file, {key: 20}).setting(key))
    file.write_text("[outbox]\nkeep_days = 30\n")
    seen.append(load(file, {key: 20}).setting(key))
    monkeypatch.setenv("BAILIWICK_OUTBOX_KEEP_DAYS", "40")
    seen.append(load(file, {key: 20}).setting(key))
    assert [(s.value, s.origin.value) for s in seen] == [
        (14, "default"), (20, "database"), (30, "file"), (40, "environment"),
    ]  # fmt: skip


def test_one_layer_does_not_hide_another_layers_neighbour(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("[database]\nstall_seconds = 5\nidle_stop_seconds = 6\n")
    monkeypatch.setenv("BAILIWICK_DATABASE_STALL_SECONDS", "7")
    tree = load(file).tree.database
    assert (tree.stall_seconds, tree.idle_stop_seconds, tree.lock_timeout_seconds) == (7, 6, 10)


def test_a_secret_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAILIWICK_DATABASE_URL", "postgresql://u:hunter2@h/d")
    loaded = load(None)
    assert loaded.setting("database.url").value == "********"
    assert "hunter2" not in repr(loaded)
    assert loaded.tree.database.url is not None
    assert loaded.tree.database.url.get_secret_value().endswith("@h/d")


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        ("[database]\nstall = 5\n", "database.stall: there is no such setting", "did you mean database.stall_seconds?"),
        ("[databse]\nurl = 'x'\n", "databse", None),
        ("[outbox]\nkeep_days = 'x'\n", "outbox.keep_days: Input should be a valid integer", None),
        ("[outbox]\nkeep_days = 0\n", "outbox.keep_days: Input should be greater than or equal to 1", None),
        ("outbox = 3\n", "outbox", None),
        ("[outbox\n", "line 1", "the file is TOML"),
        ("\ufeff\x00", "bailiwick.toml", None),
    ],
)
def test_a_mistake_in_the_file_is_named(file: Path, content: str, message: str, hint: str | None) -> None:
    file.write_text(content)
    with pytest.raises(SettingsError) as raised:
        load(file)
    assert message in raised.value.message
    assert str(file) in raised.value.message
    assert hint is None or (raised.value.hint or "").startswith(hint)


def test_a_mistake_in_the_environment_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAILIWICK_OUTBOX_KEEP_DAYS", "x")
    with pytest.raises(SettingsError, match=r"^BAILIWICK_OUTBOX_KEEP_DAYS: "):
        load(None)


def test_a_variable_that_is_no_setting_is_reported_not_fatal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAILIWICK_DATABSE_URL", "x")
    monkeypatch.setenv("BAILIWICK_OUTBOX_KEEP_DAY", "x")
    monkeypatch.setenv("BAILIWICK_HOME", "/somewhere")
    assert load(None).unknown_environment == ("BAILIWICK_DATABSE_URL", "BAILIWICK_OUTBOX_KEEP_DAY")


def test_a_bad_value_in_the_database_says_how_to_get_rid_of_it() -> None:
    with pytest.raises(SettingsError) as raised:
        load(None, {"outbox.keep_days": "x"})
    assert raised.value.hint == "bailiwick settings set outbox.keep_days --default"


@pytest.mark.parametrize("key", keys())
def test_every_setting_can_come_from_the_environment(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "log.level": "debug",
        "log.format": "json",
        "database.connect_timeout_seconds": "5",
        "model.api_key_env": "A_NAME",
        "model.base_url": "https://model.example/v1",
        "model.max_input_chars": "2000",
        "net.max_body_bytes": "2000",
        "search.language": "german",
        "parse.page_memory_bytes": "300000000",
        "parse.max_text_chars": "5000",
        "parse.max_backlog": "200",
        "images.max_pixels": "1000000",
        "images.decode_seconds": "5",
        "images.decode_memory_bytes": "200000000",
        "images.shown_pixels": "200",
        "storage.pack_bytes": "2000000",
        "traps.max_path_chars": "500",
        "traps.max_segments": "9",
        "traps.duplicate_run": "9",
        "traps.mirror_pages": "9",
    }
    monkeypatch.setenv(environment_name(key), values.get(key, "1"))
    assert load(None).setting(key).origin is Origin.ENVIRONMENT


@given(st.sampled_from(keys()), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_any_value_is_either_kept_or_refused_by_our_error(key: str, value: object) -> None:
    try:
        kept = check_value(key, value)  # type: ignore[arg-type]
    except SettingsError:
        return
    assert check_value(key, kept) == kept
