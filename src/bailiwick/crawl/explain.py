"""Why a page is fetched, or is not: the deciding rule in plain words, and what would change it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from bailiwick.crawl.flush import SQL
from bailiwick.crawl.traps.rules import SAYS, Refusal
from bailiwick.db.tables import domain_memory, pages, refused_links
from bailiwick.model.urls import hash_of
from bailiwick.net.robots import decide
from bailiwick.registry.records import Domain

_WAITING = frozenset({"pending", "queued", "crawling"})


@dataclass(frozen=True, slots=True)
class PageExplanation:
    """What is known of one page of a domain, and the rule that decides about it."""

    path: str
    state: str
    """As the view `page_states` has it, or `refused`: a link that did not become a page; or `unknown`."""
    rule: str
    says: str
    change: str | None = None


def explain_page(conn: Connection, domain: Domain, path: str, *, agent: str) -> PageExplanation:
    """Of a page that is known, of a link that was refused, or of neither. `agent`: who we are in robots.txt."""
    row = conn.exec_driver_sql(
        SQL["page_told"], {"domain_id": domain.id, "path_hash": hash_of(path), "path": path}
    ).one_or_none()
    if row is not None:
        return _known(domain, row)
    link = conn.execute(
        select(refused_links.c.rule, refused_links.c.refused_at, pages.c.path.label("found_on"))
        .outerjoin(
            pages, (pages.c.domain_id == refused_links.c.domain_id) & (pages.c.path_hash == refused_links.c.from_hash)
        )
        .where(refused_links.c.domain_id == domain.id, refused_links.c.path_hash == hash_of(path))
    ).one_or_none()
    submit = f"bailiwick url submit {domain.row['base_url'] or f'https://{domain.name}'}{path}"
    if link is not None:
        where = f"on {link.found_on}" if link.found_on else "in a sitemap"
        words = SAYS[Refusal(link.rule)]
        says = f"it was found {where}, but {words}; refused {_time(link.refused_at)}"
        return PageExplanation(path, "refused", link.rule, says, submit)
    return _unknown(conn, domain, path, agent, submit)


def refusals(conn: Connection, domain_id: int) -> dict[str, int]:
    """Pages and links of a domain that were refused, by rule, the most frequent first."""
    counts = conn.execute(select(domain_memory.c.refusals).where(domain_memory.c.domain_id == domain_id)).scalar()
    return dict(sorted((counts or {}).items(), key=lambda item: (-item[1], item[0])))


def _known(domain: Domain, row: "Row[Any]") -> PageExplanation:
    if row.state in _WAITING:
        return _waiting(domain, row)
    if row.state == "failed":
        return _failed(domain, row)
    due = f"; it is due again {_time(row.next_at)}" if row.next_at else ""
    says = f"it was fetched {_time(row.last_fetched_at)}: {_outcome(row)}{due}"
    return PageExplanation(row.path, row.state, "fetched", says, f"bailiwick domain recrawl {domain.name}")


def _waiting(domain: Domain, row: "Row[Any]") -> PageExplanation:
    limit = domain.row["max_crawl_depth"]
    if row.last_outcome:
        says = f"it is tried again {_time(row.next_at)}, for the {row.retries}. time: {_outcome(row)}"
        return PageExplanation(row.path, row.state, "retry", says)
    if row.depth > limit:
        says = f"it is {row.depth} links from the start page, and without --depth the domain's limit is {limit}"
        return PageExplanation(row.path, row.state, "depth_limit", says, f"bailiwick crawl {domain.name} --depth all")
    return PageExplanation(row.path, row.state, "waiting", f"it waits to be fetched, {row.depth} links from the start")


def _failed(domain: Domain, row: "Row[Any]") -> PageExplanation:
    again = f"; looked at again {_time(row.next_at)}" if row.next_at else ""
    rule = row.last_outcome or "failed"
    if rule == "robots_denied":
        return PageExplanation(row.path, row.state, rule, f"robots.txt forbids it: {row.last_error}{again}")
    if rule in (Refusal.EXCLUDED, Refusal.NOT_INCLUDED):
        change = f"bailiwick crawl {domain.name} with other patterns, or none"
        return PageExplanation(row.path, row.state, rule, f"{row.last_error}{again}", change)
    says = f"it could not be fetched: {_outcome(row)}{again}"
    return PageExplanation(row.path, row.state, rule, says, f"bailiwick domain recrawl {domain.name}")


def _unknown(conn: Connection, domain: Domain, path: str, agent: str, submit: str) -> PageExplanation:
    origin = domain.row["base_url"]
    read = conn.exec_driver_sql(SQL["robots_of"], {"origins": [origin] if origin else []}).one_or_none()
    if read is not None:
        robots = decide(read.status, (read.body or "").encode(), agent).robots
        if not robots.allows(path):
            says = f"it is not known, and robots.txt would forbid it: {robots.rule_for(path)}"
            return PageExplanation(path, "unknown", "robots_denied", says)
    return PageExplanation(path, "unknown", "unknown", "no page that was fetched so far links to it", submit)


def _outcome(row: "Row[Any]") -> str:
    words = str(row.last_outcome or "ok").replace("_", " ")
    status = f" (status {row.last_status})" if row.last_status else ""
    return f"{words}{status}" + (f", {row.last_error}" if row.last_error else "")


def _time(moment: datetime | None) -> str:
    return f"at {moment.astimezone(UTC):%Y-%m-%d %H:%M UTC}" if moment else "soon"
