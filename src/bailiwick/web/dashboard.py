"""The first page: what is going on now, live."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, Response, StreamingResponse

from bailiwick.base.errors import BusyError, NotAllowedError, NotFoundError, UsageError
from bailiwick.ledger.events import latest
from bailiwick.model.names import DomainName
from bailiwick.registry import watching
from bailiwick.registry.records import find
from bailiwick.web.live import DOMAIN, MOST_TOPICS, TILES
from bailiwick.web.visits import Member, Visit

router = APIRouter()
_EVENTS = 10

Topics = Annotated[list[str], Query(min_length=1, max_length=MOST_TOPICS)]


@router.get("/")
def dashboard(here: Member) -> Response:
    if not here.is_staff:
        return here.go("/mine")
    site = here.site
    with site.app.database.read() as conn:
        picture = site.publisher.picture(conn)
        events = latest(conn, limit=_EVENTS)
    has_contact = bool(site.app.settings.crawl.contact or site.app.settings.crawl.user_agent)
    return here.page("dashboard.html", picture=picture, events=events, has_contact=has_contact)


@router.get("/live")
async def live(here: Member, topic: Topics) -> Response:
    """Server-sent events: the fragments of these topics, whenever they change."""
    await run_in_threadpool(_permit, here, topic)
    publisher = here.site.publisher
    if not publisher.admits(here.own_session.token_hash):
        raise BusyError("too many pages are watching", hint="close some")
    stream: AsyncIterator[bytes] = publisher.follow(tuple(topic), here.own_session)
    return StreamingResponse(stream, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


@router.get("/live/now")
def live_now(here: Member, topic: Annotated[str, Query(max_length=300)]) -> Response:
    """One fragment, for browsers to which nothing can be pushed."""
    _permit(here, [topic])
    site = here.site
    with site.app.database.read() as conn:
        if topic == TILES:
            return HTMLResponse(site.render("_tiles.html", {"picture": site.publisher.picture(conn)}))
        rows = watching.progress_of(conn, [topic.removeprefix(DOMAIN)])
    if not rows:
        raise NotFoundError("there is no such domain any more")
    [row] = rows
    return HTMLResponse(site.render("_progress.html", {"picture": site.publisher.domain(row)}))


def _permit(here: Visit, topics: list[str]) -> None:
    for topic in topics:
        if topic == TILES:
            if not here.is_staff:
                raise NotAllowedError("these figures are for those who look after all domains")
        elif topic.startswith(DOMAIN):
            _permit_domain(here, topic.removeprefix(DOMAIN))
        else:
            raise UsageError("there is no such topic")


def _permit_domain(here: Visit, name: str) -> None:
    with here.site.app.database.read() as conn:
        domain = find(conn, DomainName(name))
    if domain is None or not (here.is_staff or domain.row["submitted_by"] == here.actor.id):
        raise NotFoundError("there is no such domain")
