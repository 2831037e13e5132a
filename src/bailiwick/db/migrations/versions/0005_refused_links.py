"""Links that a rule kept from becoming pages, and the patterns by which pages were kept back."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table refused_links (
            domain_id bigint not null,
            path_hash bigint not null,
            path text not null,
            rule text not null,
            from_hash bigint,
            refused_at timestamptz not null default bailiwick_now(),
            constraint refused_links_pkey primary key (domain_id, path_hash)
        );
        alter table domain_memory add column patterns text;
    """)


def downgrade() -> None:
    op.execute("""
        alter table domain_memory drop column patterns;
        drop table refused_links;
    """)
