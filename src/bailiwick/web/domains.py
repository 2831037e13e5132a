"""Lists of domains: all of them with filters, the approved ones with what can be done, one's own."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.responses import Response

from bailiwick.base.errors import UsageError
from bailiwick.model.transitions import APPROVAL, CRAWL, STANDING
from bailiwick.registry.listing import Filter, Sort, count_domains, list_domains
from bailiwick.registry.own import submitted_by
from bailiwick.registry.permission import DECIDERS
from bailiwick.web.visits import Member, Staff

router = APIRouter()
_ROWS = 50

Text = Annotated[str, Query(max_length=300)]


@router.get("/domains")
def domains(
    here: Staff, q: Text = "", approval: Text = "", standing: Text = "", crawl: Text = "", sort: Text = "name",
    after: Text = "",
) -> Response:  # fmt: skip
    """All domains. The whole state of the list is in its address."""
    asked = {"q": q.strip().lower(), "approval": approval, "standing": standing, "crawl": crawl, "sort": sort}
    which, order = _filter(asked), _sort(sort)
    with here.site.app.database.read() as conn:
        rows = list_domains(conn, which, sort=order, limit=_ROWS + 1, after=after or None)
        count = None if after else count_domains(conn, which)
    more = address("/domains", asked | {"after": rows[_ROWS - 1]["name"]}) if len(rows) > _ROWS else None
    values = {"rows": rows[:_ROWS], "more": more, "count": count}
    if here.is_fragment:
        return here.page("_domain_rows.html" if after else "_domain_list.html", values)
    axes = {"approval": APPROVAL.states, "standing": STANDING.states, "crawl": CRAWL.states}
    return here.page("domains.html", values, asked=asked, axes=axes, sorts=list(Sort))


@router.get("/approved")
def approved(here: Staff, after: Text = "", sort: Text = "name") -> Response:
    """The approved domains, with what specification 000 wants done to them."""
    order = _sort(sort)
    with here.site.app.database.read() as conn:
        rows = list_domains(conn, Filter(approval="approved"), sort=order, limit=_ROWS + 1, after=after or None)
        count = None if after else count_domains(conn, Filter(approval="approved"))
    asked = {"sort": order.value}
    more = address("/approved", asked | {"after": rows[_ROWS - 1]["name"]}) if len(rows) > _ROWS else None
    values = {"rows": rows[:_ROWS], "more": more, "count": count, "may_decide": here.role in DECIDERS}
    if here.is_fragment:
        return here.page("_approved_rows.html", values)
    sorts = [Sort.NAME, Sort.LAST_CRAWLED, Sort.PRIORITY, Sort.FIRST_SEEN]
    return here.page("approved.html", values, asked=asked, sorts=sorts)


@router.get("/mine")
def mine(here: Member, after: Text = "") -> Response:
    """What the member handed in, and what came of it."""
    with here.site.app.database.read() as conn:
        rows = submitted_by(conn, here.actor.id, limit=_ROWS + 1, after=place(after))
    last = rows[_ROWS - 1] if len(rows) > _ROWS else None
    more = address("/mine", {"after": f"{last['first_seen_at'].isoformat()},{last['id']}"}) if last else None
    return here.page("mine.html", rows=rows[:_ROWS], more=more)


def _filter(asked: Mapping[str, str]) -> Filter:
    for axis, machine in (("approval", APPROVAL), ("standing", STANDING), ("crawl", CRAWL)):
        if asked[axis] and asked[axis] not in machine.states:
            raise UsageError(f"there is no {axis} {asked[axis]!r}")
    return Filter(
        approval=asked["approval"] or None,
        standing=asked["standing"] or None,
        crawl=asked["crawl"] or None,
        prefix=asked["q"] or None,
    )


def _sort(given: str) -> Sort:
    try:
        return Sort(given)
    except ValueError:
        raise UsageError(f"there is no order {given!r}", hint=", ".join(Sort)) from None


def address(path: str, asked: Mapping[str, str]) -> str:
    given = {name: value for name, value in asked.items() if value and (name, value) != ("sort", "name")}
    return f"{path}?{urlencode(given)}" if given else path


def place(after: str) -> tuple[datetime, int] | None:
    """A place in a list by time: `2026-01-01T00:00:00+00:00,17`."""
    if not after:
        return None
    moment, _, number = after.rpartition(",")
    try:
        return datetime.fromisoformat(moment).astimezone(UTC), whole(number)
    except (ValueError, OverflowError):
        raise _wrong_place() from None


def whole(text: str) -> int:
    """A number that fits the tables; UsageError if it is none."""
    try:
        number = int(text)
    except ValueError:
        raise _wrong_place() from None
    if not -(2**63) <= number < 2**63:
        raise _wrong_place()
    return number


def _wrong_place() -> UsageError:
    return UsageError("this page of the list is put wrongly")
