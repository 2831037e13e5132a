"""The memory of links: what it must never say, and what it may forget."""

from bailiwick.crawl.seen import SeenLinks, SeenTable
from bailiwick.model.urls import LinkJoiner

BASE = LinkJoiner().at("https://example.org/shop/list.html")
BESIDE = LinkJoiner().at("https://example.org/shop/other.html?page=2")
ELSEWHERE = LinkJoiner().at("https://example.org/about/us.html")


def test_a_link_is_new_once_unless_it_is_found_nearer_to_the_start() -> None:
    seen = SeenLinks(SeenTable(1 << 10))
    assert seen.add("/a", 3)
    assert not seen.add("/a", 3)
    assert not seen.add("/a", 4)
    assert seen.add("/a", 2), "a shorter way counts"
    assert not seen.add("/a", 3)


def test_what_is_forgotten_is_new_again() -> None:
    seen = SeenLinks(SeenTable(1 << 10))
    assert seen.add("/a", 1)
    seen.forget("/b")
    assert not seen.add("/a", 1)
    seen.forget("/a")
    assert seen.add("/a", 1)


def test_slices_share_the_room_and_nothing_else() -> None:
    table = SeenTable(1 << 16)
    one, other = SeenLinks(table), SeenLinks(table)
    assert one.add("/a", 1)
    assert other.add("/a", 1)
    assert SeenLinks(table).add("/a", 1), "the next slice of the same domain asks again"
    assert not one.add("/a", 1)


def test_it_never_takes_a_new_link_for_a_known_one() -> None:
    """That would lose a page. In a table far too small every answer is still right, if forgetful."""
    table = SeenTable(1 << 6)
    parts = [SeenLinks(table) for _ in range(3)]
    for number in range(20_000):
        assert parts[number % 3].add(f"/page-{number}", number % 7)


def test_depths_beyond_what_is_kept_count_as_the_deepest() -> None:
    seen = SeenLinks(SeenTable(1 << 10))
    assert seen.add("/a", 5_000)
    assert not seen.add("/a", 6_000)
    assert seen.add("/a", 1_000)


def test_what_fits_is_mostly_remembered() -> None:
    seen = SeenLinks(SeenTable(1 << 16))
    paths = [f"/page-{number}" for number in range(6_000)]
    assert all(seen.add(path, 1) for path in paths)
    assert sum(not seen.add(path, 1) for path in paths) > 5_000


# As they are written


def test_a_link_is_met_wherever_it_means_the_same() -> None:
    seen = SeenLinks(SeenTable(1 << 10))
    hrefs = ["/a", "a.html", "https://other.test/", "?page=2", "http:a"]
    for href in hrefs:
        seen.meet(href, BASE, 3)
    assert seen.unmet(hrefs, BASE, 3) == ["?page=2", "http:a"], "these depend on the whole base"
    assert seen.unmet(hrefs, BESIDE, 4) == ["?page=2", "http:a"]
    assert seen.unmet(hrefs, ELSEWHERE, 3) == ["a.html", "?page=2", "http:a"]
    assert seen.unmet(hrefs, BASE, 2) == hrefs, "a shorter way counts"
    assert SeenLinks(SeenTable(1 << 10)).unmet(hrefs, BASE, 3) == hrefs


def test_slices_have_met_nothing_of_each_other() -> None:
    table = SeenTable(1 << 10)
    one, other = SeenLinks(table), SeenLinks(table)
    one.meet("/a", BASE, 1)
    assert other.unmet(["/a"], BASE, 1) == ["/a"]
    assert one.unmet(["/a"], BASE, 1) == []


def test_what_was_met_is_forgotten_rather_than_more_room_taken() -> None:
    table = SeenTable(1 << 10, most_written=100)
    seen = SeenLinks(table)
    for number in range(1_000):
        seen.meet(f"/{number}", BASE, 1)
        seen.meet(f"/{number}", BASE, 1)
        assert sum(map(len, table.written.values())) + len(table.written) <= 101
        assert seen.unmet([f"/new-{number}"], BASE, 1)


def test_a_link_of_another_depth_changes_nothing_for_the_others() -> None:
    """The quick look, while nothing deeper was met, and the careful one agree."""
    seen = SeenLinks(SeenTable(1 << 10))
    seen.meet("/near", BASE, 2)
    assert seen.unmet(["/near", "/new"], BASE, 2) == ["/new"]
    assert seen.unmet(["/near", "/new"], BASE, 1) == ["/near", "/new"], "a shorter way counts"
    seen.meet("/far", BASE, 9)
    seen.meet("beside", BASE, 3)
    assert seen.unmet(["/near", "/far", "beside", "/new"], BASE, 2) == ["/far", "beside", "/new"]
    assert seen.unmet(["/near", "/far", "beside", "/new"], BASE, 9) == ["/new"]
