"""Calls to language models as they are kept: answers to remember, and what today has cost. Nothing here commits."""

from dataclasses import dataclass
from decimal import Decimal

from pydantic import JsonValue
from sqlalchemy import Connection, func, null, select, text
from sqlalchemy.dialects.postgresql import insert

from bailiwick.db.tables import model_calls
from bailiwick.ports import ModelOutcome

# Word for word the condition of the index: a parameter in its place would not be known as the same.
_ANSWERED = text("outcome = 'answered'")
_KEY = ("input_hash", "purpose", "model", "prompt_version")


@dataclass(frozen=True, slots=True)
class CallKey:
    """What an answer is remembered by: the same content, asked the same by the same model, is asked once (P4)."""

    input_hash: bytes
    purpose: str
    model: str
    prompt_version: str


@dataclass(frozen=True, slots=True)
class Spent:
    """What calls have used since midnight UTC, by the database's clock."""

    tokens: int
    money: Decimal


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was made."""

    outcome: ModelOutcome
    answer: JsonValue
    tokens_in: int
    tokens_out: int
    cost: Decimal
    milliseconds: int


def remembered_answer(conn: Connection, key: CallKey) -> JsonValue:
    """The answer that was given before, or None."""
    table = model_calls.c
    answer: JsonValue = conn.execute(
        select(table.answer).where(
            table.input_hash == key.input_hash,
            table.purpose == key.purpose,
            table.model == key.model,
            table.prompt_version == key.prompt_version,
            _ANSWERED,
        )
    ).scalar_one_or_none()
    return answer


def spent_today(conn: Connection) -> Spent:
    """Of all models and purposes together. Calls that are under way are not in it yet."""
    table = model_calls.c
    midnight = func.date_trunc("day", func.bailiwick_now(), "UTC")
    row = conn.execute(
        select(
            func.coalesce(func.sum(table.tokens_in + table.tokens_out), 0).label("tokens"),
            func.coalesce(func.sum(table.cost), 0).label("money"),
        ).where(table.called_at >= midnight)
    ).one()
    return Spent(int(row.tokens), Decimal(row.money))


def record_call(conn: Connection, key: CallKey, call: Call) -> None:
    """Keep a call, whatever came of it. Of two answers to one question the first stays; the cost of both is kept."""
    row = insert(model_calls).values(
        input_hash=key.input_hash,
        purpose=key.purpose,
        model=key.model,
        prompt_version=key.prompt_version,
        outcome=call.outcome,
        answer=null() if call.answer is None else call.answer,  # not JSON's null
        tokens_in=call.tokens_in,
        tokens_out=call.tokens_out,
        cost=call.cost,
        milliseconds=call.milliseconds,
    )
    conn.execute(
        row.on_conflict_do_update(
            index_elements=list(_KEY),
            index_where=_ANSWERED,
            set_={
                name: getattr(model_calls.c, name) + getattr(row.excluded, name)
                for name in ("tokens_in", "tokens_out", "cost")
            },
        )
    )
