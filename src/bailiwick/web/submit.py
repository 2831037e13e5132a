"""The form by which members hand in domains: specification 000's fields, checks and messages."""

from fastapi import APIRouter
from starlette.responses import Response

from bailiwick.base.errors import BailiwickError, NotAllowedError
from bailiwick.model.states import Role
from bailiwick.registry.permission import SUBMITTERS
from bailiwick.registry.submit import Answer, Submission, Submitted, submit
from bailiwick.web.shown import sentence
from bailiwick.web.visits import Form, Member, Sent, Visit

router = APIRouter()
_EMPTY = {"url": "", "context": "", "depth": "3"}


@router.get("/submit")
def submit_page(here: Member, url: str = "") -> Response:
    _permit(here)
    return here.page("submit.html", given=_EMPTY | {"url": url[:300]}, error=None, known=None)


@router.post("/submit")
def hand_in(here: Member, form: Sent) -> Response:
    _permit(here)
    given = {"url": form.text("url", limit=2500), "context": form.text("context"), "depth": form.text("depth", limit=9)}
    try:
        what = _submission(here, form, given)
        with here.site.app.database.begin() as conn:
            done = submit(conn, what, here.actor)
    except BailiwickError as error:
        if error.http_status >= 500:
            raise
        says = sentence(error.message)
        return here.page("submit.html", status=error.http_status, given=given, error=says, known=None)
    if done.answer in (Answer.SUBMITTED, Answer.RESUBMITTED, Answer.ADMITTED):
        return here.go(f"/domains/{done.domain.name}", said=_said(done), domain=done.domain.name.name)
    return here.page("submit.html", status=409, given=given, error=None, known=_known(here, done))


def _submission(here: Visit, form: Form, given: dict[str, str]) -> Submission:
    depth = given["depth"] or "3"
    return Submission(
        here.site.app.domain_name(given["url"]),
        context=given["context"] or None,
        max_crawl_depth=int(depth) if depth.isascii() and depth.isdigit() else -1,
        admit=here.role is Role.ADMIN and form.text("admit") == "yes",
    )


def _permit(here: Visit) -> None:
    if here.role not in SUBMITTERS:
        raise NotAllowedError(f"{here.actor.name} ({here.actor.role}) may not submit domains")


def _said(done: Submitted) -> str:
    name = done.domain.name
    says = {
        Answer.SUBMITTED: f"{name} is submitted for review.",
        Answer.RESUBMITTED: f"{name} is submitted for review again.",
        Answer.ADMITTED: f"{name} is approved.",
    }[done.answer]
    return " ".join((says, *(f"Note: {warning}." for warning in done.warnings)))


def _known(here: Visit, done: Submitted) -> dict[str, object]:
    """What is so already, and what could be done about it. A submitter learns no reasons of others' domains."""
    domain = done.domain
    may_see = here.is_staff or domain.row["submitted_by"] == here.actor.id
    reason = domain.row["blacklist_reason"] if done.answer is Answer.BLACKLISTED else domain.row["review_reason"]
    says = {
        Answer.ALREADY_APPROVED: "Already approved, would you like to re-crawl it?",
        Answer.ALREADY_PENDING: "Already submitted for review.",
        Answer.REJECTED: "It was rejected. Say in the context what has changed, and submit it again.",
        Answer.SUSPENDED: "It is suspended.",
        Answer.BLACKLISTED: "It is blacklisted.",
    }[done.answer]
    may_recrawl = done.answer is Answer.ALREADY_APPROVED and may_see
    return {"domain": domain, "says": says, "reason": reason if may_see else None, "may_see": may_see,
            "may_recrawl": may_recrawl}  # fmt: skip
