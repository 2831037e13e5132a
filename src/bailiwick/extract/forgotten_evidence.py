"""Evidence of evaluations without what people wanted forgotten: what is kept already, and what is about to be."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue
from sqlalchemy import Connection, Row, text

from bailiwick.extract.personal import REMOVED, IsForgotten, without
from bailiwick.model.layers import Proof, Proofs

_CHUNK = 500
_FOUND = text("""
    select id, title, reasoning, evidence, layer3_results from evaluations
    where id > :after and concat_ws(' ', title, reasoning, evidence::text, layer3_results::text)
                          ~* any(cast(:patterns as text[]))
    order by id limit :most""")
_CHANGE = text("""
    update evaluations set title = :title, reasoning = :reasoning, evidence = cast(:evidence as jsonb),
        layer3_results = cast(:layer3_results as jsonb)
    where id = :id""")


def clean_evaluations(conn: Connection, patterns: Sequence[str], is_forgotten: IsForgotten) -> int:
    """Take it out of what was found and said about pages. How many evaluations held it?"""
    changed = 0
    for row in _holding(conn, patterns):
        new = {
            "title": None if row.title is None else without(row.title, is_forgotten),
            "reasoning": without(row.reasoning, is_forgotten) or REMOVED,
            "evidence": _evidence_without(row.evidence, is_forgotten),
            "layer3_results": without(row.layer3_results, is_forgotten),
        }
        if any(value != getattr(row, name) for name, value in new.items()):
            as_json = {name: json.dumps(new[name], ensure_ascii=False) for name in ("evidence", "layer3_results")}
            conn.execute(_CHANGE, {"id": row.id, **new, **as_json})
            changed += 1
    return changed


def proofs_without(proofs: Mapping[str, Proofs], is_forgotten: IsForgotten) -> dict[str, Proofs]:
    """The same for evidence that is not kept yet, by layer."""
    return {
        layer: {name: tuple(_proof_without(proof, is_forgotten) for proof in some) for name, some in found.items()}
        for layer, found in proofs.items()
    }


def _proof_without(proof: Proof, is_forgotten: IsForgotten) -> Proof:
    return Proof.model_validate(_told_without(proof.stored(), is_forgotten))


def _evidence_without(evidence: JsonValue, is_forgotten: IsForgotten) -> JsonValue:
    """By layer, then by name: lists of proofs."""
    if not isinstance(evidence, dict):
        return without(evidence, is_forgotten)
    return {
        layer: {name: [_told_without(proof, is_forgotten) for proof in some] for name, some in found.items()}  # type: ignore[union-attr]
        for layer, found in evidence.items()
    }


def _told_without(proof: JsonValue, is_forgotten: IsForgotten) -> JsonValue:
    """That something was found stays true: a proof that was nothing but the value says that it is gone."""
    kept = without(proof, is_forgotten)
    return {**kept, "text": kept.get("text") or REMOVED} if isinstance(kept, dict) else kept


def _holding(conn: Connection, patterns: Sequence[str]) -> Iterator[Row[Any]]:
    after = 0
    while rows := conn.execute(_FOUND, {"after": after, "patterns": list(patterns), "most": _CHUNK}).all():
        yield from rows
        after = rows[-1].id
