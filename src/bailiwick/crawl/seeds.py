"""Seeds of a crawl: what an admin typed is admitted, and what may not be crawled is told with its rule."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from bailiwick.base.sections import PrioritySettings
from bailiwick.db.tables import domains
from bailiwick.ledger.events import Actor
from bailiwick.model.names import DomainName
from bailiwick.registry.apply import lock_queue
from bailiwick.registry.explain import Explanation, explain_refusal
from bailiwick.registry.imports import Import, add_batch, record_import
from bailiwick.registry.records import Domain, select_domains
from bailiwick.registry.seeds import Seed
from bailiwick.registry.submit import Submission, request_page, submit

_ONE_BY_ONE = 50


@dataclass(frozen=True, slots=True)
class StartPage:
    """Where a crawl starts: a domain's home page, or a page that was typed."""

    name: DomainName
    path: str = "/"


@dataclass
class Admitted:
    """What came of seeds: domains that can be crawled now, and those that cannot, with the rule that decides."""

    domains: list[Domain] = field(default_factory=list)
    refused: list[Explanation] = field(default_factory=list)
    added: int = 0

    def extend(self, other: "Admitted") -> None:
        self.domains += other.domains
        self.refused += other.refused
        self.added += other.added


@dataclass(frozen=True, slots=True)
class Vouch:
    """Who admits the seeds, out of which list, for which profile."""

    actor: Actor
    priority: PrioritySettings
    source: str = "crawl"
    profile: str = "general"


def admit(conn: Connection, pages: Sequence[StartPage], vouch: Vouch) -> Admitted:
    """Admit unknown domains and ask for typed pages, in the caller's transaction. What is known keeps its state."""
    names = list(dict.fromkeys(page.name for page in pages))
    added = _add(conn, names, vouch)
    found = by_names(conn, names)
    done = Admitted(added=added)
    for name in names:
        domain = found[name.name]
        if may_start(domain):
            done.domains.append(domain)
        else:
            done.refused.append(explain_refusal(domain))
    _ask_for_pages(conn, pages, {domain.name: domain for domain in done.domains}, vouch.actor)
    return done


def may_start(domain: Domain) -> bool:
    """A person's word is enough to go on with a domain that rests and is not done; every other rule holds."""
    return domain.refusal is None or (domain.refusal == "not_due" and domain.crawl in ("pending", "active"))


def by_names(conn: Connection, names: Iterable[DomainName]) -> dict[str, Domain]:
    rows = conn.execute(select_domains().where(domains.c.name.in_([name.name for name in names])))
    return {row.name: Domain.of(row) for row in rows}


def _add(conn: Connection, names: Sequence[DomainName], vouch: Vouch) -> int:
    known = by_names(conn, names)
    fresh = [name for name in names if name.name not in known]
    if len(fresh) <= _ONE_BY_ONE:
        for name in fresh:
            submit(conn, Submission(name, profile=vouch.profile, source=vouch.source, admit=True), vouch.actor)
        return len(fresh)
    how = Import(vouch.source, approve=True, profile=vouch.profile)
    count = add_batch(conn, [Seed(name) for name in fresh], how, vouch.actor, vouch.priority)
    record_import(conn, how, vouch.actor, added=count, known=len(fresh) - count, rejected=0)
    return count


def _ask_for_pages(
    conn: Connection, pages: Sequence[StartPage], admitted: dict[DomainName, Domain], actor: Actor
) -> None:
    wanted = [(admitted[page.name], page.path) for page in pages if page.name in admitted and page.path != "/"]
    if not wanted:
        return
    lock_queue(conn, [domain.id for domain, _ in wanted])
    for domain, path in wanted:
        request_page(conn, domain, path, actor)
