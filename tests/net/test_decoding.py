"""Content codings: the same text whatever the pieces, bounded whatever the input, and an error for what is none."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.net.decoding import ACCEPTED, CodingError, decoder


def raw_deflate(plain: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(plain) + packer.flush()


CODERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "zlib": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "br": ("br", lambda plain: brotli.compress(plain, quality=4)),
    "zstd": ("zstd", zstandard.compress),
}
every_coder = pytest.mark.parametrize(("coding", "code"), CODERS.values(), ids=CODERS)
TEXT = b"<p>The wind turns quickly once the tide goes out.</p>\n" * 200 + bytes(range(256))
ANY = 10_000_000


def decoded(coding: str, data: bytes, *, piece: int, most: int = ANY) -> tuple[bytes, bool]:
    """(text, whether it came to its end), fed so many bytes at a time."""
    state = decoder(coding)
    assert state is not None
    out = b"".join(state.feed(data[at : at + piece], most) for at in range(0, len(data), piece))
    return out, state.is_complete


@every_coder
@pytest.mark.parametrize("piece", [1, 2, 7, 1024, ANY])
def test_the_text_is_the_same_whatever_the_pieces(coding: str, code: Callable[[bytes], bytes], piece: int) -> None:
    assert decoded(coding, code(TEXT), piece=piece) == (TEXT, True)
    assert decoded(coding, code(b""), piece=piece) == (b"", True)


@every_coder
@given(plain=st.binary(max_size=300), piece=st.integers(1, 40))
def test_any_bytes_come_back(coding: str, code: Callable[[bytes], bytes], plain: bytes, piece: int) -> None:
    assert decoded(coding, code(plain), piece=piece) == (plain, True)


@pytest.mark.parametrize("coding", ["", "identity", " Identity "])
def test_nothing_is_to_be_done(coding: str) -> None:
    assert decoder(coding) is None


@pytest.mark.parametrize("coding", [" GZip ", "BR", "ZStd", "DEFLATE", "X-GZIP"])
def test_names_are_in_any_case(coding: str) -> None:
    assert decoder(coding) is not None


@pytest.mark.parametrize("coding", ["lzma", "compress", "gzip, br", "gzip;q=1", "x" * 5_000])
def test_an_unknown_coding_is_an_error_that_names_it_briefly(coding: str) -> None:
    with pytest.raises(CodingError, match=r"unknown content coding") as refused:
        decoder(coding)
    assert len(str(refused.value)) < 100
    assert coding[:40] in str(refused.value)


def test_what_we_say_we_accept_can_be_decoded() -> None:
    assert [type(decoder(coding)).__name__ for coding in ACCEPTED.split(", ")] == [
        "_Gzip",
        "_Deflate",
        "_Brotli",
        "_Zstd",
    ]


@every_coder
def test_nothing_at_all_is_complete_and_half_of_it_is_not(coding: str, code: Callable[[bytes], bytes]) -> None:
    state = decoder(coding)
    assert state is not None
    assert state.is_complete
    data = code(TEXT)
    for length in (1, len(data) // 2, len(data) - 1):
        out, complete = decoded(coding, data[:length], piece=16)
        assert not complete, length
        assert TEXT.startswith(out)


@pytest.mark.parametrize("piece", [1, 3, 1024, ANY])
def test_members_and_frames_one_after_the_other_are_one_text(piece: int) -> None:
    parts = [b"first, ", b"", b"second, " * 500, b"third"]
    for coding, code in (("gzip", gzip.compress), ("zstd", zstandard.compress)):
        data = b"".join(code(part) for part in parts)
        assert decoded(coding, data, piece=piece) == (b"".join(parts), True)
        assert decoded(coding, data[:-5], piece=piece)[1] is False


@pytest.mark.parametrize("piece", [1, 64, ANY])
def test_what_follows_the_end_of_gzip_and_deflate_is_left_alone(piece: int) -> None:
    for coding, code in (("gzip", gzip.compress), ("deflate", zlib.compress), ("deflate", raw_deflate)):
        assert decoded(coding, code(TEXT) + b"\0" * 1_000, piece=piece) == (TEXT, True)


def test_a_flood_of_empty_members_ends() -> None:
    with pytest.raises(CodingError, match="too many"):
        decoded("gzip", gzip.compress(b"") * 5_000, piece=ANY)


@pytest.mark.parametrize("piece", [1, 1024])
@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_what_is_not_in_its_coding_is_an_error(coding: str, piece: int) -> None:
    with pytest.raises(CodingError):
        decoded(coding, b"<!doctype html><title>Not compressed at all</title>" * 50, piece=piece)


@every_coder
def test_a_flipped_bit_is_an_error_or_another_text_but_nothing_else(
    coding: str, code: Callable[[bytes], bytes]
) -> None:
    data = code(TEXT)
    errors = 0
    for at in range(0, len(data), max(1, len(data) // 200)):
        damaged = bytearray(data)
        damaged[at] ^= 0x10
        try:
            out, _ = decoded(coding, bytes(damaged), piece=100, most=1_000_000)
        except CodingError:
            errors += 1
        else:
            assert len(out) < 4_000_000
    assert errors > 5


def test_damage_in_the_middle_is_found_by_the_checksum() -> None:
    for coding, code in (("gzip", gzip.compress), ("deflate", zlib.compress)):
        damaged = bytearray(code(TEXT))
        damaged[-3] ^= 1
        with pytest.raises(CodingError):
            decoded(coding, bytes(damaged), piece=ANY)


def zeros(packer: "zlib._Compress", size: int) -> bytes:
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packer.flush()


def zstd_rle_frame(blocks: int) -> bytes:
    """The worst that zstd has: 128 KB in four bytes, over and over."""
    head = b"\x28\xb5\x2f\xfd\x00\x68"  # no checksum, a window of 8 MB
    block = ((128 * 1024) << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
    return head + block * blocks


BOMBS = {
    "gzip": ("gzip", lambda: zeros(zlib.compressobj(9, wbits=31), 100 << 20)),
    "deflate": ("deflate", lambda: zeros(zlib.compressobj(9), 100 << 20)),
    "br": ("br", lambda: brotli.compress(bytes(100 << 20), quality=1)),
    "zstd": ("zstd", lambda: zstandard.compress(bytes(100 << 20))),
    "zstd, worst": ("zstd", lambda: zstd_rle_frame(8_000)),
}


@pytest.mark.parametrize(("coding", "make"), BOMBS.values(), ids=BOMBS)
@pytest.mark.parametrize("most", [1, 1_000_000])
def test_a_bomb_comes_out_bounded(coding: str, make: Callable[[], bytes], most: int) -> None:
    data = make()
    assert len(data) < 120_000
    state = decoder(coding)
    assert state is not None
    tracemalloc.start()
    try:
        out = state.feed(data, most)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most <= len(out) < most + 2_200_000  # "and a little" is one step of zstd
    assert peak < 2 * (most + 2_200_000)
    assert not state.is_complete


def test_a_window_larger_than_the_web_allows_is_an_error() -> None:
    """Otherwise ten bytes make us set gigabytes aside."""
    head = b"\x28\xb5\x2f\xfd\x00\xa8"  # 2 GB
    with pytest.raises(CodingError, match="zstd"):
        decoded("zstd", head + b"\x01\x00\x00" * 10, piece=ANY)
