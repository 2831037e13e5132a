"""Where a score leads: a result at once, or a place in the queue, in the transaction that keeps the evaluation.

That a URL came into the queue is no event of its own: its evaluation says by which band, and the job's event by whom.
What people do with it is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from pydantic import JsonValue
from sqlalchemy import Connection, Row, delete, select
from sqlalchemy.dialects.postgresql import insert

from bailiwick.base.bands import Band, BandAction, Bands
from bailiwick.base.errors import NotFoundError, UsageError
from bailiwick.base.review_sections import ReviewSettings
from bailiwick.db.tables import domains, evaluations, jobs, url_results
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.model.layers import Layer1Results, Layer2Results, Layer3Results, Proofs
from bailiwick.model.names import DomainName
from bailiwick.model.search import storable
from bailiwick.registry import trust
from bailiwick.registry.permission import DECIDERS, require
from bailiwick.review import queue
from bailiwick.review.queue import Waiting

Status: TypeAlias = Literal["approved", "rejected", "queue_overflow", "waiting"]
Reason: TypeAlias = Literal["band", "trusted_domain", "person", "queue_full"]


@dataclass(frozen=True, slots=True)
class NewEvaluation:
    """What was found out about one URL, before anything follows from it."""

    url_id: int
    job_id: int
    domain_id: int
    name: str
    """Domain and path, as people read it."""
    url: str
    title: str | None
    profile: str
    policy_version: str
    confidence: float
    """What decides; not rounded."""
    evidence_confidence: float
    model_id: int | None
    learned_probability: float | None
    reasoning: str
    layer1: Layer1Results
    layer2: Layer2Results
    layer3: Layer3Results
    layer3_by: str
    proofs: Mapping[str, Proofs]
    """By layer."""
    embedding: bytes | None
    body_hash: bytes | None


@dataclass(frozen=True, slots=True)
class Routed:
    """What came of an evaluation."""

    evaluation_id: int
    band: str
    action: BandAction
    status: Status
    reason: Reason


def route(
    conn: Connection, evaluation: NewEvaluation, bands: Bands, settings: ReviewSettings, *, submitted_by: int
) -> Routed:
    """Keep an evaluation and what follows from it. A second time for the same URL: what is there already.

    With a limit on the queue, whoever routes to it waits for others who do so until they commit.
    """
    band = bands.band(evaluation.confidence)
    made = conn.execute(
        insert(evaluations)
        .values(_row(evaluation, band))
        .on_conflict_do_nothing(index_elements=["url_id"])
        .returning(evaluations.c.id)
    ).scalar()
    if made is None:
        return routed(conn, evaluation.url_id)
    place = Waiting(
        evaluation_id=made,
        url_id=evaluation.url_id,
        job_id=evaluation.job_id,
        domain_id=evaluation.domain_id,
        name=evaluation.name,
        url=evaluation.url,
        profile=evaluation.profile,
        confidence_band=band.name,
        confidence_score=evaluation.confidence,
        information=information(evaluation.confidence, evaluation.learned_probability, bands),
        submitted_by=submitted_by,
    )
    status, reason = _settle(conn, place, band.action, settings)
    return Routed(made, band.name, band.action, status, reason)


def routed(conn: Connection, url_id: int) -> Routed:
    """What came of this URL's evaluation, or NotFoundError."""
    query = (
        select(evaluations.c.id, evaluations.c.band, evaluations.c.action, url_results.c.status, url_results.c.reason)
        .outerjoin(url_results, url_results.c.url_id == evaluations.c.url_id)
        .where(evaluations.c.url_id == url_id)
    )
    row = conn.execute(query).one_or_none()
    if row is None:
        raise NotFoundError(f"URL {url_id} was not evaluated")
    return Routed(row.id, row.band, BandAction(row.action), row.status or "waiting", row.reason or "band")


def information(confidence: float, probability: float | None, bands: Bands) -> float:
    """How much a person's decision would tell: 1 where it could go either way, 0 where it is as good as sure.

    Without a learned probability, by the place of the confidence between the scores that need nobody.
    """
    chance = probability
    if chance is None:
        limits = bands.limits()
        low, high = (limits.reject_below, limits.approve_from) if bands.are_ordered else (0.0, 1.0)
        chance = (confidence - low) / (high - low) if high > low else 0.5
    return 1 - 2 * abs(min(max(chance, 0.0), 1.0) - 0.5)


