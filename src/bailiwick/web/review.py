"""The review queue: what waits for a decision, the longest waiting first, decided in place."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from bailiwick.approve import queue
from bailiwick.registry.permission import DECIDERS, others_can_decide
from bailiwick.web.domains import address, place
from bailiwick.web.visits import Staff

router = APIRouter()
_ROWS = 25


@router.get("/review")
def review(here: Staff, after: Annotated[str, Query(max_length=300)] = "") -> Response:
    with here.site.app.database.read() as conn:
        rows = queue.waiting(conn, limit=_ROWS + 1, after=place(after))
        count = queue.count(conn)
        not_own = others_can_decide(conn, here.actor)
    last = rows[_ROWS - 1] if len(rows) > _ROWS else None
    more = address("/review", {"after": f"{last.submitted_at.isoformat()},{last.id}"}) if last else None
    values = {"rows": rows[:_ROWS], "more": more, "count": count, "not_own": not_own}
    return here.page("review.html", values, may_decide=here.role in DECIDERS)
