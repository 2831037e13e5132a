"""A real site with two thousand images, crawled whole: GIMP's manual, from its Debian package."""

from collections import Counter
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from bailiwick.demo.web.sites import Web
from tests.e2e.conftest import MakeLand
from tests.e2e.packages import GIMP_HELP, FileSite
from tests.e2e.test_images import profile, stored

HOST = "gimp.test"


class _Sources(HTMLParser):
    """The sources of a page's images, by another parser than the program's."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img" and (source := dict(attrs).get("src")):
            self.found.append(source)


def references(folder: Path) -> Counter[Path]:
    """How often the pages of a folder refer to each file."""
    counted: Counter[Path] = Counter()
    for page in folder.glob("*.html"):
        sources = _Sources()
        sources.feed(page.read_text(encoding="utf-8", errors="replace"))
        counted.update((folder / unquote(source)).resolve() for source in sources.found)
    return counted


if GIMP_HELP.is_dir():

    @pytest.mark.slow
    @pytest.mark.timeout(600)
    def test_every_image_of_a_manual(land_of: MakeLand) -> None:
        """Images are the distinct SHA-256 of the files, sightings the references in the pages; none is asked twice."""
        wanted = references(GIMP_HELP)
        digests = {sha256(file.read_bytes()).hexdigest() for file in wanted}
        land = land_of(Web([FileSite(HOST, GIMP_HELP)]))
        url = f"http://{land.name(HOST)}/index.html"
        ran = land.crawl(url, "--depth", "all", "--max-pages", "0", "--profile", profile(land), parse=True, seconds=480)
        assert land.value("select count(*) from pages where state = 'fetched' and last_status = 200") == 685
        assert land.value("select count(*) from image_sightings") == wanted.total() == 6785
        assert land.value("select count(*) from image_sightings where image_id is null") == 0
        assert land.value("select count(*) from image_fetches where outcome = 'stored'") == len(wanted) == 1963
        assert {row.digest for row in land.rows("select encode(sha256, 'hex') as digest from images")} == digests
        assert stored(land) == digests
        assert len(digests) == 1957
        asked = Counter(entry.path for entry in land.running.log.entries(HOST))
        assert {path for path, count in asked.items() if count > 1} == set()
        assert "1,963 images asked for: 1,963 stored" in ran.out
        assert land.value("select images_stored from domains") == 1957
        land.check()
