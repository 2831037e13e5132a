"""`bailiwick profile`, and what every `--profile` refuses. Needs no database."""

from pathlib import Path

import pytest

from tests.cli.tools import bailiwick

OWN = 'extends = "funding"\ntitle = "Music"\n[keywords]\n"music school" = 1.5\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "bailiwick.toml").touch()
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "music.toml").write_text(OWN)
    return tmp_path


def test_the_list_has_the_built_in_and_ones_own(project: Path) -> None:
    (project / "profiles" / "bad.toml").write_text('title = "Bad"\nthreshold = 1\n')
    rows = {row["name"]: row for row in bailiwick("profile", "list", "--json", cwd=project).rows}
    assert rows["general"]["relevant"] == "everything"
    assert (rows["music"]["title"], rows["music"]["from"]) == ("Music", "profiles/music.toml")
    assert "bad.toml:2: there is no threshold" in str(rows["bad"]["title"])
    assert "general" in bailiwick("profile", "list", cwd=project).out


def test_one_is_shown_whole(project: Path) -> None:
    [row] = bailiwick("profile", "show", "music", "--json", cwd=project).rows
    assert row["keywords"]["music school"] == 1.5
    assert row["keywords"]["grant"] == 1
    assert row["mark"]
    assert "music school: 1.5" in bailiwick("profile", "show", "music", cwd=project).out
    unknown = bailiwick("profile", "show", "musik", cwd=project)
    assert (unknown.code, "did you mean music?" in unknown.err) == (1, True)


def test_check_says_the_line_and_ends_with_1(project: Path) -> None:
    good, bad = project / "profiles" / "music.toml", project / "bad.toml"
    bad.write_text('title = "Bad"\n\nthreshold = 1\n')
    assert bailiwick("profile", "check", str(good), cwd=project).out == f"{good}: ok\n"
    ran = bailiwick("profile", "check", str(good), str(bad), cwd=project)
    assert ran.code == 1
    assert f"error: {bad}:3: there is no threshold in a profile" in ran.err
    rows = bailiwick("profile", "check", "--json", str(good), str(bad), cwd=project).rows
    assert [row["ok"] for row in rows] == [True, False]


def test_check_says_where_keywords_judge_alone(project: Path) -> None:
    (project / "tea.toml").write_text('title = "Tea"\ntopic = "Pages about tea"\nkeywords = { tea = 1 }\n')
    ran = bailiwick("profile", "check", "tea.toml", cwd=project)
    assert (ran.code, "note: without positive examples" in ran.err) == (0, True)


@pytest.mark.parametrize(
    "command",
    [("crawl", "example.org"), ("domain", "submit", "example.org"), ("domain", "import", "x"), ("job", "create", "x")],
    ids=" ".join,
)
def test_every_command_refuses_an_unknown_profile(project: Path, command: tuple[str, ...]) -> None:
    (project / "x").write_text("example.org\n")
    ran = bailiwick(*command, "--profile", "musik", cwd=project)
    assert ran.code == 2
    assert "there is no profile 'musik'" in ran.err
    assert "did you mean music? known: funding, general" in ran.err
    assert not (project / ".bailiwick").exists()


def test_a_broken_profile_stops_a_command_with_its_line(project: Path) -> None:
    (project / "profiles" / "music.toml").write_text(OWN + "oops = 'x'\n")
    ran = bailiwick("domain", "submit", "example.org", "--profile", "music", cwd=project)
    assert (ran.code, "music.toml:5: keywords.oops" in ran.err) == (1, True)
