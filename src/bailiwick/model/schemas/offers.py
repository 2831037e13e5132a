"""What organisations offer: services, opportunities, programmes of funding. zyte-common-items has none of them."""

from datetime import date
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from bailiwick.model.currencies import ISO_4217
from bailiwick.model.schemas.parts import Address, Amount, Currency, Email, Line, Phone, PostalAddress, Schema

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000)]


class Service(Schema):
    """Something that an organisation does for people."""

    url: Address
    name: Line
    description: Text | None = None
    provider: Line | None = None
    telephone: Phone | None = None
    email: Email | None = None
    address: PostalAddress | None = None
    eligibility: Text | None = None
    """Who may use it."""
    areaServed: Line | None = None  # noqa: N815 - the schema's names


class Opportunity(Schema):
    """Something that a person or a firm may apply for: a post, a place, a contract."""

    url: Address
    name: Line
    organisation: Line | None = None
    kind: Literal[
        "job", "internship", "apprenticeship", "volunteering", "fellowship", "scholarship", "residency", "competition",
        "tender", "call",
    ]  # fmt: skip
    description: Text | None = None
    deadline: date | None = None
    applyUrl: Address | None = None  # noqa: N815
    compensation: Line | None = None
    """What one gets, as the page says it."""


class FundingProgramme(Schema):
    """Money that one may apply for. "Up to X" has only a highest amount, a fixed sum both."""

    url: Address
    name: Line
    organisation: Line | None = None
    description: Text | None = None
    amountMin: Amount | None = None  # noqa: N815
    amountMax: Amount | None = None  # noqa: N815
    currency: Currency | None = None
    deadline: date | None = None
    rolling: bool | None = Field(None, description="applications are taken at any time")
    eligibility: Text | None = None
    status: Literal["open", "closed"] | None = None
    """On the day when the page was read."""
    applyUrl: Address | None = None  # noqa: N815

    @field_validator("currency")
    @classmethod
    def _known_currency(cls, given: str | None) -> str | None:
        if given is not None and given not in ISO_4217:
            raise ValueError("is no currency of ISO 4217")
        return given

    @model_validator(mode="after")
    def _amounts_in_order(self) -> Self:
        if self.amountMin is not None and self.amountMax is not None and float(self.amountMin) > float(self.amountMax):
            raise ValueError("amountMin is above amountMax")
        return self
