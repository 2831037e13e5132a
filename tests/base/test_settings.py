"""Settings: precedence, origins, and errors that name the place."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.base.errors import SettingsError
from bailiwick.base.settings import ENGINE_SECTIONS, SECRET, Origin, check_value, environment_name, keys, load


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
        **{f"{engine}.api_key_env": "A_NAME" for engine in ENGINE_SECTIONS},
        **{f"{engine}.base_url": "https://engine.example" for engine in ENGINE_SECTIONS},
        "model.api_key_env": "A_NAME",
        "model.base_url": "https://model.example/v1",
        "model.max_input_chars": "2000",
        "net.max_body_bytes": "2000",
        "notify.sender": "desk@example.org",
        "notify.smtp_password_env": "A_NAME",
        "notify.smtp_security": "tls",
        "notify.urls_env": "A_NAME",
        "review.bands": '[{"name": "all", "min": 0, "max": 1, "action": "manual_review"}]',
        "review.notifications.email_recipient": "desk@example.org",
        "review.notifications.slack_webhook_url": "https://hooks.example/services/x",
        "review.order": "information",
        "score.rdap_bootstrap_url": "https://registry.example/dns.json",
        "score.without_model": "wait",
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


def test_settings_of_a_part_come_from_every_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, other = "review.notifications.email_threshold", "review.notifications.slack_threshold"
    assert load(None, {key: 7}).tree.review.notifications.email_threshold == 7
    file = tmp_path / "bailiwick.toml"
    file.write_text("[review.notifications]\nemail_threshold = 8")
    loaded = load(file, {key: 7, other: 9})
    assert (loaded.setting(key).value, loaded.setting(key).origin) == (8, Origin.FILE)
    assert (loaded.setting(other).value, loaded.setting(other).origin) == (9, Origin.DATABASE)
    monkeypatch.setenv("BAILIWICK_REVIEW_NOTIFICATIONS_EMAIL_THRESHOLD", "0")
    with pytest.raises(SettingsError, match=r"BAILIWICK_REVIEW_NOTIFICATIONS_EMAIL_THRESHOLD: .*greater than"):
        load(file)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("review.queue_size_limit", 0, "greater than or equal to 1"),
        ("review.auto_review_timeout_days", -1, "greater than or equal to 1"),
        ("review.notifications.email_recipient", "nobody", "no e-mail address"),
        ("review.notifications.email_recipient", "a@b@c.org", "no e-mail address"),
        ("review.notifications.slack_webhook_url", "hooks.slack.example", "no web address"),
        ("review.notifications.slack_webhook_url", "https://user:pw@hooks.example/x", "no web address"),
        ("review.notifications.slack_threshold", 0, "greater than or equal to 1"),
    ],
)
def test_review_settings_that_do_not_validate(key: str, value: object, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        check_value(key, value)  # type: ignore[arg-type]
    assert check_value("review.queue_size_limit", None) is None


def test_a_secret_is_kept_and_never_shown() -> None:
    key, url = "review.notifications.slack_webhook_url", "https://hooks.example/T0/B0/secret"
    assert check_value(key, url) == url
    shown = load(None, {key: url}).setting(key)
    assert shown.value == SECRET
    with pytest.raises(SettingsError) as raised:
        check_value(key, "https://x:secret@hooks.example")
    assert "secret" not in str(raised.value)


@given(st.sampled_from(keys()), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_any_value_is_either_kept_or_refused_by_our_error(key: str, value: object) -> None:
    try:
        kept = check_value(key, value)  # type: ignore[arg-type]
    except SettingsError:
        return
    assert check_value(key, kept) == kept
