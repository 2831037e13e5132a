"""What people decided, as examples to learn from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any
from urllib.parse import urlsplit

from pydantic import JsonValue
from sqlalchemy import Connection, Row, Select, select

from bailiwick.base.errors import UsageError
from bailiwick.db.tables import labels
from bailiwick.evidence.embedding import shipped_embedder
from bailiwick.model.words import words_of

TASKS = ("review", "candidate")
MOST_LABELS = 20_000
"""Of more, the newest: what people want changes, and fitting takes time."""
_EMBEDDED_WORDS = 250


@dataclass(frozen=True, slots=True)
class Example:
    """One decision, and what there was to go by."""

    label_id: int
    subject: str
    is_wanted: bool
    signals: Mapping[str, float | None]
    confidence: float
    """By the evidence alone, whatever a model said then."""
    embedding: bytes | None
    is_guided: bool = False
    """A model had chosen whom people see when this was decided."""

    @property
    def host(self) -> str:
        return urlsplit(self.subject).hostname or self.subject


def known_task(task: str) -> str:
    if task not in TASKS:
        raise UsageError(f"there is no task {task!r}", hint=f"there are {' and '.join(TASKS)}")
    return task


def gather(conn: Connection, task: str, profile: str, *, most: int = MOST_LABELS) -> list[Example]:
    """The newest decisions, oldest first; of several about the same subject the last one."""
    newest: Select[Any] = (
        select(labels.c.id, labels.c.subject, labels.c.is_wanted, labels.c.material, labels.c.embedding)
        .where(labels.c.task == known_task(task), labels.c.profile == profile)
        .order_by(labels.c.id.desc())
        .limit(most)
    )
    last: dict[str, tuple[Example, str]] = {}
    for row in conn.execute(newest):
        if row.subject not in last:
            last[row.subject] = _example(row, task), _text(row.material)
    found, texts = [one for one, _ in reversed(last.values())], [text for _, text in reversed(last.values())]
    return found if task == "review" else embedded(found, texts)


def embedded(found: Sequence[Example], texts: Sequence[str]) -> list[Example]:
    """With embeddings of these texts where there are none yet; as they are without the extra `content`."""
    vectors = embeddings_of(texts)
    return [
        replace(one, embedding=vector) if one.embedding is None else one
        for one, vector in zip(found, vectors, strict=True)
    ]


def embeddings_of(texts: Sequence[str]) -> list[bytes | None]:
    """As they are stored: float16, little endian. None where there is no text, or no extra `content`."""
    embedder = shipped_embedder()
    if embedder is None:
        return [None] * len(texts)
    vectors = embedder.embed([words_of(text)[:_EMBEDDED_WORDS] for text in texts]).astype("<f2")
    return [vector.tobytes() if vector.any() else None for vector in vectors]


def _text(material: Mapping[str, JsonValue]) -> str:
    """Of a candidate."""
    return " ".join(str(material.get(name) or "") for name in ("title", "snippet"))


def _example(row: Row[Any], task: str) -> Example:
    material: Mapping[str, JsonValue] = row.material
    confidence = _number(material.get("evidence_confidence"))
    return Example(
        label_id=row.id,
        subject=row.subject,
        is_wanted=row.is_wanted,
        signals=_signals(material) if task == "review" else _judges(material),
        confidence=confidence if confidence is not None else _number(material.get("confidence")) or 0.0,
        embedding=None if row.embedding is None else bytes(row.embedding),
        is_guided=material.get("model_id") is not None,
    )


def _signals(material: Mapping[str, JsonValue]) -> dict[str, float | None]:
    found = material.get("signals")
    return {name: _number(value) for name, value in found.items()} if isinstance(found, dict) else {}


def _judges(material: Mapping[str, JsonValue]) -> dict[str, float | None]:
    found = material.get("judge_scores")
    scores = [score for score in found if isinstance(score, dict)] if isinstance(found, list) else []
    return {str(score["judge_name"]): _number(score.get("score")) for score in scores if "judge_name" in score}


def _number(value: JsonValue) -> float | None:
    """Booleans count 0 and 1."""
    return float(value) if isinstance(value, int | float) and isfinite(value) else None
