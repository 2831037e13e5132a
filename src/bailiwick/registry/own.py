"""What a submitter sees: the domains that they handed in themselves, the newest first."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, RowMapping, select, tuple_

from bailiwick.db.tables import domains


def submitted_by(
    conn: Connection, member_id: int, *, limit: int, after: tuple[datetime, int] | None = None
) -> Sequence[RowMapping]:
    """One page. `after` is (first_seen_at, id) of the last one of the page before."""
    query = (
        select(domains)
        .where(domains.c.submitted_by == member_id, domains.c.submitter_type == "public_user")
        .order_by(domains.c.first_seen_at.desc(), domains.c.id.desc())
        .limit(limit)
    )
    if after is not None:
        query = query.where(tuple_(domains.c.first_seen_at, domains.c.id) < after)
    return conn.execute(query).mappings().all()
