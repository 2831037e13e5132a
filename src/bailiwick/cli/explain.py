"""`bailiwick explain`: which rule decides whether something is crawled, now."""

import click
from sqlalchemy import Connection

from bailiwick.app import App
from bailiwick.base.errors import NameRefusedError, NotFoundError
from bailiwick.cli.acting import find_named
from bailiwick.cli.context import Session, json_option, pass_session
from bailiwick.cli.output import Row, show_facts, stamp
from bailiwick.crawl.explain import explain_page
from bailiwick.model.urls import PageUrl, UrlRules
from bailiwick.net.agent import product, user_agent
from bailiwick.registry.explain import explain as ask
from bailiwick.registry.records import Domain


@click.command()
@click.argument("what", metavar="URL|DOMAIN")
@json_option
@pass_session
def explain(session: Session, *, what: str, as_json: bool) -> None:
    """Say which rule decides whether a domain is crawled now, and what would change it.

    Of a URL also what is known of the page: when it was fetched, why it failed, what robots.txt says about it, or which
    rule kept the link from becoming a page.
    """
    app = session.app
    with app.database.read() as conn:
        domain: Domain | None = None
        try:
            domain = find_named(conn, what, app)
            name = domain.name
        except NotFoundError:
            name = app.domain_name(what)
        found = ask(conn, name)
        page = _page(conn, domain, what, app) if domain is not None else {}
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
        page = {name: value for name, value in page.items() if value is not None}
    show_facts({**facts, **page}, as_json=as_json)


def _page(conn: Connection, domain: Domain, what: str, app: App) -> Row:
    """What is known of the page, if a page was named."""
    address = what if "://" in what else f"http://{what}"
    if "/" not in address.partition("://")[2]:
        return {}
    try:
        page = PageUrl.parse(address, rules=UrlRules(allow_private=True))
    except NameRefusedError:
        return {}
    agent = product(user_agent(app.settings.crawl))
    told = explain_page(conn, domain, page.path, agent=agent)
    return {
        "page": told.path,
        "page_state": told.state,
        "page_rule": told.rule,
        "page_says": told.says,
        "page_change": told.change,
    }
