"""Shell completion: the scripts, and what they ask the program."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.tools import bailiwick


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_it_prints_a_script_that_says_how_to_install_it(tmp_path: Path, shell: str) -> None:
    ran = bailiwick("completion", shell, cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert f"_BAILIWICK_COMPLETE={shell}_complete" in ran.out
    assert ran.out.splitlines()[-1].startswith("# To install: ")
    if shell == "bash":
        assert subprocess.run(["bash", "-n"], input=ran.out, text=True, check=False).returncode == 0


def test_the_program_answers_the_scripts_question(tmp_path: Path) -> None:
    asked = {"_BAILIWICK_COMPLETE": "bash_complete", "COMP_WORDS": "bailiwick domain re", "COMP_CWORD": "2"}
    ran = bailiwick(cwd=tmp_path, **asked)
    assert ran.code == 0
    assert {line.partition(",")[2] for line in ran.out.splitlines()} == {
        "reject", "resume", "recrawl", "reset", "reprioritize",
    }  # fmt: skip
    assert bailiwick("completion", "tcsh", cwd=tmp_path).code == 2
