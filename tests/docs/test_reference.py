"""The generated pages are those of this code, the project's own words keep its rules, and its links lead somewhere."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from bailiwick import __version__
from tests.docs.reference import FOLDER, pages

ROOT = Path(__file__).parents[2]


def _tracked() -> list[Path]:
    """The project's own text files, also where there is no git (an unpacked archive)."""
    folders = ("src", "tests", "docs", "benchmarks", ".ci")
    found = [
        p for folder in folders for p in (ROOT / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts
    ]
    return [*found, *(p for p in ROOT.iterdir() if p.is_file())]


@pytest.mark.parametrize("name", pages())
def test_a_generated_page_is_up_to_date(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [v for v in os.environ if v.startswith("BAILIWICK_")]:
        monkeypatch.delenv(variable)
    assert (FOLDER / name).read_text(encoding="utf-8") == pages()[name], "run: make docs"


@pytest.mark.parametrize("page", sorted(ROOT.rglob("docs/**/*.md")) + sorted(ROOT.glob("*.md")), ids=str)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_constraints_hold_names_and_versions_only() -> None:
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line), line


def test_no_lock_file_and_no_registry_is_named() -> None:
    hosts = re.compile("|".join(("pypi" + r"\.org", "pythonhosted" + r"\.org", "npmjs" + r"\.(org|com)")))
    for path in _tracked():
        assert path.name not in ("uv.lock", "poetry.lock", "package-lock.json"), path
        if path.suffix in (".py", ".md", ".toml", ".txt", ".yml", ""):
            assert not hosts.search(path.read_text(encoding="utf-8", errors="replace")), path


def test_the_changelog_knows_this_version() -> None:
    assert re.search(rf"^## {re.escape(__version__)}\b", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)


def test_make_help_lists_the_two_commands() -> None:
    said = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {"demo", "test", "check"} <= {line.split()[0] for line in said.splitlines()}
