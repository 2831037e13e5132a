"""Settings of scoring, of the review queue and of notifications."""

import re
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, SecretStr

from bailiwick.base.bands import DEFAULT_BANDS, MOST_BANDS, Band, check_bands
from bailiwick.base.discovery_sections import Endpoint, Variable
from bailiwick.base.sections import Section

_EMAIL = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}"
)
_WEBHOOK = re.compile(r"https?://[^\s/?#@]+(/[^\s]*)?")


def _email(given: str) -> str:
    if len(given) > 254 or not _EMAIL.fullmatch(given):
        raise ValueError("this is no e-mail address")
    return given


def _webhook(given: SecretStr) -> SecretStr:
    text = given.get_secret_value()
    if len(text) > 2000 or not _WEBHOOK.fullmatch(text):
        raise ValueError("this is no web address (https://…)")
    return given


Email: TypeAlias = Annotated[str, AfterValidator(_email)]
Positive: TypeAlias = Annotated[int, Field(ge=1, le=1_000_000_000)]


class ScoreSettings(Section):
    registration_days: float = Field(
        30, gt=0, le=3650, description="How long what a registry says of a domain is believed."
    )
    certificate_days: float = Field(1, gt=0, le=365, description="How long a look at a certificate is believed.")
    failure_hours: float = Field(
        6, gt=0, le=8760, description="After a registry or a server gave no answer, it is asked again this much later."
    )
    registry_delay_seconds: float = Field(
        2, ge=0, le=3600, description="Least time between two questions to one registry, over all processes."
    )
    registry_timeout_seconds: float = Field(
        10, gt=0, le=120, description="Give up on one registry's answer after this."
    )
    rdap_bootstrap_url: Endpoint = Field(
        "https://data.iana.org/rdap/dns.json", description="Where the list of RDAP servers is."
    )
    whois_server: Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]+(:[0-9]{1,5})?$")] = Field(
        "whois.iana.org", description="The WHOIS server that is asked first; it refers to the others."
    )
    page_wait_seconds: float = Field(
        600, gt=0, le=86400, description="How long an evaluation waits for the crawl of an approved domain's page."
    )
    max_tries: int = Field(3, ge=1, le=100, description="A URL that cannot be fetched so often is given up.")
    without_model: Literal["wait", "local"] = Field(
        "local",
        description="When the language model does not answer: `wait` for it, or take the `local` scores.",
    )


class NotificationSettings(Section):
    email_threshold: Positive = Field(50, description="An e-mail is sent when so many URLs wait for review.")
    email_recipient: Email | None = Field(None, description="Who gets it. Unset: nobody.")
    slack_webhook_url: Annotated[SecretStr, AfterValidator(_webhook)] | None = Field(
        None, description="Incoming webhook of a Slack channel. Unset: none. Kept in the database, shown nowhere."
    )
    slack_threshold: Positive = Field(50, description="The channel is told when so many URLs wait for review.")
    dashboard_badge: bool = Field(True, description="Show the number of URLs that wait on the dashboard.")


class ReviewSettings(Section):
    bands: Annotated[tuple[Band, ...], Field(min_length=1, max_length=MOST_BANDS), AfterValidator(check_bands)] = Field(
        DEFAULT_BANDS,
        description="Ranges of confidence and what each leads to: a list of name, min, max and action. "
        "A profile may have its own.",
    )
    queue_size_limit: Positive | None = Field(None, description="Most URLs that wait for review. Unset: no limit.")
    auto_review_timeout_days: Positive | None = Field(
        None, description="A URL that waits longer for review counts as stale. Unset: never."
    )
    audit_share: float = Field(
        0, ge=0, le=1, description="Share of automatic decisions, chosen by chance, that people are asked about, too."
    )
    claim_minutes: float = Field(15, gt=0, le=1440, description="How long a URL is one reviewer's alone.")
    undo_minutes: float = Field(10, ge=0, le=10_080, description="How long a reviewer can take a decision back.")
    order: Literal["age", "information"] = Field(
        "age", description="What comes first in the queue: what waits longest, or what is most uncertain."
    )
    notifications: NotificationSettings = NotificationSettings()


class NotifySettings(Section):
    """How messages leave. Environment or file only: the guard does not stand before the mail server (P7)."""

    smtp_host: str | None = Field(None, description="Mail server. Unset: no e-mail is sent.")
    smtp_port: int = Field(587, ge=1, le=65535, description="Its port.")
    smtp_security: Literal["starttls", "tls", "none"] = Field("starttls", description="How the connection is secured.")
    smtp_user: str | None = Field(None, description="User name at the mail server.")
    smtp_password_env: Variable | None = Field(
        None, description="Name of the environment variable that holds its password."
    )
    sender: Email | None = Field(None, description="From whom e-mails come. Unset: bailiwick@ this machine's name.")
    urls_env: Variable | None = Field(
        None,
        description="Name of the environment variable that holds further addresses of Apprise, separated by spaces: "
        "they are told what the e-mail recipient is told.",
    )
    max_tries: int = Field(8, ge=1, le=100, description="A message that failed so often is given up.")
    timeout_seconds: float = Field(30, gt=0, le=600, description="Give up on one delivery after this.")
