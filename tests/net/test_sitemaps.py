"""Sitemaps and feeds: what is read of each format, whole and in pieces, and what of those that are broken."""

import gzip
import tracemalloc
import zlib
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bailiwick.net.sitemaps import Entry, EntryKind, SitemapLimits, SitemapReader
from tests.net.sitemap_samples import BROKEN, SAMPLES, URLSET, urlset

PAGE, SITEMAP = EntryKind.PAGE, EntryKind.SITEMAP


def read(*chunks: bytes, skip: int = 0, limits: SitemapLimits | None = None) -> tuple[list[Entry], SitemapReader]:
    reader = SitemapReader(limits)
    reader.skip(skip)
    entries = [entry for chunk in chunks for entry in reader.feed(chunk)]
    return entries + reader.close(), reader


def day(year: int, month: int, number: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime:
    return datetime(year, month, number, hour, minute, second, tzinfo=UTC)


PAGES = [
    Entry(PAGE, "https://example.org/", day(2024, 2, 29), 0.8),
    Entry(PAGE, "https://example.org/a?x=1&y=2&z", day(2024, 5, 6, 5, 8, 9)),
    Entry(PAGE, "https://example.org/caf\u00e9"),
]
EXPECTED = {
    "index": [Entry(SITEMAP, "https://example.org/s1.xml.gz", day(2024, 1, 1)), Entry(SITEMAP, "/s2.xml")],
    "prefixed": [Entry(PAGE, "https://example.org/p")],
    "rss 2.0": [
        Entry(PAGE, "https://example.org/1", day(2024, 9, 7, 15, 0, 1)),
        Entry(PAGE, "https://example.org/2", day(2024, 9, 8)),
    ],
    "rss 1.0": [Entry(PAGE, "https://example.org/r\u00e9", day(2024, 3, 4))],
    "atom": [Entry(PAGE, "https://example.org/1", day(2024, 2, 1)), Entry(PAGE, "/2", day(2024, 1, 2))],
    "text": [Entry(PAGE, url) for url in ("https://example.org/1", "http://example.org/2", "HTTPS://example.org/3")],
    "windows-1251": [Entry(PAGE, "/\u0436")],
    "gbk": [Entry(PAGE, "/\u4e2d")],
    "bad bytes": [*PAGES[:2], Entry(PAGE, "https://example.org/caf\ufffd")],
    "large": [Entry(PAGE, f"https://example.org/{number}") for number in range(5_000)],
    "large text": [Entry(PAGE, f"https://example.org/{number}") for number in range(8_000)],
    "large gzip": [Entry(PAGE, f"https://example.org/{number}") for number in range(4_000)],
}


@pytest.mark.parametrize("name", SAMPLES)
def test_whole_files(name: str) -> None:
    entries, reader = read(SAMPLES[name])
    assert entries == EXPECTED.get(name, PAGES)
    assert (reader.is_broken, reader.is_full, reader.is_done) == (False, False, True)
    assert reader.cursor == len(entries)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("torn", 1), ("mismatched", 1), ("bare ampersand", 2_000), ("undefined entity", 3), ("billion laughs", 0),
        ("document type", 0), ("html", 0), ("html, no type", 0), ("json", 0), ("gzip without its end", 4_000),
        ("gzip with a wrong sum", 4_000), ("only the magic", 0), ("deep", 0), ("endless comment", 2),
        ("endless tag", 2),
    ],
)  # fmt: skip
def test_broken_files_yield_what_came_before(name: str, count: int) -> None:
    entries, reader = read(BROKEN[name])
    assert reader.is_broken
    assert len(entries) == reader.cursor == count
    assert reader.feed(urlset(1)) == reader.close() == []


@pytest.mark.parametrize("name", ["torn gzip", "gzip gone bad"])
def test_half_a_gzip_yields_about_half(name: str) -> None:
    entries, reader = read(BROKEN[name])
    assert reader.is_broken
    assert 1_600 < len(entries) < 2_400
    sound = len(entries) * 9 // 10  # bytes gone bad mean something for a while
    assert entries[:sound] == EXPECTED["large gzip"][:sound]


def test_nothing_is_no_fault() -> None:
    for body in (b"", b" \n", b"\xef\xbb\xbf", gzip.compress(b"")):
        entries, reader = read(body)
        assert (entries, reader.is_broken) == ([], False)


def pieces(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in pairwise(places)]


@settings(deadline=None)
@given(st.sampled_from([*SAMPLES, *BROKEN]), st.lists(st.integers(0, 1 << 20), max_size=12))
def test_pieces_make_no_difference(name: str, cuts: list[int]) -> None:
    data = (SAMPLES | BROKEN)[name]
    whole, of_whole = read(data)
    entries, reader = read(*pieces(data, cuts))
    assert entries == whole
    assert (reader.is_broken, reader.cursor) == (of_whole.is_broken, of_whole.cursor)


