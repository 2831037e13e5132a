"""How site parsers do: what became of each on each page, counted by domain and version; an alert when one breaks.

The last 250 tries of a parser on a domain decide, whatever its version. The newest 50 of them (half of them, if there
are fewer than 100) are held against those before, at least 20 against 20. When the share that succeeds has fallen to
half or less, an event and a message tell of it, once; and once more when it is back at three quarters of what it was.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection

from bailiwick.accounts.members import system_actor
from bailiwick.db.sql import queries
from bailiwick.ledger import outbox
from bailiwick.ledger.events import Act, Subject, record
from bailiwick.model.items import ParserOutcome, ParserTry
from bailiwick.model.search import storable

SQL = queries("bailiwick.extract.parsers")
KEPT_TRIES = 250
NEW_TRIES, LEAST_TRIES = 50, 20
_HALVED, _RECOVERED = 0.5, 0.75
Key = tuple[int, int]


class Tried(Protocol):
    """A page that was parsed."""

    @property
    def key(self) -> Key: ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a parser does on a domain now, and how it did."""

    verb: str
    before: float
    after: float
    tries: int


def write_tries(conn: Connection, pages: Sequence[tuple[Tried, Sequence[ParserTry]]]) -> None:
    """In the transaction that writes what was parsed of these pages: all that were extracted, with or without tries."""
    _write_outcomes(conn, pages)
    counted: dict[tuple[int, str, int], str] = {}
    for page, tries in pages:
        for one in tries:
            key = (page.key[0], one.parser, one.version)
            counted[key] = counted.get(key, "") + ("1" if one.outcome is ParserOutcome.SUCCEEDED else "0")
    if not counted:
        return
    keys = sorted(counted)  # everybody takes their rows in this order
    values = {
        "domain_id": [domain_id for domain_id, _, _ in keys],
        "parser": [parser for _, parser, _ in keys],
        "version": [version for _, _, version in keys],
        "recent": [counted[key] for key in keys],
        "kept": KEPT_TRIES,
    }
    for row in conn.exec_driver_sql(SQL["count_tries"], values).all():
        verdict = judge(row.recent, row.fell_from)
        if verdict is not None:
            _tell(conn, row.domain_id, (row.parser, row.version), verdict)


def judge(recent: str, fell_from: float | None) -> Verdict | None:
    """What is to be told of a parser with these tries, the newest last; None: nothing."""
    newest = min(NEW_TRIES, len(recent) // 2)
    if newest < LEAST_TRIES:
        return None
    after = _rate(recent[-newest:])
    if fell_from is not None:
        return Verdict("parser_recovered", fell_from, after, newest) if after >= _RECOVERED * fell_from else None
    before = _rate(recent[:-newest])
    return Verdict("parser_degraded", before, after, newest) if before and after <= _HALVED * before else None


def _rate(tries: str) -> float:
    return tries.count("1") / len(tries)


def _write_outcomes(conn: Connection, pages: Sequence[tuple[Tried, Sequence[ParserTry]]]) -> None:
    """The last outcome of each page and kind; a page that no parser is for any more has none."""
    last = {(page.key, one.kind): one for page, tries in pages for one in tries}
    columns = {
        "domain_id": [key[0] for key, _ in last],
        "path_hash": [key[1] for key, _ in last],
        "kind": [kind.value for _, kind in last],
    }
    if last:
        more = {
            "parser": [one.parser for one in last.values()],
            "version": [one.version for one in last.values()],
            "outcome": [one.outcome.value for one in last.values()],
            "why": [one.why and storable(one.why) for one in last.values()],
        }
        conn.exec_driver_sql(SQL["write_tries"], columns | more)
    pages_now = {
        "all_domains": [page.key[0] for page, _ in pages],
        "all_paths": [page.key[1] for page, _ in pages],
    }
    if pages:
        conn.exec_driver_sql(SQL["drop_tries"], columns | pages_now)


def _tell(conn: Connection, domain_id: int, parser: tuple[str, int], verdict: Verdict) -> None:
    is_bad = verdict.verb == "parser_degraded"
    values = {"domain_id": domain_id, "parser": parser[0], "fell_from": verdict.before if is_bad else None}
    name = conn.exec_driver_sql(SQL["mark_fallen"], values).scalars().first()
    if name is None:  # the domain is gone meanwhile
        return
    details: dict[str, str | int] = {"parser": parser[0], "version": parser[1], "tries": verdict.tries}
    before, after = round(verdict.before, 3), round(verdict.after, 3)
    act = Act(verdict.verb, before=before, after=after, details={**details}, reason=_sentence(parser[0], verdict))
    record(conn, system_actor(conn), Subject("domain", name, domain_id), act)
    payload: Mapping[str, str | int | float] = {**details, "rate_before": before, "rate": after}
    outbox.put(conn, [outbox.Message(verdict.verb, "domain", domain_id, {**payload})])


def _sentence(parser: str, verdict: Verdict) -> str:
    return f"{parser} succeeds on {verdict.after:.0%} of the last {verdict.tries} pages, {verdict.before:.0%} before"
