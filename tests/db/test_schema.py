"""Migrations: there and back with data, the same as the tables module, one at a time, never by an older program."""

import threading

import pytest
from sqlalchemy import create_engine, text

from bailiwick.base.errors import SchemaError
from bailiwick.db import engine as engine_module
from bailiwick.db import schema
from bailiwick.db.engine import Database
from bailiwick.db.revision import HEAD
from bailiwick.db.tables import metadata
from tests.db.catalogue import catalogue, fill, rows_of
from tests.servers import TestServers


def test_head_is_the_newest_migration() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", "bailiwick:db/migrations")
    assert ScriptDirectory.from_config(config).get_current_head() == f"{HEAD:04}"


@pytest.mark.parametrize("revision", range(1, HEAD + 1))
def test_each_revision_goes_down_and_up_with_data(database: Database, revision: int) -> None:
    """1,000 rows in every table that is older than the revision come through unchanged."""
    with database.bare() as conn:
        if revision < HEAD:
            schema.downgrade(conn, revision)
        schema.downgrade(conn, revision - 1)
        shapes = {name: table for name, table in catalogue(conn).tables.items() if name != "alembic_version"}
        older = {name: list(table.columns) for name, table in shapes.items()}
        # A partition by hash is filled through its parent.
        by_itself = [name for name, table in shapes.items() if not table.partition_of or name.endswith("_default")]
        fill(conn, by_itself, count=1000)
        before = {name: rows_of(conn, name, columns) for name, columns in older.items()}
        schema.upgrade(conn, revision)
        after = {name: rows_of(conn, name, columns) for name, columns in older.items()}
        # The one table that migrations themselves write to.
        after["state_moves"] = [row for row in after.get("state_moves", []) if row in before["state_moves"]]
        assert {name: after[name] for name in older} == before
        schema.downgrade(conn, revision - 1)
        assert {name: rows_of(conn, name, columns) for name, columns in older.items()} == before
        schema.upgrade(conn)
    with database.begin() as conn:
        assert schema.current_revision(conn) == HEAD


def test_long_names_fit_into_the_indexes_of_search(database: Database) -> None:
    """Revision 17 has them in indexes, where a row has 2.7 KB."""
    with database.bare() as conn:
        schema.downgrade(conn, 16)
        conn.execute(
            text("""
                insert into search_documents
                    (domain_id, path_hash, kind, position, snapshot_id, title, is_relevant, at, terms, brand, category)
                select 1, n, 'product', 0, 1, '', true, bailiwick_now(), 'a:1 b:2',
                       left(x.long, 600), left(x.long, 2000)
                from generate_series(1, 3) as n,
                     lateral (select string_agg(md5((n * m)::text), '') as long from generate_series(1, 100) as m) as x
            """)
        )
        schema.upgrade(conn)
        rows = conn.execute(text("select length(brand), length(category) from search_documents")).all()
        assert [tuple(row) for row in rows] == [(100, 100)] * 3


def test_down_to_nothing_leaves_nothing(database: Database) -> None:
    with database.bare() as conn:
        schema.downgrade(conn, 0)
        assert catalogue(conn).everything() == {"alembic_version"}


def test_migrated_schema_is_what_the_tables_module_says(
    database: Database, servers: TestServers, server_kind: str
) -> None:
    """Columns, types, defaults, constraints and indexes, as PostgreSQL itself prints them."""
    with database.bare() as conn:
        migrated = catalogue(conn)
    with servers.cloned(server_kind) as url:
        other = create_engine(servers.direct_url(url).replace("postgresql://", "postgresql+psycopg://"))
        with other.begin() as conn:
            schema.downgrade(conn, 0)
            # The functions that column defaults and indexes name.
            conn.execute(text("create function bailiwick_now() returns timestamptz language sql stable return now()"))
            conn.execute(
                text(
                    "create function bailiwick_word_pairs(tsvector) returns int[] language sql immutable "
                    "return array[]::int[]"
                )
            )
            metadata.create_all(conn)
            declared = catalogue(conn)
        other.dispose()
    assert declared.tables.keys() <= migrated.tables.keys()
    for name, table in declared.tables.items():
        assert migrated.tables[name] == table, name
    not_declared = migrated.tables.keys() - declared.tables.keys() - {"alembic_version"}
    assert all(migrated.tables[name].partition_of for name in not_declared)


def test_two_migrate_at_once(database: Database) -> None:
    """Both end well, and the schema is there once."""
    with database.bare() as conn:
        schema.downgrade(conn, 0)
    outcomes: list[tuple[int, int]] = []

    def migrate() -> None:
        with database.bare() as conn:
            outcomes.append(schema.upgrade(conn))

    threads = [threading.Thread(target=migrate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(outcomes) == [(0, HEAD), (HEAD, HEAD), (HEAD, HEAD), (HEAD, HEAD)]


def test_a_lock_that_is_not_given_up_ends_the_migration(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "_LOCK_TIMEOUT_SECONDS", 1)
    with database.begin() as writer:
        writer.execute(text("select 1"))
        with pytest.raises(SchemaError, match="nothing was changed"), database.bare() as conn:
            schema.downgrade(conn, 0)
    with database.read() as conn:
        assert schema.current_revision(conn) == HEAD


def test_an_older_program_may_read_but_not_write(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with database.bare() as conn:
        conn.execute(text("update alembic_version set version_num = '9999'"))
    with pytest.raises(SchemaError, match="older than the database"), database.begin():
        pass
    with database.read() as conn:
        assert conn.execute(text("select count(*) from members")).scalar_one() == 1
    with pytest.raises(SchemaError, match="knows only"), database.bare() as conn:
        schema.upgrade(conn)
    # The refusal is the database's own: a program that claims to be newer gets in.
    monkeypatch.setattr(engine_module, "HEAD", 9999)
    with database.begin() as conn:
        conn.execute(text("select 1"))


def test_a_database_without_schema_says_what_to_do(database: Database) -> None:
    with database.bare() as conn:
        schema.downgrade(conn, 0)
    with pytest.raises(SchemaError) as raised, database.begin():
        pass
    assert raised.value.hint == "bailiwick db upgrade"
    with pytest.raises(SchemaError, match="no schema yet"):
        database.ensure_schema()


def test_reading_cannot_write(database: Database) -> None:
    from bailiwick.base.errors import DatabaseError

    with pytest.raises(DatabaseError, match="read-only"), database.read() as conn:
        conn.execute(text("delete from settings"))


def test_limits_hold_for_one_transaction_only(database: Database) -> None:
    """Behind a pooler in transaction mode, a session's setting would leak to the next client."""
    with database.begin() as conn:
        assert conn.execute(text("show statement_timeout")).scalar_one() == "2min"
    with database.bare() as conn:
        assert conn.execute(text("show statement_timeout")).scalar_one() == "0"
