"""The memory of links: what it must never say, and what it may forget."""

from bailiwick.crawl.seen import SeenLinks, SeenTable


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
