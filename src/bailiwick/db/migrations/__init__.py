"""Alembic's scripts, inside the package: an installed wheel migrates its own database."""
