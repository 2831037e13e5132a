"""The settings tree: what can be set, and where each value came from.

Precedence: environment > file > database > default. Environment names are `BAILIWICK_` + section + `_` + name
(`BAILIWICK_DATABASE_URL`). No other module reads `os.environ` for settings.
"""

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from bailiwick.base.errors import SettingsError

ENV_PREFIX = "BAILIWICK_"
# Names with our prefix that are no settings: where to look, and what the tests read.
ENV_OTHER = frozenset({"BAILIWICK_HOME", "BAILIWICK_AS", "BAILIWICK_SUITES", "BAILIWICK_SPECS", "BAILIWICK_FAILPOINT"})
Seconds: TypeAlias = Annotated[int, Field(ge=0, le=10 * 365 * 86400)]
Tree: TypeAlias = dict[str, JsonValue]


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class DatabaseSettings(Section):
    """Needed before the database is open: environment or file only."""

    url: SecretStr | None = Field(
        None, description="PostgreSQL 15 or later to use instead of the embedded server (postgresql://…)."
    )
    prepared_statements: bool = Field(
        False,
        description="Use server-side prepared statements on `database.url`. "
        "Leave off behind PgBouncer in transaction mode. The embedded server always uses them.",
    )
    binaries: Path | None = Field(
        None,
        description="Directory with `postgres` and `initdb` for the embedded server, instead of looking for one.",
    )
    server_user: str | None = Field(
        None,
        description="Unprivileged system user that runs the embedded server when the command runs as root. "
        "Unset: `bailiwick`, `postgres` or `nobody`, whichever exists first.",
    )
    idle_stop_seconds: Seconds = Field(
        300, description="Stop the embedded server this long after its last use; 0 keeps it running."
    )
    stall_seconds: Seconds = Field(
        120, description="Give up on a starting server that has made no progress for this long."
    )
    connect_timeout_seconds: Seconds = Field(10, ge=2, description="Give up connecting to `database.url` after this.")
    lock_timeout_seconds: Seconds = Field(10, description="Longest wait for a lock in one statement; 0 waits for ever.")
    statement_timeout_seconds: Seconds = Field(
        120, description="Longest single statement of everyday work; 0 has no limit."
    )


class LogSettings(Section):
    """Needed before the database is open: environment or file only."""

    level: Literal["debug", "info", "warning", "error"] = Field("warning", description="Least level that is logged.")
    format: Literal["auto", "console", "json"] = Field(
        "auto", description="auto: console on a terminal, JSON lines elsewhere."
    )


class StorageSettings(Section):
    min_free_bytes: int = Field(1_000_000_000, ge=0, description="Writing work pauses below this much free disk.")
    min_free_percent: float = Field(2.0, ge=0, le=100, description="Writing work pauses below this share of free disk.")
    pack_bytes: int = Field(
        256_000_000, ge=1_000_000, le=4_000_000_000, description="A pack of bodies is closed at this size."
    )
    compression_level: int = Field(1, ge=1, le=19, description="zstd level of stored bodies.")
    sweep_after_hours: float = Field(
        24, ge=0, le=87600, description="`storage sweep` leaves packs alone that are younger than this."
    )


class NamesSettings(Section):
    collapse_subdomains: bool = Field(
        False, description="Treat all sub-domains of a site as one domain. After a change, see `domain merge`."
    )
    allow_private: bool = Field(
        False, description="Admit IP addresses, `localhost` and one-word names as domains, for intranets and tests."
    )


class LeaseSettings(Section):
    seconds: int = Field(1800, ge=1, le=86400, description="How long a lease lasts without a heartbeat.")
    heartbeat_seconds: int = Field(600, ge=1, le=86400, description="How often a worker extends its leases.")
    per_shared_key: int = Field(
        4, ge=1, le=1000, description="Most live leases on domains that one operator probably runs."
    )
    new_share: float = Field(0.2, ge=0, le=1, description="Share of each claim for domains that were never crawled.")


