"""Forgets personal data: takes it out of items of all history and what was made of them, and keeps it from coming back.

What is remembered is a keyed hash of each value. The key lies in the same database: it keeps values from being read or
guessed off a list of hashes alone, not from somebody who holds the whole database and has a guess to test.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue, ValidationError
from sqlalchemy import Connection, bindparam, func, select, text
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, insert

from bailiwick.base.errors import UsageError
from bailiwick.db.tables import forgotten, forgotten_key
from bailiwick.extract.forgotten_evidence import clean_evaluations, proofs_without
from bailiwick.extract.page import Extracted
from bailiwick.extract.personal import REMOVED, IsForgotten, Personal, PersonalKind, personal, personal_in, without
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.model.items import Item, ItemKind, Reject
from bailiwick.model.layers import Proofs
from bailiwick.model.schemas import SCHEMAS
from bailiwick.model.search import PageKey
from bailiwick.registry.permission import ADMINS, require

_CHUNK = 500
_LOCK = 0x466F7267
"""Held by all who write items, and alone by whoever forgets."""
_FIRST_KEY = select(forgotten_key.c.key).order_by(forgotten_key.c.id).limit(1)
_MOST_VALUES = 100


@dataclass(slots=True)
class Forgetting:
    """What a forget came to, or would come to."""

    items_removed: int = 0
    items_changed: int = 0
    evaluations: int = 0
    """Evaluations whose evidence or reasoning held a value."""
    elsewhere: int = 0
    """Rejects, messages and answers of models that held a value."""
    pages: set[PageKey] = field(default_factory=set)
    numbers: set[Personal] = field(default_factory=set)
    """Whole numbers that were meant by one without its country."""

    @property
    def items(self) -> int:
        return self.items_removed + self.items_changed


def understood(given: Sequence[str]) -> list[Personal]:
    """What is to be forgotten. UsageError for what is no address, number or full name."""
    if len(given) > _MOST_VALUES:
        raise UsageError(f"{len(given)} values at once are too many", hint=f"at most {_MOST_VALUES}")
    found = []
    for text_given in given:
        value = personal(text_given)
        if value is None:
            raise UsageError(
                f"{text_given!r} is no e-mail address, no telephone number and no full name",
                hint="jo@example.org, +4930123456 or 'Jo Doe'",
            )
        found.append(value)
    return found


def preview(conn: Connection, values: Sequence[Personal]) -> Forgetting:
    """What forgetting would touch, without doing it."""
    return _go_over(conn, values, is_real=False)


def forget(conn: Connection, values: Sequence[Personal], actor: Actor, *, reason: str | None = None) -> Forgetting:
    """Forget values, with an event that does not tell them. Twice is the same as once. Admins only.

    Whoever calls it has the pages' search documents made anew in the same transaction.
    """
    require(actor, ADMINS)
    # Whoever writes items holds the other half of this lock: what is written next is written without these values.
    conn.execute(text("select pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    done = _go_over(conn, values, is_real=True)
    _remember(conn, [*values, *done.numbers])
    done.evaluations = clean_evaluations(conn, _patterns(values), lambda value: _is_meant(value, values))
    done.elsewhere = _clean_elsewhere(conn, values)
    kinds = [value.kind.value for value in values]
    details: dict[str, JsonValue] = {
        "values": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
        "items_removed": done.items_removed,
        "items_changed": done.items_changed,
        "pages": len(done.pages),
        "evaluations": done.evaluations,
    }
    record(conn, actor, Subject("contact", "personal data"), Act("forget", reason=reason, details=details))
    return done


def without_forgotten(conn: Connection, found: Sequence[Extracted]) -> list[Extracted]:
    """Pages as extracted, without what was forgotten before. Two small questions where nothing ever was."""
    conn.execute(text("select pg_advisory_xact_lock_shared(:key)"), {"key": _LOCK})
    key = _key_in_use(conn)
    if key is None:
        return list(found)
    seen = {value for one in found for item in one.items for value in personal_in(item.data)}
    seen |= {value for one in found for reject in one.rejects for value in personal_in(reject.value)}
    known = _known(conn, key, seen)
    if not known:
        return list(found)
    return [_page_without(one, known.__contains__) for one in found]


def evidence_without_forgotten(conn: Connection, proofs: Mapping[str, Proofs]) -> Mapping[str, Proofs]:
    """What an evaluation rests on, without what was forgotten before. To be called where it is written."""
    conn.execute(text("select pg_advisory_xact_lock_shared(:key)"), {"key": _LOCK})
    key = _key_in_use(conn)
    if key is None:
        return proofs
    every = [proof.stored() for found in proofs.values() for some in found.values() for proof in some]
    known = _known(conn, key, {value for proof in every for value in personal_in(proof)})
    return proofs_without(proofs, known.__contains__) if known else proofs


def _page_without(found: Extracted, is_forgotten: IsForgotten) -> Extracted:
    items = [kept for item in found.items if (kept := _item_without(item, is_forgotten)) is not None]
    rejects = [_reject_without(reject, is_forgotten) for reject in found.rejects]
    return replace(found, items=items, rejects=rejects)


def _item_without(item: Item, is_forgotten: IsForgotten) -> Item | None:
    """A contact of somebody forgotten is none; out of other items the value is taken, if they hold without it."""
    data = without(item.data, is_forgotten)
    if data == item.data:
        return item
    if item.kind is ItemKind.CONTACT or not isinstance(data, dict):
        return None
    try:
        SCHEMAS[item.kind].model_validate(data)
    except (ValidationError, KeyError):
        return None
    return replace(item, data=data)


def _reject_without(reject: Reject, is_forgotten: IsForgotten) -> Reject:
    is_hit = any(is_forgotten(value) for value in personal_in(reject.value))
    return replace(reject, value=REMOVED) if is_hit else reject


def _go_over(conn: Connection, values: Sequence[Personal], *, is_real: bool) -> Forgetting:
    """All items that hold one of the values, whatever snapshot they are of."""
    wanted = set(values)

    done = Forgetting()

    def is_forgotten(value: Personal) -> bool:
        if value not in wanted and _is_meant(value, values):
            done.numbers.add(value)
        return _is_meant(value, values)

    for row_id, page, item in _holding(conn, values):
        kept = _item_without(item, is_forgotten)
        if kept is item:
            continue
        done.pages.add(page)
        done.items_removed += kept is None
        done.items_changed += kept is not None
        if is_real:
            _write(conn, row_id, kept)
    for value in wanted:
        if _is_bare(value) and not any(_is_same_number(number, value) for number in done.numbers):
            raise UsageError(
                f"nothing is kept of a number that ends with {value.value}, and without its country it means nothing",
                hint="give it with its country: +49…",
            )
    return done


def _is_meant(value: Personal, given: Sequence[Personal]) -> bool:
    return value in given or any(_is_same_number(value, one) for one in given)


def _is_bare(value: Personal) -> bool:
    return value.kind is PersonalKind.TELEPHONE and value.value[0] != "+"


def _is_same_number(value: Personal, given: Personal) -> bool:
    """A number without its country means all that end like it."""
    return value.kind is PersonalKind.TELEPHONE and _is_bare(given) and value.value.endswith(given.value.lstrip("0"))


_ITEMS = text("""
    select id, domain_id, path_hash, kind, position, data, confidence, extractor, extractor_version, fields
    from items where id > :after and data::text ~* any(cast(:patterns as text[])) order by id limit :most
