"""The sections of the settings tree: every value that can be set, with its default, bounds and description."""

import os
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator
from pydantic_settings import NoDecode

from bailiwick.base.errors import SettingsError

Seconds: TypeAlias = Annotated[int, Field(ge=0, le=10 * 365 * 86400)]


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


class TrapsSettings(Section):
    """What the rules against endless sites let pass, for each domain. The defaults refuse nothing on ordinary sites."""

    max_path_chars: int = Field(1_000, ge=50, le=2_000, description="Longest path and query that is followed.")
    max_segments: int = Field(20, ge=2, le=500, description="Most segments of a path that is followed.")
    max_repeats: int = Field(
        3, ge=1, le=100, description="Times that a segment, or a row of them, may come in a path; numbers do not count."
    )
    repeat_run: int = Field(
        8,
        ge=1,
        le=10_000,
        description="Known texts in a row after which no path with a segment twice is followed.",
    )
    session_probes: int = Field(
        8,
        ge=0,
        le=10_000,
        description="Known pages fetched again with another session token, to see what changes.",
    )
    session_rests: int = Field(
        4, ge=1, le=10_000, description="A token that goes with no more pages than this is an id, not a session."
    )
    calendar_pages: int = Field(
        32, ge=1, le=60_000, description="Dates that a calendar may find by itself while they lead to dates only."
    )
    calendar_years_back: int = Field(30, ge=0, le=1000, description="Years before now that such a calendar may show.")
    calendar_years_ahead: int = Field(2, ge=0, le=1000, description="Years after now that such a calendar may show.")
    facet_combinations: int = Field(
        24, ge=1, le=10_000, description="Combinations of known parameter values followed for one path."
    )
    facet_growth: int = Field(
        2, ge=0, le=1000, description="Further combinations for each that led to a new page on another path."
    )
    family_pages: int = Field(
        2_000, ge=1, le=60_000, description="Pages that a family (a folder, parameter names) may find by itself."
    )
    family_growth: int = Field(32, ge=0, le=10_000, description="Further pages of a family for each with a new text.")
    duplicate_run: int = Field(
        24, ge=2, le=10_000, description="Known texts in a row that end a family, if they are a fifth of all of it."
    )
    mirror_pages: int = Field(
        4, ge=2, le=1000, description="Different texts that a sub-tree has to share with another to be its mirror."
    )


class ParseSettings(Section):
    processes: int = Field(
        0, ge=0, le=1000, description="Processes that parse at once; 0: one less than there are cores."
    )
    page_seconds: float = Field(30, gt=0, le=3600, description="Longest time for one page.")
    parser_seconds: float = Field(5, gt=0, le=3600, description="Longest time for a site parser over one page.")
    page_memory_bytes: int = Field(
        2_000_000_000, ge=200_000_000, description="Most memory of a process that parses (on Linux)."
    )
    max_text_chars: int = Field(
        1_000_000, ge=1000, le=50_000_000, description="Longest main text that is kept of a page."
    )
    max_pdf_pages: int = Field(500, ge=1, le=100_000, description="Pages of a PDF that are read.")
    batch_pages: int = Field(64, ge=1, le=10_000, description="Pages that are taken and written at once.")
    claim_seconds: float = Field(
        300, ge=1, le=86400, description="How long a batch is kept from other processes that parse."
    )
    max_backlog: int = Field(
        20_000, ge=100, description="`crawl` fetches no more while this many pages wait to be parsed beside it."
    )
    unproductive_after_days: int = Field(
        90, ge=1, le=3650, description="A page that gave nothing its profile wants for so long is unproductive."
    )


class ImageSettings(Section):
    max_pixels: int = Field(
        50_000_000, ge=10_000, le=1_000_000_000, description="An image of more pixels is never decoded."
    )
    decode_seconds: float = Field(20, gt=0, le=600, description="Longest time to decode one image.")
    decode_memory_bytes: int = Field(
        1_000_000_000, ge=100_000_000, description="Most memory of the process that decodes (on Linux)."
    )
    shown_pixels: int = Field(
        320, ge=32, le=2048, description="Longest side of the copies that the web interface shows."
    )


class DoctorSettings(Section):
    probe_host: str = Field("example.com", description="Host name that `bailiwick doctor` looks up to test DNS.")


class WebSettings(Section):
    hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        max_length=100,
        description="Host names by which browsers reach `bailiwick serve`, besides loopback and its own address.",
    )
    behind_proxy: bool = Field(
        False, description="A reverse proxy on this machine tells the client's address and scheme (X-Forwarded-…)."
    )
    public_submission: bool = Field(
        False, description="Let anybody suggest a domain at /suggest, without an account. It waits for review."
    )
    public_per_hour: int = Field(
        10, ge=1, le=100_000, description="Suggestions from one address in an hour; from all together 30 times that."
    )
    metrics_public: bool = Field(False, description="Show /metrics to every client, not only to this machine.")

    @field_validator("hosts", mode="before")
    @classmethod
    def _from_one_line(cls, given: object) -> object:
        """As the environment and the command line write it: names with commas between them."""
        return tuple(filter(None, map(str.strip, given.split(",")))) if isinstance(given, str) else given


class ModelSettings(Section):
    """A language model for profiles that ask one. Environment or file only: the guard does not stand before it (P7)."""

    base_url: str | None = Field(
        None,
        pattern=r"^https?://[^\s]+$",
        max_length=1000,
        description="An OpenAI-compatible endpoint (https://host/v1). Unset: no model is asked.",
    )
    name: str = Field("", max_length=200, description="The model's name at that endpoint.")
    api_key_env: str | None = Field(
        None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        max_length=200,
        description="Name of the environment variable that holds the key. Unset: none is sent.",
    )
    timeout_seconds: float = Field(30, gt=0, le=600, description="Give up on one request after this.")
    max_retries: int = Field(2, ge=0, le=10, description="Further requests after a 429, a 5xx or a lost connection.")
    max_input_chars: int = Field(8_000, ge=100, le=1_000_000, description="Longest part of a page that is sent.")
    max_tokens_per_day: int = Field(
        1_000_000, ge=0, description="Tokens, in and out, that may be used in a day (UTC); 0 asks nothing."
    )
    max_money_per_day: float = Field(
        1.0, ge=0, description="Money that may be spent in a day (UTC), in the currency of the prices; 0 asks nothing."
    )
    price_in_per_million: float = Field(
        0, ge=0, description="Price of a million tokens sent; 0 for a model that is free."
    )
    price_out_per_million: float = Field(0, ge=0, description="Price of a million tokens answered.")
    concurrency: int = Field(4, ge=1, le=100, description="Requests that one process has open at once.")


class OutboxSettings(Section):
    keep_days: int = Field(14, ge=1, le=3650, description="Days that outbox messages are kept for listeners.")


class SearchSettings(Section):
    language: Literal[
        "arabic", "armenian", "basque", "catalan", "danish", "dutch", "english", "finnish", "french", "german", "greek",
        "hindi", "hungarian", "indonesian", "irish", "italian", "lithuanian", "nepali", "norwegian", "portuguese",
        "romanian", "russian", "serbian", "simple", "spanish", "swedish", "tamil", "turkish", "yiddish",
    ] = Field(
        "english",
        description="Whose endings search looks past (grant finds grants); simple: none. A change rebuilds the index.",
    )  # fmt: skip


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
