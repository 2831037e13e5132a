"""A visit: one request, whose it is, and how it is answered."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote, unquote

from fastapi import Depends, Request
from pydantic import JsonValue
from starlette.datastructures import FormData
from starlette.responses import HTMLResponse, RedirectResponse, Response

from bailiwick.accounts import sessions
from bailiwick.accounts.secrets import new_secret
from bailiwick.accounts.sessions import Session
from bailiwick.base.errors import DiskLowError, NotAllowedError
from bailiwick.ledger.events import Actor
from bailiwick.model.states import Role
from bailiwick.web import forgery

if TYPE_CHECKING:
    from bailiwick.web.site import Site

_SESSION, _DEVICE, _FORM, _NOTE = "bailiwick", "bailiwick-device", "bailiwick-form", "bailiwick-note"
_DEVICE_SECONDS = 365 * 86400
STAFF = frozenset({Role.VIEWER, Role.REVIEWER, Role.ADMIN})
_MOST_FIELDS = 50
_IN_URLS = ":/%#?=@[]!$&'()*+,;"


class LoginNeededError(Exception):
    """Nobody is logged in here, and the page is not for everybody."""


class ForgedError(Exception):
    """A form came without our word in it."""


@dataclass
class Visit:
    """One request: who asks, and what is sent back with whatever is answered."""

    request: Request
    site: "Site"
    session: Session | None
    token: str | None
    cookies: dict[str, str | None] = field(default_factory=dict)
    """To be set with the answer; None deletes."""
    _word: str | None = None

    @property
    def own_session(self) -> Session:
        if self.session is None:
            raise LoginNeededError
        return self.session

    @property
    def actor(self) -> Actor:
        return self.own_session.actor

    @property
    def role(self) -> Role | None:
        return self.session.actor.role if self.session is not None else None

    @property
    def is_staff(self) -> bool:
        return self.role in STAFF

    @property
    def is_fragment(self) -> bool:
        """Whether htmx asks for a part of the page."""
        headers = self.request.headers
        return headers.get("hx-request") == "true" and headers.get("hx-history-restore-request") != "true"

    @property
    def address(self) -> str:
        return self.request.client.host if self.request.client else ""

    @property
    def device(self) -> str | None:
        return self.request.cookies.get(self._name(_DEVICE))

    @property
    def form_word(self) -> str:
        """The word for all forms of this answer."""
        if self._word is None:
            self._word = forgery.masked(self._secret() or self._new_secret())
        return self._word

    def is_genuine(self, given: str) -> bool:
        """Whether a form has the word that we gave to this visitor."""
        secret = self._secret()
        return secret is not None and forgery.matches(secret, given)

    def page(
        self, template: str, values: Mapping[str, object] | None = None, /, *, status: int = 200, **more: object
    ) -> Response:
        """An HTML answer."""
        body = self.site.render(template, {**(values or {}), **more, "visit": self, "note": self._take_note()})
        return self._sent(HTMLResponse(body, status, headers={"Vary": "HX-Request, Cookie"}))

    def go(self, where: str, *, said: str | None = None, domain: str | None = None) -> Response:
        """On to another page of ours, with something said there."""
        if said is not None:
            note: JsonValue = {"says": said[:600], "domain": domain}
            self.cookies[_NOTE] = quote(json.dumps(note))
        if self.is_fragment:
            return self._sent(Response(status_code=204, headers={"HX-Redirect": quote(where, safe=_IN_URLS)}))
        return self._sent(RedirectResponse(where, 303))

    def opened(self, words: sessions.Opened) -> None:
        """From the answer on, this browser is logged in."""
        self.cookies |= {_SESSION: words.token, _DEVICE: words.device, _FORM: None}

    def closed(self) -> None:
        self.cookies[_SESSION] = None

    def _secret(self) -> str | None:
        return self.token if self.session is not None else self.request.cookies.get(self._name(_FORM))

    def _new_secret(self) -> str:
        made = self.cookies.get(_FORM) or new_secret()
        self.cookies[_FORM] = made
        return made

    def _take_note(self) -> Mapping[str, JsonValue] | None:
        kept = self.request.cookies.get(self._name(_NOTE))
        if kept is None:
            return None
        self.cookies[_NOTE] = None
        try:
            note = json.loads(unquote(kept))
        except (ValueError, RecursionError):
            return None
        # Any page on this host can plant cookies: nothing of it is taken for granted.
        if not isinstance(note, dict) or not isinstance(note.get("says"), str):
            return None
        domain = note.get("domain")
        return {
            "says": _printable(note["says"]),
            "domain": _printable(domain) if isinstance(domain, str) else None,
        }

    def _sent(self, answer: Response) -> Response:
        is_secure = self.request.url.scheme == "https"
        for name, value in self.cookies.items():
            lasts = _DEVICE_SECONDS if name == _DEVICE else sessions.LASTS_DAYS * 86400 if name == _SESSION else None
            answer.set_cookie(
                self._name(name), value or "", max_age=0 if value is None else lasts, path="/",
                secure=is_secure, httponly=True, samesite="lax",
            )  # fmt: skip
        return answer

    def _name(self, name: str) -> str:
        """Over TLS a name that no other host and no unencrypted page can set."""
        return f"__Host-{name}" if self.request.url.scheme == "https" else name


def visit(request: Request) -> Visit:
    """The visit that a request is. The session is looked up anew each time: it may have been ended elsewhere."""
    site: Site = request.app.state.site
    found = Visit(request, site, None, None)
    token = request.cookies.get(found._name(_SESSION))  # noqa: SLF001 - its own maker
    if token:
        database = site.app.database
        with database.read() as conn:
            found.session = sessions.find(conn, token)
        found.token = token
        if found.session is not None and found.session.is_stale:
            with suppress(DiskLowError), database.begin() as conn:  # on a full disk people can still look
                sessions.touch(conn, found.session.id)
    return found


Anybody = Annotated[Visit, Depends(visit)]


def _member(here: Anybody) -> Visit:
    if here.session is None:
        raise LoginNeededError
    return here


Member = Annotated[Visit, Depends(_member)]


def _staff(here: Member) -> Visit:
    if not here.is_staff:
        raise NotAllowedError("this page is for those who look after all domains", hint="your own are at /mine")
    return here


def _admin(here: Member) -> Visit:
    if here.role is not Role.ADMIN:
        raise NotAllowedError("this page is for admins")
    return here


Staff = Annotated[Visit, Depends(_staff)]
Admin = Annotated[Visit, Depends(_admin)]


class Form:
    """The fields of a form that really came from a page of ours."""

    def __init__(self, data: FormData) -> None:
        self._data = data

    def text(self, name: str, *, limit: int = 2000) -> str:
        """A field without surrounding space and control characters, '' if it is not there; cut at the limit."""
        given = self._data.get(name)
        if not isinstance(given, str):
            return ""
        return _printable(given).strip()[:limit]

    def secret(self, name: str) -> str:
        """A field as it was typed."""
        given = self._data.get(name)
        return given if isinstance(given, str) else ""


async def _form(request: Request, here: Anybody) -> Form:
    if not _is_from_here(request):
        raise ForgedError
    data = await request.form(max_files=0, max_fields=_MOST_FIELDS)
    word = data.get("word")
    if not isinstance(word, str) or not here.is_genuine(word):
        raise ForgedError
    return Form(data)


def _is_from_here(request: Request) -> bool:
    """What the browser says of the page with the form. An old one says nothing: then the word alone decides."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if origin == "null":  # a sandbox, or a browser that tells nobody where it comes from
        return site == "same-origin"
    is_ours = origin in (None, f"{request.url.scheme}://{request.headers.get('host', '')}")
    return is_ours and site not in ("cross-site", "same-site")


Sent = Annotated[Form, Depends(_form)]
"""Every route that changes something takes one: there is no other way to a form's fields."""


def _printable(given: str) -> str:
    """Without control characters, but for the ends of lines."""
    return "".join(c for c in given if c.isprintable() or c in "\n\t")


def inside(where: str, otherwise: str = "/") -> str:
    """A path of ours to go on to, whatever was asked for."""
    is_ours = where.startswith("/") and not where.startswith(("//", "/\\")) and where.isprintable()
    return where if is_ours and len(where) <= 2000 else otherwise