class CooldownSettings(Section):
    login_wall_days: float = Field(30, ge=0, le=3650, description="Pause after a login wall.")
    rate_limited_days: float = Field(7, ge=0, le=3650, description="Pause after too many 429 answers.")
    forbidden_days: float = Field(14, ge=0, le=3650, description="Pause after too many 403 answers.")
    unreachable_days: float = Field(7, ge=0, le=3650, description="Pause after DNS or connection failures.")
    robots_denied_days: float = Field(90, ge=0, le=3650, description="Pause after robots.txt forbade everything.")
    error_limit_days: float = Field(7, ge=0, le=3650, description="Pause after too many errors in a row.")
    exhausted_days: float = Field(
        14, ge=0, le=3650, description="Pause after all known pages were fetched, unless the domain sets its own."
    )
    max_retries: int = Field(3, ge=0, le=1000, description="Automatic retries of a blocked domain before a reset.")


class PrioritySettings(Section):
    rank: float = Field(1, description="Weight of the seed list's rank (rank 1 counts 1,000, rank 10,000 counts 600).")
    yields: float = Field(1000, description="Points for each stored image or wanted item a page.")
    remaining: float = Field(2, description="Points for each known page that is not fetched yet.")
    remaining_cap: int = Field(500, ge=0, description="Most pages that count as remaining.")
    error: float = Field(500, description="Points taken off for an error rate of 1.")
    stale_day: float = Field(5, description="Points for each day since the last crawl.")
    step: int = Field(40, ge=1, description="Points in one of the 100 steps of priority.")


class NetSettings(Section):
    allow_private_networks: bool = Field(
        False, description="Let requests go to private, loopback and link-local addresses, for intranets."
    )
    extra_ca_file: Path | None = Field(
        None, description="PEM file with certificate authorities to trust besides the usual ones."
    )
    connect_timeout_seconds: float = Field(10, gt=0, le=600, description="Give up connecting to a server after this.")
    idle_timeout_seconds: float = Field(20, gt=0, le=600, description="Give up on a server that is silent for this.")
    total_timeout_seconds: float = Field(60, gt=0, le=3600, description="Longest time for one answer.")
    max_body_bytes: int = Field(
        10_000_000, ge=1000, le=1_000_000_000, description="Longest body that is read, after decompression."
    )


class CrawlSettings(Section):
    contact: str | None = Field(
        None,
        max_length=200,
        pattern=r"^[ -~]*$",
        description="How sites can reach you (mail or web address); part of the User-Agent.",
    )
    user_agent: str | None = Field(
        None, max_length=300, pattern=r"^[ -~]*$", description="User-Agent instead of `Bailiwick/VERSION (+contact)`."
    )
    max_open_domains: int = Field(1000, ge=1, le=100_000, description="Domains that one process crawls at once.")
    claim_batch: int = Field(50, ge=1, le=1000, description="Most domains leased by one claim.")
    slice_pages: int = Field(5000, ge=1, description="A lease is given back after this many pages, for others' turn.")
    slice_seconds: float = Field(1200, ge=1, description="A lease is given back after this long, for others' turn.")
    flush_pages: int = Field(200, ge=1, le=10_000, description="Results of a domain that are written at once.")
    flush_seconds: float = Field(10, gt=0, le=60, description="Longest time that a result waits to be written.")
    max_retries: int = Field(
        3, ge=0, le=100, description="Retries of a page whose fetch failed in a way that may pass."
    )
    retry_backoff_seconds: float = Field(
        5, ge=0, le=86400, description="Pause before a page's first retry; four times as long before each further one."
    )
    max_domain_errors: int = Field(20, ge=1, description="Errors in a row after which a domain counts as blocked.")
    max_known_pages: int = Field(
        1_000_000, ge=1, description="Most pages known of a domain; further links are counted."
    )
    max_outlinks: int = Field(100_000, ge=0, description="Most links to other domains that are kept of a domain.")


class DoctorSettings(Section):
    probe_host: str = Field("example.com", description="Host name that `bailiwick doctor` looks up to test DNS.")


class OutboxSettings(Section):
    keep_days: int = Field(14, ge=1, le=3650, description="Days that outbox messages are kept for listeners.")


