"""In and out: log in, log out, and the one-time links by which people set their password."""

from fastapi import APIRouter
from starlette.responses import Response

from bailiwick.accounts import links, service, sessions
from bailiwick.accounts.members import find as find_member
from bailiwick.accounts.passwords import SHORTEST
from bailiwick.base.errors import BailiwickError, NotFoundError, UsageError
from bailiwick.ledger.events import Actor
from bailiwick.web.limits import network_of, turn
from bailiwick.web.shown import sentence
from bailiwick.web.visits import Anybody, Member, Sent, Visit, inside

router = APIRouter()


@router.get("/login")
def login_page(here: Anybody, next: str = "/") -> Response:  # noqa: A002 - the word that stands in the address
    if here.session is not None:
        return here.go(inside(next))
    return here.page("login.html", next=inside(next), name="", error=None)


@router.post("/login")
def log_in(here: Anybody, form: Sent) -> Response:
    """Each failure is the same to whoever asks: wrong name, wrong password, no password, disabled."""
    name, target = form.text("name", limit=200).lower(), inside(form.text("next"))
    limits, address = here.site.logins, network_of(here.address)
    device = _own_device(here, name)
    wait = limits.wait_seconds(name=name, address=address, device=device)
    if wait > 0:
        return later(here.page("login.html", status=429, next=target, name=name, error=too_many(wait)), wait)
    actor = _checked(here, name, form.secret("password"))
    if actor is None:
        limits.failed(name=name, address=address, device=device)
        says = "Name or password is wrong."
        return here.page("login.html", status=403, next=target, name=name, error=says)
    limits.succeeded(device=device)
    _open(here, actor)
    return here.go(target)


@router.post("/logout")
def log_out(here: Member, _: Sent) -> Response:
    with here.site.app.database.begin() as conn:
        sessions.end(conn, here.actor, here.own_session.id)
    here.closed()
    return here.go("/login", said="You are logged out.")


@router.get("/welcome/{word}")
def welcome(here: Anybody, word: str) -> Response:
    """What a one-time link opens."""
    with here.site.app.database.read() as conn:
        link = links.look(conn, word)
    return here.page("welcome.html", link=link, word=word, name=link.member.name, error=None, shortest=SHORTEST)


@router.post("/welcome/{word}")
def accept(here: Anybody, word: str, form: Sent) -> Response:
    database = here.site.app.database
    with database.read() as conn:
        link = links.look(conn, word)
    name, password = form.text("name", limit=200), form.secret("password")
    try:
        if password != form.secret("again"):
            raise UsageError("the two passwords differ")
        with turn(), database.begin() as conn:
            actor = links.accept(conn, word, name=name, password=password)
    except BailiwickError as error:
        if isinstance(error, NotFoundError) or error.http_status >= 500:
            raise
        says = sentence(error.message, error.hint)
        return here.page("welcome.html", status=400, link=link, word=word, name=name, error=says, shortest=SHORTEST)
    _open(here, actor)
    return here.go("/", said=f"Welcome, {actor.name}.")


def _open(here: Visit, actor: Actor) -> None:
    """A session with new words, whatever the browser had before."""
    with here.site.app.database.begin() as conn:
        if here.session is not None:
            sessions.end(conn, here.session.actor, here.session.id)
        words = sessions.open_session(
            conn, actor, device=here.device, user_agent=here.request.headers.get("user-agent"), address=here.address
        )
    here.opened(words)


def _own_device(here: Visit, name: str) -> str | None:
    """This browser's word, if this member has logged in by it before."""
    if here.device is None:
        return None
    with here.site.app.database.read() as conn:
        try:
            member = find_member(conn, name)
        except BailiwickError:
            return None
        return here.device if sessions.is_known_device(conn, member.id, here.device) else None


def _checked(here: Visit, name: str, password: str) -> Actor | None:
    with turn(), here.site.app.database.read() as conn:
        return service.authenticate(conn, name, password)


def too_many(wait: float) -> str:
    """What is said to somebody who has to wait."""
    length = f"{wait:.0f} seconds" if wait < 90 else f"{wait / 60:.0f} minutes"
    return f"Too many tries. The next one is possible in {length}."


def later(answer: Response, wait: float) -> Response:
    answer.headers["Retry-After"] = str(int(wait) + 1)
    return answer
