"""Decisions to learn from: a hidden liking that signals and the page's embedding show in part."""

from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection, insert

from bailiwick.base.bands import DEFAULT_BANDS, Bands
from bailiwick.db.tables import labels
from bailiwick.learn.examples import Example
from bailiwick.ledger.events import Actor

BANDS = Bands.of(DEFAULT_BANDS)
DIMENSIONS = 32


def examples(count: int = 160, *, seed: int = 1, noise: float = 1.0) -> list[Example]:
    """Three signals, of which one is often missing and one says nothing; a text now and then missing."""
    draw = np.random.default_rng(seed)
    found = []
    for number in range(count):
        care, topic = draw.normal(size=2)
        vector = draw.normal(size=DIMENSIONS) * 0.1
        vector[3] += topic * 0.3
        said = 1 / (1 + np.exp(-care))
        found.append(
            Example(
                label_id=number + 1,
                subject=f"https://site{number // 2}.example/{number}",
                is_wanted=bool(care + topic + noise * 0.5 * draw.normal() > 0),
                signals={
                    "care": float(care + 0.3 * draw.normal()),
                    "age": None if draw.random() < 0.3 else float(200 * care + 500),
                    "luck": float(draw.random()),
                },
                confidence=float(np.clip(said + 0.1 * draw.normal(), 0, 1)),
                embedding=None if draw.random() < 0.1 else vector.astype("<f2").tobytes(),
            )
        )
    return found


def keep_review(conn: Connection, given: list[Example], actor: Actor, **more: Any) -> None:
    """As the queue writes them."""
    conn.execute(
        insert(labels),
        [
            {
                "task": "review",
                "subject": one.subject,
                "profile": "general",
                "is_wanted": one.is_wanted,
                "material": {
                    "signals": dict(one.signals),
                    "confidence": one.confidence,
                    "evidence_confidence": one.confidence,
                    "band": BANDS.band(one.confidence).name,
                    "action": BANDS.band(one.confidence).action,
                    "learned_probability": None,
                    "model_id": None,
                    **more,
                },
                "decided_by": actor.id,
                "embedding": one.embedding,
            }
            for one in given
        ],
    )


def keep_scored(
    conn: Connection, actor: Actor, at: datetime, probability: float, *, is_wanted: bool, model_id: int | None = None
) -> None:
    """A decision about what a model had scored."""
    material = {"signals": {}, "confidence": 0.6, "learned_probability": probability, "model_id": model_id}
    values = {"task": "review", "subject": "https://a.example/", "profile": "general", "is_wanted": is_wanted}
    conn.execute(insert(labels).values(**values, material=material, decided_by=actor.id, decided_at=at))
