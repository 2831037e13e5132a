"""The verbs by which admins look after members, and by which members come in. Each leaves an event."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, func, select, update
from sqlalchemy.dialects.postgresql import insert

from bailiwick.accounts import links, sessions
from bailiwick.accounts.links import Kind
from bailiwick.accounts.members import SYSTEM_NAME, find, member_name
from bailiwick.accounts.passwords import is_password
from bailiwick.base.errors import ConflictError, NotAllowedError, NotFoundError, UsageError
from bailiwick.base.review_sections import Email
from bailiwick.db.tables import members
from bailiwick.ledger import deliveries
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.ledger.move import Move, Seen, move
from bailiwick.model.states import Role
from bailiwick.model.transitions import MEMBER

ROLES = (Role.SUBMITTER, Role.VIEWER, Role.REVIEWER, Role.ADMIN)


@dataclass(frozen=True, slots=True)
class Member:
    """One member, as a list shows it."""

    id: int
    name: str
    role: str
    state: str
    has_password: bool
    has_email: bool
    created_at: datetime
    version: int


def add(conn: Connection, name: str, role: Role, actor: Actor) -> str:
    """A new member; returns the word of the invitation by which it sets its password."""
    _require_admin(actor)
    _refuse_system(role)
    wanted = member_name(name)
    added = conn.execute(
        insert(members).values(name=wanted, role=role, state="active").on_conflict_do_nothing().returning(members.c.id)
    ).scalar()
    if added is None or wanted == SYSTEM_NAME:
        raise ConflictError(f"there is a member {wanted} already", hint="bailiwick member list shows them")
    act = Act("join", after="active", details={"role": role})
    record(conn, actor, Subject("member", wanted, added), act)
    return links.make(conn, Kind.INVITATION, Actor(added, wanted, role), actor)


def listing(conn: Connection, *, limit: int, after: str | None = None) -> list[Member]:
    """One page of members, in the order of their names; the system is not among them."""
    query = (
        select(members)
        .where(members.c.role != Role.SYSTEM, members.c.name > (after or ""))
        .order_by(members.c.name)
        .limit(limit)
    )
    return [_member(row._asdict()) for row in conn.execute(query)]


def get(conn: Connection, name: str) -> Member:
    """A member by name, active or not."""
    row = conn.execute(
        select(members).where(members.c.name == member_name(name), members.c.role != Role.SYSTEM)
    ).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no member {name!r}", hint="bailiwick member list shows them")
    return _member(row._asdict())


def disable(conn: Connection, name: str, actor: Actor, *, reason: str) -> Member:
    """From now on this member can neither log in nor act; what it did stays. The last admin stays, too."""
    known = get(conn, name)
    if known.role == Role.ADMIN:
        _refuse_last_admin(conn, known)
    move(conn, Move(MEMBER, known.id, "disable", Seen(known.state, known.version), reason), actor)
    links.void(conn, known.id)
    sessions.end_all(conn, known.id)
    return get(conn, name)


def enable(conn: Connection, name: str, actor: Actor, *, reason: str | None = None) -> Member:
    known = get(conn, name)
    move(conn, Move(MEMBER, known.id, "enable", Seen(known.state, known.version), reason), actor)
    return get(conn, name)


def set_role(conn: Connection, name: str, role: Role, actor: Actor, *, reason: str | None = None) -> Member:
    """Give a member another role; its sessions feel it with the next request."""
    _require_admin(actor)
    _refuse_system(role)
    known = get(conn, name)
    if known.role == Role.ADMIN and role != Role.ADMIN:
        _refuse_last_admin(conn, known)
    if known.role != role:
        changed = update(members).where(members.c.id == known.id, members.c.version == known.version)
        if not conn.execute(changed.values(role=role, version=known.version + 1)).rowcount:
            raise ConflictError(f"{known.name} has changed meanwhile", hint="look at it again")
        act = Act("change_role", before=known.role, after=role, reason=reason)
        record(conn, actor, Subject("member", known.name, known.id), act)
    return get(conn, name)


def set_email(conn: Connection, name: str, address: str | None, actor: Actor) -> Member:
    """Where a member is told of decisions; None: nowhere, and what waits for the old address goes.

    One's own, or by an admin. The trail says that it was done, not the address.
    """
    known = get(conn, name)
    if known.id != actor.id:
        _require_admin(actor)
    wanted = _checked_email(address)
    row = select(members.c.email).where(members.c.id == known.id).with_for_update()
    before = conn.execute(row).scalar()
    if before != wanted:
        conn.execute(update(members).where(members.c.id == known.id).values(email=wanted))
        verb = "remove_email" if wanted is None else "set_email"
        record(conn, actor, Subject("member", known.name, known.id), Act(verb))
        if before is not None:
            deliveries.forget(conn, before)
    return get(conn, name)


def reset_password(conn: Connection, name: str, actor: Actor) -> str:
    """The old password is void and every session ends; returns the word of a link that sets a new one."""
    _require_admin(actor)
    member = find(conn, name)
    if member.role is Role.SYSTEM:
        raise UsageError("the system never logs in")
    conn.execute(update(members).where(members.c.id == member.id).values(password_hash=None))
    sessions.end_all(conn, member.id)
    return links.make(conn, Kind.RESET, member, actor)


def first_link(conn: Connection, operator: Actor) -> str | None:
    """A link for the operator's own member, as long as no admin can log in; None afterwards, and for others."""
    if operator.role is not Role.ADMIN:
        return None
    able = (
        select(func.count())
        .select_from(members)
        .where(members.c.role == Role.ADMIN, members.c.state == "active", members.c.password_hash.is_not(None))
    )
    return None if conn.execute(able).scalar_one() else links.make(conn, Kind.FIRST, operator, operator)


