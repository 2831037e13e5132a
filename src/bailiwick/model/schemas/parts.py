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
