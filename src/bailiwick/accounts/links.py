"""One-time links: by them people come in. Each lets one member set a password once, within its time."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.sql import Select

from bailiwick.accounts.members import SYSTEM_NAME, find, member_name
from bailiwick.accounts.passwords import hash_password
from bailiwick.accounts.secrets import kept, new_secret
from bailiwick.accounts.sessions import end_all
from bailiwick.base.errors import ConflictError, NotFoundError, UsageError
from bailiwick.db.tables import members, one_time_links
from bailiwick.ledger.events import Act, Actor, Subject, record

_NOW = func.bailiwick_now()


class Kind(StrEnum):
    """What a link is for, and with it how long it holds."""

    FIRST = "first"
    INVITATION = "invitation"
    RESET = "reset"


HOURS = {Kind.FIRST: 24, Kind.INVITATION: 7 * 24, Kind.RESET: 24}


@dataclass(frozen=True, slots=True)
class Link:
    """One that can still be used."""

    kind: Kind
    member: Actor
    expires_at: datetime

    @property
    def may_rename(self) -> bool:
        """The operator's own first link: the name was the operating system's."""
        return self.kind is Kind.FIRST


def make(conn: Connection, kind: Kind, member: Actor, by: Actor) -> str:
    """A new link for this member; older ones are void. Returns the word that stands in it."""
    void(conn, member.id)
    word = new_secret()
    conn.execute(
        insert(one_time_links).values(
            token_hash=kept(word),
            kind=kind,
            member_id=member.id,
            made_by=by.id,
            expires_at=_NOW + func.make_interval(0, 0, 0, 0, HOURS[kind]),
        )
    )
    record(conn, by, Subject("member", member.name, member.id), Act(f"make_{kind}_link"))
    return word


def void(conn: Connection, member_id: int) -> None:
    """No link of this member's can be used any more."""
    conn.execute(
        update(one_time_links)
        .where(one_time_links.c.member_id == member_id, one_time_links.c.used_at.is_(None))
        .values(used_at=_NOW)
    )


def look(conn: Connection, word: str) -> Link:
    """What a link is for. NotFoundError if there is none, or it was used, or its time is over."""
    row = conn.execute(_usable(word)).one_or_none()
    if row is None:
        raise NotFoundError(
            "this link was used before, or its time is over",
            hint="ask an admin for another one: bailiwick member reset-password NAME",
        )
    return Link(Kind(row.kind), find(conn, row.name), row.expires_at)


def accept(conn: Connection, word: str, *, name: str, password: str) -> Actor:
    """Set the member's password (and, by the first link, its name). The link is void then; older sessions end."""
    link = look(conn, word)
    used = conn.execute(
        update(one_time_links)
        .where(one_time_links.c.token_hash == kept(word), one_time_links.c.used_at.is_(None))
        .values(used_at=_NOW)
    ).rowcount
    if not used:
        raise ConflictError("this link was just used")
    wanted = member_name(name) if link.may_rename else link.member.name
    _refuse_taken(conn, wanted, link.member)
    set_password(conn, replace(link.member, name=wanted), password)
    if wanted != link.member.name:
        conn.execute(update(members).where(members.c.id == link.member.id).values(name=wanted))
        act = Act("rename", before=link.member.name, after=wanted)
        record(conn, link.member, Subject("member", wanted, link.member.id), act)
    end_all(conn, link.member.id)
    return find(conn, wanted)


def set_password(conn: Connection, member: Actor, password: str) -> None:
    """Keep a new password. UsageError if it is none that may be kept."""
    if password.strip().lower() == member.name:
        raise UsageError("the password is the name", hint="a few words in a row are good")
    conn.execute(update(members).where(members.c.id == member.id).values(password_hash=hash_password(password)))
    record(conn, member, Subject("member", member.name, member.id), Act("set_password"))


def _refuse_taken(conn: Connection, name: str, member: Actor) -> None:
    taken = conn.execute(select(members.c.id).where(members.c.name == name)).scalar()
    if name == SYSTEM_NAME or taken not in (None, member.id):
        raise ConflictError(f"there is a member {name} already", hint="take another name")


def _usable(word: str) -> "Select[tuple[object, ...]]":
    return (
        select(one_time_links.c.kind, one_time_links.c.expires_at, members.c.name)
        .join(members, members.c.id == one_time_links.c.member_id)
        .where(
            one_time_links.c.token_hash == kept(word),
            one_time_links.c.used_at.is_(None),
            one_time_links.c.expires_at > _NOW,
            members.c.state == "active",
        )
    )
