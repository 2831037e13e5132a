"""Images of a domain, for people to look at: small copies of our own making, never the bytes that came from the web."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from bailiwick.base.errors import NotFoundError
from bailiwick.query.images import listing
from bailiwick.query.images.listing import Image
from bailiwick.web.domain import seen
from bailiwick.web.domains import address
from bailiwick.web.visits import Member, Visit

router = APIRouter()
_ROWS = 60
_FOREVER = "private, max-age=31536000, immutable"
"""A copy is named by the image's content, so it never changes; and not everybody may see it."""

Before = Annotated[int | None, Query(ge=1, le=2**62)]


@router.get("/domains/{name}/images")
def images(here: Member, name: str, before: Before = None) -> Response:
    """All images that its pages refer to, the newest first."""
    with here.site.app.database.read() as conn:
        domain = seen(conn, here, name)
        found = listing.of_domain(conn, domain.id, limit=_ROWS + 1, before=before or listing.NEWEST)
        counts = listing.counts(conn, domain.id)
    last = found[_ROWS - 1].image.id if len(found) > _ROWS else None
    more = address(f"/domains/{domain.name}/images", {"before": str(last)}) if last else None
    values = {"domain": domain, "images": found[:_ROWS], "counts": counts, "more": more, "copies": here.site.copies}
    return here.page("images.html", values)


@router.get("/domains/{name}/images/{digest}.webp")
async def picture(here: Member, name: str, digest: str) -> Response:
    """A small copy of an image of this domain, if this member may see that."""
    image = await run_in_threadpool(_image, here, name, digest)
    copy = await here.site.copies.get(image)
    headers = {"Cache-Control": _FOREVER, "Content-Disposition": "inline"}
    return Response(copy, media_type="image/webp", headers=headers)


def _image(here: Visit, name: str, digest: str) -> Image:
    with here.site.app.database.read() as conn:
        domain = seen(conn, here, name)
        image = listing.find(conn, digest) if len(digest) == 64 else None
        if image is None or not listing.is_of_domain(conn, image.id, domain.id):
            raise NotFoundError("there is no such image")
    return image
