"""Reading in a child process with a time limit, as the parse stage does: what came of a body, and how long it took."""

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bailiwick.extract.content import ContentLimits, read_content
from bailiwick.extract.markdown import markdown_of
from bailiwick.model.content import Unread

URL = "https://example.org/a/page"


@dataclass(frozen=True, slots=True)
class Trial:
    outcome: str
    seconds: float
    markdown_seconds: float
    text: str
    title: str | None


def tried(body: bytes, content_type: str, *, limit_seconds: float) -> Trial:
    """Read apart. Fails by an exception if the child dies or takes too long."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "body").write_bytes(body)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "tests.extract.trial", folder, content_type],
            cwd=Path(__file__).parents[2], capture_output=True, timeout=limit_seconds, check=True,
        )  # fmt: skip
    return Trial(**json.loads(done.stdout))


def main() -> None:
    body, content_type = (Path(sys.argv[1]) / "body").read_bytes(), sys.argv[2]
    start = time.process_time()
    found = read_content(body, content_type, URL, ContentLimits())
    seconds = time.process_time() - start
    start = time.process_time()
    markdown_of(body, content_type, URL)
    told = {
        "outcome": found.outcome if isinstance(found, Unread) else "parsed",
        "seconds": seconds,
        "markdown_seconds": time.process_time() - start,
        "text": "" if isinstance(found, Unread) else found.text[:1_000],
        "title": None if isinstance(found, Unread) else found.title,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
