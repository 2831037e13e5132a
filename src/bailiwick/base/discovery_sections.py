"""Settings of discovery: what becomes of what is found, and how each search engine is asked."""

from typing import Annotated, TypeAlias

from pydantic import Field

from bailiwick.base.sections import Section

Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Endpoint: TypeAlias = Annotated[str, Field(pattern=r"^https?://[^\s]+$", max_length=1000)]
Variable: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]

_WHERE = "Where the engine answers."
_KEY = "Name of the environment variable that holds the key."


class DiscoverSettings(Section):
    fresh_days: float = Field(
        30, ge=0, le=3650, description="A domain that was judged so recently is not judged again by another session."
    )
    low_quality_after: int = Field(
        3, ge=1, le=1000, description="So many low candidates and no high one make a domain low quality."
    )
    queue_confidence: Share = Field(
        0.6, description="A new domain whose best candidate has this confidence waits for a person's approval."
    )
    admit_confidence: Share | None = Field(
        None,
        description="A new domain whose best candidate has this confidence is approved at once. "
        "Unset: only by a person or a trust rule.",
    )


class EngineSettings(Section):
    """A search engine. Environment or file only: the guard does not stand before it (P7)."""

    base_url: Endpoint | None = Field(None, description=_WHERE)
    api_key_env: Variable | None = Field(None, description=_KEY)
    requests_per_minute: float = Field(
        60, gt=0, le=100_000, description="Most requests in a minute, over all processes that share the database."
    )
    requests_per_day: int = Field(
        1_000, ge=0, description="Most requests in a day (UTC), over all processes; 0 asks nothing."
    )
    price_per_request: float = Field(0, ge=0, description="What one request costs, for the cost counter.")
    timeout_seconds: float = Field(20, gt=0, le=600, description="Give up on one request after this.")
    max_retries: int = Field(2, ge=0, le=10, description="Further requests after a 429, a 5xx or a lost connection.")


class SearxngSettings(EngineSettings):
    base_url: Endpoint | None = Field(
        None, description="Your own SearXNG, with `json` among the formats of its settings.yml. Unset: not asked."
    )


class TavilySettings(EngineSettings):
    base_url: Endpoint = Field("https://api.tavily.com", description=_WHERE)
    api_key_env: Variable | None = Field("TAVILY_API_KEY", description=_KEY)


class PerplexitySettings(EngineSettings):
    base_url: Endpoint = Field("https://api.perplexity.ai", description=_WHERE)
    api_key_env: Variable | None = Field("PERPLEXITY_API_KEY", description=_KEY)


class BrowserbaseSettings(EngineSettings):
    base_url: Endpoint = Field("https://api.browserbase.com", description=_WHERE)
    api_key_env: Variable | None = Field("BROWSERBASE_API_KEY", description=_KEY)


class BraveSettings(EngineSettings):
    base_url: Endpoint = Field("https://api.search.brave.com", description=_WHERE)
    api_key_env: Variable | None = Field("BRAVE_API_KEY", description=_KEY)
