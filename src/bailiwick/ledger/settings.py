"""Settings that are kept in the database, with their history in the audit trail."""

from pydantic import JsonValue
from sqlalchemy import Connection, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from bailiwick.base.errors import SettingsError
from bailiwick.base.settings import SECRET, Loaded, Origin, check_value, environment_name, is_secret
from bailiwick.db.tables import settings
from bailiwick.ledger.events import Act, Actor, Event, Subject, latest, record


def stored(conn: Connection) -> dict[str, JsonValue]:
    """Every value that is kept in the database, by key."""
    return {row.key: row.value for row in conn.execute(select(settings.c.key, settings.c.value))}


def put(
    conn: Connection, loaded: Loaded, key: str, value: JsonValue, actor: Actor, *, reason: str | None = None
) -> JsonValue:
    """Keep a value, with its event. Refuses what the file or the environment would hide, and what is needed earlier."""
    _refuse_shadowed(loaded, key)
    checked = check_value(key, value)
    before = conn.execute(select(settings.c.value).where(settings.c.key == key).with_for_update()).scalar()
    row = {"key": key, "value": checked, "set_by": actor.id}
    conn.execute(
        insert(settings)
        .values(row)
        .on_conflict_do_update(
            index_elements=["key"],
            set_={**row, "set_at": func.bailiwick_now(), "version": settings.c.version + 1},
        )
    )
    record(conn, actor, Subject("setting", key), Act("set", _told(key, before), _told(key, checked), reason))
    return checked


def reset(conn: Connection, key: str, actor: Actor, *, reason: str | None = None) -> bool:
    """Forget the kept value, so that the default holds again. Says whether there was one."""
    before = conn.execute(delete(settings).where(settings.c.key == key).returning(settings.c.value)).scalar()
    if before is None:
        return False
    record(conn, actor, Subject("setting", key), Act("reset", _told(key, before), reason=reason))
    return True


def history(conn: Connection, key: str, *, limit: int) -> list[Event]:
    """Who set it to what, newest first."""
    return latest(conn, subject=Subject("setting", key), limit=limit)


def _told(key: str, value: JsonValue) -> JsonValue:
    """For the trail, which everybody may read."""
    return SECRET if value is not None and is_secret(key) else value


def _refuse_shadowed(loaded: Loaded, key: str) -> None:
    setting = loaded.setting(key)
    if not setting.in_database:
        raise SettingsError(
            f"{key} is needed before the database is open",
            hint=f"set it in bailiwick.toml or by {environment_name(key)}",
        )
    if setting.origin in (Origin.ENVIRONMENT, Origin.FILE):
        where = environment_name(key) if setting.origin is Origin.ENVIRONMENT else "bailiwick.toml"
        raise SettingsError(f"{key} is set in {where}, which wins over the database", hint=f"change it in {where}")
