"""Pictures and PDFs of the sample web, made when it is: a few lines each, no file of anybody's."""

import math
import struct
import zlib
from itertools import accumulate

Colour = tuple[int, int, int]
_GROUND = bytes((242, 238, 230))
_TOP = 780


def picture(colour: Colour, *, width: int = 320, height: int = 240, shape: int = 0) -> bytes:
    """A PNG: a thing of this colour, with stripes, on a light ground. `shape` makes one unlike the others."""
    radius, middle = min(width, height) // 3, height // 2
    darker = bytes(max(part - 40, 0) for part in colour)
    rows = bytearray()
    for y in range(height):
        half = _half_width(abs(y - middle), radius, shape)
        ink = darker if y % (8 + shape % 5) < 2 else bytes(colour)
        side = _GROUND * (width // 2 - half)
        rows += b"\0" + side + ink * (width - 2 * (width // 2 - half)) + side  # 0: no filter
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(rows), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in parts)


def _half_width(down: int, radius: int, shape: int) -> int:
    """Of a disc, a diamond or a square, so far from its middle."""
    widths = (math.isqrt(max(radius**2 - down**2, 0)), max(radius - down, 0), radius if down < radius else 0)
    return widths[shape % 3]


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def pdf(title: str, lines: list[str]) -> bytes:
    """One page of text in a font that every reader has. Latin letters only."""
    shown = " ".join(f"({_escaped(line)}) Tj T*" for line in lines)
    stream = f"BT /F1 11 Tf 16 TL 60 {_TOP} Td {shown} ET".encode("latin-1")
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 6 0 R"
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [5 0 R] /Count 1 >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /Title ({_escaped(title)}) >>".encode("latin-1"),
        page + b" /Resources << /Font << /F1 3 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream),
    )
    chunks = [b"%PDF-1.4\n", *(b"%d 0 obj\n%b\nendobj\n" % (n, body) for n, body in enumerate(objects, 1))]
    starts = list(accumulate(map(len, chunks)))
    table = b"0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % start for start in starts[:-1])
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, starts[-1])
    return b"".join(chunks) + b"xref\n0 %d\n%b" % (size, table) + trailer


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
