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
from typing import TypeAlias, get_args

from pydantic import BaseModel, JsonValue, SecretStr, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from bailiwick.base.discovery_sections import (
    BraveSettings,
    BrowserbaseSettings,
    DiscoverSettings,
    PerplexitySettings,
    SearxngSettings,
    TavilySettings,
)
from bailiwick.base.errors import SettingsError
from bailiwick.base.review_sections import NotifySettings, ReviewSettings, ScoreSettings
from bailiwick.base.sections import (
    CooldownSettings,
    CrawlSettings,
    DatabaseSettings,
    DoctorSettings,
    DomainAccess,
    ImageSettings,
    LeaseSettings,
    LogSettings,
    ModelSettings,
    NamesSettings,
    NetSettings,
    OutboxSettings,
    ParseSettings,
    PrioritySettings,
    SearchSettings,
    Section,
    StorageSettings,
    TrapsSettings,
    WebSettings,
)

ENV_PREFIX = "BAILIWICK_"
# Names with our prefix that are no settings: where to look, and what the tests read.
ENV_OTHER = frozenset({"BAILIWICK_HOME", "BAILIWICK_AS", "BAILIWICK_SUITES", "BAILIWICK_SPECS", "BAILIWICK_FAILPOINT"})
Tree: TypeAlias = dict[str, JsonValue]
SECRET = "********"  # noqa: S105 - what is shown in its place


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
    traps: TrapsSettings = TrapsSettings()
    parse: ParseSettings = ParseSettings()
    images: ImageSettings = ImageSettings()
    web: WebSettings = WebSettings()
    model: ModelSettings = ModelSettings()
    search: SearchSettings = SearchSettings()
    discover: DiscoverSettings = DiscoverSettings()
    searxng: SearxngSettings = SearxngSettings()
    tavily: TavilySettings = TavilySettings()
    perplexity: PerplexitySettings = PerplexitySettings()
    browserbase: BrowserbaseSettings = BrowserbaseSettings()
    brave: BraveSettings = BraveSettings()
    score: ScoreSettings = ScoreSettings()
    review: ReviewSettings = ReviewSettings()
    notify: NotifySettings = NotifySettings()
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


ENGINE_SECTIONS = ("searxng", "tavily", "perplexity", "browserbase", "brave")
BOOTSTRAP_SECTIONS = frozenset({"database", "log", "model", "notify", *ENGINE_SECTIONS})


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
        section, name = _section_of(self.tree, key)
        field = type(section).model_fields[name]
        return Setting(
            key=key,
            value=_shown(getattr(section, name)),
            default=_shown(field.default),
            origin=self.origins.get(key, Origin.DEFAULT),
            description=field.description or "",
            in_database=key.partition(".")[0] not in BOOTSTRAP_SECTIONS,
        )


def keys() -> tuple[str, ...]:
    """All settings, as `section.name` or `section.part.name`, in the tree's order."""
    return tuple(_keys_of(Settings, ""))


def is_secret(key: str) -> bool:
    """Whether its value is shown to nobody and written into no trail."""
    section, name = _section_of(Settings(), key)
    return any(part is SecretStr for part in _parts_of(type(section).model_fields[name].annotation))


def _keys_of(tree: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in tree.model_fields.items():
        inner = _section_type(field.annotation)
        if inner is None:
            yield prefix + name
        else:
            yield from _keys_of(inner, f"{prefix}{name}.")


def _section_of(tree: BaseModel, key: str) -> tuple[BaseModel, str]:
    """The section that holds a setting, and the setting's name in it."""
    *path, name = key.split(".")
    for part in path:
        tree = getattr(tree, part)
    return tree, name


def _parts_of(annotation: object) -> Iterator[object]:
    yield annotation
    for part in get_args(annotation):
        yield from _parts_of(part)


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
    merged: dict[str, JsonValue] = {}
    origins: dict[str, Origin] = {}
    for origin, layer in layers.items():
        for key, value in _leaves(layer):
            merged[key] = value
            origins[key] = origin
    try:
        tree = Settings(**_nested(merged))  # type: ignore[arg-type]
    except ValidationError as error:
        raise _as_settings_error(error, origins, file) from error
    return Loaded(tree, origins, _unknown_environment(), access)


def check_value(key: str, value: JsonValue) -> JsonValue:
    """The value as it will be stored, or a SettingsError that says what is wrong with it."""
    check_key(key)
    try:
        tree = Settings(**_nested({key: value}))  # type: ignore[arg-type]
    except ValidationError as error:
        got = "" if is_secret(key) else f" (got {value!r})"
        what = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise SettingsError(f"{key}: {what}{got}") from error
    section, name = _section_of(tree, key)
    kept = getattr(section, name)
    stored: JsonValue = (
        kept.get_secret_value() if isinstance(kept, SecretStr) else section.model_dump(mode="json")[name]
    )
    return stored


def _section_type(annotation: object) -> type[Section] | None:
    return annotation if isinstance(annotation, type) and issubclass(annotation, Section) else None


def _shown(value: object) -> JsonValue:
    if isinstance(value, SecretStr):
        return SECRET
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple) and any(isinstance(part, BaseModel) for part in value):
        return [part.model_dump(mode="json") for part in value]
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
    flat = {key: value for key, value in _leaves(found) if key in keys()}
    deep = {key: os.environ.get(environment_name(key)) for key in keys() if key.count(".") > 1}
    return _nested(flat | {key: value for key, value in deep.items() if value})


def _unknown_environment() -> tuple[str, ...]:
    known = {environment_name(key) for key in keys()} | ENV_OTHER
    return tuple(sorted(name for name in os.environ if name.startswith(ENV_PREFIX) and name not in known))


def _leaves(tree: Tree, prefix: str = "") -> Iterator[tuple[str, JsonValue]]:
    for name, part in tree.items():
        if isinstance(part, dict):
            yield from _leaves(part, f"{prefix}{name}.")
        else:
            yield prefix + name, part


def _nested(flat: Mapping[str, JsonValue]) -> Tree:
    tree: Tree = {}
    for key, value in flat.items():
        *path, name = key.split(".")
        part = tree
        for step in path:
            inner = part.setdefault(step, {})
            if not isinstance(inner, dict):  # a section that was written as one value: it is refused as that
                break
            part = inner
        else:
            part[name] = value
    return tree


def _as_settings_error(error: ValidationError, origins: Mapping[str, Origin], file: Path | None) -> SettingsError:
    first = error.errors()[0]
    path = ".".join(str(part) for part in first["loc"])
    key = next((known for known in keys() if path == known or path.startswith(f"{known}.")), path)
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
    return SettingsError(f"{where}: {first['msg'].removeprefix('Value error, ')}", hint=hint)
