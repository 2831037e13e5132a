"""One image: asked for under all promises, looked at by its bytes, kept if it is one that is wanted."""

import asyncio
import random
from dataclasses import dataclass
from hashlib import sha256

from bailiwick.base.errors import NameRefusedError
from bailiwick.crawl.addresses import host_of, is_own, origin_of, redirect_target
from bailiwick.crawl.images.decoding import ImageFault
from bailiwick.crawl.images.facts import ImageDue, ImageResult, StoredImage
from bailiwick.crawl.images.hosts import Answered, OtherHosts, Refusal, allowed
from bailiwick.crawl.images.reader import ImageReader
from bailiwick.crawl.robots import verdict_for
from bailiwick.crawl.slice import Slice
from bailiwick.crawl.tools import Tools
from bailiwick.crawl.visit import ask
from bailiwick.model.images import SUFFIXES, ImageFacts, ImageOutcome
from bailiwick.model.profiles import ImagePolicy, Profile
from bailiwick.model.urls import PageUrl
from bailiwick.net.gates import retry_seconds
from bailiwick.net.robots import RobotsKind
from bailiwick.ports import FailureKind, FetchAnswer, FetchFailure
from bailiwick.store.images import ImageFiles

_HOPS = 5
_ACCEPT = {"Accept": "image/webp,image/*;q=0.9,*/*;q=0.5"}
_MAY_PASS = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True)
class ImageTools:
    """What a fetch of an image works with, put together once for a process."""

    tools: Tools
    hosts: OtherHosts
    reader: ImageReader
    files: ImageFiles
    max_body_bytes: int


async def fetch_image(part: Slice, due: ImageDue, profile: Profile, images: ImageTools) -> ImageResult | None:
    """What came of it, the file safe on the disk. None: nothing could be sent, and it still waits."""
    answer = await _followed(part, due.url, profile, images)
    if answer is None:
        return None
    if isinstance(answer, Refusal):
        waits = answer.outcome is ImageOutcome.WAITING
        return ImageResult(due, answer.outcome, None, answer.why, None, answer.wait_seconds, tried=not waits)
    if isinstance(answer, FetchFailure):
        return _failed(due, answer, images)
    return await _understood(part, due, answer, profile.images, images)


def unexpected(due: ImageDue, error: Exception, images: ImageTools) -> ImageResult:
    """A fault of ours counts against that image, which is tried again like one of its host's."""
    return _later(due, None, f"unexpected {type(error).__name__}: {error}", images)


async def _followed(part: Slice, url: str, profile: Profile, images: ImageTools) -> Answered:
    """The answer at the end of its redirects: each hop is asked for as if it stood in the page."""
    for _ in range(_HOPS + 1):
        answer = await _asked(part, url, profile, images)
        if not isinstance(answer, FetchAnswer) or not 300 <= answer.status < 400:
            return answer
        target = redirect_target(answer, images.tools.rules)
        if target is None:
            return Refusal(ImageOutcome.FAILED, "it leads nowhere")
        if not part.may_request_more():
            return None
        url = target[0]
    return Refusal(ImageOutcome.FAILED, "it is redirected too often")


async def _asked(part: Slice, url: str, profile: Profile, images: ImageTools) -> Answered:
    try:
        PageUrl.parse(url, rules=images.tools.rules)
    except NameRefusedError as error:
        return Refusal(ImageOutcome.ADDRESS_REFUSED, error.message)
    path = f"/{url.partition('://')[2].partition('/')[2]}"
    if is_own(part.lease.name, url):
        return await _ask_own(part, url, path, images.tools)
    if not allowed(host_of(url), profile.asset_hosts):
        return Refusal(ImageOutcome.HOST_NOT_ALLOWED, f"the profile {profile.name} does not name {host_of(url)}")
    return await images.hosts.ask(part, url, path, dict(_ACCEPT))


async def _ask_own(part: Slice, url: str, path: str, tools: Tools) -> Answered:
    """By the slice's own lease and pace."""

    async def fetch(robots: str) -> FetchAnswer | FetchFailure | None:
        headers = tools.credentials.headers_for(part.lease.name, robots)
        return await ask(part, robots, tools, headers=headers, body=True)

    verdict = await verdict_for(part, origin_of(url), fetch, tools.rules, tools.agent)
    if verdict is None or isinstance(verdict, FetchFailure):
        return verdict
    if verdict.kind is RobotsKind.CLOSED_FOR_NOW:
        return Refusal(ImageOutcome.WAITING, verdict.reason, float(verdict.expires_seconds))
    if not verdict.robots.allows(path):
        return Refusal(ImageOutcome.ROBOTS_DENIED, verdict.robots.rule_for(path) or "robots.txt")
    headers = _ACCEPT | tools.credentials.headers_for(part.lease.name, url)
    answer = await ask(part, url, tools, headers=headers, body=True)
    if isinstance(answer, FetchAnswer):
        part.answered(answer.status, answer.milliseconds)
    return answer


def _failed(due: ImageDue, failure: FetchFailure, images: ImageTools) -> ImageResult | None:
    if failure.kind is FailureKind.NOT_SENT:
        return None
    if failure.kind is FailureKind.REFUSED:
        return ImageResult(due, ImageOutcome.ADDRESS_REFUSED, None, failure.message)
    return _later(due, None, failure.message, images)


def _later(
    due: ImageDue, status: int | None, why: str, images: ImageTools, *, held_seconds: float = 0.0
) -> ImageResult:
    """It may be better next time, so often at most."""
    if due.retries >= images.tools.max_retries:
        return ImageResult(due, ImageOutcome.FAILED, status, why)
    wait = retry_seconds(images.tools.retry_backoff_seconds, due.retries, random.random())  # noqa: S311
    return ImageResult(due, ImageOutcome.WAITING, status, why, None, max(wait, held_seconds))


async def _understood(
    part: Slice, due: ImageDue, answer: FetchAnswer, policy: ImagePolicy, images: ImageTools
) -> ImageResult:
    status, received = answer.status, answer.bytes_received
    if not 200 <= status < 300:
        if status >= 500 or status in _MAY_PASS:
            return _later(due, status, f"status {status}", images, held_seconds=part.pace.held_seconds)
        return ImageResult(due, ImageOutcome.NOT_FOUND, status, f"status {status}")
    body = answer.body or b""
    try:
        facts = await _wanted(body, answer, policy, images)
    except ImageFault as fault:
        return ImageResult(due, fault.outcome, status, fault.why, bytes_received=received)
    stored = await asyncio.to_thread(_stored, images.files, body, facts)
    return ImageResult(due, ImageOutcome.STORED, status, stored=stored, bytes_received=received)


async def _wanted(body: bytes, answer: FetchAnswer, policy: ImagePolicy, images: ImageTools) -> ImageFacts:
    """What the image is, if it is whole, sound, and as large as the profile wants. ImageFault says why not."""
    if answer.is_truncated:
        if len(body) >= images.max_body_bytes:
            raise ImageFault(ImageOutcome.TOO_LARGE, f"more than {images.max_body_bytes:,} bytes")
        raise ImageFault(ImageOutcome.TRUNCATED, "the answer breaks off")
    if len(body) < policy.min_bytes:
        raise ImageFault(ImageOutcome.TOO_SMALL, f"{len(body):,} bytes")
    facts = await images.reader.facts(body)
    if _is_small(facts, policy):
        raise ImageFault(ImageOutcome.TOO_SMALL, f"{facts.width:,} by {facts.height:,} pixels")
    return facts


def _is_small(facts: ImageFacts, policy: ImagePolicy) -> bool:
    """An SVG has no size of its own, so it is none."""
    if facts.width is None or facts.height is None:
        return False
    return facts.width < policy.min_width or facts.height < policy.min_height


def _stored(files: ImageFiles, body: bytes, facts: ImageFacts) -> StoredImage:
    digest = sha256(body).digest()
    return StoredImage(digest, files.put(body, digest, SUFFIXES[facts.mime]), len(body), facts)
