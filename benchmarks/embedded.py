"""An embedded server as a user gets it, for benchmarks of many rows: kept for the next time, or gone at the end."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bailiwick.base.settings import Settings
from bailiwick.db.engine import Database


@contextmanager
def embedded(keep: Path | None) -> Iterator[tuple[Database, bool]]:
    """The database, and whether it is new and has to be filled."""
    directory = keep or Path(tempfile.mkdtemp(prefix="bailiwick-bench-"))
    data = directory.resolve() / ".bailiwick"
    is_new = not data.exists()
    data.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o755)
    with Database(data, Settings()) as database:
        try:
            database.ensure_schema()
            yield database, is_new
        finally:
            database.close()
            database.server.stop()  # type: ignore[union-attr]
            if keep is None:
                shutil.rmtree(directory, ignore_errors=True)
