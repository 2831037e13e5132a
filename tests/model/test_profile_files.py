"""Profiles as files: what is wrong is told with file and line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.base.errors import NotFoundError, ProfileError
from bailiwick.model.profile_files import check_file, list_profiles, load_profile
from bailiwick.model.profile_lines import line_of

GOOD = """\
title = "Tea"
topic = "Pages about tea"

[keywords]
"green tea" = 1.5
tea = 1

[examples]
positive = [
  "How green tea is made.",
  "Black tea from Assam.",
]

[[bands]]
name = "high"
min = 0.5
max = 1
action = "auto_approve"

[[bands]]
name = "low"
min = 0
max = 0.49
action = "reject"
"""


def write(directory: Path, name: str, text: str) -> Path:
    path = directory / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


WRONG = {
    "unknown key": ('topic = "Pages', 'tpoic = "Pages', 2, "there is no tpoic in a profile", "did you mean topic?"),
    "unknown in a table": ("positive = [", "positives = [", 9, "there is no positives", "did you mean positive?"),
    "unknown in an array's table": ('action = "reject"', 'acton = "reject"', 24, "there is no acton", "mean action?"),
    "missing": ('action = "reject"', "", 20, "bands.1.action: Field required", None),
    "weight": ("tea = 1\n", "tea = 99\n", 6, "keywords.tea: Input should be less than or equal to 10", None),
    "quoted weight": ('"green tea" = 1.5', '"green tea" = "a"', 5, "keywords.green tea: Input should be", None),
    "element of an array": ('"Black tea from Assam."', "12", 11, "examples.positive.1: Input should be a valid", None),
    "choice": ('"auto_approve"', '"approve"', 18, "bands.0.action", None),
    "gap": ("max = 0.49", "max = 0.3", 14, "bands: no band for scores between 0.3 and 0.5", None),
    "syntax": ("min = 0\n", "min = \n", 22, "Invalid value", "a profile is TOML"),
    "twice": ("tea = 1\n", "tea = 1\ntea = 2\n", 7, "Cannot overwrite a value", None),
    "name": ('title = "Tea"', 'name = "tea"\ntitle = "Tea"', 1, "a profile has the name of its file", "remove"),
    "extends": (
        'title = "Tea"',
        'title = "Tea"\nextends = "fundin"',
        2,
        "no profile 'fundin'",
        "did you mean funding?",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told_with_its_line(case: str, tmp_path: Path) -> None:
    before, after, line, says, hint = WRONG[case]
    assert before in GOOD
    path = write(tmp_path, "tea", GOOD.replace(before, after, 1))
    with pytest.raises(ProfileError) as raised:
        check_file(path)
    assert raised.value.message.startswith(f"{path}:{line}: "), raised.value.message
    assert says in raised.value.message
    assert hint is None or hint in (raised.value.hint or "")


def test_a_good_one_is_read(tmp_path: Path) -> None:
    write(tmp_path, "tea", GOOD)
    found = load_profile("tea", tmp_path)
    assert (found.name, found.keywords["green tea"], len(found.examples.positive)) == ("tea", 1.5, 2)


def test_an_unknown_one_is_refused_with_all_that_are_known(tmp_path: Path) -> None:
    write(tmp_path, "tea", GOOD)
    with pytest.raises(NotFoundError, match="no profile 'te'") as raised:
        load_profile("te", tmp_path)
    assert raised.value.hint == (
        "did you mean tea? known: funding, general, images, link-vetting, products, services, tea"
    )
    for odd in ("", "../tea", "tea.toml", "TEA", "\0"):
        with pytest.raises(NotFoundError):
            load_profile(odd, tmp_path)


def test_a_profile_lies_over_another(tmp_path: Path) -> None:
    write(
        tmp_path,
        "music",
        'extends = "funding"\ntitle = "Music"\nextractors = ["contact"]\n'
        '[keywords]\n"music school" = 2\nfoundation = 0\n[examples]\nnegative = ["A concert tonight."]\n',
    )
    music, funding = load_profile("music", tmp_path), load_profile("funding", None)
    assert music.topic == funding.topic
    assert dict(music.keywords) == {
        **{word: weight for word, weight in funding.keywords.items() if word != "foundation"},
        "music school": 2,
    }
    assert music.examples.positive == funding.examples.positive
    assert music.examples.negative == ("A concert tonight.",)
    assert (music.extends, music.mark == funding.mark) == ("funding", False)


def test_a_built_in_is_not_shadowed_in_silence(tmp_path: Path) -> None:
    path = write(tmp_path, "funding", GOOD)
    with pytest.raises(ProfileError, match="there is a built-in profile funding") as raised:
        load_profile("funding", tmp_path)
    assert raised.value.hint is not None
    write(tmp_path, "more", 'extends = "funding"\ntitle = "More"\n')
    with pytest.raises(ProfileError, match="there is a built-in profile"):
        load_profile("more", tmp_path)
    path.write_text('extends = "funding"\nrelevance_threshold = 0.9\n')
    assert load_profile("funding", tmp_path).relevance_threshold == 0.9
    assert load_profile("more", tmp_path).relevance_threshold == 0.9


def test_profiles_that_extend_each_other_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "a", 'title = "A"\nextends = "b"\n')
    write(tmp_path, "b", 'title = "B"\nextends = "a"\n')
    for name, other in (("a", "b"), ("b", "a")):
        with pytest.raises(ProfileError, match=f"{other}.toml:2: {name} extends this one in turn"):
            load_profile(name, tmp_path)


def test_the_list_shows_the_broken_ones_too(tmp_path: Path) -> None:
    write(tmp_path, "tea", GOOD)
    write(tmp_path, "cold", "title = 1")
    write(tmp_path, "Not A Name", GOOD)
    found = {one.name: one for one in list_profiles(tmp_path)}
    assert found["tea"].profile is not None
    assert "cold.toml:1: title" in str(found["cold"].error)
    assert len(found) == 8


def test_odd_files_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_bytes(b'title = "a"\ntopic = "\xff"\n')
    with pytest.raises(ProfileError, match=r"odd.toml:2: this is not valid UTF-8"):
        check_file(tmp_path / "odd.toml")
    with pytest.raises(ProfileError, match="cannot read"):
        check_file(tmp_path / "absent.toml")
    (tmp_path / "Tea Time.toml").write_text(GOOD)
    with pytest.raises(ProfileError, match="lower-case letters"):
        check_file(tmp_path / "Tea Time.toml")
    assert list_profiles(tmp_path / "nowhere") == list_profiles(None)


LOCATIONS = {
    ("a",): 1, ("b", "c"): 3, ("t", "x y"): 5, ("t", "list", 0): 7, ("t", "list", 2): 8, ("t", "last"): 13,
    ("t", "text"): 10, ("rows", 0, "v"): 15, ("rows", 1, "v"): 17, ("rows", 1, "absent"): 16, ("absent",): 1,
    ("t", "absent"): 4, ("d", "e", "f"): 18,
}  # fmt: skip
TEXT = '''\
a = 1
b.d = 2
b.c = 3
[t] # a table
"x y" = "="
list = [
  "]",
  "a", "b",
]
text = """
[rows]
v = 1"""
last = { a = [1, 2] }
[[rows]]
v = 1
[[rows]]
v = 2
[d.e]
'''


@pytest.mark.parametrize("location", LOCATIONS)
def test_lines_are_found(location: tuple[str | int, ...]) -> None:
    assert line_of(TEXT, location) == LOCATIONS[location]


@given(st.lists(st.one_of(st.text(max_size=5), st.integers(0, 5)), max_size=4))
def test_any_location_has_some_line(location: list[str | int]) -> None:
    assert 1 <= line_of(TEXT, tuple(location)) <= TEXT.count("\n") + 1
