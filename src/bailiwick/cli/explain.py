"""`bailiwick explain`: which rule decides whether something is crawled, now."""

import click

from bailiwick.base.errors import NotFoundError
from bailiwick.cli.acting import find_named, parse_name
from bailiwick.cli.context import Session, json_option, pass_session
from bailiwick.cli.output import Row, show_facts, stamp
from bailiwick.registry.explain import explain as ask


@click.command()
@click.argument("what", metavar="URL|DOMAIN")
@json_option
@pass_session
def explain(session: Session, *, what: str, as_json: bool) -> None:
    """Say which rule decides whether a domain is crawled now, and what would change it."""
    app = session.app
    with app.database.read() as conn:
        try:
            name = find_named(conn, what, app).name
        except NotFoundError:
            name = parse_name(what, app)
        found = ask(conn, name)
    facts: Row = {
        "domain": found.name.name,
        "may_crawl": found.may_crawl,
        "rule": found.rule,
        "says": found.says,
        "change": found.change,
        "wakes_at": stamp(found.wakes_at) if found.wakes_at else None,
    }
    if not as_json:
        said = {name: value for name, value in facts.items() if value is not None}
        facts = said | {"may_crawl": "yes" if found.may_crawl else "no"}
    show_facts(facts, as_json=as_json)
