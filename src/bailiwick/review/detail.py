"""One entry of the queue with all that a reviewer wants to see: the evidence, and what was decided on its domain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import TypeAdapter
from sqlalchemy import Connection, func, select

from bailiwick.db.tables import evaluations, members, review_queue, url_results
from bailiwick.model.layers import Layer1Results, Layer2Results, Layer3Results, Proof
from bailiwick.review.listing import Entry

_SIMILAR = 5
_LOOKED_AT = 100
_PROOFS = TypeAdapter(dict[str, dict[str, tuple[Proof, ...]]])


@dataclass(frozen=True, slots=True)
class Decided:
    """What a person decided about another URL of the same domain."""

    id: int
    url: str
    state: str
    confidence_score: float
    reviewer: str
    reviewed_at: datetime
    reviewer_notes: str | None


@dataclass(frozen=True, slots=True)
class Detail:
    """Everything that a reviewer wants to see of one entry."""

    entry: Entry
    layer1: Layer1Results
    layer2: Layer2Results
    layer3: Layer3Results
    layer3_by: str
    proofs: Mapping[str, Mapping[str, Sequence[Proof]]]
    """By layer, then by the name of what they prove."""
    policy_version: str
    model_id: int | None
    evaluated_at: datetime
    decided: Mapping[str, int]
    """Results of the domain's other URLs, by status."""
    similar: Sequence[Decided]


def detail(conn: Connection, entry: Entry) -> Detail:
    """The evidence behind an entry, and what was decided on its domain before."""
    row = conn.execute(select(evaluations).where(evaluations.c.id == entry.evaluation_id)).one()
    return Detail(
        entry=entry,
        layer1=Layer1Results.model_validate(row.layer1_results),
        layer2=Layer2Results.model_validate(row.layer2_results),
        layer3=Layer3Results.model_validate(row.layer3_results),
        layer3_by=row.layer3_by,
        proofs=_PROOFS.validate_python(row.evidence),
        policy_version=row.policy_version,
        model_id=row.model_id,
        evaluated_at=row.evaluated_at,
        decided=_results_of(conn, entry),
        similar=_similar(conn, entry),
    )


def _results_of(conn: Connection, entry: Entry) -> dict[str, int]:
    query = (
        select(url_results.c.status, func.count().label("results"))
        .join(evaluations, evaluations.c.id == url_results.c.evaluation_id)
        .where(evaluations.c.domain_id == entry.domain_id, evaluations.c.id != entry.evaluation_id)
        .group_by(url_results.c.status)
        .order_by(url_results.c.status)
    )
    return {row.status: row.results for row in conn.execute(query)}


def _similar(conn: Connection, entry: Entry) -> list[Decided]:
    """What people last decided on the domain, the nearest scores first."""
    kept = review_queue.c
    newest = (
        select(review_queue)
        .where(kept.domain_id == entry.domain_id, kept.reviewed_at.is_not(None), kept.id != entry.id)
        .order_by(kept.id.desc())
        .limit(_LOOKED_AT)
        .subquery()
    )
    query = (
        select(newest, members.c.name.label("reviewer"))
        .join(members, members.c.id == newest.c.reviewed_by)
        .order_by(func.abs(newest.c.confidence_score - entry.confidence_score), newest.c.id.desc())
        .limit(_SIMILAR)
    )
    names = Decided.__slots__
    return [Decided(**{name: row._mapping[name] for name in names}) for row in conn.execute(query)]  # noqa: SLF001
