"""Real sites from Debian packages, crawled whole: every HTML file once, none twice.

    make bench-sites

The packages are downloaded with apt and unpacked into a temporary directory; nothing is installed. Each site is served
from loopback, crawled from its index with `--depth all --max-pages 0 --delay 0`, and compared with the files on disk.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from mimetypes import guess_type
from pathlib import Path

from bailiwick.demo.web.answers import Answer, Request, short_answer
from bailiwick.demo.web.running import serve
from bailiwick.demo.web.sites import Site, Web

PROGRAM = Path(sys.executable).with_name("bailiwick")


@dataclass(frozen=True)
class Package:
    """One site, and how many HTML files of it a crawl has to find."""

    name: str
    folder: str
    expected: int


PACKAGES = (
    Package("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html", 1169),
    Package("python-django-doc", "usr/share/doc/python-django-doc/html", 691),
)


class FileSite(Site):
    """The files of a folder."""

    def __init__(self, host: str, folder: Path) -> None:
        super().__init__(host)
        self.folder = folder

    def answer(self, request: Request) -> Answer:
        file = self.folder / request.path.partition("?")[0].lstrip("/")
        if not file.is_file():
            return short_answer(404, "There is no such file.")
        kind = guess_type(file.name)[0] or "application/octet-stream"
        return Answer(200, file.read_bytes(), kind)


def unpack(package: Package, scratch: Path) -> Path:
    subprocess.run(["apt-get", "download", "-q", package.name], cwd=scratch, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)  # fmt: skip
    [archive] = scratch.glob(f"{package.name}_*.deb")
    subprocess.run(["dpkg", "-x", archive, scratch / package.name], check=True)
    return scratch / package.name / package.folder


def measure(package: Package, scratch: Path) -> bool:
    folder = unpack(package, scratch)
    home = scratch / f"{package.name}-crawl"
    home.mkdir(mode=0o755)
    files = {f"/{file.relative_to(folder)}" for file in folder.rglob("*.html")}
    host = f"{package.name}.test"
    with serve(Web([FileSite(host, folder)])) as running:
        subprocess.run([PROGRAM, "-q", "db", "upgrade"], cwd=home, check=True, stdout=subprocess.DEVNULL)
        started = time.monotonic()
        done = subprocess.run(
            [PROGRAM, "-q", "crawl", running.url(host, "/index.html"), "--depth", "all", "--max-pages", "0",
             "--no-parse", "--delay", "0", "--resolve", running.resolve, "--user-agent", "bench", "--json"],
            cwd=home, check=True, capture_output=True, text=True,
        )  # fmt: skip
        seconds = time.monotonic() - started
        asked = Counter(entry.path for entry in running.log.entries(host) if entry.status == 200)
    subprocess.run([PROGRAM, "storage", "verify"], cwd=home, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([PROGRAM, "-q", "db", "stop"], cwd=home, check=True, stdout=subprocess.DEVNULL)
    html = {path for path in asked if path.endswith(".html")}
    twice = [path for path, count in asked.items() if count > 1]
    told = json.loads(done.stdout.splitlines()[0])
    print(
        f"{package.name}: {len(html):,} HTML files found of {len(files):,} on disk (expected {package.expected:,}), "
        f"{len(twice)} fetched twice, {told['pages']:,} results, {seconds:.1f} s"
    )
    for path in sorted(files - html):
        print(f"  not linked from anywhere: {path}")
    return len(html) == package.expected and not twice


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="bailiwick-sites-") as scratch:
        Path(scratch).chmod(0o755)
        good = [measure(package, Path(scratch)) for package in PACKAGES]
        return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
