"""`bailiwick url`: single pages that somebody wants crawled. Specification 000, workflow 2."""

import sys

import click

from bailiwick.app import App
from bailiwick.base.errors import NotFoundError, UsageError
from bailiwick.cli.acting import for_each, outlook
from bailiwick.cli.context import Session, json_option, limit_option, pass_session, text
from bailiwick.cli.domain_submit import context_option, standing_against, submitted_line
from bailiwick.model.urls import PageUrl, UrlRules
from bailiwick.registry import trust
from bailiwick.registry.records import Domain, find
from bailiwick.registry.submit import Answer, Submission, submit_url
from bailiwick.registry.submit import submit as take_in


@click.group()
def url() -> None:
    """Hand in single pages to be crawled, and list those that deserve a look."""


@url.command("list")
@click.option("--unread", "which", flag_value="unread", help="Pages of which no content could be read, and why.")
@click.option(
    "--unproductive",
    "which",
    flag_value="unproductive",
    help="Pages that were fetched of late and never gave an item of a kind that their profile wants.",
)
@click.option("--domain", metavar="D", help="Only of this domain.")
@click.option("--after", metavar="KEY", help="Go on after this row's key.")
@limit_option
@json_option
@click.pass_context
@pass_session
def list_urls(
    session: Session,
    ctx: click.Context,
    *,
    which: str | None,
    domain: str | None,
    after: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """List pages that deserve a look: those that cannot be read, and those that never pay off.

    \b
    bailiwick url list --unread --domain example.org
    bailiwick url list --unproductive
    """
    from bailiwick.cli.url_list import show

    show(session, ctx, which or "unread", domain=domain, after=after, limit=limit, as_json=as_json)


@url.command()
@click.argument("urls", metavar="URL…", nargs=-1, required=True)
@click.option("--contact", type=text, metavar="MAIL", help="Who may be told what came of it.")
@click.option("--submit-domain", is_flag=True, help="Submit the domain too, if it is not known.")
@context_option
@pass_session
def submit(
    session: Session, *, urls: tuple[str, ...], contact: str | None, submit_domain: bool, context: str | None
) -> int:
    """Ask for pages. Of an approved domain they are queued; of one under review they wait for its approval.

    If the domain is unknown, --submit-domain submits it, and the page is crawled first once it is approved.
    """
    _check_contact(contact)
    app = session.app.create()

    def act(given: str) -> str:
        page = _parse(given, app)
        wanted = submit_domain or _asked(app, page)
        return _submit(app, page, given, contact=contact, submission=_submission(page, context) if wanted else None)

    return for_each(urls, act)


def _submit(app: App, page: PageUrl, given: str, *, contact: str | None, submission: Submission | None) -> str:
    """Keep the wish in one transaction with the submission of its domain, if there is one."""
    with app.database.begin() as conn:
        actor = app.actor(conn)
        if submission is None and find(conn, page.domain) is None and trust.rule_for(conn, page.domain):
            submission = _submission(page, None)  # a trust rule admits it on first sight
        done = take_in(conn, submission, actor) if submission else None
        domain = submit_url(conn, page, actor, contact=contact)
        if domain is None:
            raise _unknown(page, given)
        if domain.is_refused:
            raise standing_against(domain)
    first = f"{submitted_line(done)}; " if done and done.answer in (Answer.SUBMITTED, Answer.RESUBMITTED) else ""
    return first + _kept(page, domain)


def _kept(page: PageUrl, domain: Domain) -> str:
    if domain.approval == "approved":
        return f"{page} is queued" + (outlook(domain) if domain.refusal not in (None, "not_due") else "")
    return f"{page} is kept with the submission of {domain.name} and crawled first once that is approved"


def _unknown(page: PageUrl, given: str) -> NotFoundError:
    import shlex

    return NotFoundError(
        f"{page.domain} is unknown, and only pages of approved domains are crawled",
        hint=f"bailiwick domain submit {page.domain}, or with this page: "
        f"bailiwick url submit --submit-domain {shlex.quote(given)}",
    )


def _asked(app: App, page: PageUrl) -> bool:
    """On a terminal: whether an unknown domain is to be submitted."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    with app.database.read() as conn:
        if find(conn, page.domain) is not None or trust.rule_for(conn, page.domain):
            return False
    return click.confirm(f"{page.domain} is unknown. Submit it for review?", err=True)


def _submission(page: PageUrl, context: str | None) -> Submission:
    return Submission(page.domain, context=context)


def _parse(given: str, app: App) -> PageUrl:
    page = PageUrl.parse(given, rules=UrlRules(allow_private=app.settings.names.allow_private))
    governed = app.domain_name(given)
    if governed != page.domain:
        # A wish holds the path alone: it would be looked for on another host.
        raise UsageError(
            f"{page.domain} is part of {governed} here (names.collapse_subdomains)",
            hint=f"bailiwick domain submit {governed}; single pages can only be asked of {governed} itself",
        )
    return page


def _check_contact(contact: str | None) -> None:
    if contact is not None and not (
        3 <= len(contact) <= 254 and "@" in contact[1:-1] and contact.isprintable() and " " not in contact
    ):
        raise UsageError(f"{contact!r} is no e-mail address", hint="--contact you@example.org")
