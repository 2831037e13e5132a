"""Small copies of images, made on first use by a process of its own: what came from the web is never served."""

import asyncio
import os
import secrets
from pathlib import Path

from starlette.concurrency import run_in_threadpool

from bailiwick.app import App
from bailiwick.base.errors import NotFoundError
from bailiwick.crawl.images.decoding import ImageFault
from bailiwick.crawl.images.reader import ImageReader, is_available
from bailiwick.model.images import SVG
from bailiwick.query.images.listing import Image

_WAIT_SECONDS = 30.0
_AT_ONCE = 4
"""Originals in memory: each may have megabytes."""


class Copies:
    """They are kept in a cache that may be removed at any time. Raster images only: an SVG is never shown."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._reader: ImageReader | None = None
        self._places = asyncio.Semaphore(_AT_ONCE)

    def are_shown(self, image: Image) -> bool:
        """Raster images only, where they can be decoded."""
        return image.mime != SVG and is_available()

    async def get(self, image: Image) -> bytes:
        """The copy. NotFoundError if there can be none."""
        place = self._place(image)
        kept = await run_in_threadpool(_read, place)
        if kept is not None:
            return kept
        if not self.are_shown(image):
            raise NotFoundError("there is no picture of this image")
        try:
            async with asyncio.timeout(_WAIT_SECONDS), self._places:
                made = await self._made(image)
        except (ImageFault, TimeoutError) as error:
            raise NotFoundError("there is no picture of this image") from error
        await run_in_threadpool(_write, place, made)
        return made

    async def _made(self, image: Image) -> bytes:
        data = await run_in_threadpool(self._app.image_files.get, image.path)
        if data is None:
            raise NotFoundError("the file of this image is not here")
        if self._reader is None:
            self._reader = ImageReader(self._app.settings.images)
        return await self._reader.small_copy(data, self._app.settings.images.shown_pixels)

    async def close(self) -> None:
        if self._reader is not None:
            await self._reader.close()

    def _place(self, image: Image) -> Path:
        return self._app.image_files.copy_of(image.sha256, self._app.settings.images.shown_pixels)


def _read(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except FileNotFoundError:
        return None


def _write(place: Path, data: bytes) -> None:
    """Whole or not at all; if the disk takes none, it is made again next time."""
    part = place.with_name(f".{place.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(place)
    except OSError:
        part.unlink(missing_ok=True)
