"""What people decide about the queue: approve, reject, take it back, look at it again. Each is one event."""

from collections.abc import Mapping

from pydantic import JsonValue
from sqlalchemy import Connection, delete, func, insert, select
from sqlalchemy.dialects.postgresql import insert as upsert

from bailiwick.base.bands import BandAction
from bailiwick.base.errors import ConflictError, UsageError
from bailiwick.base.review_sections import ReviewSettings
from bailiwick.db.tables import evaluations, labels, review_queue, url_results
from bailiwick.ledger.deliveries import tell_member
from bailiwick.ledger.events import Actor
from bailiwick.ledger.move import Move, Seen, move
from bailiwick.model.layers import Layer1Results, Layer2Results, Layer3Results
from bailiwick.model.search import storable
from bailiwick.model.signals import signals_of
from bailiwick.model.transitions import REVIEW
from bailiwick.registry.permission import is_own_decision
from bailiwick.review import queue
from bailiwick.review.listing import Entry, get

_NOW = func.bailiwick_now()
_UNCLAIMED: Mapping[str, object] = {"claimed_by": None, "claimed_until": None}
_UNDECIDED: Mapping[str, object] = {
    **dict.fromkeys(("reviewed_at", "reviewed_by", "review_decision", "reviewer_notes")),
    "is_self_approved": False,
    **_UNCLAIMED,
}


def approve(
    conn: Connection, entry: Entry, actor: Actor, settings: ReviewSettings, *, notes: str | None = None
) -> Entry:
    """Approve a URL that waits. Errors: see `reject`, but for the notes, which may be left out."""
    return _decide(conn, entry, "approve", actor, settings, notes=notes)


def reject(conn: Connection, entry: Entry, actor: Actor, settings: ReviewSettings, *, notes: str) -> Entry:
    """Reject a URL that waits, with its result and its label in the same transaction.

    UsageError without notes, or where the actor handed it in and somebody else can decide; ConflictError if somebody
    decided first (it says who and what), if the entry is not as it was seen, or if somebody else holds it now.
    """
    return _decide(conn, entry, "reject", actor, settings, notes=notes)


def undo(conn: Connection, entry_id: int, actor: Actor, settings: ReviewSettings) -> Entry:
    """Take back one's own decision of the last minutes: the URL waits again, in its old place.

    ConflictError if it is somebody else's, too old, or if the queue is full meanwhile.
    """
    return _reopen(conn, entry_id, "undo", actor, settings)


def requeue(conn: Connection, entry_id: int, actor: Actor, settings: ReviewSettings, *, reason: str) -> Entry:
    """Let a decided URL wait again, at the end of the queue: an admin's word, at any time, with a reason."""
    return _reopen(conn, entry_id, "requeue", actor, settings, reason=reason)


def _decide(
    conn: Connection, entry: Entry, verb: str, actor: Actor, settings: ReviewSettings, *, notes: str | None
) -> Entry:
    said = storable(notes).strip() or None if notes is not None else None
    if verb == "reject" and said is None:
        raise UsageError("a rejection needs notes", hint='say why: --notes "…"')
    now = queue.lock(conn, entry.id)
    queue.refuse_decided(now)
    if now.is_claimed and now.claimed_by != actor.id:
        raise queue.held(now, hint=f"wait, or ask them: bailiwick review release {now.id}")
    is_own = is_own_decision(conn, actor, now.submitted_by, now.name)
    decision = REVIEW.transition("waiting", verb).target
    is_self_approved = is_own and verb == "approve"
    material = _material(conn, now)
    changes = {
        "reviewed_at": _NOW,
        "reviewed_by": actor.id,
        "review_decision": decision,
        "reviewer_notes": said,
        "is_self_approved": is_self_approved,
        **_UNCLAIMED,
    }
    # In the trail for good, also when the job and its evaluations are gone.
    details: dict[str, JsonValue] = {name: material[name] for name in ("confidence", "band")} | {"url": now.url}
    details |= {"self_approved": True} if is_self_approved else {}
    details |= {"audit": True} if now.is_audit else {}
    seen = Seen(entry.state, entry.version)
    move(conn, Move(REVIEW, now.id, verb, seen, said, changes=changes, details=details), actor)
    _keep_result(conn, now, decision, actor, said)
    _keep_label(conn, now, material, actor, is_wanted=verb == "approve", reason=said)
    queue.count_changed(conn, settings)
    decided = get(conn, now.id)
    _tell_submitter(conn, decided)
    return decided


def _tell_submitter(conn: Connection, decided: Entry) -> None:
    """The one place from which whoever handed a URL in hears of its decision."""
    title = f"{decided.name} is {decided.state}"
    tell_member(conn, decided.submitted_by, title, "\n".join(filter(None, (decided.url, decided.reviewer_notes))))


