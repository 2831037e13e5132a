"""Pages with content and their search documents, made by SQL: what `benchmarks/query.py` looks at.

Texts are made of 4,000 paragraphs whose words follow Zipf's law: word n comes in proportion to 1 / n, of 50,000. A page
is a title, two paragraphs and one word of its own. The vectors are put together as `replace` would make them. One in so
many documents is a product with a price (from 1 to 10,000, as many below 100 as above), a brand and a category; four of
five are in stock.
"""

import random
import time
from itertools import accumulate

from sqlalchemy import text

from bailiwick.db.engine import Database

DOMAINS, PARAGRAPHS, VOCABULARY, WORDS = 300, 4_000, 50_000, 70

_DOMAINS = """
insert into domains (name, site, shared_key, approval)
select 'site' || n || '.org', 'site' || n || '.org', 'site' || n || '.org', 'approved' from generate_series(1, :n) as n
"""
_PARAGRAPHS = """
create unlogged table paragraphs (nr int primary key, words text, terms tsvector, title text, title_terms tsvector);
"""
# Domain n has a share in proportion to 1 / n: the largest about a sixth of all, the smallest a few hundred.
_PAGES = """
insert into pages (domain_id, path_hash, path, state, last_fetched_at, last_status, last_outcome, content_type,
                   fetch_count, body_hash, next_at)
select d, hashtextextended('/' || n, d), '/' || n, 'fetched', bailiwick_now(), 200, 'ok', 'text/html', 1,
       decode(md5(n::text), 'hex'), bailiwick_now() + interval '1 day'
from generate_series(1, :n ::bigint) as n,
     lateral (select (n * 7919 % 1000003) / 1000003.0 as share) as x,
     lateral (select least(:domains, floor(exp(ln(:domains + 1.0) * share)))::bigint as d) as y
"""
_SNAPSHOTS = """
insert into page_snapshots (domain_id, path_hash, content_hash, body_hash, kind, title, description, language, text,
    words, simhash, is_relevant, relevance, relevance_reason, relevance_source, first_seen_at,
    extractor_version, profile_mark)
select p.domain_id, p.path_hash, p.body_hash, p.body_hash, 'html', t.title, null,
       (array['en', 'en', 'en', 'de'])[1 + p.n % 4], a.words || E'\\n\\n' || b.words || ' own' || p.n, 140, p.n,
       p.n % 5 > 0, 0.5, 'made up', 'all', bailiwick_now() - (p.n % 700) * interval '1 day', 1, 0
from (select *, substr(path, 2)::bigint as n from pages) as p
join paragraphs as a on a.nr = p.n % :k
join paragraphs as b on b.nr = (p.n * 31 / 7) % :k
join paragraphs as t on t.nr = (p.n * 17 / 3) % :k
order by p.domain_id, p.path_hash
"""
_PARSES = """
insert into page_parses (domain_id, path_hash, body_hash, outcome, snapshot_id, content_hash, extractor_version,
                         profile, profile_mark)
select domain_id, path_hash, body_hash, 'parsed', id, content_hash, 1, 'general', 0 from page_snapshots
"""
_DOCUMENTS = """
insert into search_documents
    (domain_id, path_hash, kind, position, snapshot_id, title, language, is_relevant, at, price, currency, availability,
     brand, category, terms)
select s.domain_id, s.path_hash, o.kind, 0, s.id, s.title, s.language, s.is_relevant, s.first_seen_at, o.price,
       case when o.price is not null then 'EUR' end, o.availability, o.brand, o.category,
       setweight(t.title_terms, 'A') || setweight(a.terms, 'D') || setweight(b.terms, 'D')
       || array_to_tsvector(array_cat(
              array(select chr(2) || word from unnest(tsvector_to_array(t.title_terms)) as word),
              array_remove(array['own' || s.simhash, chr(1) || 'd' || s.domain_id,
                  chr(1) || 'k' || o.kind, case when o.availability = 'in_stock' then chr(1) || 'a' end,
                  chr(1) || 'p' || floor(5 * log(o.price))::int,
                  case when o.availability = 'in_stock' then chr(1) || 'q' || floor(5 * log(o.price))::int end,
                  chr(1) || 'b' || lower(o.brand),
                  chr(1) || 'c' || lower(o.category), case when o.price is not null then chr(1) || 'uEUR' end,
                  chr(1) || 'l' || s.language, case when s.is_relevant then chr(1) || 'r' end,
                  chr(1) || to_char(s.first_seen_at at time zone 'utc', '"y"YYYY'),
                  chr(1) || to_char(s.first_seen_at at time zone 'utc', '"m"YYYYMM'),
                  chr(1) || to_char(s.first_seen_at at time zone 'utc', '"t"YYYYMMDD')], null)))
from page_snapshots as s
join paragraphs as a on a.nr = s.simhash % :k
join paragraphs as b on b.nr = (s.simhash * 31 / 7) % :k
join paragraphs as t on t.nr = (s.simhash * 17 / 3) % :k
cross join lateral (select s.simhash % :every = 0 as is_product, (s.simhash * 7907 % 100003) / 100003.0 as at) as x
cross join lateral (
    select case when is_product then 'product' else 'page' end as kind,
           case when is_product then round(power(10, 4 * at), 2) end as price,
           case when is_product then case when s.simhash % 5 = 0 then 'out_of_stock' else 'in_stock' end end
               as availability,
           case when is_product then 'Brand ' || floor(exp(ln(2000.0) * (s.simhash * 31 % 9973) / 9973.0)) end as brand,
           case when is_product then 'Category ' || s.simhash % 211 end as category) as o
order by s.domain_id, s.path_hash
"""
# Made again when the rows are there.
_INDEXES_OF_WORDS = """
select indexname, indexdef from pg_indexes where tablename = 'search_documents' and indexdef like '%USING gin%'
order by indexname
"""


