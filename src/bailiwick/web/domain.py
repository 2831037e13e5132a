"""One domain: where it stands and why, what can be done, what was done, how its crawl goes, its pages."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from sqlalchemy import Connection
from starlette.responses import Response

from bailiwick.approve import service, verbs
from bailiwick.approve.service import Configuration
from bailiwick.approve.verbs import Verb
from bailiwick.base.errors import ConflictError, NotAllowedError, NotFoundError, UsageError
from bailiwick.crawl import listing, runs
from bailiwick.crawl.explain import explain_page, refusals
from bailiwick.extract import item_listing
from bailiwick.ledger.events import Subject, latest
from bailiwick.model.names import DomainName
from bailiwick.net.agent import product, user_agent
from bailiwick.query.images import listing as images
from bailiwick.registry import watching
from bailiwick.registry.explain import explain
from bailiwick.registry.permission import DECIDERS, others_can_decide
from bailiwick.registry.records import Domain, find
from bailiwick.web.domains import address, place, whole
from bailiwick.web.visits import Form, Member, Sent, Visit, inside

router = APIRouter()
_EVENTS, _RUNS, _ROWS, _IMAGES = 20, 5, 50, 8
_VIEWS = ("fetched", "errors", "waiting", "refused")
_SAID = {
    "approve": "{name} is approved.",
    "reject": "{name} is rejected.",
    "suspend": "{name} is suspended: a worker that is at it stops within seconds.",
    "resume": "{name} is approved again.",
    "resubmit": "{name} waits for review again.",
    "trust": "{name} is trusted.",
    "distrust": "{name} is no longer trusted.",
    "note": "The note is added.",
    "blacklist": "{name} is blacklisted.",
    "lift": "{name} is no longer blacklisted.",
    "mark_no_funds": "{name} rests until the new year.",
    "refresh": "Every page of {name} is due now.",
    "recrawl": "Every page of {name} is due now.",
    "reset": "{name} starts anew: every page of it is due now.",
}
STARTED = "Crawling started. Check back in a few minutes."

Text = Annotated[str, Query(max_length=2500)]
Before = Annotated[int | None, Query(ge=1, le=2**62)]


@dataclass(frozen=True, slots=True)
class Axis:
    """One of the three, as the page shows it."""

    name: str
    question: str
    state: str
    moves: list[Verb]


@router.get("/domains/{name}")
def domain_page(here: Member, name: str, before: Before = None) -> Response:
    with here.site.app.database.read() as conn:
        domain = seen(conn, here, name)
        role = here.actor.role
        axes = [
            Axis(machine.name, machine.question, state, verbs.moves(domain, machine, state, role))
            for machine, state in verbs.axes(domain)
        ]
        is_own = domain.row["submitted_by"] == here.actor.id and others_can_decide(conn, here.actor)
        [row] = watching.progress_of(conn, [domain.name.name])
        events = latest(conn, subject=Subject("domain", domain.name.name), limit=_EVENTS + 1, before_id=before)
        values = {
            "domain": domain,
            "somebody_else": is_own and domain.approval == "pending_review",
            "why": explain(conn, domain.name),
            "axes": axes,
            "deeds": verbs.deeds(domain, role),
            "picture": here.site.publisher.domain(row),
            "events": events[:_EVENTS],
            "older": events[_EVENTS - 1].id if len(events) > _EVENTS else None,
            "refusals": refusals(conn, domain.id),
            "items": item_listing.counts(conn, domain.id),
            "most_items": item_listing.MOST_COUNTED,
            "runs": runs.of_domain(conn, domain.id, limit=_RUNS),
            "may_configure": role in DECIDERS,
            "images": images.of_domain(conn, domain.id, limit=_IMAGES),
            "copies": here.site.copies,
        }
    return here.page("domain.html", values)


@router.post("/domains/{name}/do/{verb}")
def act(here: Member, name: str, verb: str, form: Sent) -> Response:
    """Do one thing to a domain, if it is as the member saw it and the role allows it."""
    with here.site.app.database.begin() as conn:
        domain = unchanged(conn, here, name, form)
        wanted = verbs.possible(domain, here.actor.role).get(verb)
        if wanted is None:
            raise _impossible(here, domain, verb)
        reason = form.text("reason") or None
        if wanted.needs_reason and reason is None:
            raise UsageError(f"{wanted.label.lower()} needs a reason", hint="say why, in a few words")
        now = wanted.do(conn, domain, here.actor, reason=reason)
    said = _SAID[verb].format(name=now.name)
    if verb in ("approve", "trust") and domain.approval != "approved" and now.refusal is None:
        said = f"{said} {_started(here)}"
    back = inside(form.text("next"), f"/domains/{now.name}")
    return here.go(back, said=said, domain=now.name.name)


@router.post("/domains/{name}/configuration")
def configure(here: Member, name: str, form: Sent) -> Response:
    with here.site.app.database.begin() as conn:
        domain, often = unchanged(conn, here, name, form), "scrape_frequency_hours"
        wanted = Configuration(
            max_crawl_depth=_whole(form, "max_crawl_depth"),
            crawl_delay_seconds=_seconds(form, "crawl_delay_seconds"),
            max_concurrent_requests=_whole(form, "max_concurrent_requests"),
            max_pages_per_run=_whole(form, "max_pages_per_run"),
            scrape_frequency_hours=_whole(form, often) if form.text(often) else None,
        )
        service.configure(conn, domain, here.actor, wanted=wanted, reason=form.text("reason") or None)
    return here.go(f"/domains/{domain.name}", said="The configuration is kept; the next slice of the crawl uses it.")


@router.get("/domains/{name}/pages")
def pages(here: Member, name: str, view: Text = "fetched", after: Text = "", path: Text = "") -> Response:
    """Its pages, by what one wants to know; and of one page, the rule that decides about it."""
    if view not in _VIEWS:
        raise UsageError(f"there is no view {view!r}", hint=", ".join(_VIEWS))
    with here.site.app.database.read() as conn:
        domain = seen(conn, here, name)
        rows, last = _rows(conn, domain, view, after)
        told = None
        if path:
            agent = product(user_agent(here.site.app.settings.crawl))
            told = explain_page(conn, domain, path if path.startswith("/") else f"/{path}", agent=agent)
    more = address(f"/domains/{domain.name}/pages", {"view": view, "after": last}) if last else None
    values = {"domain": domain, "view": view, "rows": rows, "more": more}
    if here.is_fragment and after:
        return here.page("_page_rows.html", values)
    return here.page("pages.html", values, views=_VIEWS, told=told, path=path, most=listing.LOOKED_THROUGH)


def seen(conn: Connection, here: Visit, name: str) -> Domain:
    """The domain, if there is one that this member may see: NotFoundError otherwise, whatever the reason."""
    domain = find(conn, DomainName(name.lower()[:300]))
    if domain is None or not (here.is_staff or domain.row["submitted_by"] == here.actor.id):
        raise NotFoundError(f"there is no domain {name[:300]}")
    return domain


def unchanged(conn: Connection, here: Visit, name: str, form: Form) -> Domain:
    """The domain as the member saw it on the page with the form. ConflictError if somebody was first."""
    domain = seen(conn, here, name)
    if form.text("version") != str(domain.version):
        raise ConflictError(
            f"{domain.name} has changed since you looked: it is {domain.approval.replace('_', ' ')} now",
            hint="look at it again, then decide",
        )
    return domain


def _impossible(here: Visit, domain: Domain, verb: str) -> Exception:
    if verb not in verbs.VERBS:
        return NotFoundError("there is nothing of that name to do")
    for role in ("admin", "reviewer"):
        if verb in verbs.possible(domain, type(here.actor.role)(role)):
            return NotAllowedError(f"{here.actor.name} ({here.actor.role}) may not {verb.replace('_', ' ')} this")
    return ConflictError(f"{domain.name} is {domain.approval}, {domain.standing}, {domain.crawl}: it cannot {verb}")


def _started(here: Visit) -> str:
    return STARTED if here.site.serving.has_worker else "It is crawled as soon as a worker runs: bailiwick crawl"


def _rows(conn: Connection, domain: Domain, view: str, after: str) -> tuple[list[object], str | None]:
    """One page of a view, and where the next one goes on; None at the end."""
    limit = _ROWS + 1
    found: list[object]
    if view in ("fetched", "errors"):
        fetched = listing.fetches(conn, domain.id, limit=limit, before=place(after), only_errors=view == "errors")
        found = [*fetched]
        last = f"{fetched[_ROWS - 1].at.isoformat()},{fetched[_ROWS - 1].path_hash}" if len(fetched) > _ROWS else None
    elif view == "waiting":
        waiting = listing.waiting(conn, domain.id, limit=limit, after=_triple(after))
        found = [*waiting]
        end = waiting[_ROWS - 1] if len(waiting) > _ROWS else None
        last = f"{end.priority},{end.depth},{end.path_hash}" if end else None
    else:
        refused = listing.refused(conn, domain.id, limit=limit, after=whole(after) if after else None)
        found = [*refused]
        last = str(refused[_ROWS - 1].path_hash) if len(refused) > _ROWS else None
    return found[:_ROWS], last


def _triple(after: str) -> tuple[int, int, int] | None:
    if not after:
        return None
    parts = after.split(",")
    if len(parts) != 3:
        raise UsageError("this page of the list is put wrongly")
    priority, depth, path_hash = map(whole, parts)
    return priority, depth, path_hash


def _whole(form: Form, name: str) -> int:
    given = form.text(name, limit=20).replace(",", "")
    if not (given.isascii() and given.isdigit()) or len(given) > 9:
        raise UsageError(f"{name.replace('_', ' ')}: {given!r} is no whole number")
    return int(given)


def _seconds(form: Form, name: str) -> float:
    given = form.text(name, limit=20)
    try:
        seconds = float(given)
    except ValueError:
        raise UsageError(f"{name.replace('_', ' ')}: {given!r} is no number") from None
    if not 0 <= seconds <= 86400:
        raise UsageError("the delay goes from 0 to 86,400 seconds")
    return seconds
