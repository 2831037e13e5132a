"""Sessions: what was ordered, who is at it, what engines answered. Ordering what is unfinished goes on with it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from pydantic import JsonValue
from sqlalchemy import ColumnElement, Connection, Label, Row, func, insert, null, select, update
from sqlalchemy.sql import Select

from bailiwick.base.errors import ConflictError, NotFoundError
from bailiwick.db.tables import discovery_sessions, engine_calls, members
from bailiwick.discover.asking import Call
from bailiwick.discover.stats import Stats
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.ports import EngineAnswer, EngineHit, EngineOutcome
from bailiwick.registry.workers import WorkerName, this_worker

_SILENT_SECONDS = 900
"""A session on another machine that wrote nothing for so long is gone."""


@dataclass(frozen=True, slots=True)
class Order:
    """What somebody wants to have discovered."""

    queries: tuple[str, ...]
    engines: tuple[str, ...]
    profile: str
    threshold: float
    per_query: int
    """Most results of each engine for each query; 0: all there are."""

    @property
    def key(self) -> str:
        parts = [self.queries, self.engines, self.profile, self.threshold, self.per_query]
        return sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Session:
    """A session as it stands."""

    id: int
    order: Order
    state: str
    stats: Stats
    started_by: str
    started_at: datetime
    finished_at: datetime | None


def begin(conn: Connection, order: Order, actor: Actor) -> tuple[Session, bool]:
    """The session for this order, and whether it goes on with an interrupted one. ConflictError: somebody is at it."""
    conn.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"discover {order.key}", 0))))
    query = select(discovery_sessions.c.id, discovery_sessions.c.worker, discovery_sessions.c.state, _age()).where(
        discovery_sessions.c.order_key == order.key, discovery_sessions.c.state != "finished"
    )
    known = conn.execute(query).one_or_none()
    if known is None:
        values = {
            "profile": order.profile,
            "queries": list(order.queries),
            "engines": list(order.engines),
            "per_query": order.per_query,
            "threshold": order.threshold,
            "order_key": order.key,
            "started_by": actor.id,
            "worker": str(this_worker()),
        }
        session_id: int = conn.execute(
            insert(discovery_sessions).values(values).returning(discovery_sessions.c.id)
        ).scalar_one()
        told: JsonValue = {
            "queries": list(order.queries[:20]),
            "engines": list(order.engines),
            "profile": order.profile,
        }
        record(conn, actor, Subject("discovery_session", str(session_id), session_id), Act("start", details=told))
        return get(conn, session_id), False
    if known.state == "running" and _is_at_it(known.worker, known.silent_seconds):
        raise ConflictError(
            f"session {known.id} is at this already", hint="wait for it, or look: bailiwick discover --sessions"
        )
    mine = {"state": "running", "worker": str(this_worker()), "seen_at": func.bailiwick_now()}
    conn.execute(update(discovery_sessions).where(discovery_sessions.c.id == known.id).values(mine))
    return get(conn, known.id), True


def _age() -> "Label[int]":
    return func.extract("epoch", func.bailiwick_now() - discovery_sessions.c.seen_at).label("silent_seconds")


def _is_at_it(worker: str | None, silent_seconds: float) -> bool:
    if worker is None:
        return False
    name = WorkerName.parse(worker)
    if name.machine == this_worker().machine:
        return name.is_alive
    return float(silent_seconds) < _SILENT_SECONDS


def save(conn: Connection, session_id: int, stats: Stats) -> None:
    """How far it is; in the transaction that makes it so. ConflictError if another process has taken it over."""
    _write(conn, session_id, {"stats": stats.model_dump()})


def _write(conn: Connection, session_id: int, values: Mapping[str, object]) -> None:
    """Whoever writes is still at it, and tells so."""
    told = {**values, "seen_at": func.bailiwick_now()}
    if conn.execute(update(discovery_sessions).where(*_mine(session_id)).values(told)).rowcount != 1:
        raise ConflictError(f"session {session_id} was taken over", hint="another process goes on with it")


def _mine(session_id: int) -> tuple[ColumnElement[bool], ...]:
    return discovery_sessions.c.id == session_id, discovery_sessions.c.worker == str(this_worker())


def stop(conn: Connection, session_id: int) -> None:
    """It was interrupted; ordering the same again goes on with it. One that another process took over is left to it."""
    conn.execute(update(discovery_sessions).where(*_mine(session_id)).values(state="stopped", worker=None))


def finish(conn: Connection, session_id: int, stats: Stats, actor: Actor) -> None:
    """All is done: what engines answered is not needed any more."""
    save(conn, session_id, stats)
    ended = {"state": "finished", "finished_at": func.bailiwick_now(), "worker": None}
    conn.execute(update(discovery_sessions).where(discovery_sessions.c.id == session_id).values(ended))
    conn.execute(update(engine_calls).where(engine_calls.c.session_id == session_id).values(answer=null()))
    act = Act("finish", details=stats.model_dump())
    record(conn, actor, Subject("discovery_session", str(session_id), session_id), act)


def get(conn: Connection, session_id: int) -> Session:
    row = conn.execute(_sessions().where(discovery_sessions.c.id == session_id)).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no session {session_id}", hint="bailiwick discover --sessions lists them")
    return _session(row)


def latest(conn: Connection, *, limit: int, before: int | None = None) -> list[Session]:
    """The newest first."""
    query = _sessions().order_by(discovery_sessions.c.id.desc()).limit(limit)
    if before is not None:
        query = query.where(discovery_sessions.c.id < before)
    return [_session(row) for row in conn.execute(query)]


def add_call(conn: Connection, session_id: int, call: Call, answer: EngineAnswer | None) -> None:
    """For the record. With the answer where asking again would cost: it is kept until the session is finished.

    ConflictError if another process has taken the session over: what it asks need not be paid for twice.
    """
    _write(conn, session_id, {})
    values: dict[str, object] = {
        "session_id": session_id,
        "engine": call.engine,
        "query": call.query,
        "page": call.page,
        "outcome": call.outcome.value,
        "status": call.status,
        "hits": call.hits,
        "cost": call.cost,
        "milliseconds": call.milliseconds,
        "why": _storable(call.why)[:1000] or None,
    }
    if answer is not None and answer.outcome is EngineOutcome.ANSWERED:
        hits = [[_storable(hit.url), _storable(hit.title), _storable(hit.snippet), hit.position] for hit in answer.hits]
        values["answer"] = {"hits": hits, "has_more": answer.has_more}
    conn.execute(insert(engine_calls).values(values))


@dataclass(frozen=True, slots=True)
class Asked:
    """How often engines were asked in a session, and what that cost."""

    calls: int
    cost: float


def asked(conn: Connection, session_id: int) -> Asked:
    """By the record of calls: also what was asked in the moments before it was interrupted."""
    counted = select(func.count(), func.coalesce(func.sum(engine_calls.c.cost), 0.0))
    calls, cost = conn.execute(counted.where(engine_calls.c.session_id == session_id)).one()
    return Asked(calls, round(cost, 6))


def kept_answers(conn: Connection, session_id: int) -> dict[tuple[str, str, int], EngineAnswer]:
    """What was answered before this session was interrupted, by engine, query and page."""
    query = select(engine_calls.c.engine, engine_calls.c.query, engine_calls.c.page, engine_calls.c.answer).where(
        engine_calls.c.session_id == session_id, engine_calls.c.answer.is_not(None)
    )
    return {
        (row.engine, row.query, row.page): EngineAnswer(
            EngineOutcome.ANSWERED,
            tuple(EngineHit(*hit) for hit in row.answer["hits"]),
            has_more=row.answer["has_more"],
        )
        for row in conn.execute(query)
    }


@dataclass(frozen=True, slots=True)
class FailedCall:
    """What an engine did not answer, and why."""

    at: datetime
    engine: str
    query: str
    page: int
    outcome: str
    status: int | None
    why: str | None


def failed_calls(conn: Connection, session_id: int, *, limit: int) -> list[FailedCall]:
    """The first ones, for people."""
    call = engine_calls.c
    query = select(call.asked_at, call.engine, call.query, call.page, call.outcome, call.status, call.why)
    failed = query.where(call.session_id == session_id, call.outcome != EngineOutcome.ANSWERED.value)
    return [FailedCall(*row) for row in conn.execute(failed.order_by(call.id).limit(limit))]


def _storable(text: str) -> str:
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def _sessions() -> "Select[tuple[object, ...]]":
    return select(discovery_sessions, members.c.name.label("starter")).join(
        members, members.c.id == discovery_sessions.c.started_by
    )


def _session(row: Row[tuple[object, ...]]) -> Session:
    order = Order(tuple(row.queries), tuple(row.engines), row.profile, row.threshold, row.per_query)
    return Session(
        id=row.id,
        order=order,
        state=row.state,
        stats=Stats.model_validate(row.stats),
        started_by=row.starter,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )
