"""Images by their bytes: types whatever their names say, sizes before decoding, hashes that survive scaling."""

import asyncio
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.base.sections import ImageSettings
from bailiwick.crawl.images.decoding import ImageFault, read_facts, small_copy
from bailiwick.crawl.images.reader import ImageReader
from bailiwick.crawl.images.sniffing import sniff
from bailiwick.model.images import NEAR_BITS, SUFFIXES, ImageOutcome, distance
from tests.crawl.images.pictures import SVG, bomb, hollow, picture

PIXELS = 50_000_000


def outcome(data: bytes) -> ImageOutcome:
    with pytest.raises(ImageFault) as fault:
        read_facts(data, max_pixels=PIXELS)
    return fault.value.outcome


@pytest.mark.parametrize(
    ("kind", "mime"),
    [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/gif"), ("WEBP", "image/webp"), ("BMP", "image/bmp"),
     ("TIFF", "image/tiff"), ("AVIF", "image/avif")],
)  # fmt: skip
def test_types_and_sizes(kind: str, mime: str) -> None:
    facts = read_facts(picture(1, width=200, height=100, kind=kind), max_pixels=PIXELS)
    assert (facts.mime, facts.width, facts.height) == (mime, 200, 100)
    assert mime in SUFFIXES


def test_a_drawing_is_told_and_never_rendered() -> None:
    facts = read_facts(SVG, max_pixels=PIXELS)
    assert (facts.mime, facts.width, facts.perceptual_hash) == ("image/svg+xml", None, None)
    with pytest.raises(ImageFault):
        small_copy(SVG, side=100, max_pixels=PIXELS)


@pytest.mark.parametrize(
    "data",
    [b"", b"GIF", b"<html><svg></svg></html>", b"%PDF-1.7", b"<?xml version='1.0'?><feed/>", b"\x7fELF" * 100,
     b"%!PS-Adobe-3.0 EPSF-3.0"],
)  # fmt: skip
def test_what_is_no_image(data: bytes) -> None:
    assert outcome(data) is ImageOutcome.NOT_AN_IMAGE


def test_a_bomb_is_not_unpacked() -> None:
    started = time.monotonic()
    assert len(bomb()) < 5_000
    assert outcome(bomb()) is ImageOutcome.TOO_MANY_PIXELS
    assert outcome(bomb(1, 2_000_000)) is ImageOutcome.TOO_MANY_PIXELS
    assert time.monotonic() - started < 1


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP"])
def test_cut_off_anywhere(kind: str) -> None:
    data = picture(3, kind=kind)
    for share in (0.3, 0.6, 0.9):
        assert outcome(data[: int(len(data) * share)]) is ImageOutcome.TRUNCATED


def test_damaged_inside() -> None:
    data = bytearray(picture(4))
    data[200:400] = b"\xff" * 200
    assert outcome(bytes(data)) in (ImageOutcome.UNREADABLE, ImageOutcome.TRUNCATED)
    assert outcome(hollow()) in (ImageOutcome.UNREADABLE, ImageOutcome.TRUNCATED)


def phash(data: bytes) -> int:
    found = read_facts(data, max_pixels=PIXELS).perceptual_hash
    assert found is not None
    return found


def test_alike_and_different() -> None:
    for seed in range(20):
        one = phash(picture(seed))
        for other in (picture(seed, kind="JPEG", quality=50), picture(seed, width=97, height=73, kind="WEBP")):
            assert distance(one, phash(other)) <= NEAR_BITS
        assert distance(one, phash(picture(seed + 1000))) > NEAR_BITS


def test_an_even_surface_is_like_no_other() -> None:
    from io import BytesIO

    from PIL import Image

    target = BytesIO()
    Image.new("RGB", (100, 100), "red").save(target, "PNG")
    assert read_facts(target.getvalue(), max_pixels=PIXELS).perceptual_hash is None


def test_a_small_copy_is_another_file() -> None:
    data = picture(5, width=1200, height=900, kind="JPEG")
    copy = small_copy(data, side=320, max_pixels=PIXELS)
    facts = read_facts(copy, max_pixels=PIXELS)
    assert (facts.mime, facts.width, facts.height) == ("image/webp", 320, 240)
    assert len(copy) < len(data)


@given(
    st.binary(max_size=200),
    st.sampled_from([b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF\0\0\0\0WEBP", b"BM"]),
)
def test_any_bytes_are_an_image_or_a_fault(tail: bytes, head: bytes) -> None:
    assert sniff(head + tail) is not None
    with suppress(ImageFault):
        read_facts(head + tail, max_pixels=10_000)


def test_the_child_outlives_bad_images_and_is_made_anew() -> None:
    async def run() -> None:
        reader = ImageReader(ImageSettings(decode_seconds=1))
        try:
            assert (await reader.facts(picture(1))).width == 240
            with pytest.raises(ImageFault):
                await reader.facts(bomb())
            child = reader._child
            assert child is not None
            child.kill()
            await child.wait()
            assert (await reader.facts(picture(2))).width == 240
            assert sniff(await reader.small_copy(picture(2), 50)) == "image/webp"
        finally:
            await reader.close()

    asyncio.run(run())


def test_a_decoder_that_hangs_is_ended() -> None:
    """Stopped, it cannot even end itself."""
    import os
    import signal

    async def run() -> None:
        reader = ImageReader(ImageSettings(decode_seconds=0.5))
        reader._grace_seconds = 0.5
        try:
            await reader.facts(picture(1))
            assert reader._child is not None
            os.kill(reader._child.pid, signal.SIGSTOP)
            with pytest.raises(ImageFault, match="too long"):
                await reader.facts(picture(2))
            assert (await reader.facts(picture(3))).width == 240
        finally:
            await reader.close()

    asyncio.run(run())
