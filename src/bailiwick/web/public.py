"""The public page: anybody may suggest a domain, if the operator wants it. The answer tells nothing of what we have."""

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from bailiwick.accounts.members import system_actor
from bailiwick.accounts.secrets import new_secret
from bailiwick.base.errors import NameRefusedError
from bailiwick.base.settings import load
from bailiwick.ledger import settings as kept_settings
from bailiwick.registry.submit import suggest
from bailiwick.web.limits import network_of
from bailiwick.web.login import later
from bailiwick.web.shown import sentence
from bailiwick.web.visits import Anybody, Sent, Visit

router = APIRouter(prefix="/suggest")
_EMPTY = {"url": "", "context": ""}


@router.get("")
def suggest_page(here: Anybody) -> Response:
    _refuse_unless_wanted(here)
    return here.page("suggest.html", given=_EMPTY, error=None, receipt=None)


@router.post("")
def take(here: Anybody, form: Sent) -> Response:
    """Always the same answer, whether the domain is new, known, rejected or trusted."""
    _refuse_unless_wanted(here)
    given = {"url": form.text("url", limit=2500), "context": form.text("context", limit=1000)}
    try:
        name = here.site.app.domain_name(given["url"])
    except NameRefusedError as error:
        says = sentence(error.message)
        return here.page("suggest.html", status=400, given=given, error=says, receipt=None)
    site, whom = here.site, network_of(here.address)
    wait = max(site.suggestions.wait_seconds(whom), site.all_suggestions.wait_seconds("all"))
    if wait > 0:
        says = "That is a lot of suggestions. Please come back later."
        return later(here.page("suggest.html", status=429, given=given, error=says, receipt=None), wait)
    site.suggestions.add(whom)
    site.all_suggestions.add("all")
    receipt = new_secret()[:16]
    with site.app.database.begin() as conn:
        suggest(conn, name, system_actor(conn), context=given["context"] or None, receipt=receipt)
    return here.page("suggest.html", given=_EMPTY, error=None, receipt=receipt)


def _refuse_unless_wanted(here: Visit) -> None:
    """The switch holds from the moment it is turned: no restart."""
    app = here.site.app
    with app.database.read() as conn:
        current = load(app.place.settings_file, kept_settings.stored(conn)).tree
    if not current.web.public_submission:
        raise HTTPException(404)