""")
_ELSEWHERE = (
    text("update item_rejects set value = '[removed]' where value ~* any(cast(:patterns as text[]))"),
    # Numbers in a message are those of pages: only its texts are looked at.
    text("""update outbox set payload = jsonb_build_object('removed', true)
            where exists (select 1 from jsonb_path_query(payload, 'strict $.** ? (@.type() == "string")') as found
                          where found #>> '{}' ~* any(cast(:patterns as text[])))"""),
    # No answer any more, so that the question is asked again; what it cost still counts.
    text("""update model_calls set answer = null, outcome = 'invalid'
            where answer::text ~* any(cast(:patterns as text[]))"""),
)


def _holding(conn: Connection, values: Sequence[Personal]) -> "Iterator[tuple[int, PageKey, Item]]":
    after, patterns = 0, _patterns(values)
    while True:
        rows = conn.execute(_ITEMS, {"after": after, "patterns": patterns, "most": _CHUNK}).all()
        for row in rows:
            item = Item(
                ItemKind(row.kind),
                row.position,
                row.data,
                row.confidence,
                row.extractor,
                row.extractor_version,
                row.fields,
            )
            yield row.id, PageKey(row.domain_id, row.path_hash), item
        if len(rows) < _CHUNK:
            return
        after = rows[-1].id


