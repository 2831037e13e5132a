"""Businesses (zyte-common-items: BusinessPlace) and contacts (ours)."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from bailiwick.model.schemas.parts import Address, Email, Line, Phone, PostalAddress, Rating, Schema

_Clock = Annotated[str, StringConstraints(pattern=r"^[0-2]\d:[0-5]\d$")]


class OpeningHours(Schema):
    dayOfWeek: Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]  # noqa: N815
    opens: _Clock
    closes: _Clock


class Business(Schema):
    """A place where something is sold, done or shown to people who come."""

    url: Address
    name: Line
    address: PostalAddress | None = None
    telephone: Phone | None = None
    website: Address | None = None
    openingHours: list[OpeningHours] | None = Field(None, max_length=50)  # noqa: N815
    categories: list[Line] | None = Field(None, max_length=20)
    description: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000)] | None = None
    priceRange: Annotated[str, StringConstraints(min_length=1, max_length=50)] | None = None  # noqa: N815
    aggregateRating: Rating | None = None  # noqa: N815


class Contact(Schema):
    """How somebody can be reached. Personal data: `bailiwick contact forget` removes it."""

    url: Address
    """The page that gives it."""
    email: Email | None = None
    telephone: Phone | None = None
    name: Line | None = None
    role: Line | None = None

    @model_validator(mode="after")
    def _can_be_reached(self) -> Self:
        if self.email is None and self.telephone is None:
            raise ValueError("there is neither an e-mail address nor a telephone number")
        return self
