"""A product (zyte-common-items: Product; `category` is ours)."""

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from bailiwick.model.currencies import ISO_4217
from bailiwick.model.schemas.parts import Address, Amount, Code, Currency, Image, Line, Link, Named, Pair, Prose, Rating
from bailiwick.model.schemas.parts import Schema as Part


class Gtin(Part):
    type: Literal["gtin8", "gtin12", "gtin13", "gtin14", "isbn10", "isbn13", "issn", "ismn", "upc", "ean"]
    value: Code


class Product(Part):
    """What a shop's page tells of its product. A price without a currency is one: pages leave it out."""

    url: Address
    name: Line
    brand: Named | None = None
    category: Line | None = None
    price: Amount | None = None
    regularPrice: Amount | None = None  # noqa: N815 - the schema's names
    currency: Currency | None = None
    currencyRaw: Code | None = None  # noqa: N815
    availability: Literal["InStock", "OutOfStock"] | None = None
    sku: Code | None = None
    mpn: Code | None = None
    productId: Code | None = None  # noqa: N815
    gtin: list[Gtin] | None = Field(None, max_length=20)
    description: Prose | None = None
    color: Line | None = None
    size: Line | None = None
    mainImage: Image | None = None  # noqa: N815
    images: list[Image] | None = Field(None, max_length=100)
    breadcrumbs: list[Link] | None = Field(None, max_length=30)
    aggregateRating: Rating | None = None  # noqa: N815
    additionalProperties: list[Pair] | None = Field(None, max_length=200)  # noqa: N815
    canonicalUrl: Address | None = None  # noqa: N815

    @field_validator("currency")
    @classmethod
    def _known_currency(cls, given: str | None) -> str | None:
        if given is not None and given not in ISO_4217:
            raise ValueError("is no currency of ISO 4217")
        return given

    @model_validator(mode="after")
    def _discount_is_one(self) -> Self:
        if self.price is not None and self.regularPrice is not None and float(self.regularPrice) <= float(self.price):
            raise ValueError("regularPrice is not above price")
        return self