def _patterns(values: Sequence[Personal]) -> list[str]:
    """Regular expressions that find all texts that may hold a value, and some more: each is looked at closely then."""
    return [_LOOSE[value.kind](value.value) for value in values]


def _loose_email(address: str) -> str:
    """With anything short in the place of @ and dots: people write (at) and [dot]."""
    return ".{1,12}".join(map(re.escape, re.split("[@.]", address)))


def _loose_number(number: str) -> str:
    """Its last digits, whatever stands between them."""
    return "[^0-9]{0,4}".join(re.sub(r"\D", "", number).lstrip("0")[-_NUMBER_END:])


def _loose_name(name: str) -> str:
    """Its words with something short between them. One form of a name has ss where it is written with a sharp s."""
    return ".{1,5}".join(re.escape(word).replace("ss", "(?:ss|\u00df)") for word in name.split())


_LOOSE = {
    PersonalKind.EMAIL: _loose_email,
    PersonalKind.TELEPHONE: _loose_number,
    PersonalKind.NAME: _loose_name,
}
_NUMBER_END = 7


def _write(conn: Connection, row_id: int, kept: Item | None) -> None:
    if kept is None:
        conn.execute(text("delete from items where id = :id"), {"id": row_id})
        return
    conn.execute(
        text("""update items set data = cast(:data as jsonb), fields = cast(:fields as jsonb), content_hash = :hash,
                    updated_at = bailiwick_now()
                where id = :id"""),
        {
            "id": row_id,
            "data": json.dumps(kept.data, ensure_ascii=False),
            "fields": json.dumps({name: sure for name, sure in kept.fields.items() if name in kept.data}),
            "hash": kept.content_hash,
        },
    )


def _clean_elsewhere(conn: Connection, values: Sequence[Personal]) -> int:
    """Refused values, messages to listeners, remembered answers of models: what holds a value is emptied of it."""
    patterns = {"patterns": _patterns(values)}
    return sum(conn.execute(statement, patterns).rowcount for statement in _ELSEWHERE)


def _remember(conn: Connection, values: Sequence[Personal]) -> None:
    key = _key(conn)
    rows = [{"digest": value.digest(key), "kind": value.kind.value} for value in dict.fromkeys(values)]
    conn.execute(insert(forgotten).values(rows).on_conflict_do_nothing())


def _key(conn: Connection) -> bytes:
    return bytes(conn.execute(_FIRST_KEY).scalar_one())


def _key_in_use(conn: Connection) -> bytes | None:
    """The key, if anything was ever forgotten."""
    row = conn.execute(_FIRST_KEY.where(select(forgotten.c.digest).exists())).scalar_one_or_none()
    return None if row is None else bytes(row)


def _known(conn: Connection, key: bytes, values: "set[Personal]") -> set[Personal]:
    digests = {value.digest(key): value for value in values}
    if not digests:
        return set()
    asked = select(forgotten.c.digest).where(forgotten.c.digest == func.any(bindparam("digests", type_=ARRAY(BYTEA))))
    return {digests[bytes(digest)] for digest in conn.execute(asked, {"digests": list(digests)}).scalars()}
