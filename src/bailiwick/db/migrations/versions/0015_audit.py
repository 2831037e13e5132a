"""Audits: automatic decisions that people look at, too."""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table review_queue add column is_audit boolean not null default false;
        create index review_queue_audit_idx on review_queue (queued_at, id) where reviewed_at is null and is_audit;
    """)


def downgrade() -> None:
    # Their URLs have results without them: those of the bands, or of who decided.
    op.execute("""
        delete from review_queue where is_audit and reviewed_at is null;
        alter table review_queue drop column is_audit;
    """)
