"""Real sites out of Debian packages, served as they lie on the disk."""

import os
from mimetypes import guess_type
from pathlib import Path

from bailiwick.demo.web.answers import Answer, Request, short_answer
from bailiwick.demo.web.sites import Site

GIMP_HELP = Path(os.environ.get("BAILIWICK_GIMP_HELP") or "/usr/share/gimp/2.0/help/en")
"""Of the package gimp-help-en: 685 pages, 1,984 images. Where it is not installed, its test is not collected."""


class FileSite(Site):
    """The files of a folder."""

    def __init__(self, host: str, folder: Path) -> None:
        super().__init__(host)
        self.folder = folder

    def answer(self, request: Request) -> Answer:
        file = (self.folder / request.path.partition("?")[0].lstrip("/")).resolve()
        if not file.is_file():
            return short_answer(404, "There is no such file.")
        return Answer(200, file.read_bytes(), guess_type(file.name)[0] or "application/octet-stream")