class FromEnvironment(Section):
    """A secret, by the name of the environment variable that holds it."""

    env: str = Field(min_length=1, max_length=200, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")

    def read(self) -> str:
        """The secret itself, as it may stand in a header; SettingsError names the variable, never its value."""
        found = os.environ.get(self.env)
        if found is None:
            raise SettingsError(f"the environment variable {self.env} is not set", hint=f"export {self.env}=…")
        if not found.isprintable():
            raise SettingsError(f"{self.env} holds characters that no header may have")
        return found


class BasicAuth(Section):
    user: str = Field(max_length=200, pattern=r"^[^:\x00-\x1f]*$")
    password: FromEnvironment


_HeaderText: TypeAlias = Annotated[str, Field(max_length=4000, pattern=r"^[^\x00-\x08\x0a-\x1f\x7f]*$")]
_Token: TypeAlias = Annotated[str, Field(max_length=200, pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]
_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization", "x-api-key"})


class DomainAccess(Section):
    """`[domains."name"]` of the settings file: what is sent to one domain, over https alone."""

    headers: dict[_Token, _HeaderText | FromEnvironment] = Field(default_factory=dict)
    cookies: dict[_Token, FromEnvironment] = Field(default_factory=dict)
    basic_auth: BasicAuth | None = None

    @field_validator("headers")
    @classmethod
    def _no_secret_in_the_file(cls, given: "dict[str, str | FromEnvironment]") -> "dict[str, str | FromEnvironment]":
        for name, value in given.items():
            if name.lower() in _SECRET_HEADERS and isinstance(value, str):
                raise ValueError(f'{name} is a secret: write {name} = {{ env = "VARIABLE" }}')
        return given


class Settings(BaseSettings):
    """Everything that can be set. Every field has a default, a unit in its name and a description."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid")

    database: DatabaseSettings = DatabaseSettings()
    log: LogSettings = LogSettings()
    storage: StorageSettings = StorageSettings()
    outbox: OutboxSettings = OutboxSettings()
    names: NamesSettings = NamesSettings()
    lease: LeaseSettings = LeaseSettings()
    cooldown: CooldownSettings = CooldownSettings()
    priority: PrioritySettings = PrioritySettings()
    net: NetSettings = NetSettings()
    crawl: CrawlSettings = CrawlSettings()
    doctor: DoctorSettings = DoctorSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        # `load` reads the layers itself, so that it can tell where each value came from.
        return (init_settings,)


BOOTSTRAP_SECTIONS = frozenset({"database", "log"})


class Origin(StrEnum):
    ENVIRONMENT = "environment"
    FILE = "file"
    DATABASE = "database"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Setting:
    """One leaf of the tree, for people."""

    key: str
    value: JsonValue
    default: JsonValue
    origin: Origin
    description: str
    in_database: bool


@dataclass(frozen=True, slots=True)
class Loaded:
    """A settings tree that knows its origins."""

    tree: Settings
    origins: Mapping[str, Origin]
    unknown_environment: tuple[str, ...] = ()
    access: Mapping[str, DomainAccess] = dataclass_field(default_factory=dict)
    """What the file says about single domains."""

    def __iter__(self) -> Iterator[Setting]:
        for key in keys():
            yield self.setting(key)

    def setting(self, key: str) -> Setting:
        check_key(key)
        section, name = key.split(".")
        field = type(getattr(self.tree, section)).model_fields[name]
        return Setting(
            key=key,
            value=_shown(getattr(getattr(self.tree, section), name)),
            default=_shown(field.default),
            origin=self.origins.get(key, Origin.DEFAULT),
            description=field.description or "",
            in_database=section not in BOOTSTRAP_SECTIONS,
        )


def keys() -> tuple[str, ...]:
    """All settings, as `section.name`, in the tree's order."""
    return tuple(
        f"{section}.{name}"
        for section, field in Settings.model_fields.items()
        for name in _section_type(field.annotation).model_fields
    )


def environment_name(key: str) -> str:
    return ENV_PREFIX + key.replace(".", "_").upper()


def check_key(key: str) -> None:
    """Refuse what is no setting, with the nearest name as a hint."""
    known = keys()
    if key not in known:
        near = difflib.get_close_matches(key, known, n=1)
        raise SettingsError(
            f"unknown setting {key!r}",
            hint=f"did you mean {near[0]}?" if near else "bailiwick settings show lists them all",
        )


def load(file: Path | None, database: Mapping[str, JsonValue] | None = None) -> Loaded:
    """Read the layers, lay them over each other and check the result. Raises SettingsError, naming the place."""
    from_file = _from_file(file)
    access = _access(from_file.pop("domains", {}), file)
    layers: dict[Origin, Tree] = {
        Origin.DATABASE: _nested({k: v for k, v in (database or {}).items() if k in keys()}),
        Origin.FILE: from_file,
        Origin.ENVIRONMENT: _from_environment(),
    }
    merged: Tree = {}
    origins: dict[str, Origin] = {}
    for origin, layer in layers.items():
        for key, value in _leaves(layer):
            section, _, name = key.partition(".")
            merged.setdefault(section, {})
            part = merged[section]
            if not isinstance(part, dict) or not name:
                merged[section] = value
            else:
                part[name] = value
            origins[key] = origin
    try:
        tree = Settings(**merged)  # type: ignore[arg-type]
    except ValidationError as error:
        raise _as_settings_error(error, origins, file) from error
    return Loaded(tree, origins, _unknown_environment(), access)


def check_value(key: str, value: JsonValue) -> JsonValue:
    """The value as it will be stored, or a SettingsError that says what is wrong with it."""
    check_key(key)
    section, name = key.split(".")
    try:
        tree = Settings(**{section: {name: value}})  # type: ignore[arg-type]
    except ValidationError as error:
        raise SettingsError(f"{key}: {error.errors()[0]['msg']} (got {value!r})") from error
    stored: JsonValue = getattr(tree, section).model_dump(mode="json")[name]
    return stored


def _section_type(annotation: object) -> type[BaseModel]:
    if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        raise TypeError(f"{annotation!r} is no section")
    return annotation


def _shown(value: object) -> JsonValue:
    if isinstance(value, SecretStr):
        return "********"
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def _from_file(file: Path | None) -> Tree:
    if file is None or not file.exists():
        return {}
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file}: {error}", hint="the file is TOML: [section], then name = value") from error
    except OSError as error:
        raise SettingsError(f"cannot read {file}: {error.strerror}") from error


def _access(table: JsonValue, file: Path | None) -> dict[str, DomainAccess]:
    if not isinstance(table, dict):
        raise SettingsError(f"{file}: domains is a table", hint='[domains."example.org"]')
    access = {}
    for name, given in table.items():
        try:
            access[name] = DomainAccess.model_validate(given)
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"] if part not in ("function-plain", "str"))
            hint = (
                'headers = { NAME = "text" }, cookies = { NAME = { env = "VARIABLE" } }, '
                'basic_auth = { user = "me", password = { env = "VARIABLE" } }'
            )
            raise SettingsError(f'{file}: [domains."{name}"] {where}: {first["msg"]}', hint=hint) from None
    return access


def _from_environment() -> Tree:
    source = EnvSettingsSource(
        Settings,
        env_prefix=ENV_PREFIX,
        env_nested_delimiter="_",
        env_nested_max_split=1,
        env_ignore_empty=True,
    )
    try:
        found: Tree = source()
    except ValueError as error:
        raise SettingsError(f"environment: {error}") from error
    # A variable with no such leaf (another program's, or a typing mistake) is reported, not fatal.
    return _nested({key: value for key, value in _leaves(found) if key in keys()})


def _unknown_environment() -> tuple[str, ...]:
    known = {environment_name(key) for key in keys()} | ENV_OTHER
    return tuple(sorted(name for name in os.environ if name.startswith(ENV_PREFIX) and name not in known))


def _leaves(tree: Tree) -> Iterator[tuple[str, JsonValue]]:
    for section, part in tree.items():
        if isinstance(part, dict):
            for name, value in part.items():
                yield f"{section}.{name}", value
        else:
            yield section, part


def _nested(flat: Mapping[str, JsonValue]) -> Tree:
    tree: dict[str, dict[str, JsonValue]] = {}
    for key, value in flat.items():
        section, name = key.split(".")
        tree.setdefault(section, {})[name] = value
    return {section: dict(part) for section, part in tree.items()}


def _as_settings_error(error: ValidationError, origins: Mapping[str, Origin], file: Path | None) -> SettingsError:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"][:2])
    origin = origins.get(key, Origin.FILE)
    where = {
        Origin.ENVIRONMENT: environment_name(key),
        Origin.FILE: f"{file}: {key}",
        Origin.DATABASE: f"setting {key} in the database",
        Origin.DEFAULT: key,
    }[origin]
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, (*keys(), *Settings.model_fields), n=1)
        return SettingsError(
            f"{where}: there is no such setting",
            hint=f"did you mean {near[0]}?" if near else "bailiwick settings show lists them all",
        )
    hint = f"bailiwick settings set {key} --default" if origin is Origin.DATABASE else None
    return SettingsError(f"{where}: {first['msg']}", hint=hint)