def authenticate(conn: Connection, name: str, password: str) -> Actor | None:
    """The member of this name and password, if it may act. As slow for a name that nobody has."""
    try:
        wanted = member_name(name)
    except UsageError:
        wanted = ""
    row = conn.execute(select(members).where(members.c.name == wanted)).one_or_none()
    if not is_password(password, row.password_hash if row is not None else None):
        return None
    if row is None or row.state != "active":
        return None
    return Actor(row.id, row.name, Role(row.role))


def change_password(conn: Connection, actor: Actor, *, old: str, new: str, session_id: int | None = None) -> None:
    """Set one's own password; every other session of one's own ends."""
    kept = conn.execute(select(members.c.password_hash).where(members.c.id == actor.id)).scalar()
    if not is_password(old, kept):
        raise UsageError("the old password is another one")
    links.set_password(conn, actor, new)
    sessions.end_all(conn, actor.id, but=session_id)


def _member(row: dict[str, object]) -> Member:
    return Member(
        id=int(str(row["id"])),
        name=str(row["name"]),
        role=str(row["role"]),
        state=str(row["state"]),
        has_password=row["password_hash"] is not None,
        has_email=row["email"] is not None,
        created_at=row["created_at"],  # type: ignore[arg-type]
        version=int(str(row["version"])),
    )


def _checked_email(address: str | None) -> str | None:
    if address is None:
        return None
    try:
        return TypeAdapter[str](Email).validate_python(address.strip())
    except ValidationError:
        raise UsageError(f"{address!r} is no e-mail address", hint="somebody@example.org") from None


def _require_admin(actor: Actor) -> None:
    if actor.role is not Role.ADMIN:
        raise NotAllowedError(f"{actor.name} ({actor.role}) may not do this", hint="this takes the role admin")


def _refuse_system(role: Role) -> None:
    if role is Role.SYSTEM:
        raise UsageError("nobody else is the system", hint="roles: " + ", ".join(ROLES))


def _refuse_last_admin(conn: Connection, member: Member) -> None:
    # Held, so that two admins cannot remove each other at the same moment.
    admins = (
        select(members.c.id)
        .where(members.c.role == Role.ADMIN, members.c.state == "active")
        .order_by(members.c.id)
        .with_for_update()
    )
    if list(conn.execute(admins).scalars()) == [member.id]:
        raise ConflictError(f"{member.name} is the only admin", hint="make another member an admin first")
