"""What the first bytes say of a file: servers and names lie."""

from bailiwick.model.images import SVG

_SVG_BYTES = 4096
_STARTS = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
)
_AVIF_BRANDS = (b"avif", b"avis")


def sniff(data: bytes) -> str | None:
    """The type of an image that is kept; None for anything else."""
    for start, mime in _STARTS:
        if data.startswith(start):
            return mime
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:8] == b"ftyp" and any(brand in data[8:40] for brand in _AVIF_BRANDS):
        return "image/avif"
    return SVG if _is_svg(data) else None


def is_cut_off(data: bytes, mime: str) -> bool:
    """Whether the end that every such file has is missing."""
    if mime == "image/jpeg":
        return b"\xff\xd9" not in data[-4096:]
    if mime == "image/png":
        return b"IEND" not in data[-4096:]
    if mime == "image/gif":
        return b";" not in data[-1024:]
    if mime == "image/webp":
        return int.from_bytes(data[4:8], "little") + 8 > len(data) + 1
    return False


def _is_svg(data: bytes) -> bool:
    """By its root element; whatever else is XML, or HTML with a drawing in it, is none."""
    head = data[:_SVG_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not head.startswith((b"<svg", b"<?xml", b"<!--", b"<!doctype svg")):
        return False
    return b"<svg" in head and b"<html" not in head
