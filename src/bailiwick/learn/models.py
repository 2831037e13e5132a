"""Fitted models: kept, listed, switched on and off by admins, each act with its event."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import JsonValue
from sqlalchemy import Connection, Row, func, insert, select, update
from sqlalchemy.sql import Select

from bailiwick.base.errors import ConflictError, NotFoundError
from bailiwick.db.tables import members, models
from bailiwick.learn.form import Form
from bailiwick.learn.report import Report
from bailiwick.learn.scorer import Scorer
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.registry.permission import ADMINS, require

STATES = ("trained", "active", "retired")


@dataclass(frozen=True, slots=True)
class Model:
    """One version of what was learned for a task and a profile."""

    id: int
    task: str
    profile: str
    version: int
    state: str
    labels: int
    last_label_id: int
    form: Form
    report: Report
    trained_by: str
    trained_at: datetime
    activated_by: str | None
    activated_at: datetime | None

    @property
    def name(self) -> str:
        return f"{self.task}/{self.profile}/{self.version}"

    @property
    def scorer(self) -> Scorer:
        return Scorer(self.id, self.version, self.form)


@dataclass(frozen=True, slots=True)
class Made:
    """A model that is not kept yet."""

    task: str
    profile: str
    labels: int
    last_label_id: int
    form: Form
    report: Report


def listed(
    conn: Connection, *, task: str | None = None, profile: str | None = None, limit: int = 50, before: int | None = None
) -> list[Model]:
    """The newest first, a page at a time."""
    query = _models().order_by(models.c.id.desc()).limit(limit)
    if task is not None:
        query = query.where(models.c.task == task)
    if profile is not None:
        query = query.where(models.c.profile == profile)
    if before is not None:
        query = query.where(models.c.id < before)
    return [_model(row) for row in conn.execute(query)]


def get(conn: Connection, model_id: int) -> Model:
    """One model, or NotFoundError."""
    row = conn.execute(_models().where(models.c.id == model_id)).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no model {model_id}", hint="bailiwick learn list")
    return _model(row)


def active(conn: Connection, task: str, profile: str) -> Model | None:
    where = (models.c.task == task, models.c.profile == profile, models.c.state == "active")
    row = conn.execute(_models().where(*where)).one_or_none()
    return None if row is None else _model(row)


def keep(conn: Connection, made: Made, actor: Actor) -> Model:
    """As the next version, which decides nothing yet."""
    require(actor, ADMINS)
    _one_at_a_time(conn, made.task, made.profile)
    same = (models.c.task == made.task, models.c.profile == made.profile)
    last: int = conn.execute(select(func.coalesce(func.max(models.c.version), 0)).where(*same)).scalar_one()
    model_id: int = conn.execute(
        insert(models)
        .values(
            task=made.task,
            profile=made.profile,
            version=last + 1,
            labels=made.labels,
            last_label_id=made.last_label_id,
            form=made.form.model_dump(mode="json"),
            report=made.report.model_dump(mode="json"),
            trained_by=actor.id,
        )
        .returning(models.c.id)
    ).scalar_one()
    model = get(conn, model_id)
    record(conn, actor, _subject(model), Act("train", after="trained", details=told(model)))
    return model


def activate(conn: Connection, model: Model, actor: Actor, *, reason: str | None = None) -> Model:
    """Switch a model on; the one that was on before is retired. ConflictError if it is on, or no longer as seen."""
    require(actor, ADMINS)
    _one_at_a_time(conn, model.task, model.profile)
    if model.state == "active":
        raise ConflictError(f"model {model.id} is in use already")
    before = active(conn, model.task, model.profile)
    if before is not None:
        _move(conn, before, "retired", {})
        because = f"version {model.version} is used instead"
        record(conn, actor, _subject(before), Act("retire", before="active", after="retired", reason=because))
    _move(conn, model, "active", {"activated_by": actor.id, "activated_at": func.bailiwick_now()})
    act = Act("activate", before=model.state, after="active", reason=reason, details=told(model))
    record(conn, actor, _subject(model), act)
    return get(conn, model.id)


def retire(conn: Connection, model: Model, actor: Actor, *, reason: str | None = None) -> Model:
    """Switch a model off: the bands go by the evidence alone again. ConflictError if it is not on."""
    require(actor, ADMINS)
    _one_at_a_time(conn, model.task, model.profile)
    if model.state != "active":
        raise ConflictError(f"model {model.id} is not in use; it is {model.state}")
    _move(conn, model, "retired", {})
    record(conn, actor, _subject(model), Act("retire", before="active", after="retired", reason=reason))
    return get(conn, model.id)


def told(model: Model) -> dict[str, JsonValue]:
    """The figures that an admin decides by."""
    compared = model.report.comparison
    return {
        "labels": model.labels,
        "auc": round(model.report.auc, 4),
        "brier": round(model.report.brier, 4),
        "reviews_with_bands": compared.bands.to_people,
        "reviews_with_model": compared.model.to_people,
        "precision_approved_wanted": round(compared.approve.precision, 4),
        "precision_approved": _rounded(compared.model.precision_approved),
        "precision_rejected_wanted": round(compared.reject.precision, 4),
        "precision_rejected": _rounded(compared.model.precision_rejected),
        "saved_share": _rounded(compared.saved_share),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _move(conn: Connection, model: Model, state: str, changes: Mapping[str, object]) -> None:
    moved = conn.execute(
        update(models).where(models.c.id == model.id, models.c.state == model.state).values(state=state, **changes)
    )
    if moved.rowcount != 1:
        raise ConflictError(f"model {model.id} is no longer {model.state}", hint=f"bailiwick learn show {model.id}")


def _one_at_a_time(conn: Connection, task: str, profile: str) -> None:
    """Two admins who switch at once do so one after the other."""
    conn.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"learn {task} {profile}", 0))))


def _subject(model: Model) -> Subject:
    return Subject("model", model.name, model.id)


def _models() -> "Select[Any]":
    trainer, activator = members.alias(), members.alias()
    return (
        select(models, trainer.c.name.label("trainer"), activator.c.name.label("activator"))
        .join(trainer, trainer.c.id == models.c.trained_by)
        .outerjoin(activator, activator.c.id == models.c.activated_by)
    )


def _model(row: Row[Any]) -> Model:
    return Model(
        id=row.id,
        task=row.task,
        profile=row.profile,
        version=row.version,
        state=row.state,
        labels=row.labels,
        last_label_id=row.last_label_id,
        form=Form.model_validate(row.form),
        report=Report.model_validate(row.report),
        trained_by=row.trainer,
        trained_at=row.trained_at,
        activated_by=row.activator,
        activated_at=row.activated_at,
    )
