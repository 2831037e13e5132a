"""What only PostgreSQL's index does: samples beyond some thousand matches, pairs of words for rows of them."""

import random

import pytest
from sqlalchemy import text

from bailiwick.backends.index_postgres import PostgresSearchIndex
from bailiwick.backends.index_postgres_words import pairs_of, words_of
from bailiwick.db.engine import Database
from bailiwick.model.search import Facet, PageKey, SearchQuery
from bailiwick.query.documents import documents_of
from tests.query.content_tools import Made, domain, key_of, parsed

PAGES = 6_000
_PAGES = """
insert into pages (domain_id, path_hash, path, last_outcome)
select :domain_id, hashtextextended('/' || n, 0), '/' || n, 'ok' from generate_series(1, :pages) as n
"""
_SNAPSHOTS = """
insert into page_snapshots (domain_id, path_hash, content_hash, body_hash, kind, title, text, words, simhash,
    is_relevant, relevance, relevance_reason, relevance_source, extractor_version, profile_mark)
select domain_id, path_hash, 'c', 'b', 'html', case when path_hash = :titled then 'The heron' end,
       case when path_hash = :titled then 'none' else 'a heron again' end, 3, 1, true, 1, '', 'all', 1, 1
from pages
"""
_PARSES = """
insert into page_parses (domain_id, path_hash, body_hash, outcome, snapshot_id, extractor_version, profile,
    profile_mark)
select domain_id, path_hash, 'b', 'parsed', id, 1, 'g', 1 from page_snapshots
"""
_UNSAMPLED = "select path_hash from pages where path_hash & 7 <> 0 order by path_hash limit 1"


@pytest.fixture
def index(database: Database) -> PostgresSearchIndex:
    """6,000 pages with the same word; one of them has it in its title, and is in no sample."""
    index = PostgresSearchIndex(database)
    with database.begin() as conn:
        conn.execute(text(_PAGES), {"domain_id": domain(conn, "a.org"), "pages": PAGES})
        conn.execute(text(_SNAPSHOTS), {"titled": conn.execute(text(_UNSAMPLED)).scalar_one()})
        conn.execute(text(_PARSES))
        keys = [PageKey(*row) for row in conn.execute(text("select domain_id, path_hash from pages"))]
        index.replace(conn, keys, documents_of(conn, keys))
    return index


@pytest.mark.parametrize("asked", ["heron", "her*", "heron -stork"])
def test_titles_come_first_although_no_sample_has_them(index: PostgresSearchIndex, asked: str) -> None:
    answer = index.search(SearchQuery(asked, facets=(Facet.DOMAIN,)))
    assert (answer.total, answer.is_capped) == (1_000, True)
    assert [hit.title for hit in answer.hits[:2]] == ["The heron", ""]
    [(name, counted)] = answer.facets[Facet.DOMAIN]
    assert name == "a.org"
    assert 150 <= counted <= 1_000


def test_pages_of_sampled_hits_do_not_overlap(index: PostgresSearchIndex) -> None:
    pages = [index.search(SearchQuery("heron", limit=50, after=after)) for after in (0, 50, 100)]
    assert len({hit.url for page in pages for hit in page.hits}) == 150


def test_what_few_have_is_found_without_samples(index: PostgresSearchIndex) -> None:
    answer = index.search(SearchQuery("none"))
    assert (answer.total, answer.is_capped, len(answer.hits)) == (1, False, 1)


def test_what_is_behind_the_titles_comes_on_the_next_pages(index: PostgresSearchIndex) -> None:
    first, second = (index.search(SearchQuery("heron", limit=1, after=after)).hits for after in (0, 1))
    assert [hit.title for hit in (*first, *second)] == ["The heron", ""]
    assert index.search(SearchQuery("heron", limit=20, after=1_000)).hits == ()


_WORDS = [
    "heron", "stork", "crane", "grebe", "the", "bittern's", "wood-duck", "a.b.org", "x1", "crane's", "naïve", "漢字",
    "back\\slash",
]  # fmt: skip


def test_rows_of_words_are_found_where_documents_have_them(database: Database) -> None:
    """As PostgreSQL itself finds them when it looks at every document."""
    dice, index = random.Random(8), PostgresSearchIndex(database)
    with database.begin() as conn:
        domain_id = domain(conn, "a.org")
        for number in range(300):
            title, body = (" ".join(dice.choices(_WORDS, k=k)) for k in (3, 12))
            parsed(conn, domain_id, f"/{number}", Made(f"{body}.", title=title), tell=False)
        keys = [key_of(domain_id, f"/{number}") for number in range(300)]
        index.replace(conn, keys, documents_of(conn, keys))
    found = 0
    for _ in range(120):
        phrase = " ".join(dice.choices(_WORDS, k=dice.randrange(2, 5)))
        with database.read() as conn:
            query = "select count(*) from search_documents where terms @@ phraseto_tsquery('english', :phrase)"
            wanted = conn.execute(text(query), {"phrase": phrase}).scalar_one()
        assert index.search(SearchQuery(f'"{phrase}"')).total == wanted, phrase
        found += wanted
    assert found > 1_000


def test_only_rows_of_words_have_pairs() -> None:
    assert pairs_of("'a' <-> 'b''c' <2> 'd' <-> 'e\\\\f'") == [("a", "b'c"), ("d", "e\\f")]
    assert words_of("'a' <-> 'b''c' <2> 'd'") == ["'a'", "'b''c'", "'d'"]
    for other in ("'a'", "'a' & 'b'", "'a' <-> 'b' | 'c'", "'a':* <-> 'b'", "!'a' <-> 'b'", "'a' <-> ('b' | 'c')"):
        assert pairs_of(other) == [], other