def _keep_result(conn: Connection, entry: Entry, status: str, actor: Actor, notes: str | None) -> None:
    decided = {"status": status, "reason": "person", "reviewer_notes": notes, "decided_by": actor.id}
    # Of an audit there is one already, by a band.
    conn.execute(
        upsert(url_results)
        .values({"url_id": entry.url_id, "evaluation_id": entry.evaluation_id, **decided})
        .on_conflict_do_update(index_elements=["url_id"], set_={**decided, "decided_at": _NOW})
    )


def _take_back_result(conn: Connection, entry: Entry) -> None:
    """Of an audit, the band's own stands again."""
    conn.execute(delete(url_results).where(url_results.c.url_id == entry.url_id))
    if entry.is_audit:
        given = select(evaluations.c.action).where(evaluations.c.id == entry.evaluation_id)
        status = BandAction(conn.execute(given).scalar_one()).result
        row = {"url_id": entry.url_id, "evaluation_id": entry.evaluation_id, "status": status, "reason": "band"}
        conn.execute(insert(url_results).values(row))


def _keep_label(
    conn: Connection,
    entry: Entry,
    material: Mapping[str, JsonValue],
    actor: Actor,
    *,
    is_wanted: bool,
    reason: str | None,
) -> None:
    """What a model learns from."""
    embedding = select(evaluations.c.embedding).where(evaluations.c.id == entry.evaluation_id).scalar_subquery()
    row = {
        "task": "review",
        "subject": entry.url,
        "profile": entry.profile,
        "is_wanted": is_wanted,
        "reason": reason,
        "material": dict(material),
        "decided_by": actor.id,
        "embedding": embedding,
    }
    conn.execute(insert(labels).values(row))


def _material(conn: Connection, entry: Entry) -> dict[str, JsonValue]:
    row = conn.execute(select(evaluations).where(evaluations.c.id == entry.evaluation_id)).one()
    signals = signals_of(
        Layer1Results.model_validate(row.layer1_results),
        Layer2Results.model_validate(row.layer2_results),
        Layer3Results.model_validate(row.layer3_results),
    )
    return {
        "entry": entry.id,
        "signals": dict(signals),
        "confidence": row.confidence,
        "evidence_confidence": row.evidence_confidence,
        "band": row.band,
        "action": row.action,
        "learned_probability": row.learned_probability,
        "model_id": row.model_id,
        "is_audit": entry.is_audit,
    }


def _reopen(
    conn: Connection, entry_id: int, verb: str, actor: Actor, settings: ReviewSettings, *, reason: str | None = None
) -> Entry:
    queue.need_room(conn, settings)
    entry = queue.lock(conn, entry_id)
    if entry.state == "waiting":
        raise ConflictError(f"entry {entry.id} ({entry.name}) waits for a decision", hint="there is none to take back")
    if verb == "undo":
        _refuse_late(conn, entry, actor, settings)
    place = {} if verb == "undo" else {"queued_at": _NOW, "is_stale": False}
    details: JsonValue = {"reviewer": entry.reviewer, "notes": entry.reviewer_notes, "url": entry.url}
    seen = Seen(entry.state, entry.version)
    changes = {**_UNDECIDED, **place}
    move(conn, Move(REVIEW, entry.id, verb, seen, reason, changes=changes, details=details), actor)
    _take_back_result(conn, entry)
    conn.execute(
        delete(labels).where(
            labels.c.task == "review",
            labels.c.profile == entry.profile,
            labels.c.subject == entry.url,
            labels.c.material["entry"].as_integer() == entry.id,
        )
    )
    queue.count_changed(conn, settings)
    return get(conn, entry.id)


def _refuse_late(conn: Connection, entry: Entry, actor: Actor, settings: ReviewSettings) -> None:
    """Within the grace period, by who decided; for the rest there is `requeue`."""
    hint = f'an admin can look at it again: bailiwick review requeue {entry.id} --reason "…"'
    if entry.reviewed_by != actor.id:
        raise ConflictError(f"entry {entry.id} ({entry.name}) was {entry.state} by {entry.reviewer}", hint=hint)
    grace = func.make_interval(0, 0, 0, 0, 0, 0, settings.undo_minutes * 60)
    is_late = select(review_queue.c.reviewed_at + grace < _NOW).where(review_queue.c.id == entry.id)
    if conn.execute(is_late).scalar_one():
        raise ConflictError(
            f"entry {entry.id} ({entry.name}) was {entry.state} more than {settings.undo_minutes:g} minutes ago",
            hint=hint,
        )
