"""One's own account: the password, and where one is logged in."""

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from bailiwick.accounts import service, sessions
from bailiwick.accounts.passwords import SHORTEST
from bailiwick.base.errors import NotFoundError, UsageError
from bailiwick.web.limits import turn
from bailiwick.web.login import later, too_many
from bailiwick.web.shown import sentence
from bailiwick.web.visits import Member, Sent, Visit

router = APIRouter(prefix="/account")

Number = Annotated[int, Path(ge=1, le=2**62)]


@router.get("")
def account(here: Member) -> Response:
    return _page(here)


@router.post("/password")
def change_password(here: Member, form: Sent) -> Response:
    # Whoever found an open browser could guess the old password for ever.
    limits, whose = here.site.old_passwords, str(here.actor.id)
    if (wait := limits.wait_seconds(whose)) > 0:
        return later(_page(here, status=429, error=too_many(wait)), wait)
    try:
        if form.secret("password") != form.secret("again"):
            raise UsageError("the two passwords differ")
        with turn(), here.site.app.database.begin() as conn:
            service.change_password(
                conn, here.actor, old=form.secret("old"), new=form.secret("password"), session_id=here.own_session.id
            )
    except UsageError as error:
        limits.add(whose)
        says = sentence(error.message, error.hint)
        return _page(here, status=400, error=says)
    return here.go("/account", said="The password is changed; every other session of yours has ended.")


@router.post("/sessions/{number}/end")
def end_session(here: Member, number: Number, _: Sent) -> Response:
    with here.site.app.database.begin() as conn:
        if not sessions.end(conn, here.actor, number):
            raise NotFoundError("there is no such session of yours")
    return here.go("/account", said="That session has ended.")


def _page(here: Visit, *, status: int = 200, error: str | None = None) -> Response:
    with here.site.app.database.read() as conn:
        rows = sessions.of_member(conn, here.actor.id)
    return here.page("account.html", status=status, rows=rows, mine=here.own_session.id, error=error, shortest=SHORTEST)
