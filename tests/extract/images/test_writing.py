"""References in the books: seen again, moved, gone, tied to their image whoever comes first."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from bailiwick.crawl.images.facts import ImageDue, ImageResult, StoredImage
from bailiwick.crawl.images.writing import outlook, write_results
from bailiwick.db.engine import Database
from bailiwick.extract.images import writing
from bailiwick.extract.images.writing import wake
from bailiwick.extract.page import Extracted
from bailiwick.model.images import FoundImage, FoundIn, ImageFacts, ImageOutcome, ImageType, PageImages
from bailiwick.model.urls import hash_of
from tests.extract.tools import IRRELEVANT, Shelved, article, found, parsed, rows, shelved
from tests.registry.tools import faults

HERE = "https://example.org"


@pytest.fixture
def pages(database: Database, tmp_path: Path) -> Iterator[Shelved]:
    found = shelved(database, tmp_path)
    yield found
    found.store.close()


def with_images(made: Extracted, *urls: str, downloads: bool = True, kind: ImageType = ImageType.GALLERY) -> Extracted:
    images = [FoundImage(f"{HERE}{url}", n, f"alt {n}", kind, FoundIn.SRC) for n, url in enumerate(urls)]
    return replace(made, images=PageImages(images, downloads))


def sightings(database: Database) -> list[tuple[object, ...]]:
    with database.read() as conn:
        return [tuple(row) for row in rows(conn, """
            select right(url, 6), nth, position, image_id is not null, discovery_type from image_sightings
            order by path_hash, position""")]  # fmt: skip


def stored(pages: Shelved, url: str, digest: bytes = b"d" * 32) -> None:
    """As the holder of the domain's lease writes it."""
    due = ImageDue(hash_of(f"{HERE}{url}"), f"{HERE}{url}", 0)
    image = StoredImage(digest, "dd/x.png", 10, ImageFacts("image/png", 1, 1))
    with pages.database.begin() as conn:
        conn.execute(
            text("insert into domain_progress (domain_id) values (:d) on conflict do nothing"), {"d": pages.domain_id}
        )
        write_results(conn, {pages.domain_id: [ImageResult(due, ImageOutcome.STORED, 200, stored=image)]}, machine="m")


def test_references_are_kept_moved_and_dropped(pages: Shelved) -> None:
    pages.put("/a", b"1")
    parsed(pages.database, {"/a": with_images(found("a"), "/1.png", "/2.png", "/1.png")})
    assert sightings(pages.database) == [
        ("/1.png", 0, 0, False, "discovery"),
        ("/2.png", 0, 1, False, "discovery"),
        ("/1.png", 1, 2, False, "discovery"),
    ]  # fmt: skip
    with pages.database.begin() as conn:
        conn.execute(text("update pages set fetch_count = 2"))
    pages.put("/a", b"2")
    parsed(pages.database, {"/a": with_images(found("b"), "/2.png", "/3.png")})
    assert sightings(pages.database) == [
        ("/2.png", 0, 0, False, "discovery"), ("/3.png", 0, 1, False, "refresh"),
    ]  # fmt: skip


def test_known_content_has_its_own_images_again(pages: Shelved) -> None:
    """A, B, A again: the last one is known, and shows what A showed."""
    one, two = with_images(found("a"), "/1.png"), with_images(found("b"), "/2.png")
    for body, made in ((b"1", one), (b"2", two), (b"3", replace(one, relevance=None))):
        pages.put("/a", body)
        parsed(pages.database, {"/a": made})
    assert [url for url, *_ in sightings(pages.database)] == ["/1.png"]


def test_pages_that_are_not_relevant_have_none(pages: Shelved) -> None:
    pages.put("/a", b"1")
    parsed(pages.database, {"/a": with_images(found("a"), "/1.png")})
    pages.put("/a", b"2")
    parsed(pages.database, {"/a": with_images(replace(found("b"), relevance=IRRELEVANT), "/1.png")})
    assert sightings(pages.database) == []


def test_each_address_is_asked_for_once(pages: Shelved) -> None:
    for path in ("/a", "/b"):
        pages.put(path, path.encode())
        parsed(pages.database, {path: with_images(found(path), "/logo.png")})
    with pages.database.read() as conn:
        [due] = outlook(conn, {pages.domain_id: 0})[pages.domain_id].due
    assert due.url == f"{HERE}/logo.png"
    stored(pages, "/logo.png")
    assert [is_tied for *_, is_tied, _ in sightings(pages.database)] == [True, True]
    pages.put("/c", b"c")
    parsed(pages.database, {"/c": with_images(found("c"), "/logo.png")})
    assert all(is_tied for *_, is_tied, _ in sightings(pages.database)), "a later page was not tied"
    with pages.database.read() as conn:
        assert outlook(conn, {pages.domain_id: 0})[pages.domain_id].due == []


