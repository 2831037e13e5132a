"""What schemas are made of."""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Line: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Prose: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100_000)]
Code: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
Address: TypeAlias = Annotated[str, StringConstraints(pattern=r"^https?://", max_length=4_000)]
Amount: TypeAlias = Annotated[str, StringConstraints(pattern=r"^\d{1,12}(\.\d{1,6})?$")]
"""A number as text, so that none of its decimals is lost."""
Currency: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
Email: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[^@\s]{1,64}@[^@\s]{1,250}\.[A-Za-z0-9-]{2,24}$")]
Phone: TypeAlias = Annotated[str, StringConstraints(pattern=r"^\+?[0-9][0-9 ()./-]{3,30}$")]
"""E.164 where its country is known."""


class Schema(BaseModel):
    """An item, or a part of one. What is not known is left out."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Named(Schema):
    name: Line


class Link(Schema):
    """A step of a path through a site."""

    name: Line | None = None
    url: Address | None = None


class Image(Schema):
    url: Address


class Pair(Schema):
    """A property with a name of the page's own."""

    name: Line
    value: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]


class Rating(Schema):
    """What people think of it, from 0 to `bestRating`."""

    ratingValue: float | None = Field(None, ge=0, le=5)  # noqa: N815 - the schema's names
    bestRating: float | None = Field(None, gt=0, le=5)  # noqa: N815
    reviewCount: int | None = Field(None, ge=0, le=2_000_000_000)  # noqa: N815


class PostalAddress(Schema):
    """An address; its country by ISO 3166."""

    addressRaw: Line | None = None  # noqa: N815 - the schema's names
    streetAddress: Line | None = None  # noqa: N815
    addressCity: Line | None = None  # noqa: N815
    addressRegion: Line | None = None  # noqa: N815
    postalCode: Code | None = None  # noqa: N815
    addressCountry: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")] | None = None  # noqa: N815
