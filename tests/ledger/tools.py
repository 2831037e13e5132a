"""Members to act on and to act as."""

from sqlalchemy import Connection, insert

from bailiwick.accounts.members import find
from bailiwick.db.tables import members
from bailiwick.ledger.events import Actor
from bailiwick.model.states import Role


def make_member(conn: Connection, name: str, role: Role = Role.ADMIN) -> Actor:
    conn.execute(insert(members).values(name=name, role=role, state="active"))
    return find(conn, name)
