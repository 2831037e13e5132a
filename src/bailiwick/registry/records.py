"""The domain record as the rest of the program sees it, and how one is found."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Self

from sqlalchemy import Connection, Row, RowMapping, func, select
from sqlalchemy.sql import Select

from bailiwick.base.errors import NotFoundError
from bailiwick.db.tables import crawl_queue, domains, members
from bailiwick.ledger.move import Seen
from bailiwick.model.names import DomainName

SubmitterType = Literal["admin", "public_user", "system"]


@dataclass(frozen=True, slots=True)
class Domain:
    """One governed domain: what people and commands need of its row."""

    id: int
    name: DomainName
    site: str
    base_url: str | None
    approval: str
    standing: str
    crawl: str
    version: int
    refusal: str | None
    wakes_at: datetime | None
    is_trusted: bool
    row: RowMapping
    """Every column, for display."""

    @classmethod
    def of(cls, row: Row[tuple[object, ...]]) -> Self:
        known = row._mapping  # noqa: SLF001 - SQLAlchemy's public name for it
        return cls(
            id=row.id,
            name=DomainName(row.name),
            site=row.site,
            base_url=row.base_url,
            approval=row.approval,
            standing=row.standing,
            crawl=row.crawl,
            version=row.version,
            refusal=row.refusal,
            wakes_at=row.wakes_at,
            is_trusted=row.is_trusted,
            row=known,
        )

    @property
    def is_refused(self) -> bool:
        """Somebody decided against it: nothing at all is fetched from it, for nobody."""
        return self.approval in ("rejected", "suspended") or self.standing == "blacklisted"

    @property
    def approval_seen(self) -> Seen:
        return Seen(self.approval, self.version)

    @property
    def standing_seen(self) -> Seen:
        return Seen(self.standing, self.version)

    @property
    def crawl_seen(self) -> Seen:
        return Seen(self.crawl, self.version)


def find(conn: Connection, name: DomainName) -> Domain | None:
    """The record of this domain, if there is one."""
    row = conn.execute(select_domains().where(domains.c.name == name.name)).one_or_none()
    return Domain.of(row) if row is not None else None


def get(conn: Connection, name: DomainName) -> Domain:
    """The record of this domain, or NotFoundError."""
    found = find(conn, name)
    if found is None:
        raise NotFoundError(f"there is no domain {name}", hint=f"bailiwick domain submit {name}")
    return found


def get_by_id(conn: Connection, domain_id: int) -> Domain:
    row = conn.execute(select_domains().where(domains.c.id == domain_id)).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no domain with id {domain_id}")
    return Domain.of(row)


def select_domains() -> "Select[tuple[object, ...]]":
    """Domains with what the one rule says about them, their place in the queue and the names of their people."""
    refusal = func.domain_refusal(domains.table_valued(), func.bailiwick_now())
    submitter, reviewer, blacklister = (members.alias() for _ in range(3))
    return (
        select(
            domains,
            refusal.label("refusal"),
            func.domain_wakes_at(domains.table_valued(), refusal).label("wakes_at"),
            crawl_queue.c.worker,
            crawl_queue.c.wake_at,
            crawl_queue.c.is_parked,
            crawl_queue.c.crashes,
            crawl_queue.c.lease_no,
            submitter.c.name.label("submitter"),
            reviewer.c.name.label("reviewer"),
            blacklister.c.name.label("blacklister"),
        )
        .join(crawl_queue, crawl_queue.c.domain_id == domains.c.id)
        .outerjoin(submitter, submitter.c.id == domains.c.submitted_by)
        .outerjoin(reviewer, reviewer.c.id == domains.c.reviewed_by)
        .outerjoin(blacklister, blacklister.c.id == domains.c.blacklisted_by)
    )
