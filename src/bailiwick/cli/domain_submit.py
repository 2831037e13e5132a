"""`bailiwick domain submit`: a domain comes in, and the answer says what is so. Specification 000."""

import click

from bailiwick.app import App
from bailiwick.base.errors import ConflictError
from bailiwick.cli.acting import for_each, names_argument, outlook, warn
from bailiwick.cli.context import Session, pass_session, profile_option, text
from bailiwick.registry.explain import explain_refusal
from bailiwick.registry.records import Domain
from bailiwick.registry.submit import Answer, Submission, Submitted
from bailiwick.registry.submit import submit as take_in

context_option = click.option("--context", type=text, help="What it is and why it is wanted, for the reviewer.")
depth_option = click.option(
    "--depth",
    type=click.IntRange(0, 1000),
    default=3,
    show_default=True,
    help="How far from the home page to go: 0 only that, 1 its links too, 2-3 usual, 4+ can be slow.",
)


@click.command()
@names_argument
@context_option
@depth_option
@profile_option
@click.option("--approve", is_flag=True, help="Without review: an admin's own seed.")
@pass_session
def submit(
    session: Session, *, names: tuple[str, ...], context: str | None, depth: int, profile: str, approve: bool
) -> int:
    """Submit domains for review. Of a URL, its domain is taken.

    A known domain keeps its state; one that was rejected goes back to review if it comes with --context.
    """
    app = session.app.create()

    def act(given: str) -> str:
        what = Submission(
            app.domain_name(given), context=context, max_crawl_depth=depth, profile=profile, admit=approve
        )
        return submitted_line(submit_to(app, what))

    return for_each(names, act)


def submit_to(app: App, what: Submission) -> Submitted:
    """Take the submission in a transaction of its own."""
    with app.database.begin() as conn:
        return take_in(conn, what, app.actor(conn))


def submitted_line(done: Submitted) -> str:
    """What came of it, and what to do next. ConflictError if a decision stands against the domain."""
    warn(done.warnings)
    domain, name = done.domain, done.domain.name
    match done.answer:
        case Answer.SUBMITTED:
            return f"{name} is submitted for review; to approve it: bailiwick domain approve {name}"
        case Answer.RESUBMITTED:
            return f"{name} is submitted for review again"
        case Answer.ADMITTED:
            return f"{name} is approved{outlook(domain)}"
        case Answer.ALREADY_APPROVED:
            return f"{name} is already approved; to crawl it again: bailiwick domain recrawl {name}"
        case Answer.ALREADY_PENDING:
            return f"{name} is already submitted for review"
        case Answer.REJECTED | Answer.SUSPENDED | Answer.BLACKLISTED:
            raise standing_against(domain)


def standing_against(domain: Domain) -> ConflictError:
    """The decision that stands against a rejected, suspended or blacklisted domain, and what would change it."""
    name = domain.name
    if domain.standing == "blacklisted":
        why = domain.row["blacklist_reason"]
        return ConflictError(f"{name} is blacklisted: {why}", hint=f"bailiwick domain blacklist {name} --lift")
    stands = explain_refusal(domain)
    return ConflictError(f"{name} is not taken: {stands.says}", hint=stands.change)
