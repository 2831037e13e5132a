"""Forgotten: keyed hashes of personal data that is not to come back."""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_FORGOTTEN = """
create table forgotten (
    digest bytea primary key,
    kind text not null,
    forgotten_at timestamptz not null default bailiwick_now(),
    constraint forgotten_kind_check check (kind in ('email', 'telephone', 'name'))
);

create table forgotten_key (
    id bigint generated always as identity primary key,
    key bytea not null,
    made_at timestamptz not null default bailiwick_now()
);
insert into forgotten_key (key) values (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
"""


def upgrade() -> None:
    op.execute(_FORGOTTEN)


def downgrade() -> None:
    op.execute("drop table forgotten, forgotten_key")
