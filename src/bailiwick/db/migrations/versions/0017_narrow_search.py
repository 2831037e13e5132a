"""Search: products are listed from their indexes alone, and words in a row are found by their pairs."""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

# Names are columns of indexes now, where a long one does not fit: as much stays as is looked for. Hardly any database
# has such a name. The table is written anew then: an index would hold the older versions of updated rows, too.
_SHORT = """
do $$
begin
    if exists (select from search_documents
               where length(brand) > 100 or length(category) > 100 or length(currency) > 16) then
        alter table search_documents alter column brand type text using left(brand, 100),
            alter column category type text using left(category, 100),
            alter column currency type text using left(currency, 16);
    end if;
end $$;
"""

# Everything that a list asks for, orders by and counts: a thousand products come from a dozen blocks, not from a
# thousand. Other filters (language, since, relevant) still look at rows.
_COUNTED = "availability, currency, brand, category"
_LISTS = {
    "price": ("price, domain_id, path_hash, position", ""),
    "in_stock": ("price, domain_id, path_hash, position", "and availability = 'in_stock'"),
    "brand": ("lower(brand), price, domain_id, path_hash, position", ""),
    "category": ("lower(category), price, domain_id, path_hash, position", ""),
    "shop": ("domain_id, price, path_hash, position", ""),
}
_LISTS_BEFORE = {
    "price": ("price, domain_id, path_hash", ""),
    "in_stock": ("price, domain_id, path_hash", "and availability = 'in_stock'"),
    "brand": ("lower(brand), price", ""),
    "category": ("lower(category), price", ""),
    "shop": ("domain_id, price", ""),
}

# Pairs are numbers: 16,384 of them make an index as large as that of the words, and leave one in a hundred documents
# that have both words somewhere else. Only rows of words read its pending list, so it may have one; inserting each pair
# by itself takes three times as long. The function is dear to the planner: it is never to be asked of a row.
_PAIRS = """
create function bailiwick_word_pair(text, text) returns int
language sql immutable parallel safe return hashtext($1 || ' ' || $2) & 16383;
create function bailiwick_word_pairs(tsvector) returns int[]
language sql immutable strict parallel safe cost 100000
begin atomic
    with words as materialized (
        select w.lexeme, p.place
        from unnest($1) as w (lexeme, positions, weights) cross join unnest(w.positions) as p (place))
    select array(select bailiwick_word_pair(a.lexeme, b.lexeme)
                 from words as a join words as b on b.place = a.place + 1);
end;
create index search_documents_pairs_idx on search_documents using gin (bailiwick_word_pairs(terms))
    with (fastupdate = on, gin_pending_list_limit = 2048);
alter index search_documents_pairs_idx alter column 1 set statistics 0;
"""


def upgrade() -> None:
    # Of a million rows it is minutes: searching goes on until the last statements. With less memory it is longer.
    op.execute("select set_config('maintenance_work_mem', '256MB', true)")
    op.execute(_SHORT)
    op.execute(_PAIRS)
    _exchange(_LISTS, f"include ({_COUNTED})")


def downgrade() -> None:
    _exchange(_LISTS_BEFORE, "")
    op.execute("drop index search_documents_pairs_idx")
    op.execute("drop function bailiwick_word_pairs(tsvector)")
    op.execute("drop function bailiwick_word_pair(text, text)")


def _exchange(lists: dict[str, tuple[str, str]], include: str) -> None:
    for name, (columns, only) in lists.items():
        op.execute(
            f"create index search_documents_{name}_idx_new on search_documents ({columns}) {include} "
            f"where kind = 'product' {only}"
        )
    # From here on nobody reads them, until all is done.
    for name in lists:
        op.execute(f"drop index search_documents_{name}_idx")
        op.execute(f"alter index search_documents_{name}_idx_new rename to search_documents_{name}_idx")