def test_addresses_without_end_come_to_one(pages: Shelved, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MOST_ADDRESSES", 3)
    for n in range(6):
        pages.put(f"/{n}", b"%d" % n)
        parsed(pages.database, {f"/{n}": with_images(found(str(n)), f"/{n}.png")})
    assert len(sightings(pages.database)) == 6
    with pages.database.read() as conn:
        assert len(outlook(conn, {pages.domain_id: 0})[pages.domain_id].due) == 3


def test_not_wanted_is_not_asked_for(pages: Shelved) -> None:
    pages.put("/a", b"1")
    parsed(pages.database, {"/a": with_images(found("a"), "/1.png", downloads=False)})
    assert len(sightings(pages.database)) == 1
    with pages.database.read() as conn:
        assert outlook(conn, {pages.domain_id: 0})[pages.domain_id].due == []


def test_tied_whoever_comes_first(pages: Shelved) -> None:
    """A page is parsed while its image is being written: whichever commits first, the sighting has its image."""
    pages.put("/0", b"0")
    parsed(pages.database, {"/0": with_images(found("0"), "/x.png")})
    starting = threading.Barrier(2)

    def write_image() -> None:
        starting.wait()
        stored(pages, "/x.png")

    writer = threading.Thread(target=write_image)
    writer.start()
    starting.wait()
    for n in range(1, 12):
        pages.put(f"/{n}", b"%d" % n)
        parsed(pages.database, {f"/{n}": with_images(found(str(n)), "/x.png")})
    writer.join()
    assert [is_tied for *_, is_tied, _ in sightings(pages.database)] == [True] * 12


def test_images_of_one_content_count_once_for_a_domain(pages: Shelved) -> None:
    pages.put("/a", b"1")
    parsed(pages.database, {"/a": with_images(found("a"), "/1.png", "/2.png", "/3.png")})
    stored(pages, "/1.png", b"a" * 32)
    stored(pages, "/2.png", b"a" * 32)
    stored(pages, "/3.png", b"b" * 32)
    with pages.database.read() as conn:
        assert rows(conn, "select images_stored from domain_progress")[0][0] == 2


def test_a_page_about_one_product_shows_its_images(pages: Shelved) -> None:
    pages.put("/p", b"1")
    made = with_images(found("p", items=[article("p")]), "/big.png")
    parsed(pages.database, {"/p": made})
    with pages.database.begin() as conn:
        conn.execute(
            text("""
                insert into products (domain_id, path_hash, position, item_id, product_name, confidence, parser,
                                      parser_version, content_hash)
                values (:d, :p, 0, (select min(id) from items), 'Boat', 1, 'x', 1, 'h')"""),
            {"d": pages.domain_id, "p": hash_of("/p")},
        )
    pages.put("/p", b"2")
    parsed(pages.database, {"/p": replace(made, relevance=None)})
    with pages.database.read() as conn:
        assert rows(conn, "select s.product_id = p.id from image_sightings s, products p")[0][0] is True


def test_a_domain_at_rest_is_woken_for_its_images(pages: Shelved) -> None:
    pages.put("/a", b"1")
    with pages.database.begin() as conn:
        conn.execute(text("set local session_replication_role = replica"))
        conn.execute(text("update domains set crawl = 'exhausted', next_crawl_after = now() + interval '9 days'"))
        conn.execute(text("update crawl_queue set ready_key = null, wake_at = now() + interval '9 days'"))
    parsed(pages.database, {"/a": with_images(found("a"), "/1.png", downloads=False)})
    with pages.database.begin() as conn:
        assert wake(conn, None, ["general"]) == 0
    pages.put("/a", b"2")
    parsed(pages.database, {"/a": with_images(found("b"), "/1.png")})
    with pages.database.begin() as conn:
        assert wake(conn, [pages.domain_id], ["images"]) == 0, "of another profile"
        assert wake(conn, [pages.domain_id], ["general"]) == 1
        assert wake(conn, [pages.domain_id], ["general"]) == 0
    with pages.database.read() as conn:
        assert rows(conn, "select ready_key is not null from crawl_queue")[0][0]
        assert faults(conn) == []