def is_audited(url: str, share: float) -> bool:
    """Whether people look at what a band decided about this URL: by chance, but always the same for a URL and a share,
    and what a smaller share takes a larger one takes, too.
    """
    drawn = int.from_bytes(sha256(f"audit {url}".encode("utf-8", "replace")).digest()[:8]) / 2**64
    return drawn < share


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What came of URLs for which the queue had no room."""

    queued: int
    approved: int
    """Their domain is trusted by now."""


def take_in_overflow(
    conn: Connection,
    bands_of: Callable[[str], Bands],
    settings: ReviewSettings,
    actor: Actor,
    *,
    limit: int,
) -> TakenIn:
    """Take URLs into the queue that found it full, the oldest first, as far as there is room. One event tells of it."""
    require(actor, DECIDERS)
    if limit < 1:
        raise UsageError("a limit is 1 or more")
    room = queue.room(conn, settings)
    statuses = []
    for row in conn.execute(_overflow(limit if room is None else min(limit, room))).all():
        conn.execute(delete(url_results).where(url_results.c.url_id == row.url_id))
        place = _place_of(row, bands_of(row.profile))
        statuses.append(_settle(conn, place, BandAction.MANUAL_REVIEW, settings)[0])
    done = TakenIn(statuses.count("waiting"), statuses.count("approved"))
    if statuses:
        details: JsonValue = {"queued": done.queued, "approved": done.approved}
        record(conn, actor, Subject("review_queue", "overflow"), Act("requeue", details=details))
    return done


def _overflow(limit: int) -> Any:
    # Other takers skip what this one is at; the index on status gives them in the order of their URLs' ids.
    return (
        select(evaluations, jobs.c.created_by)
        .join(url_results, url_results.c.evaluation_id == evaluations.c.id)
        .join(jobs, jobs.c.id == evaluations.c.job_id)
        .where(url_results.c.status == "queue_overflow")
        .order_by(url_results.c.url_id)
        .limit(limit)
        .with_for_update(of=url_results, skip_locked=True)
    )


def _place_of(row: Row[Any], bands: Bands) -> Waiting:
    return Waiting(
        evaluation_id=row.id,
        url_id=row.url_id,
        job_id=row.job_id,
        domain_id=row.domain_id,
        name=row.name,
        url=row.url,
        profile=row.profile,
        confidence_band=row.band,
        confidence_score=row.confidence,
        information=information(row.confidence, row.learned_probability, bands),
        submitted_by=row.created_by,
    )


def _settle(conn: Connection, place: Waiting, action: BandAction, settings: ReviewSettings) -> tuple[Status, Reason]:
    """A result, or an entry of the queue."""
    if _is_trusted(conn, place.domain_id):
        return _result(conn, place, "approved", "trusted_domain")
    if (status := action.result) is not None:
        decided = _result(conn, place, status, "band")
        if is_audited(place.url, settings.audit_share) and queue.room(conn, settings) != 0:
            queue.add(conn, replace(place, is_audit=True), settings)
        return decided
    if queue.room(conn, settings) == 0:
        limit = f"{settings.queue_size_limit:,}"
        return _result(conn, place, "queue_overflow", "queue_full", f"the queue holds {limit} of {limit}")
    queue.add(conn, place, settings)
    return "waiting", "band"


def _result(
    conn: Connection, place: Waiting, status: Status, reason: Reason, notes: str | None = None
) -> tuple[Status, Reason]:
    row = {"url_id": place.url_id, "evaluation_id": place.evaluation_id}
    conn.execute(insert(url_results).values({**row, "status": status, "reason": reason, "reviewer_notes": notes}))
    return status, reason


def _is_trusted(conn: Connection, domain_id: int) -> bool:
    """By its own mark or a rule. Approval decides: a mark on a domain that was turned away since says nothing."""
    known = (domains.c.name, domains.c.is_trusted, domains.c.approval, domains.c.standing)
    row = conn.execute(select(*known).where(domains.c.id == domain_id)).one()
    if row.approval in ("rejected", "suspended") or row.standing == "blacklisted":
        return False
    return bool(row.is_trusted) or trust.rule_for(conn, DomainName(row.name)) is not None


def _row(given: NewEvaluation, band: Band) -> dict[str, object]:
    # Once more through the models: one that was made without its checks is refused here.
    layers = (
        Layer1Results.model_validate(given.layer1.stored()),
        Layer2Results.model_validate(given.layer2.stored()),
        Layer3Results.model_validate(given.layer3.stored()),
    )
    copied = (
        "url_id", "job_id", "domain_id", "name", "url", "profile", "policy_version", "confidence",
        "evidence_confidence", "model_id", "learned_probability", "layer3_by", "embedding", "body_hash",
    )  # fmt: skip
    proofs = {
        layer: {name: [proof.stored() for proof in some] for name, some in found.items()}
        for layer, found in given.proofs.items()
    }
    return {
        **{name: getattr(given, name) for name in copied},
        "title": None if given.title is None else storable(given.title),
        "reasoning": storable(given.reasoning),
        **{f"layer{number}_results": _storable(layer.stored()) for number, layer in enumerate(layers, start=1)},
        "sophistication_signals": layers[2].scores(),
        "evidence": _storable(proofs),
        "band": band.name,
        "action": band.action.value,
    }


def _storable(value: object) -> object:
    """Texts of strangers in JSON, without the characters that no database takes."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {_storable(name): _storable(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_storable(part) for part in value]
    return value