def word(rank: int) -> str:
    """Made of letters, and no two have the same stem."""
    letters, number = "", rank
    while True:
        letters += "bcdfghklmnprstvz"[number % 16] + "aou"[number % 3]
        number //= 16
        if not number:
            return f"{letters}k"


def fill(database: Database, pages: int, *, every: int) -> None:
    """One document in `every` is a product."""
    started = time.perf_counter()

    def done(what: str) -> None:
        print(f"  {time.perf_counter() - started:6.1f} s  {what}", flush=True)

    with database.connect() as raw:
        raw.autocommit = True
        raw.execute("set synchronous_commit = off")
        raw.execute("set maintenance_work_mem = '512MB'")
        raw.execute(_PARAGRAPHS)
        made = random.Random(8)
        weights = list(accumulate(1 / (n + 1) for n in range(VOCABULARY)))
        names = [word(n) for n in range(VOCABULARY)]
        with raw.cursor().copy("copy paragraphs (nr, words, title) from stdin") as copy:
            for nr in range(PARAGRAPHS):
                words, title = (made.choices(names, cum_weights=weights, k=k) for k in (WORDS, 6))
                copy.write_row((nr, " ".join(words) + ".", " ".join(title)))
        raw.execute(
            "update paragraphs set terms = to_tsvector('english', words), title_terms = to_tsvector('english', title)"
        )
        raw.execute("analyze paragraphs")
        indexes = raw.execute(_INDEXES_OF_WORDS).fetchall()
        for name, _ in indexes:
            raw.execute(f"drop index {name}")
    values = {"n": pages, "domains": DOMAINS, "k": PARAGRAPHS, "every": every}
    for what, sql in (("pages", _PAGES), ("snapshots", _SNAPSHOTS), ("parses", _PARSES), ("documents", _DOCUMENTS)):
        with database.bare() as conn:
            conn.execute(text("set local synchronous_commit = off"))
            if what == "pages":
                conn.execute(text(_DOMAINS), {"n": DOMAINS})
            conn.execute(text(sql), {name: value for name, value in values.items() if f":{name}" in sql})
        done(what)
    with database.connect() as raw:
        raw.autocommit = True
        raw.execute("set maintenance_work_mem = '512MB'")
        for name, made in indexes:
            raw.execute(made)
            done(name)
        raw.execute("vacuum analyze domains, pages, page_parses, page_snapshots, search_documents")
        done("vacuum analyze")
