"""Sessions: who is logged in where. Each is a random word in a cookie; it ends by time, by its owner or by an admin."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, func, insert, select, update

from bailiwick.accounts.secrets import kept, new_secret
from bailiwick.db.tables import members, sessions
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.model.states import Role

LASTS_DAYS = 30
IDLE_DAYS = 7
_REMEMBERED_DAYS = 90
_SEEN_SECONDS = 60
_NOW = func.bailiwick_now()


@dataclass(frozen=True, slots=True)
class Session:
    """One that is open, and whose it is."""

    id: int
    actor: Actor
    token_hash: bytes
    is_stale: bool = False
    """It was not noted for a while that it is used."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The words for the two cookies: the session itself, and the device, by which its owner is known later on."""

    token: str
    device: str


@dataclass(frozen=True, slots=True)
class OpenSession:
    """One session as its owner sees it."""

    id: int
    user_agent: str | None
    address: str | None
    created_at: datetime
    seen_at: datetime


def open_session(
    conn: Connection, actor: Actor, *, device: str | None, user_agent: str | None, address: str | None
) -> Opened:
    """A new session, with words that nobody had before; of the device, its own word if this member had it before."""
    word = device if device is not None and is_known_device(conn, actor.id, device) else new_secret()
    opened = Opened(new_secret(), word)
    conn.execute(
        insert(sessions).values(
            token_hash=kept(opened.token),
            device_hash=kept(opened.device),
            member_id=actor.id,
            user_agent=(user_agent or "")[:300] or None,
            address=address,
            expires_at=_NOW + func.make_interval(0, 0, 0, LASTS_DAYS),
        )
    )
    # What ended long ago is of no use any more, not even to know a device by.
    conn.execute(delete(sessions).where(sessions.c.expires_at < _NOW - func.make_interval(0, 0, 0, _REMEMBERED_DAYS)))
    record(conn, actor, Subject("member", actor.name, actor.id), Act("log_in", details={"address": address}))
    return opened


def find(conn: Connection, token: str) -> Session | None:
    """The open session of this word, of a member who may act."""
    late = sessions.c.seen_at < _NOW - func.make_interval(0, 0, 0, 0, 0, 0, _SEEN_SECONDS)
    row = conn.execute(
        select(
            sessions.c.id,
            sessions.c.token_hash,
            late.label("is_stale"),
            members.c.id.label("member_id"),
            members.c.name,
            members.c.role,
        )
        .join(members, members.c.id == sessions.c.member_id)
        .where(sessions.c.token_hash == kept(token), _is_open())
    ).one_or_none()
    if row is None:
        return None
    return Session(row.id, Actor(row.member_id, row.name, Role(row.role)), row.token_hash, row.is_stale)


def still_open(conn: Connection, hashes: Collection[bytes]) -> dict[bytes, Role]:
    """Those of these sessions that are still open, and the role that their member has now."""
    query = (
        select(sessions.c.token_hash, members.c.role)
        .join(members, members.c.id == sessions.c.member_id)
        .where(sessions.c.token_hash.in_(hashes), _is_open())
    )
    return {bytes(row.token_hash): Role(row.role) for row in conn.execute(query)}


def touch(conn: Connection, session_id: int) -> None:
    conn.execute(update(sessions).where(sessions.c.id == session_id).values(seen_at=_NOW))


def is_known_device(conn: Connection, member_id: int, device: str) -> bool:
    """Whether this member has logged in from there before."""
    found = exists().where(sessions.c.member_id == member_id, sessions.c.device_hash == kept(device))
    return conn.execute(select(found)).scalar_one()


def of_member(conn: Connection, member_id: int, *, limit: int = 50) -> list[OpenSession]:
    """A member's open sessions, the last used first."""
    query = (
        select(sessions.c.id, sessions.c.user_agent, sessions.c.address, sessions.c.created_at, sessions.c.seen_at)
        .join(members, members.c.id == sessions.c.member_id)
        .where(sessions.c.member_id == member_id, _is_open())
        .order_by(sessions.c.seen_at.desc())
        .limit(limit)
    )
    return [OpenSession(*row) for row in conn.execute(query)]


def end(conn: Connection, actor: Actor, session_id: int) -> bool:
    """End one of the actor's own sessions. Whether there was one."""
    done = conn.execute(
        update(sessions)
        .where(sessions.c.id == session_id, sessions.c.member_id == actor.id, sessions.c.ended_at.is_(None))
        .values(ended_at=_NOW)
    ).rowcount
    if done:
        record(conn, actor, Subject("member", actor.name, actor.id), Act("log_out"))
    return bool(done)


def end_all(conn: Connection, member_id: int, *, but: int | None = None) -> int:
    """End every session of a member (but one). How many there were."""
    query = update(sessions).where(sessions.c.member_id == member_id, sessions.c.ended_at.is_(None))
    if but is not None:
        query = query.where(sessions.c.id != but)
    return conn.execute(query.values(ended_at=_NOW)).rowcount


def _is_open() -> ColumnElement[bool]:
    return and_(
        sessions.c.ended_at.is_(None),
        sessions.c.expires_at > _NOW,
        sessions.c.seen_at > _NOW - func.make_interval(0, 0, 0, IDLE_DAYS),
        members.c.state == "active",
    )
