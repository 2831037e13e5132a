"""The schema revision that this program knows, apart from Alembic: importing that takes half a second."""

HEAD = 17
