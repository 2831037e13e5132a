"""Where a project is found, and whose it must be."""

import os
from pathlib import Path

import pytest

from bailiwick.base.errors import PlaceError
from bailiwick.base.place import Place, find_place


def test_it_is_looked_for_upward(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    assert find_place(deep).root == deep
    (tmp_path / "bailiwick.toml").touch()
    assert find_place(deep).root == tmp_path
    (tmp_path / "a" / ".bailiwick").mkdir()
    assert find_place(deep).root == tmp_path / "a"


def test_a_named_one_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / ".bailiwick").mkdir()
    other = tmp_path / "other"
    assert find_place(tmp_path, named=other) == Place(other)
    assert find_place(tmp_path, named=other / ".bailiwick") == Place(other)


def test_creating_is_safe_twice_and_keeps_git_out(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert not place.exists
    assert place.create()
    assert not place.create()
    assert (place.data / ".gitignore").read_text() == "*\n"


def test_a_strangers_is_refused_unless_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".bailiwick").mkdir()
    owner = os.geteuid() or 4711
    os.chown(tmp_path / ".bailiwick", owner, -1)
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(PlaceError, match="belongs to another user"):
        find_place(tmp_path)
    assert find_place(tmp_path, named=tmp_path).exists


def test_what_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PlaceError) as raised:
        Place(tmp_path / "file").create()
    assert "--home" in (raised.value.hint or "")
