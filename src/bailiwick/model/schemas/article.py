"""An article (zyte-common-items: Article)."""

from datetime import datetime

from pydantic import Field

from bailiwick.model.schemas.parts import Image, Schema


class Author(Schema):
    name: str = Field(min_length=1, max_length=200)


class Article(Schema):
    """What is known of an article."""

    url: str
    headline: str | None = None
    datePublished: datetime | None = None  # noqa: N815 - the schema's names
    dateModified: datetime | None = None  # noqa: N815
    authors: list[Author] | None = None
    inLanguage: str | None = None  # noqa: N815
    description: str | None = None
    articleBody: str | None = None  # noqa: N815
    canonicalUrl: str | None = None  # noqa: N815
    mainImage: Image | None = None  # noqa: N815
