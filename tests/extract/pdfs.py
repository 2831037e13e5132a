"""PDFs written by hand, as small as they can be; with a password if asked for (standard handler, RC4)."""

from hashlib import md5
from itertools import accumulate

_PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
_ID = bytes(range(16))
_PERMISSIONS = -4


def make_pdf(pages: list[str], info: str = "", password: str | None = None) -> bytes:
    """One text a page (Latin letters), `info` as PDF writes it: `/Title (Halls)`."""
    numbers = range(5, 5 + 2 * len(pages), 2)
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects: dict[int, bytes] = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        4: f"<< {info} >>".encode("latin-1"),
    }
    key = _key(password) if password is not None else None
    for number, text in zip(numbers, pages, strict=True):
        stream = "BT /F1 12 Tf 14 TL 50 750 Td " + " ".join(f"({line}) Tj T*" for line in text.split("\n")) + " ET"
        raw = stream.encode("latin-1") if text else b""
        raw = raw if key is None else _rc4(_object_key(key, number + 1), raw)
        objects[number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {number + 1} 0 R "
            f"/Resources << /Font << /F1 3 0 R >> >> >>"
        ).encode()
        objects[number + 1] = b"<< /Length %d >>\nstream\n%b\nendstream" % (len(raw), raw)
    return _file(objects, password, key)


def _file(objects: dict[int, bytes], password: str | None, key: bytes | None) -> bytes:
    chunks = [b"%PDF-1.4\n"]
    chunks += [b"%d 0 obj\n%b\nendobj\n" % (number, body) for number, body in sorted(objects.items())]
    starts = list(accumulate(map(len, chunks)))
    lines = [b"0000000000 65535 f \n"] + [b"%010d 00000 n \n" % start for start in starts[:-1]]
    trailer = b"/Size %d /Root 1 0 R /Info 4 0 R" % len(lines)
    if key is not None and password is not None:
        owner, user = _owner(password), _rc4(key, _PADDING)
        trailer += b" /ID [<%b> <%b>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <%b> /U <%b> /P %d >>" % (
            _ID.hex().encode(), _ID.hex().encode(), owner.hex().encode(), user.hex().encode(), _PERMISSIONS,
        )  # fmt: skip
    table = b"xref\n0 %d\n%b" % (len(lines), b"".join(lines))
    return b"".join(chunks) + table + b"trailer\n<< %b >>\nstartxref\n%d\n%%%%EOF\n" % (trailer, starts[-1])


def _padded(password: str) -> bytes:
    return (password.encode("latin-1") + _PADDING)[:32]


def _owner(password: str) -> bytes:
    return _rc4(md5(_padded(password)).digest()[:5], _padded(password))


def _key(password: str) -> bytes:
    permissions = (_PERMISSIONS & 0xFFFFFFFF).to_bytes(4, "little")
    return md5(_padded(password) + _owner(password) + permissions + _ID).digest()[:5]


def _object_key(key: bytes, number: int) -> bytes:
    return md5(key + number.to_bytes(3, "little") + bytes(2)).digest()[:10]


def _rc4(key: bytes, data: bytes) -> bytes:
    box = list(range(256))
    at = 0
    for here in range(256):
        at = (at + box[here] + key[here % len(key)]) % 256
        box[here], box[at] = box[at], box[here]
    one = two = 0
    out = bytearray()
    for byte in data:
        one = (one + 1) % 256
        two = (two + box[one]) % 256
        box[one], box[two] = box[two], box[one]
        out.append(byte ^ box[(box[one] + box[two]) % 256])
    return bytes(out)
