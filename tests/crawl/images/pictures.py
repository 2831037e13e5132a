"""Pictures for tests, made on the spot: sound ones, damaged ones, and ones that unpack to gigabytes."""

import random
import struct
import zlib
from io import BytesIO

from PIL import Image, ImageDraw


def picture(seed: int, *, width: int = 240, height: int = 180, kind: str = "PNG", quality: int = 90) -> bytes:
    """A few coloured shapes; another seed is another picture, another size or kind the same one."""
    rng = random.Random(seed)
    image = Image.new("RGB", (400, 300), tuple(rng.randrange(256) for _ in range(3)))
    draw = ImageDraw.Draw(image)
    for _ in range(12):
        x, y = rng.randrange(400), rng.randrange(300)
        colour = tuple(rng.randrange(256) for _ in range(3))
        draw.ellipse((x - 60, y - 60, x + 60, y + 60), fill=colour)
    target = BytesIO()
    image.resize((width, height)).save(target, kind, **({"quality": quality} if kind in ("JPEG", "WEBP") else {}))
    return target.getvalue()


def bomb(width: int = 60_000, height: int = 60_000) -> bytes:
    """A PNG of a few kilobytes whose header promises 3.6 billion pixels."""
    return _png(width, height, zlib.compress(b"\x00" * 1_000_000, 9))


def hollow(width: int = 4_000, height: int = 4_000) -> bytes:
    """A PNG with an allowed size and far too few pixels."""
    return _png(width, height, zlib.compress(b"\x00" * 100))


def _png(width: int, height: int, data: bytes) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


SVG = b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><circle r="9"/></svg>'
