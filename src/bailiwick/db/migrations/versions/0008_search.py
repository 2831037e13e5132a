"""Search: one row a page and one an item, with its words, in an index of their own."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

# Words stay in their row as far as a block allows (toast_tuple_target): ranking reads those of a thousand rows.
# Without a pending list (fastupdate): whoever searches would have to read all of it, and feeding is no hurry.
_SEARCH = """
create table search_documents (
    domain_id bigint not null,
    path_hash bigint not null,
    kind text not null,
    position int not null,
    snapshot_id bigint not null,
    title text not null,
    body text,
    language text,
    is_relevant boolean not null,
    at timestamptz not null,
    terms tsvector not null,
    constraint search_documents_pkey primary key (domain_id, path_hash, kind, position)
) with (toast_tuple_target = 8160);
create index search_documents_terms_idx on search_documents using gin (terms) with (fastupdate = off);
"""


def upgrade() -> None:
    op.execute(_SEARCH)


def downgrade() -> None:
    op.execute("drop table search_documents")
    op.execute("delete from outbox_readers where name like 'search.%'")
