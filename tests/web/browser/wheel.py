"""The program as users get it: built into a wheel, and unpacked apart from the sources."""

import subprocess
import sys
import zipfile
from pathlib import Path

_ROOT = Path(__file__).parents[3]
MARK = "from-the-wheel"


def unpack_wheel(directory: Path) -> Path:
    """Build the wheel and unpack it: the directory to put first on PYTHONPATH."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory / "dist")],
        cwd=_ROOT, check=True, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    [wheel] = (directory / "dist").glob("*.whl")
    unpacked = directory / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unpacked)
    return unpacked


def mark(unpacked: Path) -> None:
    """Change the version that every page shows, so that a page tells where it comes from."""
    with (unpacked / "bailiwick" / "__init__.py").open("a") as package:
        package.write(f'\n__version__ += " {MARK}"\n')
