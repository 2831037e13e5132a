"""Who handed in a domain, or a page of it, is told what was decided, if they left an address."""

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, select

from bailiwick.base.review_sections import Email
from bailiwick.db.tables import page_requests
from bailiwick.ledger.deliveries import enqueue, tell_member
from bailiwick.registry.records import Domain

_MOST_CONTACTS = 1_000
_EMAIL = TypeAdapter[str](Email)


def tell_decision(conn: Connection, domain: Domain, state: str, reason: str | None) -> None:
    """Write the messages in the transaction of the decision: they go out with it, or not at all."""
    title = f"{domain.name} is {state}"
    body = f"Why: {reason}" if reason else f"The domain {domain.name} is {state}."
    submitter = domain.row["submitted_by"]
    if submitter is not None:
        tell_member(conn, int(submitter), title, body)
    for contact in _contacts(conn, domain.id):
        enqueue(conn, "email", "decision", title, body, recipient=contact)


def _contacts(conn: Connection, domain_id: int) -> list[str]:
    """Of people who asked for pages that are still to be crawled."""
    asked = page_requests.c
    query = select(asked.contact).where(asked.domain_id == domain_id, asked.contact.is_not(None)).distinct()
    return [contact for contact in conn.execute(query.limit(_MOST_CONTACTS)).scalars() if _is_email(contact)]


def _is_email(contact: str) -> bool:
    try:
        _EMAIL.validate_python(contact)
    except ValidationError:
        return False
    return True
