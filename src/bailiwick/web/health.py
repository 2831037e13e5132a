"""For machines that watch the server: is it up, can it work, what are its figures."""

import ipaddress

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from bailiwick.base.errors import BailiwickError
from bailiwick.base.telemetry import LogEvent, logger
from bailiwick.web.metrics import CONTENT_TYPE

router = APIRouter()


@router.get("/healthz")
def healthz() -> Response:
    """The process answers."""
    return PlainTextResponse("ok\n")


@router.get("/readyz")
def readyz(request: Request) -> Response:
    """It can work: the database answers, and its schema is ours."""
    site = request.app.state.site
    try:
        with site.app.database.read():
            pass
    except BailiwickError as error:
        logger().error(LogEvent.REQUEST_FAILED, error=error.message)
        return JSONResponse({"ready": False, "error": error.code}, 503)
    return JSONResponse({"ready": True})


@router.get("/metrics")
def metrics(request: Request) -> Response:
    """For Prometheus. Only for this machine, unless web.metrics_public is set."""
    site = request.app.state.site
    if not site.app.settings.web.metrics_public and not _is_here(request):
        return PlainTextResponse("only for this machine; see web.metrics_public\n", 403)
    return Response(site.metrics.text(), media_type=CONTENT_TYPE)


def _is_here(request: Request) -> bool:
    site = request.app.state.site
    if "x-forwarded-for" in request.headers and not site.app.settings.web.behind_proxy:
        return False  # a proxy that nobody told us of: the address is its own
    try:
        return ipaddress.ip_address(request.client.host if request.client else "").is_loopback
    except ValueError:
        return False
