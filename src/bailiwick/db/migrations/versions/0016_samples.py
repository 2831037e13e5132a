"""Search: samples of all documents have indexes of their own. A word that is everywhere is looked for in a few."""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

# One in 64 documents and one in 8. As words of the one index (before) a sample had to be found among all documents with
# the other words, and that takes as long as their number.
_SAMPLES = """
create index search_documents_sample_64_idx on search_documents using gin (terms) with (fastupdate = off)
    where ((path_hash # position * 7919) & 63) = 0;
create index search_documents_sample_8_idx on search_documents using gin (terms) with (fastupdate = off)
    where ((path_hash # position * 7919) & 7) = 0;
"""


def upgrade() -> None:
    op.execute(_SAMPLES)


def downgrade() -> None:
    op.execute("drop index search_documents_sample_64_idx, search_documents_sample_8_idx")
    # Older programs ask for samples by words, which documents do not have any more: they make the index anew.
    op.execute("delete from outbox_readers where name like 'search.%'")
