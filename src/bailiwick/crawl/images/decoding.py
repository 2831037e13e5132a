"""Pixels, in a child process only: sizes before decoding, a perceptual hash, a small copy for people to look at."""

from io import BytesIO
from typing import TYPE_CHECKING

from bailiwick.crawl.images.sniffing import is_cut_off, sniff
from bailiwick.model.images import SVG, ImageFacts, ImageOutcome

if TYPE_CHECKING:
    from PIL.Image import Image

_FORMATS = {
    "image/avif": "AVIF",
    "image/bmp": "BMP",
    "image/gif": "GIF",
    "image/jpeg": "JPEG",
    "image/png": "PNG",
    "image/tiff": "TIFF",
    "image/webp": "WEBP",
    "image/x-icon": "ICO",
}
"""Each type by its own reader alone: the library knows forty more, and some of them start programs."""
_LONGEST_SIDE = 65_500


class ImageFault(Exception):  # noqa: N818 - a finding, not an error
    """Why an image cannot be kept."""

    def __init__(self, outcome: ImageOutcome, why: str) -> None:
        super().__init__(why)
        self.outcome, self.why = outcome, why


def read_facts(data: bytes, *, max_pixels: int) -> ImageFacts:
    """Type, size and hash of an image that can be decoded to its end. ImageFault says why not."""
    mime = sniff(data)
    if mime is None:
        raise ImageFault(ImageOutcome.NOT_AN_IMAGE, "its bytes are those of no image")
    if mime == SVG:
        return ImageFacts(SVG)
    image = _opened(data, mime, max_pixels)
    width, height = image.size
    image = _decoded(image, data, mime, side=64)
    return ImageFacts(mime, width, height, _hash(image))


def small_copy(data: bytes, *, side: int, max_pixels: int) -> bytes:
    """The image as WebP, no larger than this. ImageFault for what cannot be shown: an SVG never is."""
    mime = sniff(data)
    if mime is None or mime == SVG:
        raise ImageFault(ImageOutcome.NOT_AN_IMAGE, "only raster images are shown")
    image = _decoded(_opened(data, mime, max_pixels), data, mime, side=side)
    copy = image.convert("RGBA" if "A" in image.getbands() or "transparency" in image.info else "RGB")
    copy.thumbnail((side, side))
    target = BytesIO()
    copy.save(target, "WEBP", quality=80, method=2)  # nothing of the original's metadata goes along
    return target.getvalue()


def _opened(data: bytes, mime: str, max_pixels: int) -> "Image":
    """The header alone. What would unpack to more than is allowed goes no further."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # judged here
    try:
        image = Image.open(BytesIO(data), formats=[_FORMATS[mime]])
    except MemoryError as error:
        raise ImageFault(ImageOutcome.TOO_MANY_PIXELS, "it takes more memory than an image may") from error
    except Exception as error:
        raise _fault(error, data, mime) from error
    width, height = image.size
    if width * height > max_pixels or max(width, height) > _LONGEST_SIDE:
        raise ImageFault(ImageOutcome.TOO_MANY_PIXELS, f"{width:,} by {height:,} pixels")
    return image


def _decoded(image: "Image", data: bytes, mime: str, *, side: int) -> "Image":
    """The first frame, to its last pixel."""
    try:
        image.draft(None, (side * 2, side * 2))  # a JPEG in less detail, where that is enough
        image.load()
    except MemoryError as error:
        raise ImageFault(ImageOutcome.TOO_MANY_PIXELS, "it takes more memory than an image may") from error
    except Exception as error:
        raise _fault(error, data, mime) from error
    return image


def _fault(error: Exception, data: bytes, mime: str) -> ImageFault:
    said = " ".join(str(error).split())[:200] or type(error).__name__
    cut = "truncated" in said.lower() or is_cut_off(data, mime)
    return ImageFault(ImageOutcome.TRUNCATED if cut else ImageOutcome.UNREADABLE, said)


def _hash(image: "Image") -> int | None:
    """Whether it gets brighter from left to right, at 8 by 8 places: survives scaling and another encoding."""
    from PIL import Image

    if "A" in image.getbands() or "transparency" in image.info:
        over = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", over.size, "white"), over)
    grey = image.convert("L").resize((9, 8), Image.Resampling.BOX)
    values = grey.tobytes()
    bits = [values[9 * row + column] < values[9 * row + column + 1] for row in range(8) for column in range(8)]
    if len(set(values)) == 1:
        return None
    number = sum(bit << place for place, bit in enumerate(bits))
    return number - 2**64 if number >= 2**63 else number
