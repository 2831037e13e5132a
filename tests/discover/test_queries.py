"""Queries with places for values, and results that become one find a page."""

import pytest

from bailiwick.base.errors import UsageError
from bailiwick.discover.gathering import Gathering
from bailiwick.discover.templates import MAX_QUERIES, filled, read_queries
from bailiwick.model.discovery import SearchResult, Sighting
from bailiwick.model.urls import PageUrl


def test_every_query_with_every_value_once() -> None:
    values = {"country": ["Bulgaria", "Romania"], "year": ["2026"]}
    assert filled(["grants {country} {year}", "prizes", "prizes", "{country} and {country}"], values) == [
        "grants Bulgaria 2026", "grants Romania 2026", "prizes", "Bulgaria and Bulgaria", "Romania and Romania",
    ]  # fmt: skip
    # A value is no template: what stands in it stays as it is.
    assert filled(["grants {country}"], {"country": ["{year}"]}) == ["grants {year}"]


@pytest.mark.parametrize(
    ("query", "says"),
    [("grants {land}", "no value for {land}"), ("grants {", "stands alone"), ("x" * 401, "401 characters")],
)
def test_a_query_that_cannot_be_asked_is_refused(query: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        filled([query], {})


def test_their_number_is_bounded() -> None:
    with pytest.raises(UsageError, match="more than 1,000 queries"):
        filled(["{n}"], {"n": [str(n) for n in range(MAX_QUERIES + 1)]})


def test_files_have_comments_and_blank_lines() -> None:
    assert read_queries(["# mine\n", "\n", "  grants \n", "prizes"]) == ["grants", "prizes"]


def test_a_page_that_comes_twice_is_one_find_with_all_its_places() -> None:
    found = Gathering()
    for url, engine, position, title in (
        ("https://www.b.example/x?utm_source=1", "brave", 4, "X"),
        ("http://b.example/x#top", "links", 2, ""),
        ("https://a.example/", "brave", 1, "A"),
        ("https://b.example/y", "brave", 1, "Y"),
        ("https://b.example/x", "brave", 4, "X"),
    ):
        found.add(PageUrl.parse(url), SearchResult(url, title, "", engine, "q", position))
    found.refuse("not_web", "javascript:alert(1)")
    assert (len(found), found.results, found.duplicates, dict(found.refusals)) == (3, 6, 2, {"not_web": 1})
    a, b = found.domains()
    assert (a.name.name, [find.page.path for find in b.finds]) == ("a.example", ["/y", "/x"])
    x = b.finds[1]
    assert x.sightings == [Sighting("brave", "q", 4), Sighting("links", "q", 2)]
    # It stands highest by its link, which has no title: that comes from the other.
    assert (x.best.engine, x.best.position, x.best.title) == ("links", 2, "X")


def test_every_reason_has_its_examples() -> None:
    found = Gathering()
    for number in range(9):
        found.refuse("not_web", f"data:{number}")
    found.refuse("unreadable", "line 7: has no url")
    assert found.refusals == {"not_web": 9, "unreadable": 1}
    assert found.refused_examples == [
        "not_web: data:0", "not_web: data:1", "not_web: data:2", "unreadable: line 7: has no url",
    ]  # fmt: skip


def test_a_place_that_somebody_gave_is_better_than_a_row_of_a_file() -> None:
    found, page = Gathering(), PageUrl.parse("https://a.example/")
    found.add(page, SearchResult("https://a.example/", "Row", "", "file", "q", 1, is_ranked=False))
    found.add(page, SearchResult("https://a.example/", "Rank", "", "brave", "q", 7))
    [domain] = found.domains()
    assert (domain.finds[0].best.title, domain.finds[0].best.position) == ("Rank", 7)
