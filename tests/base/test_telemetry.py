"""Logs go to stderr, at the level that was asked for, as JSON where there is no terminal."""

import json

import pytest

from bailiwick.base.sections import LogSettings
from bailiwick.base.telemetry import LogEvent, configure, logger


@pytest.mark.parametrize(
    ("verbosity", "shown"), [(0, ["warning"]), (1, ["info", "warning"]), (2, ["debug", "info", "warning"])]
)
def test_verbosity_lowers_the_level(verbosity: int, shown: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    configure(LogSettings(), verbosity=verbosity)
    for level in ("debug", "info", "warning"):
        getattr(logger(), level)(LogEvent.STATE_MOVED, to="approved")
    captured = capsys.readouterr()
    lines = [json.loads(line) for line in captured.err.splitlines()]
    assert [line["level"] for line in lines] == shown
    assert all(line["event"] == "state.moved" and line["to"] == "approved" for line in lines)
    assert captured.out == ""
    configure(LogSettings())


def test_every_event_name_is_used() -> None:
    from pathlib import Path

    source = Path(__file__).parents[2] / "src" / "bailiwick"
    text = "".join(p.read_text() for p in source.rglob("*.py"))
    assert [e.name for e in LogEvent if f"LogEvent.{e.name}" not in text] == []