@pytest.mark.parametrize("name", [name for name in SAMPLES if not name.startswith("large")])
def test_byte_by_byte(name: str) -> None:
    assert read(*(bytes([byte]) for byte in SAMPLES[name]))[0] == EXPECTED.get(name, PAGES)


STARTS = [b"", b"<", b"<urlset>", b"<urlset><url><loc>", b"<?xml version='1.0' encoding='hz-gb-2312'?>", b"http://",
          b"\x1f\x8b", b"\x1f\x8b\x08\0\0\0\0\0\0\0", b"\xff\xfe<\0"]  # fmt: skip


@given(st.sampled_from(STARTS), st.lists(st.binary(max_size=50)))
@example(b"<?xml version='1.0' encoding='iso-2022-jp'?>", [b"\x1b$B\xff<"])
def test_any_bytes_are_read(start: bytes, chunks: list[bytes]) -> None:
    entries, reader = read(start, *chunks)
    assert all(entry.url for entry in entries)
    assert read(start + b"".join(chunks))[0] == entries
    assert reader.is_done


@given(st.integers(0, 6), st.integers(0, 6))
def test_a_reader_goes_on_where_another_was(taken: int, more: int) -> None:
    everything = [Entry(PAGE, f"https://example.org/{number}") for number in range(5)]
    entries, reader = read(urlset(5), skip=taken)
    assert entries == everything[taken:]
    assert reader.cursor == max(5, taken)
    assert read(urlset(5 + more), skip=reader.cursor)[0] == [
        Entry(PAGE, f"https://example.org/{number}") for number in range(reader.cursor, 5 + more)
    ]


def test_entries_are_bounded() -> None:
    for data in (urlset(11), b"\n".join(b"http://example.org/%d" % number for number in range(11))):
        entries, reader = read(data, limits=SitemapLimits(most_entries=10), skip=4)
        assert (len(entries), reader.cursor, reader.is_full, reader.is_broken) == (6, 10, True, False)
        assert not read(data, limits=SitemapLimits(most_entries=11))[1].is_full


@pytest.mark.parametrize("packed", [False, True])
def test_bytes_are_bounded(packed: bool) -> None:
    data = urlset(5_000)
    body = gzip.compress(data) if packed else data
    entries, reader = read(body, limits=SitemapLimits(most_bytes=len(data) // 2))
    assert (len(entries) // 100, reader.is_full, reader.is_broken) == (25, True, False)
    assert not read(body, limits=SitemapLimits(most_bytes=len(data)))[1].is_full


def test_urls_and_values_are_bounded() -> None:
    fits, long = b"http://a/" + b"x" * 2_039, b"http://a/" + b"x" * 2_040
    listed = b"".join(b"<url><loc> \n%s</loc></url>" % url for url in (fits, long, b"x" * 200_000, fits))
    assert [entry.url.encode() for entry in read(b"<urlset>%s</urlset>" % listed)[0]] == [fits, fits]
    assert [entry.url.encode() for entry in read(b"\n".join([fits, long, long * 99, fits]))[0]] == [fits, fits]
    assert read(b"<feed><entry><link href='%s'/></entry></feed>" % long)[0] == []
    time = b"<url><loc>/</loc><lastmod>2024-01-01%s</lastmod></url>"
    assert [entry.lastmod for entry in read(b"<urlset>" + time % (b"0" * 10_000) + time % b"" + b"</urlset>")[0]] == [
        None,
        day(2024, 1, 1),
    ]


def bomb(start: bytes, filling: bytes, megabytes: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    packed = [packer.compress(start), *(packer.compress(filling * (1 << 20)) for _ in range(megabytes)), packer.flush()]
    return b"".join(packed)


@pytest.mark.parametrize(
    ("start", "filling"),
    [
        (b"", b" "),
        (b"", b"x"),
        (b"<urlset>", b" "),
        (b"<urlset><url><loc>", b"x"),
        (b"<urlset><!--", b"x"),
        (b"h", b"\n"),
    ],
)
def test_bombs_take_no_memory(start: bytes, filling: bytes) -> None:
    packed = bomb(start, filling, 200)
    read(packed[:1_000])  # what is imported on use
    tracemalloc.start()
    try:
        entries, reader = read(packed)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert entries == []
    assert reader.is_full or reader.is_broken
    assert peak < 3_000_000


@pytest.mark.parametrize(
    "body", [b"<urlset>" + b"<a/>" * 3_000_000, gzip.compress(b"") * 100_000], ids=["empty elements", "empty members"]
)
def test_busywork_is_refused(body: bytes) -> None:
    assert read(body)[1].is_broken


def test_a_name_that_is_only_like_ours_is_not_ours() -> None:
    text = URLSET.replace("<loc>", "<news:loc>").replace("</loc>", "</news:loc>")
    assert read(text.encode())[0] == []
