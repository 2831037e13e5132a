"""Where the public test suites are; none of them is copied into the project.

Tests that read one are defined only where it is found, so that a checkout without the suites has no such tests
rather than skipped ones.
"""

import json
import os
from pathlib import Path
from typing import Any

SUITES = Path(os.environ.get("BAILIWICK_SUITES") or Path(__file__).parents[2] / "shared" / "suites")


def suite_path(name: str) -> Path | None:
    """The file or folder of a suite (`url/toascii.jsonl`), or None where it is absent."""
    path = SUITES / name
    return path if path.exists() else None


def json_lines(path: Path) -> list[dict[str, Any]]:
    """The cases of a suite. Split at `\\n` only: cases hold other line ends."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
