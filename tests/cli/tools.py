"""The program by its real entry point, in a process of its own."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.program import PROGRAM, run_program

__all__ = ["PROGRAM", "Ran", "bailiwick", "environment"]


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


def environment(**more: str) -> dict[str, str]:
    """Ours without settings in it, and doctor's look-up kept on this machine."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BAILIWICK_")}
    return kept | {"BAILIWICK_DOCTOR_PROBE_HOST": "localhost"} | more


def bailiwick(*arguments: str, cwd: Path, stdin: str = "", patience: float = 120, **env: str) -> Ran:
    done = run_program(arguments, cwd=cwd, env=environment(**env), stdin=stdin, seconds=patience)
    return Ran(done.returncode, done.stdout, done.stderr)
