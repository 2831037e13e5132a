"""Static files, named by their content so that browsers may keep them for ever."""

import gzip
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

_OURS = {"app.css": "text/css; charset=utf-8", "app.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml"}
_FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Asset:
    """One file, ready to be sent."""

    name: str
    digest: str
    media_type: str
    body: bytes
    zipped: bytes

    @property
    def url(self) -> str:
        return f"/static/{self.digest}/{self.name}"


class Assets:
    """Every static file: ours from this package, htmx from its own."""

    def __init__(self) -> None:
        found = {name: _asset(name, kind, _read("bailiwick.web", "static", name)) for name, kind in _OURS.items()}
        script = _OURS["app.js"]
        found["htmx.js"] = _asset("htmx.js", script, _read("js_lib_htmx", "static", "htmx", "htmx.min.js"))
        self._by_name = found

    def url(self, name: str) -> str:
        """Where a page finds this file."""
        return self._by_name[name].url

    def serve(self, request: Request, digest: str, name: str) -> Response:
        asset = self._by_name.get(name)
        if asset is None or asset.digest != digest:
            return Response("not found", status_code=404, media_type="text/plain")
        headers = {"Cache-Control": _FOREVER, "Vary": "Accept-Encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(asset.zipped, media_type=asset.media_type, headers=headers | {"Content-Encoding": "gzip"})
        return Response(asset.body, media_type=asset.media_type, headers=headers)


def _read(package: str, *path: str) -> bytes:
    return files(package).joinpath(*path).read_bytes()


def _asset(name: str, media_type: str, body: bytes) -> Asset:
    return Asset(name, sha256(body).hexdigest()[:12], media_type, body, gzip.compress(body, 9, mtime=0))
