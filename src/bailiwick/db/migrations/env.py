"""Alembic's entry point. `bailiwick.db.schema` passes the connection in and owns the transaction."""

from alembic import context
from sqlalchemy import Connection

from bailiwick.db.tables import metadata

connection: Connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, transactional_ddl=True)
context.run_migrations()
