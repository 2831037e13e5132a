"""Images beside the pages of an engine: looks for what is due, and fetches it in the slices that have it."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping

from bailiwick.base.errors import BailiwickError, DiskLowError
from bailiwick.base.telemetry import LogEvent, logger
from bailiwick.crawl.images.facts import ImageDue, ImageResult
from bailiwick.crawl.images.fetching import ImageTools, fetch_image, unexpected
from bailiwick.crawl.slice import Slice
from bailiwick.model.images import ImageOutcome
from bailiwick.model.profiles import Profile

_PAUSE_SECONDS = 60.0


class ImagesBeside:
    """What an engine does about images. `tools` None: they cannot be decoded here, so none are fetched."""

    def __init__(
        self,
        tools: ImageTools | None,
        profiles: Mapping[str, Profile],
        *,
        awaits_parsing: bool,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.tools, self._profiles, self.awaits_parsing = tools, profiles, awaits_parsing
        self._say, self._has_said = say, False

    def are_wanted(self, profile: str) -> bool:
        """Whether the images of domains with this profile are fetched. Said once, where that cannot be."""
        found = self._profiles.get(profile)
        if found is None or not found.images.download:
            return False
        if self.tools is None and not self._has_said:
            self._has_said = True
            self._say('no images are fetched: pip install "bailiwick[items]" adds what decodes them')
        return self.tools is not None

    def hungry(self, parts: Iterable[Slice], now: float) -> dict[int, int]:
        """The slices for which to look what is due, each with how much it has at hand."""
        return {
            part.lease.domain_id: part.images.held
            for part in parts
            if part.may_fetch_images and part.images.wants_look(now)
        }

    def start(self, part: Slice, spawn: "Callable[[Slice, Coroutine[None, None, None]], None]", say: "Told") -> None:
        """Begin as many as may be under way at once."""
        while self.tools is not None and part.may_fetch_images and (due := part.next_image()) is not None:
            spawn(part, self._fetch(part, due, self.tools, say))

    async def _fetch(self, part: Slice, due: ImageDue, tools: ImageTools, say: "Told") -> None:
        try:
            result = await fetch_image(part, due, self._profiles[part.lease.profile], tools)
        except asyncio.CancelledError:
            part.images.give_back(due)
            raise
        except DiskLowError as error:
            say(error)
            result = None
        except BailiwickError as error:
            result = ImageResult(due, ImageOutcome.WAITING, error=error.message, wait_seconds=_PAUSE_SECONDS)
        except Exception as error:  # noqa: BLE001 - one image must not end the crawl of a thousand domains
            logger().error(LogEvent.PAGE_FAILED, domain=part.lease.name.name, path=due.url, error=repr(error))
            result = unexpected(due, error, tools)
        if result is None:
            part.images.give_back(due)
        else:
            part.images.add(result)
        say(None)


Told = Callable[[DiskLowError | None], None]
"""Told when a fetch ended; with what the disk said, if that takes no more."""


def no_images() -> ImagesBeside:
    """For engines that fetch pages alone."""
    return ImagesBeside(None, {}, awaits_parsing=False)
