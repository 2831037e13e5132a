"""Members and their roles, for admins: invite, change, disable, help with a lost password."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from bailiwick.accounts import links, service
from bailiwick.base.errors import BailiwickError, UsageError
from bailiwick.model.states import Role
from bailiwick.web.domains import address
from bailiwick.web.visits import Admin, Sent, Visit

router = APIRouter(prefix="/members")
_ROWS = 50


@router.get("")
def members(here: Admin, after: Annotated[str, Query(max_length=300)] = "") -> Response:
    return _page(here, after=after)


@router.post("")
def invite(here: Admin, form: Sent) -> Response:
    """A new member, and the link that it needs: shown once, to be passed on."""
    name = form.text("name", limit=200)
    try:
        with here.site.app.database.begin() as conn:
            word = service.add(conn, name, _role(form.text("role")), here.actor)
    except BailiwickError as error:
        if error.http_status >= 500:
            raise
        return _page(here, status=error.http_status, error=f"{error.message}.")
    return _page(here, link=_link(here, word), whom=name, hours=links.HOURS[links.Kind.INVITATION])


@router.post("/{name}/reset")
def reset(here: Admin, name: str, _: Sent) -> Response:
    with here.site.app.database.begin() as conn:
        word = service.reset_password(conn, name, here.actor)
    return _page(here, link=_link(here, word), whom=name, hours=links.HOURS[links.Kind.RESET])


@router.post("/{name}/role")
def change_role(here: Admin, name: str, form: Sent) -> Response:
    with here.site.app.database.begin() as conn:
        now = service.set_role(conn, name, _role(form.text("role")), here.actor)
    return here.go("/members", said=f"{now.name} is {now.role} now.")


@router.post("/{name}/disable")
def disable(here: Admin, name: str, form: Sent) -> Response:
    with here.site.app.database.begin() as conn:
        now = service.disable(conn, name, here.actor, reason=form.text("reason"))
    return here.go("/members", said=f"{now.name} is disabled, and logged out everywhere.")


@router.post("/{name}/enable")
def enable(here: Admin, name: str, _: Sent) -> Response:
    with here.site.app.database.begin() as conn:
        now = service.enable(conn, name, here.actor)
    return here.go("/members", said=f"{now.name} may act again.")


def _page(here: Visit, *, status: int = 200, after: str = "", **values: object) -> Response:
    with here.site.app.database.read() as conn:
        rows = service.listing(conn, limit=_ROWS + 1, after=after or None)
    more = address("/members", {"after": rows[_ROWS - 1].name}) if len(rows) > _ROWS else None
    shown = {"link": None, "whom": None, "hours": None, "error": None} | values
    return here.page("members.html", shown, status=status, rows=rows[:_ROWS], more=more, roles=service.ROLES)


def _link(here: Visit, word: str) -> str:
    return str(here.request.base_url).rstrip("/") + f"/welcome/{word}"


def _role(given: str) -> Role:
    if given not in service.ROLES:
        raise UsageError(f"there is no role {given!r}", hint=", ".join(service.ROLES))
    return Role(given)
