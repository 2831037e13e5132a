"""The web interface put together: templates, routes, what protects them, how errors look."""

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bailiwick import __version__
from bailiwick.app import App
from bailiwick.base.amounts import size
from bailiwick.base.errors import BailiwickError, NotFoundError
from bailiwick.base.telemetry import LogEvent, logger
from bailiwick.registry import overview
from bailiwick.web import shown
from bailiwick.web.assets import Assets
from bailiwick.web.copies import Copies
from bailiwick.web.limits import Bucket, LoginLimits
from bailiwick.web.live import Publisher
from bailiwick.web.metrics import Metrics
from bailiwick.web.protection import Protection, own_hosts
from bailiwick.web.visits import ForgedError, LoginNeededError, Visit, visit

_SMALLEST_ZIPPED = 700


@dataclass(frozen=True, slots=True)
class Serving:
    """How this server is reached, and what runs beside it."""

    host: str = "127.0.0.1"
    has_worker: bool = True


class Site:
    """Everything that the routes share."""

    def __init__(self, app: App, serving: Serving) -> None:
        self.app, self.serving = app, serving
        self.assets = Assets()
        self.logins = LoginLimits()
        self.old_passwords = Bucket(10, 30)
        per_hour = app.settings.web.public_per_hour
        self.suggestions = Bucket(per_hour, 3600 / per_hour)
        self.all_suggestions = Bucket(30 * per_hour, 120 / per_hour)
        self._templates = _environment(self.assets)
        self.publisher = Publisher(app.database, self.render)
        self.metrics = Metrics(app.database)
        self.copies = Copies(app)

    def render(self, template: str, values: Mapping[str, object]) -> str:
        return self._templates.get_template(template).render(values)


def make_site(site: Site) -> ASGIApp:
    """The ASGI application. The database is open and of this program's schema."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        site.publisher.start()
        yield
        await site.publisher.stop()
        await site.copies.close()

    web = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    web.state.site = site
    _add_routes(web)
    _add_errors(web)
    web.add_middleware(GZipMiddleware, minimum_size=_SMALLEST_ZIPPED, compresslevel=5)
    # Around all of it, so that the page about a fault has its headers too.
    hosts = own_hosts(site.serving.host, site.app.settings.web.hosts)
    return Protection(_Counted(web, site.metrics), hosts=hosts)


class _Counted:
    """Every request's route, status and time, for /metrics and the debug log. Never its path: links hold secrets."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            if route != "/live":
                seconds = time.perf_counter() - begun
                self._metrics.requests.labels(route, str(status)).inc()
                self._metrics.seconds.labels(route).observe(seconds)
                logger().debug(LogEvent.REQUEST_ANSWERED, route=route, status=status, seconds=round(seconds, 4))


def _environment(assets: Assets) -> Environment:
    made = Environment(
        loader=PackageLoader("bailiwick.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    made.globals |= {"asset": assets.url, "version": __version__}
    for filter_ in (shown.when, shown.exactly, shown.number, shown.words, shown.did,
                    shown.worker, shown.value, shown.sparkline):  # fmt: skip
        made.filters[filter_.__name__] = filter_
    made.filters |= {"capped": overview.shown, "size": lambda count: size(count or 0)}
    return made


def _add_routes(web: FastAPI) -> None:
    from bailiwick.web import (
        account,
        dashboard,
        domain,
        domains,
        health,
        images,
        items,
        login,
        members,
        public,
        review,
        submit,
    )

    for part in (health, login, dashboard, domains, domain, items, images, review, submit, members, account, public):
        web.include_router(part.router)

    @web.get("/static/{digest}/{name}", include_in_schema=False)
    def static(request: Request, digest: str, name: str) -> Response:
        site: Site = request.app.state.site
        return site.assets.serve(request, digest, name)


def _add_errors(web: FastAPI) -> None:
    kinds: tuple[type[Exception], ...] = (
        LoginNeededError, ForgedError, BailiwickError, RequestValidationError, HTTPException, Exception
    )  # fmt: skip
    for kind in kinds:
        web.add_exception_handler(kind, _answer_to)


async def _answer_to(request: Request, error: Exception) -> Response:
    return await run_in_threadpool(lambda: _told(_visit_of(request), error))


def _told(here: Visit, error: Exception) -> Response:
    """What the visitor sees of an error: what is wrong and what to do, never a trace."""
    match error:
        case LoginNeededError():
            return _to_login(here)
        case ForgedError():
            forged = "This form did not come from a page of this session."
            return _problem(here, 403, forged, "Go back, load the page again, and send it once more.")
        case BailiwickError():
            return _explained(here, error)
        case RequestValidationError():
            return _problem(here, 400, "This address is put wrongly.", None)
        case HTTPException():
            says = {404: "There is no such page.", 405: "This page takes nothing in."}
            answer = _problem(here, error.status_code, says.get(error.status_code, str(error.detail)), None)
            answer.headers.update(error.headers or {})
            return answer
    logger().error(LogEvent.REQUEST_FAILED, exc_info=error)
    return _problem(here, 500, "Something went wrong in Bailiwick itself.", "The log of the server says what.")


def _visit_of(request: Request) -> Visit:
    """Whose request it was, as far as it can be told: the database may be the very thing that failed."""
    try:
        return visit(request)
    except BailiwickError:
        return Visit(request, request.app.state.site, None, None)


def _to_login(here: Visit) -> Response:
    from urllib.parse import quote

    request = here.request
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    back = f"?next={quote(wanted, safe='')}" if request.method == "GET" and wanted != "/" else ""
    return here.go(f"/login{back}")


def _problem(here: Visit, status: int, says: str, hint: str | None) -> Response:
    return here.page("error.html", status=status, says=says, hint=hint, code=status)


def _explained(here: Visit, error: BailiwickError) -> Response:
    if error.http_status >= 500:
        logger().error(LogEvent.REQUEST_FAILED, error=error.message)
        if not here.is_staff:  # what the database says is not for strangers
            return _problem(here, error.http_status, "This cannot be done at this moment.", "Try again in a while.")
    hint = None if isinstance(error, NotFoundError) else error.hint
    return _problem(here, error.http_status, error.message, hint)
